# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/samples/stack_dump.c lib/capture/samples/stack_dump.h \
	lib/capture/samples/sample_estimate.c lib/capture/samples/sample_estimate.h \
	lib/capture/samples/ring_filter.c lib/capture/samples/ring_filter.h \
	lib/capture/samples/stack_hold.c lib/capture/samples/stack_hold.h \
	lib/capture/samples/planned_ids.c lib/capture/samples/planned_ids.h \
	lib/capture/samples/pool.c lib/capture/samples/pool.h \
	lib/capture/samples/python_frames.c lib/capture/samples/python_frames.h \
	lib/capture/samples/sample_path.c lib/capture/samples/sample_path.h \
	lib/capture/samples/stack_size.c lib/capture/samples/stack_size.h \
	lib/capture/samples/stack_prefault.c lib/capture/samples/stack_prefault.h \
	lib/capture/samples/unwind_notes.c lib/capture/samples/unwind_notes.h \
	lib/capture/samples/live_unwind.c lib/capture/samples/live_unwind.h
UNIT_TESTS += \
	tests/unit/test_stack_dump.c \
	tests/unit/test_ring_filter.c \
	tests/unit/test_sample_estimate.c \
	tests/unit/test_stack_hold.c \
	tests/unit/test_pool.c \
	tests/unit/test_sample_path.c \
	tests/unit/test_stack_prefault.c \
	tests/unit/test_unwind_notes.c
