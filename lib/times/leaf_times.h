/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of leaves: first the weights of their samples, then the times that these stand for, and
 * their parts by the state of the thread. Without samples of preempted threads, an on-CPU sample
 * also stands for the time in which its thread waited for a CPU.
 */
#pragma once

#include "states/sched_samples.h"
#include "times/strata.h"
#include "times/wait_reason.h"

/*
 * Time of one sample, by its mode, or a part of it: that of a wait in one slice. The weigher sets
 * `weight`; SP_MODE_CPU also `lifetime`, and for scaled clocks `is_timed` and `stratum`.
 */
struct sample_time {
	bool shown;        /* in a range of --time */
	bool is_later;     /* an earlier part of the sample is shown, and counted as one */
	uint64_t begin_ns; /* a wait's begin, or the sample's time; 0: unknown */
	uint64_t step_ns;  /* time within the slice, for key `time`; 0: unknown */
	uint64_t end_ns;   /* a wait's end */
	uint32_t lifetime; /* index of task_states_totals(); LIFETIME_NONE: states are not known */
	struct stratum_id stratum; /* waits have that of all classes */
	uint32_t wait_class;       /* 0: none, or the thread's states are not known */
	uint64_t weight;
	bool is_timed;          /* adds to times of leaves: the weight is time of a thread */
	bool is_wait;           /* the thread waits, with this stack */
	bool is_preempted;      /* the thread waits for a CPU, with this stack */
	uint32_t syscall;       /* waits: number of the system call plus 1, or 0 */
	double waits;           /* number of waits that the sample stands for */
	double variance;        /* variance of the weight by thinning, in ns² */
	uint64_t wait_ns;       /* duration of the wait */
	uint64_t wait_end_ns;   /* 0: unknown */
	bool wait_open;         /* the wait had not ended when the recording ended */
	struct sched_wake wake; /* SP_MODE_WAKERS; else tid 0 */
	uint32_t woken_pid;     /* pid of the woken thread, or its tid if that is unknown */
	uint64_t delay_ns;      /* from wake-up to running */
	const char *waker;      /* SP_MODE_WAKERS: its text, which is kept; else NULL */
};

struct leaf_time {
	struct state_sums sums; /* without the waits that have a class, until they are scaled */
	uint64_t weight;        /* weight of these samples, before they are scaled */
	struct stratum_id stratum;
	const char *waker;         /* see struct sample_time */
	uint8_t reason;            /* reason of its waits; WAIT_UNKNOWN until it is set */
	bool is_rest;              /* time without samples */
};

/* Times of one worker. A zeroed struct is empty. In SP_MODE_CPU, only scaled clocks have times. */
struct leaf_times {
	VEC(struct leaf_time);         /* by leaf, up to the last one that filters show */
	struct sample_weights strata;  /* all samples by stratum, before filters */
	struct sample_weights classes; /* waits that have a class, by key_of_pair(leaf, class) */
	struct sample_weights places;  /* blocked time by key_of_pair(lifetime, place) */
	VEC(struct state_sums) wakeups; /* sums of wake-ups by lifetime, without their blocked time;
					 * the first is of unknown ones */
};

void leaf_times_deinit(struct leaf_times *times);

/* Counts a sample, or a part of it, before filters. Returns false when out of memory. */
bool leaf_times_count(struct leaf_times *times, const struct sample_time *sample);

/* Adds a wake-up to the sums of its thread. Returns false when out of memory. */
bool leaf_times_add_wakeup(struct leaf_times *times, const struct sample_time *sample);

/* Adds a sample to its leaf. Returns false when out of memory. */
bool leaf_times_add(struct leaf_times *times, uint32_t leaf, const struct sample_time *sample);

/* Adds a leaf for a slice's time without samples. Returns false when out of memory. */
bool leaf_times_add_rest(struct leaf_times *times, uint32_t leaf, uint32_t slice,
			 const struct state_sums *rest);

/* Times of one worker, and a number for each leaf by which leaves are ordered. */
struct ordered_leaves {
	struct leaf_times *times;
	uint64_t *orders;
};

/*
 * Sets the times of all leaves with samples. Times are rounded in the order of the leaves, so that
 * equal leaves of several workers have one result, however samples were divided among workers.
 * Returns false when out of memory.
 */
bool leaf_times_scale(const struct ordered_leaves *workers, uint32_t count, struct strata *strata);

/* Words for SP_KEY_STATE: an enum time_state, or STATE_WAIT plus a reason (wait_reason.h). */
#define STATE_ALL_WAIT TIME_STATES /* latency mode: no thread of the process could run */
#define STATE_WAIT 16

/* Leaf that is split. */
struct timed_leaf {
	uint64_t samples, weight;     /* samples that pass the filters */
	const struct leaf_time *time; /* NULL: samples are not timed */
};

/* A part of a leaf: its samples in one state. */
struct leaf_part {
	uint64_t samples, weight; /* samples: 0 if they count in another part of the leaf */
	struct state_sums times;
	uint64_t state; /* word; DETAIL_NONE if the mode has no states */
	enum time_state time;
	const char *text; /* name of the tree's outermost node; NULL: none */
};

/*
 * Splits a leaf by state; `state_of_waits`: word for its blocked time. Returns the number of parts.
 * Each has time; a leaf that filters reject has none.
 */
size_t leaf_split_by_state(const struct timed_leaf *leaf, uint64_t state_of_waits,
			   struct leaf_part ret[TIME_STATES]);

/* Returns a state's text ("[on CPU]"), a constant. */
const char *leaf_state_text(uint64_t state);

/* Returns the object that a thread in this state waits for: "futex", "-"; NULL: unknown. */
const char *leaf_state_waits_for(uint64_t state);
