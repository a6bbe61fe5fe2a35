/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sample counts over time, in a fixed number of bins. The duration is unknown until the end, so the
 * bins become twice as wide whenever the span exceeds them. Bin N begins at N << shift ns, so that the
 * bins of several threads can be merged exactly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sprof/analysis.h>

#define TIME_BINS 1024

/* A zeroed struct is empty. */
struct time_bins {
	uint64_t first;         /* number N of the bin that counts[0] is */
	uint64_t lowest, highest; /* numbers of the first and last bin with samples, if `used` */
	unsigned int shift;     /* a bin's width is 1 << shift ns */
	bool used;
	struct sp_time_bins shown; /* set by time_bins_finish() */
	uint64_t counts[TIME_BINS];
};

/* Moves and widens the bins so that they contain `time_ns`. */
void time_bins_include(struct time_bins *bins, uint64_t time_ns);

void time_bins_merge(struct time_bins *bins, const struct time_bins *from);

/*
 * Ends the adding. The width then depends on the first and last time only, and not on the order in which
 * samples and other bins were added.
 */
void time_bins_finish(struct time_bins *bins);

static inline void time_bins_add(struct time_bins *bins, uint64_t time_ns, uint64_t count)
{
	uint64_t number = time_ns >> bins->shift;
	if (!bins->used || number < bins->lowest || number > bins->highest) {
		time_bins_include(bins, time_ns);
		number = time_ns >> bins->shift;
	}
	bins->counts[number - bins->first] += count;
}

/* Counts one sample. Allocates the bins if *bins is NULL. Returns false when out of memory. */
static inline bool time_bins_count(struct time_bins **bins, uint64_t time_ns)
{
	if (!*bins && !(*bins = calloc(1, sizeof(**bins))))
		return false;
	time_bins_add(*bins, time_ns, 1);
	return true;
}

/* Frees an array of bins; some may be NULL. */
void time_bins_free(struct time_bins **bins, size_t count);
