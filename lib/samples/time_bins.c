/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/time_bins.h"

#include <string.h>

/*
 * After a move, at most half of the bins are in use. The others are room for further samples on both
 * sides, so moves are rare.
 */
#define SPAN_AFTER_MOVE (TIME_BINS / 2)

static void move_bins(struct time_bins *bins, unsigned int shift, uint64_t lowest, uint64_t highest)
{
	unsigned int wider = shift - bins->shift;
	uint64_t room = (TIME_BINS - (highest - lowest + 1)) / 2;
	uint64_t first = lowest > room ? lowest - room : 0;
	uint64_t counts[TIME_BINS] = {0};
	for (size_t i = 0; bins->used && i < TIME_BINS; i++)
		if (bins->counts[i])
			counts[((bins->first + i) >> wider) - first] += bins->counts[i];
	memcpy(bins->counts, counts, sizeof(counts));
	bins->first = first;
	bins->shift = shift;
}

/*
 * Extends the bins to those from `low` to `high`, which are numbers of bins of 1 << shift ns. `shift`
 * is at least that of `bins`.
 */
static void include(struct time_bins *bins, unsigned int shift, uint64_t low, uint64_t high)
{
	unsigned int wider = shift - bins->shift;
	uint64_t lowest = bins->used ? bins->lowest >> wider : low;
	uint64_t highest = bins->used ? bins->highest >> wider : high;
	lowest = low < lowest ? low : lowest;
	highest = high > highest ? high : highest;
	bool fits = bins->used && !wider && lowest >= bins->first &&
		    highest - bins->first < TIME_BINS;
	if (!fits) {
		unsigned int more = 0;
		while ((highest >> more) - (lowest >> more) >= SPAN_AFTER_MOVE)
			more++;
		lowest >>= more;
		highest >>= more;
		move_bins(bins, shift + more, lowest, highest);
	}
	bins->lowest = lowest;
	bins->highest = highest;
	bins->used = true;
}

void time_bins_include(struct time_bins *bins, uint64_t time_ns)
{
	uint64_t number = time_ns >> bins->shift;
	include(bins, bins->shift, number, number);
}

void time_bins_merge(struct time_bins *bins, const struct time_bins *from)
{
	if (!from->used)
		return;
	unsigned int shift = bins->shift > from->shift ? bins->shift : from->shift;
	unsigned int wider = shift - from->shift;
	include(bins, shift, from->lowest >> wider, from->highest >> wider);
	for (size_t i = 0; i < TIME_BINS; i++)
		if (from->counts[i])
			bins->counts[((from->first + i) << from->shift >> bins->shift) -
				     bins->first] += from->counts[i];
}

void time_bins_finish(struct time_bins *bins)
{
	if (bins->used && bins->highest - bins->lowest >= SPAN_AFTER_MOVE)
		include(bins, bins->shift + 1, bins->lowest >> 1, bins->highest >> 1);
	bins->shown = (struct sp_time_bins){
		.begin_ns = bins->lowest << bins->shift,
		.width_ns = UINT64_C(1) << bins->shift,
		.samples = bins->counts + (bins->lowest - bins->first),
		.count = bins->highest - bins->lowest + 1,
	};
}

void time_bins_free(struct time_bins **bins, size_t count)
{
	for (size_t i = 0; bins && i < count; i++)
		free(bins[i]);
	free(bins);
}
