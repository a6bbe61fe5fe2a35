# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions, allocations and opened files of ten jobs: HACKING, "Budgets".
check_LTLIBRARIES += tests/budget/counts.la
# Its malloc() must not be the one of a program under test, nor call it.
tests_budget_counts_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_budget_counts_la_LIBADD =
tests_budget_counts_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
EXTRA_DIST += tests/budget/compare.awk tests/budget/program.awk tests/budget/recording.awk \
	tests/budget/table tests/budget/totals.awk
dist_check_SCRIPTS += tests/budget/test_budget.sh
