# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/unwinder/thread.c \
	lib/unwinder/unwinder.c lib/unwinder/unwinder.h
check_PROGRAMS += tests/unit/test_unwinder
tests_unit_test_unwinder_CFLAGS = $(AM_CFLAGS) $(ELFUTILS_CFLAGS) $(LIBUNWIND_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_unwinder_LDADD = $(LDADD) $(ELFUTILS_LIBS) $(LIBUNWIND_LIBS)
dist_check_SCRIPTS += tests/live/test_example_unwinder.sh
