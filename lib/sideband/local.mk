# SPDX-License-Identifier: GPL-2.0-or-later
lib_libsprof_core_la_SOURCES += \
	lib/sideband/deferred.c lib/sideband/deferred.h \
	lib/sideband/dump_unwind.c lib/sideband/dump_unwind.h \
	lib/sideband/jit_frames.c lib/sideband/jit_frames.h \
	lib/sideband/jitdumps.c lib/sideband/jitdumps.h \
	lib/sideband/pass_one.c lib/sideband/pass_one.h \
	lib/sideband/readahead.c lib/sideband/readahead.h \
	lib/sideband/recorded_until.c lib/sideband/recorded_until.h \
	lib/sideband/sched_samples.c lib/sideband/sched_samples.h \
	lib/sideband/seen_threads.c lib/sideband/seen_threads.h \
	lib/sideband/sideband.c lib/sideband/sideband.h \
	lib/sideband/task_events.c lib/sideband/task_events.h \
	lib/sideband/task_gaps.c lib/sideband/task_gaps.h \
	lib/sideband/task_latency.c lib/sideband/task_latency.h \
	lib/sideband/task_lifetimes.c lib/sideband/task_lifetimes.h \
	lib/sideband/task_lives.c lib/sideband/task_lives.h \
	lib/sideband/task_states.c lib/sideband/task_states.h
check_PROGRAMS += tests/unit/test_sideband tests/unit/test_task_states
