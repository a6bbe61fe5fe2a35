# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/sideband/jitdumps.c lib/sideband/jitdumps.h \
	lib/sideband/timed_code.c lib/sideband/timed_code.h \
	lib/sideband/pass_one.c lib/sideband/pass_one.h \
	lib/sideband/readahead.c lib/sideband/readahead.h \
	lib/sideband/sideband.c lib/sideband/sideband.h
UNIT_TESTS += tests/unit/test_sideband.c
