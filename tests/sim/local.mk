# SPDX-License-Identifier: GPL-2.0-or-later
# Deterministic simulation of the recorder (tests/sim/sim.h).
noinst_PROGRAMS += tests/sim/simulate
tests_sim_simulate_SOURCES = \
	tests/sched_waking.h \
	tests/sim/blocked.c tests/sim/blocked.h \
	tests/sim/calls.c tests/sim/calls.h \
	tests/sim/calls_data.c \
	tests/sim/calls_files.c \
	tests/sim/calls_folders.c \
	tests/sim/calls_process.c \
	tests/sim/calls_system.c \
	tests/sim/clock.c \
	tests/sim/descriptors.c \
	tests/sim/enter.h \
	tests/sim/files.c \
	tests/sim/found.h \
	tests/sim/mappings.c \
	tests/sim/oracles.c \
	tests/sim/perf_events.c \
	tests/sim/perf_records.c \
	tests/sim/perf_rings.c tests/sim/perf_rings.h \
	tests/sim/proc_fs.c \
	tests/sim/ranges.c \
	tests/sim/read_back.c \
	tests/sim/scenario.h \
	tests/sim/scenarios.c \
	tests/sim/session.c \
	tests/sim/sim.h \
	tests/sim/simulate.c \
	tests/sim/snapshots.c \
	tests/sim/stacks.c \
	tests/sim/states.c tests/sim/states.h \
	tests/sim/tasks.c \
	tests/sim/threads.c \
	tests/sim/waits.c \
	tests/sim/wakeups.c \
	tests/sim/workload.c \
	tests/thread_lives.c tests/thread_lives.h
# A sanitizer's runtime makes calls before it is ready: the functions that they reach are plain.
tests_sim_simulate_CFLAGS = $(AM_CFLAGS) -fno-sanitize=all
# Only the recorder's allocations are counted.
tests_sim_simulate_CPPFLAGS = $(AM_CPPFLAGS) -Dmalloc=__real_malloc -Dcalloc=__real_calloc \
	-Drealloc=__real_realloc
tests_sim_simulate_LDADD = lib/libsprof-core.la
tests_sim_simulate_LDFLAGS = $(AM_LDFLAGS) -Wl,@$(top_srcdir)/tests/sim/calls.txt
EXTRA_tests_sim_simulate_DEPENDENCIES = tests/sim/calls.txt
EXTRA_DIST += tests/sim/calls.txt tests/sim/harmless.txt
dist_check_SCRIPTS += tests/sim/test_sim.sh

# Thousands of runs: some minutes.
.PHONY: simulate
simulate: all
	SIM_SEEDS=1-100 SIM_SAME=0-10 SIM_FAULTS=3 SIM_KILLS=101 $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS=tests/sim/test_sim.sh
