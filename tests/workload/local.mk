# SPDX-License-Identifier: GPL-2.0-or-later
# Programs to be profiled: what they do is known, and what is not part of them
# (sanitizers, the tests' libraries) stays out.
workload_cflags = -std=gnu11 -fno-omit-frame-pointer $(WARN_CFLAGS)
noinst_PROGRAMS += \
	tests/workload/beat \
	tests/workload/bpf_program \
	tests/workload/brief \
	tests/workload/busy \
	tests/workload/chains \
	tests/workload/deep \
	tests/workload/errands \
	tests/workload/family \
	tests/workload/faults \
	tests/workload/forks \
	tests/workload/idle \
	tests/workload/jitdump tests/workload/jitframes \
	tests/workload/leaf \
	tests/workload/leaf_signed \
	tests/workload/occurrences \
	tests/workload/perfmap \
	tests/workload/phases \
	tests/workload/ping_pong \
	tests/workload/probe \
	tests/workload/proportions \
	tests/workload/relay \
	tests/workload/serial_parallel \
	tests/workload/storm \
	tests/workload/threads \
	tests/workload/waits
EXTRA_DIST += tests/workload/frames.py
EXTRA_DIST += tests/workload/clock.h tests/workload/lives.h tests/workload/thread.h
# Made by tests and benchmarks themselves, in several ways: stacks/build.sh.
EXTRA_DIST += \
	tests/workload/stacks/bare.c \
	tests/workload/stacks/build.sh \
	tests/workload/stacks/cases.c \
	tests/workload/stacks/cases_x86_64.S \
	tests/workload/stacks/control.c \
	tests/workload/stacks/deep.c \
	tests/workload/stacks/frames.c \
	tests/workload/stacks/jit.c \
	tests/workload/stacks/libraries.c \
	tests/workload/stacks/library.c \
	tests/workload/stacks/library.h \
	tests/workload/stacks/main.c \
	tests/workload/stacks/stacks.h \
	tests/workload/stacks/streams.cc \
	tests/workload/stacks/throws.cc
tests_workload_beat_CFLAGS = $(workload_cflags)
tests_workload_beat_LDFLAGS =
tests_workload_beat_LDADD =
tests_workload_bpf_program_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_workload_bpf_program_LDFLAGS =
tests_workload_bpf_program_LDADD =
tests_workload_brief_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_brief_LDFLAGS =
tests_workload_brief_LDADD = $(PTHREAD_LIBS)
tests_workload_chains_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_workload_chains_LDFLAGS =
tests_workload_chains_LDADD =
tests_workload_deep_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_deep_LDFLAGS =
tests_workload_deep_LDADD = $(PTHREAD_LIBS)
tests_workload_errands_CFLAGS = $(workload_cflags)
tests_workload_errands_LDFLAGS =
tests_workload_errands_LDADD =
tests_workload_family_CFLAGS = $(workload_cflags)
tests_workload_family_LDFLAGS =
tests_workload_family_LDADD =
tests_workload_forks_CFLAGS = $(workload_cflags)
tests_workload_forks_LDFLAGS =
tests_workload_forks_LDADD =
tests_workload_idle_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_idle_LDFLAGS =
tests_workload_idle_LDADD = $(PTHREAD_LIBS)
tests_workload_jitdump_CFLAGS = $(workload_cflags)
tests_workload_jitdump_LDFLAGS =
tests_workload_jitdump_LDADD =
tests_workload_jitframes_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_workload_jitframes_LDFLAGS =
tests_workload_jitframes_LDADD =
tests_workload_leaf_CFLAGS = $(workload_cflags)
tests_workload_leaf_LDFLAGS =
tests_workload_leaf_LDADD =
tests_workload_leaf_signed_SOURCES = tests/workload/leaf.c
tests_workload_leaf_signed_CFLAGS = $(workload_cflags) -DSIGNED
tests_workload_leaf_signed_LDFLAGS =
tests_workload_leaf_signed_LDADD =
tests_workload_occurrences_CFLAGS = $(workload_cflags) -fno-pie
tests_workload_occurrences_LDFLAGS = -no-pie
tests_workload_occurrences_LDADD =
tests_workload_perfmap_CFLAGS = $(workload_cflags)
tests_workload_perfmap_LDFLAGS =
tests_workload_perfmap_LDADD =
tests_workload_probe_CFLAGS = $(workload_cflags)
tests_workload_probe_LDFLAGS =
tests_workload_probe_LDADD =
tests_workload_proportions_CFLAGS = $(workload_cflags)
tests_workload_proportions_LDFLAGS =
tests_workload_proportions_LDADD =
tests_workload_busy_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_busy_LDFLAGS =
tests_workload_busy_LDADD = $(PTHREAD_LIBS)
tests_workload_threads_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_threads_LDFLAGS =
tests_workload_threads_LDADD = $(PTHREAD_LIBS)
tests_workload_storm_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_storm_LDFLAGS =
tests_workload_storm_LDADD = $(PTHREAD_LIBS)
tests_workload_serial_parallel_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_serial_parallel_LDFLAGS =
tests_workload_serial_parallel_LDADD = $(PTHREAD_LIBS)
tests_workload_waits_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_waits_LDFLAGS =
tests_workload_waits_LDADD = $(PTHREAD_LIBS)
tests_workload_faults_CFLAGS = $(workload_cflags)
tests_workload_faults_LDFLAGS =
tests_workload_faults_LDADD =
tests_workload_phases_CFLAGS = $(workload_cflags)
tests_workload_phases_LDFLAGS =
tests_workload_phases_LDADD =
tests_workload_ping_pong_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_ping_pong_LDFLAGS =
tests_workload_ping_pong_LDADD = $(PTHREAD_LIBS)
tests_workload_relay_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_relay_LDFLAGS =
tests_workload_relay_LDADD = $(PTHREAD_LIBS)
