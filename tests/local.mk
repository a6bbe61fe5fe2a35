# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests are one program, tests/unit/unit. Each source in UNIT_TESTS is a test: `unit` runs the
# cases of that source. A new one is one word in UNIT_TESTS, in the local.mk of the folder it tests.
# Every case is a line of its own: check and the scripts speak TAP.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_DRIVER = $(LOG_DRIVER)
C_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .c .sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run
C_LOG_COMPILER = $(LOG_COMPILER) tests/unit/unit
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run $(SHELL)
AM_TESTS_ENVIRONMENT = \
	export SPROF='$(abs_top_builddir)/src/sprof'; \
	export top_srcdir='$(abs_top_srcdir)'; export top_builddir='$(abs_top_builddir)'; \
	export XDG_CACHE_HOME='$(abs_top_builddir)/tests/cache'; export CC='$(CC)'; export LC_ALL=C;

check_PROGRAMS += tests/unit/unit
tests_unit_unit_SOURCES = $(UNIT_TESTS) \
	tests/sched_waking.h \
	tests/unit/bytes.h \
	tests/unit/files.c tests/unit/files.h \
	tests/unit/made_ctx.h \
	tests/unit/made_file.h \
	tests/unit/made_go.h \
	tests/unit/made_tasks.h \
	tests/unit/main.c \
	tests/unit/python_image.h \
	tests/unit/recording.h \
	tests/unit/resolving.h \
	tests/unit/rings.h \
	tests/unit/root.h \
	tests/unit/simulated_cpus.h \
	tests/unit/test.h
tests_unit_unit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
tests_unit_unit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ELFUTILS_CFLAGS) $(LIBUNWIND_CFLAGS) \
	$(ZLIB_CFLAGS) $(ZSTD_CFLAGS) $(LIBTRACEEVENT_CFLAGS)
tests_unit_unit_LDADD = src/libcommand.la lib/libsprof-core.la $(CHECK_LIBS) $(ELFUTILS_LIBS) \
	$(LIBUNWIND_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS) $(LIBTRACEEVENT_LIBS)
.PHONY: unit
unit: $(BUILT_SOURCES)
	$(MAKE) $(AM_MAKEFLAGS) tests/unit/unit

AM_DEFAULT_SOURCE_EXT = .c
LDADD = lib/libsprof-core.la

# A test script is one word in dist_check_SCRIPTS; it sources tests/tap.sh.
EXTRA_DIST += tests/order.mk tests/run tests/static tests/summary tests/tap.sh
CLEANFILES += tests/sampling.lock
ALL_TESTS = $(UNIT_TESTS) $(PROGRAM_TESTS) $(dist_check_SCRIPTS)
TESTS += $(ALL_TESTS)
# Automake must not evaluate it.
-include $(srcdir)/tests/order.mk

# Tests of two minutes, the longest first.
QUICK_TESTS = $(filter tests/sim/% tests/style/%, $(dist_check_SCRIPTS)) $(UNIT_TESTS)
.PHONY: quick
quick: $(BUILT_SOURCES)
	@find tests -name '*.trs' -exec rm -f {} +
	@$(MAKE) $(AM_MAKEFLAGS) $(lib_LTLIBRARIES) src/sprof tests/unit/unit tests/sim/simulate
	@$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(QUICK_TESTS)' >quick.log 2>&1 </dev/null; \
		$(SHELL) $(top_srcdir)/tests/summary .
CLEANFILES += quick.log

include tests/workload/local.mk
include tests/fuzz/local.mk
include tests/cli/local.mk
include tests/html/local.mk
include tests/faults/local.mk
include tests/live/local.mk
include tests/names/local.mk
include tests/views/local.mk
include tests/unwind/local.mk
include tests/budget/local.mk
include tests/sim/local.mk
include tests/style/local.mk
include tests/vm/local.mk

# What recordings made by tests keep of the kernel.
.PHONY: clean-cache
clean-cache:
	rm -rf tests/cache
# Durations of tests, from tests/run.
.PHONY: clean-times
clean-times:
	find tests -name '*.time' -exec rm -f {} +
mostlyclean-local: clean-cache clean-times
