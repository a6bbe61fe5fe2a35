/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of each thread over time: on a CPU, waiting for a CPU, or blocked. Built in pass one from
 * SWITCH, SWITCH_CPU_WIDE, FORK, EXIT and COMM records, samples of sched tracepoints, and the
 * recorder's notes. Immutable after task_states_seal(), and then usable by several threads.
 *
 * A lifetime is the part of a thread's life within the recording. A tid that is used again has
 * several lifetimes. Threads that existed when the recording began were blocked until they first
 * ran, unless they were on a CPU. A state lasts until the next record of the thread, or the
 * recording's end.
 *
 * Lost records make time unknown: the time in which they were lost, intervals with contradicting
 * begin and end, and the rest of an interval in which a thread could run. After a loss, a thread
 * off the CPU counts as blocked. Between two losses without a record of the thread, its state is
 * assumed to stay. A thread's states sum to its lifetime.
 *
 * Memory: 16 bytes for each switch, twice as much during task_states_seal(). Times are in the
 * recording's clock, in ns.
 */
#pragma once

#include <sprof/record.h>

enum task_state {
	TASK_UNKNOWN,
	TASK_RUNNING,  /* on a CPU */
	TASK_RUNNABLE, /* waiting for a CPU: preempted, or woken */
	TASK_BLOCKED,  /* includes the time from waking to running if wake-ups were not recorded */
	TASK_STATES,
};

struct task_interval {
	uint64_t begin_ns, end_ns;
	enum task_state state;
	bool open; /* had not ended when the recording ended */
};

/* Source of the distinction between blocked and runnable after a wait. */
enum task_split {
	TASK_SPLIT_NONE,      /* blocked_ns includes the time from waking to running */
	TASK_SPLIT_SCHEDSTAT, /* exact in the thread's totals, estimated for each wait */
	TASK_SPLIT_WAKING,    /* exact for each interval */
};

/* Sums of a lifetime. running_ns + runnable_ns + blocked_ns + unknown_ns = end_ns - begin_ns. */
struct task_totals {
	uint32_t pid, tid;
	uint64_t begin_ns, end_ns;
	uint64_t running_ns, runnable_ns, blocked_ns, unknown_ns;
	uint64_t woken_ns;         /* part of runnable_ns: from waking to running */
	/*
	 * TASK_SPLIT_SCHEDSTAT: estimated time from waking to running, equal for all waits that are
	 * longer; shorter ones are that time alone. 0 for a part of the life.
	 */
	uint64_t wake_ns;
	int64_t switch_ns;         /* mean time by which switches to the thread were moved */
	uint64_t waits;            /* blocked intervals, including those open at either end */
	uint64_t longest_wait_ns;
	enum task_split split;
	bool counted;              /* running_ns is the kernel's count, else that of switches */
	bool born;                 /* began during the recording */
	bool ended;                /* ended during the recording */
};

struct task_states;

struct sp_error *task_states_new(struct task_states **ret) SP_MUST_CHECK;
void task_states_free(struct task_states *states);

/* Notes that switches are recorded: a thread without any has none. Switches themselves imply it. */
void task_states_expect_switches(struct task_states *states);

/*
 * Adds a record; ignores types without use here. The order is free, except that notes come in
 * the file's order. Fails only when out of memory.
 */
struct sp_error *task_states_add(struct task_states *states,
				 const struct sp_record *record) SP_MUST_CHECK;

enum task_switch {
	TASK_SWITCH_IN,
	TASK_SWITCH_BLOCK,
	TASK_SWITCH_PREEMPT,
	TASK_SWITCH_EXIT, /* from a thread that has ended */
	TASK_SWITCH_WAKE,
	TASK_SWITCH_SEEN,  /* no switch: the thread was on a CPU */
	TASK_SWITCH_WAKER, /* like TASK_SWITCH_SEEN, of a thread that may not be recorded itself */
};

/* Context that woke a thread. An interrupt is not the work of the thread that it interrupted. */
enum task_waker {
	TASK_WAKER_UNKNOWN,
	TASK_WAKER_THREAD,
	TASK_WAKER_IDLE,      /* the idle task */
	TASK_WAKER_INTERRUPT, /* a hardware interrupt or NMI */
	TASK_WAKER_SOFTIRQ,
};

/* Event of a thread by a sample. Switches count only if the thread has no SWITCH records. */
struct task_switched {
	uint32_t pid, tid; /* pid 0: unknown */
	uint64_t time_ns;
	uint32_t cpu;      /* UINT32_MAX: unknown */
	enum task_switch kind;
	enum task_waker waker; /* TASK_SWITCH_WAKE */
	uint32_t waker_tid;    /* TASK_WAKER_THREAD; TASK_WAKER_SOFTIRQ: the thread on the CPU */
	const uint64_t *ips;   /* TASK_WAKER_SOFTIRQ: the sample's call chain */
	size_t ip_count;
};

/* Adds an event by a sample, in any order. Fails only when out of memory. */
struct sp_error *task_states_add_switch(struct task_states *states,
					const struct task_switched *switched) SP_MUST_CHECK;

/* Notes that a thread has samples. It ran all the time if it has no switches. Fails like the others. */
struct sp_error *task_states_add_seen(struct task_states *states, uint32_t pid,
				      uint32_t tid) SP_MUST_CHECK;

/*
 * Ends the adding. The recording lasts from `first_ns` to `last_ns`, longer if records are
 * outside, and no longer than its notes of the file's begin and end say. 0 and 0: only records
 * state it. Fails only when out of memory.
 */
struct sp_error *task_states_seal(struct task_states *states, uint64_t first_ns,
				  uint64_t last_ns) SP_MUST_CHECK;

/* Returns whether switches were recorded. If not, all time is unknown. */
bool task_states_known(const struct task_states *states);

/* Returns whether single events, by the recorder's notes, were disabled for a time. */
bool task_states_partly_off(const struct task_states *states);

/* Return the begin and end of the recording, by its records. */
uint64_t task_states_first_ns(const struct task_states *states);
uint64_t task_states_last_ns(const struct task_states *states);

/* Lifetimes, in no defined order; those of one tid follow each other and ascend. */
size_t task_states_count(const struct task_states *states);
const struct task_totals *task_states_totals(const struct task_states *states, size_t index);

/* Returns the index of a tid's first lifetime, and their number; 0 lifetimes if the tid is unknown. */
size_t task_states_find(const struct task_states *states, uint32_t tid, size_t *count_ret);

/* Returns the index of the tid's lifetime at a time, or of the nearest one before; SIZE_MAX: none. */
size_t task_states_lifetime(const struct task_states *states, uint32_t tid, uint64_t time_ns);

/* Gets the interval that includes a time. False if the thread does not exist then. */
bool task_states_at(const struct task_states *states, uint32_t tid, uint64_t time_ns,
		    struct task_interval *ret);

/*
 * Calls `visit` for what each interval of a lifetime has of a time, in order. Estimated time from
 * waking to running (TASK_SPLIT_SCHEDSTAT) is an interval of its own.
 */
void task_states_each(const struct task_states *states, size_t index, uint64_t from_ns,
		      uint64_t until_ns,
		      void (*visit)(void *arg, const struct task_interval *interval), void *arg);

/*
 * Gets the first interval off CPU that begins with a switch at or after a time: blocked or runnable. The
 * kernel writes the samples of a switch up to some µs before its SWITCH record.
 */
bool task_states_next_wait(const struct task_states *states, uint32_t tid, uint64_t time_ns,
			   struct task_interval *ret);

/* Times of a wait. Times in which records were lost are no part of the last two. */
struct task_wait {
	uint64_t duration_ns; /* by task_states_next_wait(): until a loss, or of the loss that it begins in */
	uint64_t blocked_ns;
	uint64_t woken_ns;    /* from waking to running; estimated if wake-ups were not recorded */
};

/*
 * Calls `visit` for each wait of a lifetime that has a part from `from_ns` to `until_ns`, with what
 * its blocked_ns and woken_ns have there.
 */
void task_states_each_wait(const struct task_states *states, size_t index, uint64_t from_ns,
			   uint64_t until_ns,
			   void (*visit)(void *arg, const struct task_wait *wait), void *arg);

/* A wake-up that ended a wait. */
struct task_wakeup {
	uint64_t begin_ns, wake_ns; /* the wait's begin, and its end by the wake-up */
	uint64_t blocked_ns;        /* time between, without times in which records were lost */
	uint64_t run_ns;            /* when the thread got a CPU, or its lifetime's end */
	enum task_waker waker;
	uint32_t pid, tid;          /* TASK_WAKER_THREAD; pid 0: unknown; TASK_WAKER_SOFTIRQ: the
				     * thread on the CPU, tid 0: unknown */
	const uint64_t *ips;        /* TASK_WAKER_SOFTIRQ: the kernel's call chain, borrowed */
	size_t ip_count;
};

/* Gets the wake-up by which a thread's wait ended at that time. Returns false if no wait ended so. */
bool task_states_wakeup(const struct task_states *states, uint32_t tid, uint64_t time_ns,
			struct task_wakeup *ret);

/* Returns the last known pid of a thread; 0: unknown. */
uint32_t task_states_pid(const struct task_states *states, uint32_t tid);

/*
 * Adds a lifetime's sums and counts from `from_ns` to `until_ns` to *ret: a wait that began before counts
 * from there. Parts of a lifetime sum to it.
 */
void task_states_window(const struct task_states *states, size_t index, uint64_t from_ns,
			uint64_t until_ns, struct task_totals *ret);

/* Adds the times that a lifetime spent in each state from `from_ns` to `until_ns`. */
void task_states_sum(const struct task_states *states, size_t index, uint64_t from_ns,
		     uint64_t until_ns, uint64_t ret[TASK_STATES]);
