/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strata: samples of one slice of a lifetime that are scaled together, so that they sum to the time
 * that they stand for. A slice's on-CPU samples are a stratum, and its samples of preempted threads
 * (in latency mode: those with one number of threads that could run), and its samples of waits with
 * durations of one class. Time without a sample in its stratum is a rest.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "profile/group.h"
#include "profile/state_sums.h"

/* Class of samples without a known wait, because records lack its switch. */
#define WAIT_CLASS_UNMATCHED 257
#define WAIT_CLASSES (WAIT_CLASS_UNMATCHED + 1)

/*
 * Returns the class of a wait's duration, from 1 to WAIT_CLASS_UNMATCHED - 1: four for each power
 * of 2. Snapshots miss woken threads that wait for a CPU, which matters most for short waits: the
 * classes are scaled apart, each to its exact time by the switches.
 */
static inline uint32_t wait_class(uint64_t ns)
{
	if (ns < 4)
		return 1 + (uint32_t)ns;
	uint32_t power = 63 - (uint32_t)__builtin_clzll(ns);
	return 1 + power * 4 + ((ns >> (power - 2)) & 3);
}

#define STRATUM_PREEMPTED (UINT32_C(1) << 31)

/* Returns the stratum of on-CPU samples; `runners`: latency: threads that could run; else 0. */
static inline struct stratum_id stratum_on_cpu(uint32_t slice, uint32_t runners)
{
	return (struct stratum_id){slice, runners << 1};
}

/* Returns the stratum of preempted threads. */
static inline struct stratum_id stratum_preempted(uint32_t slice, uint32_t runners)
{
	return (struct stratum_id){slice, STRATUM_PREEMPTED | runners << 1};
}

static inline bool stratum_is_preempted(struct stratum_id id)
{
	return id.number & STRATUM_PREEMPTED;
}

/* Returns the stratum of waits of a class; 0: all waits of the slice. */
static inline struct stratum_id stratum_of_waits(uint32_t slice, uint32_t class)
{
	return (struct stratum_id){slice, class << 1 | 1};
}

static inline uint32_t stratum_class(struct stratum_id id)
{
	return id.number >> 1;
}

static inline bool stratum_is_of_waits(struct stratum_id id)
{
	return id.number & 1;
}

/* Returns the stratum as one number. */
static inline uint64_t stratum_key(struct stratum_id id)
{
	return key_of_pair(id.slice, id.number);
}

static inline struct stratum_id stratum_of_key(uint64_t key)
{
	return (struct stratum_id){key_high(key), (uint32_t)key};
}

/* Sums of samples. */
struct sample_weight {
	uint64_t key;    /* stratum_key(), if they are those of a stratum */
	uint64_t weight;
	double waits;    /* number of waits that the samples stand for */
	double variance; /* variance of the weight by thinning, in ns² */
};

/* Sums of samples by key. A zeroed struct is empty. */
struct sample_weights {
	VEC(struct sample_weight);
	struct u64map index_of; /* key -> index */
};

void sample_weights_deinit(struct sample_weights *weights);

/* Adds to the sums of from->key. Returns false when out of memory. */
bool sample_weights_add(struct sample_weights *weights, const struct sample_weight *from);

/* Time of a stratum, while its samples are scaled. */
struct stratum {
	uint64_t ns[TIME_STATES]; /* time that the samples stand for */
	uint64_t weight;          /* sum of all its samples */
	uint64_t done;            /* sum of the samples that were scaled, see stratum_scale() */
	bool is_preempted;        /* its samples are of preempted threads */
	double waits_factor;      /* scales the samples' number of waits to the true one */
};

/*
 * Adds to ret[] the time that the next samples of a stratum with the sum `weight` stand for. The
 * results for all samples of a stratum sum exactly to stratum.ns.
 */
void stratum_scale(struct stratum *stratum, uint64_t weight, uint64_t ret[TIME_STATES]);

/* Time of a slice for which no sample stands. The first four members are rows without a stack. */
struct time_rest {
	struct state_sums no_stack; /* all but the next three, shown as "[no stack]" */
	uint64_t kernel_ns;      /* CPU time that the clock excludes */
	uint64_t unrecorded_ns;  /* CPU time that no record shows */
	uint64_t all_blocked_ns; /* latency: no thread of the process could run */
	uint64_t process_end_ns; /* latency: end of the process that began with this slice */
	/*
	 * In a lifetime's first slice: blocked time for which samples show the place, and the
	 * longest at one place, without locks and disks.
	 */
	uint64_t placed_ns, place_ns;
	/* In the same: it is idle; samples do not show where it waited. */
	bool is_idle, is_unplaced;
};

/* Times of a recording. A zeroed struct is empty. */
struct strata {
	VEC(struct stratum);
	struct u64map index_of;  /* stratum_key() -> index */
	struct time_rest *rests; /* by slice */
	double *user_part;       /* by slice: part of its CPU time for which samples stand */
	size_t slice_count;
	struct state_sums whole; /* sum of all strata and rests */
};

void strata_deinit(struct strata *strata);

/* Makes the strata, without times, for a number of slices. Returns false when out of memory. */
bool strata_make(struct strata *strata, const struct sample_weights *weights, size_t slices);

/* Returns the stratum; NULL: it has no samples. */
struct stratum *strata_find(const struct strata *strata, struct stratum_id id);

/* Adds time to a stratum, or to the slice's rest if the stratum has no samples. */
void strata_add(struct strata *strata, struct stratum_id id, enum time_state state, uint64_t ns);

/* Adds CPU time of a slice: to a stratum, and its part in the kernel to the rest. */
void strata_add_on_cpu(struct strata *strata, struct stratum_id id, uint64_t ns);

/*
 * Gives the strata of threads without known states the time of their weights: those of
 * strata_make(), in the same order. `on_cpu`: not only those of waits.
 */
void strata_add_unknown(struct strata *strata, const struct sample_weights *weights, bool on_cpu);

/* Adds the times of all strata and rests to strata->whole. */
void strata_sum(struct strata *strata);
