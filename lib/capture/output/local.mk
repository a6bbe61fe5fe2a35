# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/output/aux_areas.c lib/capture/output/aux_areas.h \
	lib/capture/output/auxtrace.c lib/capture/output/auxtrace.h \
	lib/capture/output/auxtrace_info.c \
	lib/capture/output/dsos.c lib/capture/output/dsos.h \
	lib/capture/output/open_file.c \
	lib/capture/output/recording_files.c lib/capture/output/recording_files.h \
	lib/capture/output/batch.c lib/capture/output/batch.h \
	lib/capture/output/rotation.c lib/capture/output/rotation.h \
	lib/capture/output/write_queue.c lib/capture/output/write_queue.h
UNIT_TESTS += \
	tests/unit/test_dsos.c \
	tests/unit/test_aux_areas.c \
	tests/unit/test_auxtrace.c \
	tests/unit/test_recording_files.c \
	tests/unit/test_write_queue.c
