# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/go/frame_sizes.c lib/go/frame_sizes.h \
	lib/go/go_frames.c lib/go/go_frames.h \
	lib/go/moduledata.c lib/go/moduledata.h \
	lib/go/pclntab.c lib/go/pclntab.h

UNIT_TESTS += \
	tests/unit/test_go_row.c \
	tests/unit/test_pclntab.c
