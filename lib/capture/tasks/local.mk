# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/tasks/attach.c lib/capture/tasks/attach.h \
	lib/capture/tasks/attach_tasks.c lib/capture/tasks/attach_tasks.h \
	lib/capture/tasks/command_line_reader.c lib/capture/tasks/command_line_reader.h \
	lib/capture/tasks/coverage.c lib/capture/tasks/coverage.h \
	lib/capture/tasks/descendants.c lib/capture/tasks/descendants.h \
	lib/capture/tasks/describe_tasks.c lib/capture/tasks/describe_tasks.h \
	lib/capture/tasks/double_sampling.c lib/capture/tasks/double_sampling.h \
	lib/capture/tasks/find.c lib/capture/tasks/find.h \
	lib/capture/tasks/membership.c lib/capture/tasks/membership.h \
	lib/capture/tasks/metadata_hold.c lib/capture/tasks/metadata_hold.h \
	lib/capture/tasks/moved.c lib/capture/tasks/moved.h \
	lib/capture/tasks/schedstat.c lib/capture/tasks/schedstat.h \
	lib/capture/tasks/event_places.c lib/capture/tasks/event_places.h \
	lib/capture/tasks/rescan.c lib/capture/tasks/rescan.h \
	lib/capture/tasks/live_state.c lib/capture/tasks/live_state.h \
	lib/capture/tasks/tasks.c lib/capture/tasks/tasks.h \
	lib/capture/tasks/command_ring.c lib/capture/tasks/command_ring.h \
	lib/capture/tasks/tracker.c lib/capture/tasks/tracker.h \
	lib/capture/tasks/workload.c lib/capture/tasks/workload.h
UNIT_TESTS += \
	tests/unit/test_attach.c \
	tests/unit/test_command_lines.c \
	tests/unit/test_coverage.c \
	tests/unit/test_double_sampling.c \
	tests/unit/test_membership.c \
	tests/unit/test_live_state.c \
	tests/unit/test_metadata_hold.c \
	tests/unit/test_schedstat.c \
	tests/unit/test_tasks.c \
	tests/unit/test_tracker.c \
	tests/unit/test_workload.c
