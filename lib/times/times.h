/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time of threads: the meaning of weights in each mode (enum sp_mode). Samples say where time was
 * spent, and the states of threads say how much. When all samples are counted,
 *
 *	sum of leaves + sum of rests = strata.whole = time of threads
 *
 * before filters, and without idle threads. A leaf's time is its samples' part of their stratum's
 * time. The time of threads is, by mode:
 *
 *	wall      each thread's life: on a CPU, waiting for one, blocked, or unknown
 *	off-cpu   the same without the time on a CPU
 *	latency   each process's life: a thread's time divided by the number of threads that could
 *	          run, and the time in which none could
 *	wakers    blocked time that recorded wake-ups ended; without states of threads, 1 for each.
 *	          Samples of waits only show which threads are idle
 *	cpu       each thread's CPU time, by inherited clocks of recordings with switches; else
 *	          weights are those of samples: there are no strata, and leaves have no times
 *
 * Threads without known states have the weights of their samples. The order of calls:
 *
 *	times_init()            roles of events; checks that the recording has what the mode needs
 *	weigher->weigh()        time of each sample, in parallel by worker:
 *	times_next_part()         what it has of each slice
 *	leaf_times_count()        by stratum, before filters
 *	leaf_times_add()          by leaf, if filters show it; of truncated stacks later
 *	times_compute()         strata and rests, when all samples are counted; rests become leaves
 *	leaf_times_scale()      times of all leaves
 *	times_leave_out_idle()  wall, off-cpu, wakers
 *	weigher->split_leaf()   rows and tree nodes by state
 *	times_add_totals()      the profile's time, when rows were made
 */
#pragma once

#include <sprof/reader.h>
#include "profile/analysis_options.h"
#include "profile/analysis_keys.h"
#include "states/task_states.h"
#include "times/epochs.h"
#include "times/leaf_times.h"
#include "times/runners.h"
#include "times/slices.h"

/* Meaning of an event's samples in a mode. */
enum sample_role {
	ROLE_NONE,   /* not counted */
	ROLE_ON_CPU, /* distributes on-CPU time, and preempted time that has no samples */
	ROLE_PREEMPTED, /* a preempted thread; its period is the time in ns until it runs again */
	ROLE_WAIT,   /* a wait; its period is the time in ns */
	ROLE_SWITCH, /* a thread leaves a CPU; the states have the length of the wait */
	ROLE_WAKE,   /* a wake-up; the states have the length of the wait that it ended */
};

/* Name of events with ROLE_WAIT: perf's and ours. */
#define TIMES_WAIT_EVENT "offcpu-time"

/* Name of the event with ROLE_PREEMPTED. */
#define TIMES_PREEMPTED_EVENT "preempted-time"

struct times;

/* Parts of a sample that are counted. */
enum weigher_unit {
	WEIGHER_SAMPLE,
	WEIGHER_COUNTERS, /* counter values (PERF_SAMPLE_READ), else the sample */
	WEIGHER_BRANCHES, /* branches of its branch stack */
};

/* A mode. weigh() and split_leaf() are thread-safe. */
struct weigher {
	enum weigher_unit unit;
	bool of_threads;        /* all events count in one profile, and leaves have times by state;
				 * else the members up to find_roles() are not set */
	bool needs_wakers;      /* the waker of each sample */
	bool needs_parallelism; /* the number of threads that could run at each time */
	bool keeps_untimed;     /* samples without time make rows, too */
	bool leaves_out_idle;
	bool excludes_on_cpu;   /* the time of threads is without that on a CPU */
	uint8_t parts_max;      /* most parts of a leaf, which have names */

	/* Sets the role of each event of a recording. */
	void (*find_roles)(const struct sp_reader *reader,
			   const struct sp_analysis_samples *samples, uint8_t *roles_ret);
	/* Fails if the recording lacks records that the mode needs; NULL: it needs none. */
	struct sp_error *(*check)(const struct times *times);
	/* Not of threads: whether states of threads are needed; NULL: no. */
	bool (*wants_states)(const struct sp_reader *reader);
	/* Completes the times of a recording; NULL: there is nothing to do. */
	struct sp_error *(*prepare)(struct times *times, const struct analysis_options *options);
	/*
	 * Completes the time of a sample, without its slice: *ret has when, and if it is shown.
	 * Returns false if it does not count.
	 */
	bool (*weigh)(const struct times *times, const struct sp_record *record,
		      struct sample_time *ret);
	/*
	 * Makes the strata and rests, without their sum. Returns false when out of memory. NULL:
	 * there are none.
	 */
	bool (*compute)(struct times *times, const struct sample_weights *weights);
	/* Splits a leaf to parts, see leaf_split_by_state(). */
	size_t (*split_leaf)(const struct timed_leaf *leaf, struct leaf_part ret[TIME_STATES]);
	/* Completes *all, the sum of strata and rests; `leaves`: sum of those that filters show. */
	void (*add_totals)(const struct times *times, const struct state_sums *leaves,
			   struct state_sums *all, struct state_whole *whole);
};

extern const struct weigher weigher_cpu, weigher_memory, weigher_branches, weigher_wall,
	weigher_off_cpu, weigher_latency, weigher_wakers;

/* Returns the mode that options request. */
static inline const struct weigher *weigher_of(const struct sp_analysis_samples *samples)
{
	switch (samples->mode) {
	case SP_MODE_WALL:
		return &weigher_wall;
	case SP_MODE_OFF_CPU:
		return &weigher_off_cpu;
	case SP_MODE_LATENCY:
		return &weigher_latency;
	case SP_MODE_WAKERS:
		return &weigher_wakers;
	default:
		return samples->branches ? &weigher_branches
		       : samples->memory ? &weigher_memory
					 : &weigher_cpu;
	}
}

/* A mode, and the recording as it needs it. Borrowed. */
struct times_source {
	const struct weigher *weigher;
	const struct sp_reader *reader;
	const struct task_states *states; /* has pids in any case; NULL: records have no times */
	const struct sched_samples *sched;
	const struct machine *machine;
	uint64_t command_ns; /* CPU time of all tasks by the kernel's count; 0: unknown */
};

/* A clock with samples that are scaled to exact CPU times, in mode cpu. */
struct scaled_clock {
	uint16_t event;
	bool user_only; /* it excludes the kernel */
	uint64_t period_ns;
	/* The next members are set by times_compute(). */
	uint64_t ns;       /* time of all threads */
	uint64_t kernel_ns; /* part of it that the clock excludes */
	double sampled_ns; /* part of it in epochs with samples */
	double factor;     /* mean factor of the samples' weights, weighted by the scaled weight */
};

/* A zeroed struct is empty: no clock is scaled. */
struct scaled_clocks {
	VEC(struct scaled_clock);
	uint16_t *number_of; /* by event: index + 1; 0: the event is not scaled; NULL: none is */
	struct epochs epochs;
};

void scaled_clocks_deinit(struct scaled_clocks *clocks);

/* Mode of one recording. */
struct times {
	const struct weigher *weigher; /* from.weigher */
	struct times_source from;
	const struct task_states *states; /* from.states; NULL: not known, or not needed */
	uint8_t *roles;             /* enum sample_role by event */
	uint16_t any_event;         /* an event with a role */
	uint16_t place_event;       /* samples of waits, to find idle threads, or SP_EVENT_NONE */
	enum sample_role place_role; /* its role in modes wall and off-cpu */
	bool has_on_cpu, has_waits; /* some event has ROLE_ON_CPU, ROLE_WAIT */
	bool wakers;		    /* the mode or a key needs the waker of each sample */
	bool by_state;		    /* rows depend on the state of their time */
	bool is_clock;              /* weights of on-CPU samples are ns */
	bool user_only;             /* the clock excludes the kernel: time in user code */
	bool kernel_only;           /* the clock excludes user code */
	bool of_tasks;              /* the timer stops while a thread does not run */
	uint64_t period;            /* weight of on-CPU samples that do not state it */
	bool by_snapshots;          /* no sample of a wait is of a woken thread */
	bool is_thinned;            /* samples of switches are a part of them */
	struct slices slices;           /* empty without states */
	struct strata strata;           /* set by times_compute() */
	struct runners runners; /* if the mode, a filter or a key needs the parallelism */
	struct scaled_clocks clocks;    /* mode cpu */
	uint64_t idle_threads, idle_ns; /* threads that were left out, and their time */
};

/*
 * Initializes the times of a recording. Fails if the recording lacks records that the mode needs;
 * the message names them, and the command that records them.
 */
struct sp_error *times_init(struct times *times, const struct times_source *source,
			    const struct analysis_options *options,
			    const struct analysis_keys *keys) SP_MUST_CHECK;

/* A zeroed struct may be deinitialised. */
void times_deinit(struct times *times);

/* Returns the scaled clock of an event; NULL: its samples are not scaled in mode cpu. */
const struct scaled_clock *times_scaled_clock(const struct times *times, uint16_t event);

/* Gets the slice of a rest, or the epoch, by its number in the strata. Returns the rest's event. */
uint16_t times_rest(const struct times *times, uint32_t number, struct slice *ret);

/*
 * Returns whether no slices divide a sample's time: nothing divides the recording, or states are
 * not known. Sets its slice then.
 */
static inline bool times_is_one_part(const struct times *times, struct sample_time *time)
{
	if (time->lifetime != LIFETIME_NONE && times->slices.windows.count > 1)
		return false;
	/* Mode cpu has set the stratum of its epoch. */
	if (time->lifetime != LIFETIME_NONE)
		time->stratum.slice = time->lifetime;
	return true;
}

/*
 * Gets the next part of a sample's time, by slices; *at_ns is `whole->begin_ns` before the first.
 * Returns false if there are no more.
 */
bool times_next_part(const struct times *times, const struct sample_time *whole, uint64_t *at_ns,
		     struct sample_time *ret);

/* Returns the error of a recording without switches; `what`: the mode or key that needs them. */
struct sp_error *times_no_switches(const struct sp_reader *reader, const char *what);

/* Checks that the recording has wake-ups, as times_no_switches(). */
struct sp_error *times_check_wakes(const struct times *times, const char *what) SP_MUST_CHECK;

/* Returns the index of the event of wake-ups; the number of events if there is none. */
size_t times_wake_event(const struct sp_reader *reader);

/* Returns the lifetime of a leaf's time; LIFETIME_NONE: it has none. */
static inline uint32_t times_lifetime(const struct times *times, const struct leaf_time *time)
{
	uint32_t slice = time->stratum.slice;
	return slice == SLICE_NONE ? LIFETIME_NONE : times->slices.lifetimes[slice];
}

/* Computes the times of all strata and rests for the weights of all workers. */
struct sp_error *times_compute(struct times *times,
			       const struct sample_weights *weights) SP_MUST_CHECK;

/* Returns whether a thread was blocked for most of its time: only such threads can be idle. */
bool times_mostly_waits(const struct times *times, uint32_t lifetime);

/* Adds the time for which a lifetime was blocked at a place; PLACE_HELD_UP: by locks and disks. */
#define PLACE_HELD_UP 0
void times_add_place(struct times *times, uint32_t lifetime, uint32_t place, uint64_t ns);

/* Returns whether times_leave_out_idle() has left out a thread; not LIFETIME_NONE's. */
bool times_leaves_out(const struct times *times, uint32_t lifetime);

/*
 * Subtracts the time of idle threads from the whole, and notes it: if times->idle_threads is not 0,
 * their leaves must be dropped. It is 0 if there are no others. Returns false when out of memory.
 */
bool times_leave_out_idle(struct times *times);

/*
 * Adds the recording's times to those of a profile. `leaves`: sums of the leaves that filters show;
 * `wakeups`: those of all workers.
 */
void times_add_totals(const struct times *times, const struct state_sums *leaves,
		      const struct state_sums *wakeups, struct sp_profile *profile,
		      struct state_whole *whole);

/* thread_samples.c: parts of the modes of threads' lives, see struct weigher. */
void threads_find_roles(const struct sp_reader *reader, const struct sp_analysis_samples *samples,
			uint8_t *roles_ret);
/* Sets the event of waits, if idle threads are left out. */
struct sp_error *threads_find_places(struct times *times,
				     const struct analysis_options *options) SP_MUST_CHECK;
/*
 * Returns the blocked time in the ranges of --time for which a sample of times->place_event stands,
 * and gets its lifetime and its system call's number plus 1, or 0. 0: it has none, or its thread is
 * not idle in any case.
 */
uint64_t threads_blocked_ns(const struct times *times, const struct sp_record *record,
			    uint32_t *lifetime_ret, uint32_t *syscall_ret);
bool threads_weigh(const struct times *times, const struct sp_record *record,
		   struct sample_time *ret);

/*
 * weigh_threads.c: if the clock excludes the kernel, sets the part of each slice's CPU time that
 * was in user code, for which on-CPU samples stand. The rest was in the kernel, if it is more than
 * 5 % of the CPU time plus one period. The same if the clock excludes user code.
 */
void threads_find_kernel_time(struct times *times, const struct sample_weights *weights);
