# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests: a new one is one word in check_PROGRAMS (its source is
# tests/unit/test_NAME.c); the folder it tests has that line in its local.mk.
# Every case is a line of its own: check and the scripts speak TAP.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run $(SHELL)
AM_TESTS_ENVIRONMENT = \
	export SPROF='$(abs_top_builddir)/src/sprof'; \
	export top_srcdir='$(abs_top_srcdir)'; export top_builddir='$(abs_top_builddir)'; \
	export XDG_CACHE_HOME='$(abs_top_builddir)/tests/cache'; export CC='$(CC)'; export LC_ALL=C;

check_LTLIBRARIES += tests/unit/libunit.la
tests_unit_libunit_la_SOURCES = tests/unit/bytes.h tests/unit/files.c tests/unit/files.h \
	tests/unit/made_ctx.h tests/unit/made_file.h tests/unit/made_go.h tests/unit/main.c tests/unit/resolving.h \
	tests/unit/root.h \
	tests/unit/test.h
tests_unit_libunit_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

AM_DEFAULT_SOURCE_EXT = .c
LDADD = tests/unit/libunit.la lib/libsprof-core.la $(CHECK_LIBS)

# A test script is one word in dist_check_SCRIPTS; it sources tests/tap.sh.
EXTRA_DIST += tests/run tests/summary tests/tap.sh
CLEANFILES += tests/sampling.lock
UNIT_TESTS = $(check_PROGRAMS)
TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)

include tests/workload/local.mk
include tests/fuzz/local.mk
include tests/cli/local.mk
include tests/html/local.mk
include tests/faults/local.mk
include tests/live/local.mk
include tests/unwind/local.mk
include tests/budget/local.mk
include tests/sim/local.mk
include tests/style/local.mk
include tests/vm/local.mk

# What recordings made by tests keep of the kernel.
.PHONY: clean-cache
clean-cache:
	rm -rf tests/cache
mostlyclean-local: clean-cache
