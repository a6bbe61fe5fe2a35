# SPDX-License-Identifier: GPL-2.0-or-later
# Kills, full disks, failing calls, damaged files. Each script does a few of what it does in
# `make check`, and many in `make check-faults` (minutes).
noinst_PROGRAMS += tests/faults/damage tests/faults/hostile tests/faults/inject \
	tests/faults/opened tests/faults/peak tests/faults/stall tests/faults/storms \
	tests/faults/strike
tests_faults_damage_LDADD = lib/libsprof-core.la
tests_faults_hostile_LDADD =
tests_faults_inject_SOURCES = tests/faults/calls.c tests/faults/inject_main.c tests/faults/inject.h
tests_faults_inject_LDADD =
tests_faults_opened_LDADD =
tests_faults_peak_LDADD =
tests_faults_stall_LDADD =
tests_faults_storms_LDADD =
# A profiler finds its symbols as those of an interpreter.
tests_faults_storms_LDFLAGS = -rdynamic
tests_faults_strike_LDADD =
# Preloaded by tests/faults/inject.sh: its malloc() must be seen, and is nobody's else.
check_LTLIBRARIES += tests/faults/no_memory.la
tests_faults_no_memory_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_faults_no_memory_la_LIBADD =
tests_faults_no_memory_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
EXTRA_DIST += tests/faults/lib.sh
dist_check_SCRIPTS += \
	tests/faults/budget.sh \
	tests/faults/devices.sh \
	tests/faults/inject.sh \
	tests/faults/kill.sh \
	tests/faults/neighbour.sh \
	tests/faults/recovery.sh \
	tests/faults/stranger.sh \
	tests/faults/system.sh

.PHONY: check-faults
check-faults: all
	KILLS=200 SPAN_MS=2300 DAMAGE_STEP=1 \
		INJECT_STEP=1 INJECT_SEEDS='0 1 2' FAULTS_FORKS=10000 $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(filter tests/faults/%, $(dist_check_SCRIPTS))'
