# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/samples/counted.c lib/samples/counted.h \
	lib/samples/fold_frames.c lib/samples/fold_frames.h \
	lib/samples/sample_counter.c lib/samples/sample_counter.h \
	lib/samples/sample_reader.c lib/samples/sample_reader.h \
	lib/samples/sample_task.c lib/samples/sample_task.h \
	lib/samples/sample_values.c lib/samples/sample_values.h \
	lib/samples/time_bins.c lib/samples/time_bins.h
UNIT_TESTS += tests/unit/test_fold_python.c tests/unit/test_time_bins.c
