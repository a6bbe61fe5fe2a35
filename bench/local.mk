# SPDX-License-Identifier: GPL-2.0-or-later
# make bench [BENCH='SECTION...'] [PERF=path] [PERF_NEW=path]: compares with perf in the
# same run.
noinst_PROGRAMS += bench/measure
bench_measure_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
bench_measure_LDFLAGS =
bench_measure_LDADD =
noinst_PROGRAMS += bench/symbolize
bench_symbolize_LDADD = lib/libsprof.la
# What draining many CPUs costs: bench/drains.c says how.
EXTRA_PROGRAMS = bench/drains bench/unwinder bench/diff_simulation
# Simulated comparisons: make bench/diff_simulation && bench/diff_simulation.
bench_diff_simulation_LDADD = lib/libsprof.la -lm
bench_drains_LDADD = lib/libsprof-core.la
# The unwinder of the shared library, and libunwind: make bench BENCH=unwinder.
bench_unwinder_CFLAGS = $(AM_CFLAGS) $(LIBUNWIND_CFLAGS)
bench_unwinder_LDADD = lib/libsprof.la $(LIBUNWIND_LIBS) $(PTHREAD_LIBS)
EXTRA_DIST += bench/against bench/diff_study.py bench/interval_study.py bench/live_intervals.py \
	bench/run.sh bench/exports.sh bench/off_cpu.sh \
	bench/lock_in.sh bench/python.py bench/python_calls.c bench/recorder.sh bench/stacks.sh \
	bench/fold.awk bench/big.sh bench/symbolizer.sh \
	bench/big/main.cc bench/big/part.cc bench/big/part.h

.PHONY: bench
bench: all bench/unwinder
	@top_builddir='$(abs_top_builddir)' PERF='$(PERF)' PERF_NEW='$(PERF_NEW)' CC='$(CC)' \
		$(SHELL) $(srcdir)/bench/run.sh $(BENCH)
