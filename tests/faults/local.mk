# SPDX-License-Identifier: GPL-2.0-or-later
# Kills, full disks, failing calls, damaged files. Each script does a few of what it does in
# `make check`, and many in `make check-faults` (minutes).
noinst_PROGRAMS += tests/faults/damage tests/faults/strike
tests_faults_damage_LDADD = lib/libsprof-core.la
tests_faults_strike_LDADD =
EXTRA_DIST += tests/faults/lib.sh
dist_check_SCRIPTS += tests/faults/kill.sh tests/faults/recovery.sh

.PHONY: check-faults
check-faults: all
	KILLS=200 SPAN_MS=2300 DAMAGE_STEP=1 $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS="tests/faults/kill.sh tests/faults/recovery.sh"
