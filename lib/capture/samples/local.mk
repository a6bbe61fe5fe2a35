# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/samples/dump.c lib/capture/samples/dump.h \
	lib/capture/samples/filter.c lib/capture/samples/filter.h \
	lib/capture/samples/joining.c lib/capture/samples/joining.h \
	lib/capture/samples/pool.c lib/capture/samples/pool.h \
	lib/capture/samples/python.c lib/capture/samples/python.h \
	lib/capture/samples/sample_path.c lib/capture/samples/sample_path.h \
	lib/capture/samples/stack_size.c lib/capture/samples/stack_size.h \
	lib/capture/samples/touch.c lib/capture/samples/touch.h \
	lib/capture/samples/unwinding.c lib/capture/samples/unwinding.h
check_PROGRAMS += \
	tests/unit/test_dump \
	tests/unit/test_filter \
	tests/unit/test_joining \
	tests/unit/test_pool \
	tests/unit/test_sample_path \
	tests/unit/test_touch
tests_unit_test_dump_SOURCES = tests/unit/test_dump.c tests/unit/rings.h
tests_unit_test_filter_SOURCES = tests/unit/test_filter.c tests/unit/rings.h
tests_unit_test_sample_path_SOURCES = tests/unit/test_sample_path.c tests/unit/rings.h
