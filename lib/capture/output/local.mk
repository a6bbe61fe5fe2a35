# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/capture/output/auxtrace.c lib/capture/output/auxtrace.h \
	lib/capture/output/auxtrace_info.c \
	lib/capture/output/dsos.c lib/capture/output/dsos.h \
	lib/capture/output/files.c lib/capture/output/files.h \
	lib/capture/output/open_file.c \
	lib/capture/output/recording.c lib/capture/output/recording.h \
	lib/capture/output/sink.c lib/capture/output/sink.h \
	lib/capture/output/switching.c lib/capture/output/switching.h \
	lib/capture/output/writing.c lib/capture/output/writing.h
check_PROGRAMS += \
	tests/unit/test_auxtrace \
	tests/unit/test_recording \
	tests/unit/test_writing
