/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling events of threads: collected in any order, then sorted by thread and time. */
#pragma once

#include "base/hash.h"
#include "base/vec.h"

enum task_event_kind {
	TASK_EVENT_FORK,
	TASK_EVENT_EXEC,    /* also evidence that the thread runs */
	TASK_EVENT_EXIT,
	TASK_EVENT_IN,      /* switch to the thread */
	TASK_EVENT_OUT,     /* switch from the thread, which blocks */
	TASK_EVENT_PREEMPT, /* switch from the thread, which could run */
	TASK_EVENT_WAKE,
	TASK_EVENT_SEEN,    /* evidence that the thread runs */
	/* Events by samples, which are used only for threads without SWITCH records. */
	TASK_EVENT_TRACE = 1 << 4,
};

#define TASK_CPU_UNKNOWN 0xffffffu

/* Values of task_event.cpu of WAKE events that are no waker's tid. */
#define TASK_WAKE_UNKNOWN TASK_CPU_UNKNOWN
#define TASK_WAKE_INTERRUPT 0xfffffeu
#define TASK_WAKE_SOFTIRQ 0xfffffdu

/* From here on to TASK_WAKE_SOFTIRQ: a softirq with a known stack. Larger than any tid. */
#define TASK_WAKE_STACKS 0x800000u

struct task_event {
	uint64_t time_ns;
	uint32_t thread; /* index in threads */
	uint32_t cpu : 24, kind : 8; /* cpu of a FORK event: the new task's pid; of a WAKE event: the waker's
				      * tid (0: the idle task), or a TASK_WAKE_* */
};

/* A count of /proc/PID/task/TID/schedstat. */
struct task_schedstat {
	uint64_t time_ns, took_ns; /* reading ended then, and took that long; UINT64_MAX: unknown */
	uint64_t run_ns, wait_ns;  /* on a CPU, and waiting for one, since the thread began */
	uint32_t thread;           /* index in threads */
};

struct task_thread {
	uint32_t tid, pid; /* pid 0: unknown; a FORK event's own pid precedes it */
	bool own;          /* recorded itself, not only as the next or woken thread of another */
	bool switched;     /* has SWITCH records */
	bool sampled;      /* has samples */
	bool over;         /* has a synthesized EXIT: it ended before the recording, or before its end */
	bool seen;         /* the last added event by a sample was evidence that the thread runs */
	size_t first, count; /* events, after task_events_sort() */
	size_t first_life, life_count; /* after task_lives_make() */
	size_t first_stat, stat_count; /* schedstats, after task_events_sort() */
	size_t first_exec, exec_count; /* execs, while task_lives_make() runs */
};

/* A zeroed struct is empty. */
struct task_events {
	VEC(struct task_event) items;
	struct { VEC(struct task_schedstat); } schedstats;
	VEC(struct task_thread) threads;
	struct u64map thread_of; /* tid -> index in threads */
};

void task_events_deinit(struct task_events *events);

/* Returns the thread with that tid, added if it is absent, valid until the next call; NULL: no memory. */
struct task_thread *task_events_thread(struct task_events *events, uint32_t tid, uint32_t pid);

/* Adds an event of a thread. A CPU that does not fit is unknown. Returns false when out of memory. */
bool task_events_add(struct task_events *events, struct task_thread *thread, unsigned int kind,
		     uint64_t time_ns, uint32_t cpu);

/* Adds a count of a thread; its index is set here. Returns false when out of memory. */
bool task_events_add_schedstat(struct task_events *events, const struct task_thread *thread,
			       const struct task_schedstat *stat);

/* Sorts all by thread and time; events of one time keep their order. False when out of memory. */
bool task_events_sort(struct task_events *events);
