# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/analysis/analysis.c \
	lib/analysis/bodies.c lib/analysis/bodies.h \
	lib/analysis/branches.c \
	lib/analysis/chain.c lib/analysis/chain.h \
	lib/analysis/count_troubles.c \
	lib/analysis/counters.c \
	lib/analysis/deferred.c lib/analysis/deferred.h \
	lib/analysis/detail.c lib/analysis/detail.h \
	lib/analysis/findings.c lib/analysis/findings.h \
	lib/analysis/finish.c \
	lib/analysis/grow.c \
	lib/analysis/groups.c lib/analysis/groups.h \
	lib/analysis/internal.h \
	lib/analysis/jit.c lib/analysis/jit.h \
	lib/analysis/labels.c lib/analysis/labels.h \
	lib/analysis/lookup.c lib/analysis/lookup.h \
	lib/analysis/loss_findings.c \
	lib/analysis/lives.c lib/analysis/lives.h \
	lib/analysis/names.c lib/analysis/names.h \
	lib/analysis/matches.c lib/analysis/matches.h \
	lib/analysis/pass_one.c lib/analysis/pass_one.h \
	lib/analysis/places.c lib/analysis/places.h \
	lib/analysis/recorded_until.c lib/analysis/recorded_until.h \
	lib/analysis/runtimes.c lib/analysis/runtimes.h \
	lib/analysis/scout.c lib/analysis/scout.h \
	lib/analysis/short_tasks.c \
	lib/analysis/sideband.c lib/analysis/sideband.h \
	lib/analysis/stack_end.h \
	lib/analysis/starts.c lib/analysis/starts.h \
	lib/analysis/sum.c \
	lib/analysis/stack_troubles.c \
	lib/analysis/stacks.c lib/analysis/stacks.h \
	lib/analysis/time_order.c lib/analysis/time_order.h \
	lib/analysis/time_bins.c lib/analysis/time_bins.h \
	lib/analysis/trouble.c \
	lib/analysis/unsampled.c lib/analysis/unsampled.h \
	lib/analysis/value.c \
	lib/analysis/unwinding.c lib/analysis/unwinding.h \
	lib/analysis/worker.c lib/analysis/worker.h
check_PROGRAMS += tests/unit/test_analysis tests/unit/test_cancel tests/unit/test_chain tests/unit/test_sideband tests/unit/test_labels tests/unit/test_time_bins
