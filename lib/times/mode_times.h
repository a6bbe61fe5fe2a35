/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of threads that a mode's samples are scaled to, by stratum. Time without a sample in its stratum is
 * the thread's rest, which has no stack, or was in the kernel.
 */
#ifndef TIMES_MODE_TIMES_H
#define TIMES_MODE_TIMES_H

#include "times/mode.h"

struct stratum {
	uint64_t ns[TIME_STATES]; /* time that the samples stand for */
	uint64_t weight;          /* weight of the samples */
	uint64_t done;            /* weight of the samples that were scaled, see stratum_scale() */
	double waits_factor;      /* samples of waits: scales their number of waits to the true one */
};

struct mode_times {
	VEC(struct stratum) strata;
	struct u64map index_of;    /* mode_stratum_key() -> index in `strata` */
	struct state_sums *rest;   /* by lifetime */
	uint64_t *kernel_ns;       /* by lifetime: CPU time in the kernel, which has no samples */
	double *sampled_part;      /* by lifetime: the other part of its CPU time */
	size_t lifetime_count;
	struct state_sums whole;   /* sum of all strata and rests */
};

/* A zeroed struct may be deinitialised. */
void mode_times_deinit(struct mode_times *times);

/*
 * Computes the times of a mode for the weights of all workers. *times must be zeroed, and deinitialised after
 * a failure, too.
 *
 * Waits' strata have the exact time of waits of their class. Classes without samples add to the nearest class
 * of the thread that has some. Classes without waits (MODE_WAIT_UNMATCHED, or a contradiction of the records)
 * have their samples' part of the weight of the thread's waits, and the other classes share the rest.
 *
 * If a clock excludes the kernel (mode->user_only), on-CPU samples stand for the time in user code. What is
 * left of a thread's CPU time was in the kernel, if it is more than 5 % of the CPU time plus one period.
 *
 * In latency mode, a stratum's time is divided by its number of threads. The time in which no thread of a
 * process could run is blocked time in the rest of the process's first lifetime, or unknown time if the state
 * of a thread is not known. Time of a stratum without samples is added to the thread's other strata, in
 * proportion.
 */
struct sp_error *mode_times_make(struct mode_times *times, const struct mode *mode,
				 const struct mode_weights *weights) SP_MUST_CHECK;

/* Returns the stratum of a key; NULL: it has no samples. */
struct stratum *mode_times_find(const struct mode_times *times, uint64_t key);

/*
 * Adds to ret[] the time that the next samples of a stratum with the sum `weight` stand for. The results for
 * all samples of a stratum sum exactly to stratum.ns.
 */
void stratum_scale(struct stratum *stratum, uint64_t weight, uint64_t ret[TIME_STATES]);

#endif
