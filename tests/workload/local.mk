# SPDX-License-Identifier: GPL-2.0-or-later
# Programs to be profiled: what they do is known, and what is not part of them
# (sanitizers, the tests' libraries) stays out.
workload_cflags = -std=gnu11 -fno-omit-frame-pointer $(WARN_CFLAGS)
noinst_PROGRAMS += \
	tests/workload/deep \
	tests/workload/forks \
	tests/workload/idle \
	tests/workload/probe \
	tests/workload/proportions \
	tests/workload/storm \
	tests/workload/threads
EXTRA_DIST += tests/workload/clock.h
tests_workload_deep_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_deep_LDFLAGS =
tests_workload_deep_LDADD = $(PTHREAD_LIBS)
tests_workload_forks_CFLAGS = $(workload_cflags)
tests_workload_forks_LDFLAGS =
tests_workload_forks_LDADD =
tests_workload_idle_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_idle_LDFLAGS =
tests_workload_idle_LDADD = $(PTHREAD_LIBS)
tests_workload_probe_CFLAGS = $(workload_cflags)
tests_workload_probe_LDFLAGS =
tests_workload_probe_LDADD =
tests_workload_proportions_CFLAGS = $(workload_cflags)
tests_workload_proportions_LDFLAGS =
tests_workload_proportions_LDADD =
tests_workload_threads_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_threads_LDFLAGS =
tests_workload_threads_LDADD = $(PTHREAD_LIBS)
tests_workload_storm_CFLAGS = $(workload_cflags) $(PTHREAD_CFLAGS)
tests_workload_storm_LDFLAGS =
tests_workload_storm_LDADD = $(PTHREAD_LIBS)
