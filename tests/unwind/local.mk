# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LTLIBRARIES += tests/unwind/libdumps.la
tests_unwind_libdumps_la_SOURCES = tests/unwind/dumps.c tests/unwind/dumps.h
noinst_PROGRAMS += tests/unwind/repair_truth tests/unwind/unwind_time
tests_unwind_repair_truth_LDADD = tests/unwind/libdumps.la lib/libsprof-core.la
tests_unwind_unwind_time_LDADD = tests/unwind/libdumps.la lib/libsprof-core.la
noinst_PROGRAMS += tests/unwind/unwind_compare
tests_unwind_unwind_compare_CFLAGS = $(AM_CFLAGS) $(ELFUTILS_CFLAGS)
tests_unwind_unwind_compare_LDADD = tests/unwind/libdumps.la lib/libsprof-core.la $(ELFUTILS_LIBS)
