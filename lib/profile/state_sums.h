/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of time by the state of threads, with the sampling variance of the blocked part. */
#pragma once

#include <sprof/profile.h>

/* States of threads, in the order in which reports show them. */
enum time_state { TIME_ON_CPU, TIME_RUNNABLE, TIME_BLOCKED, TIME_UNKNOWN, TIME_STATES };

struct state_sums {
	uint64_t ns[TIME_STATES]; /* saturating */
	uint64_t preempted_ns;    /* part of ns[TIME_RUNNABLE] with samples of preempted threads */
	double waits;             /* number of waits; estimated if short ones were recorded at random */
	uint64_t longest_ns;      /* longest recorded wait */
	double variance;          /* variance of ns[TIME_BLOCKED], in ns²; 0: all waits were recorded */
	uint64_t delay_ns;        /* SP_MODE_WAKERS: from wake-up to running; no part of the sum */
};

void state_sums_add(struct state_sums *to, const struct state_sums *from);

/* Returns the time in all states; saturating. */
uint64_t state_sums_total(const struct state_sums *sums);

/* Whole of an event's time, the denominator of the rows' shares. */
struct state_whole {
	struct state_sums sums;
	struct state_sums shown; /* part that passes the filters */
	double n_eff; /* information of the on-CPU samples (weight_sums_effective()) */
	double preempted_n_eff; /* the same of preempted threads */
	uint64_t unended_ns; /* SP_MODE_WAKERS: blocked time that no recorded wake-up ended */
	bool counts;  /* SP_MODE_WAKERS, no recording has context switches: `ns` are numbers of wake-ups */
};

/*
 * Returns a part's share of the whole time, with its 95 % interval. On-CPU and other runnable time
 * is distributed by the same on-CPU samples: each has Wilson's interval for n_eff samples; their
 * errors add up. Preempted time has that for preempted_n_eff samples. Blocked time is exact but for
 * `variance`. Without samples (n_eff 0), only the states distribute time. The whole time in each
 * state is exact. The errors of the three kinds are combined by their squares (Newcombe, 1998).
 */
struct sp_share state_share(const struct state_sums *part, const struct state_whole *whole);

/* Converts a part to the public form, with the number of waits rounded. */
struct sp_times state_times(const struct state_sums *part, const struct state_whole *whole);
