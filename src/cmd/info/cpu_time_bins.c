/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/info/cpu_time_bins.h"

#include <stdlib.h>
#include <string.h>

/* Limit on rows of CPUs, so that a damaged file's CPU numbers cannot exhaust memory. */
#define CPUS_MAX 8192

void time_bins_deinit(struct cpu_time_bins *slices)
{
	free(slices->rows.items);
	*slices = (struct cpu_time_bins){0};
}

/*
 * Returns the row of a CPU, which is added if missing. From CPUS_MAX rows on, returns the row for
 * unknown CPUs.
 */
static struct slice_row *row_of(struct cpu_time_bins *slices, uint32_t cpu)
{
	size_t low = 0, high = slices->rows.count;
	struct slice_row *row = slices->rows.items;
	if (slices->last && slices->last->cpu == cpu)
		return slices->last;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (row[middle].cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == slices->rows.count || row[low].cpu != cpu) {
		if (slices->rows.count >= CPUS_MAX && cpu != UINT32_MAX)
			return row_of(slices, UINT32_MAX);
		list_reserve(&slices->rows, slices->rows.count + 1);
		row = slices->rows.items;
		memmove(&row[low + 1], &row[low], (slices->rows.count++ - low) * sizeof(*row));
		row[low] = (struct slice_row){.cpu = cpu};
	}
	slices->last = &row[low];
	return slices->last;
}

static void add(struct bin_counts *slice, const struct bin_counts *more)
{
	slice->samples += more->samples;
	slice->lost += more->lost;
	slice->throttled_ns += more->throttled_ns;
}

/*
 * Adds up neighbouring slices in pairs, which doubles the width of a slice. `first` is the number of
 * the first slice before.
 */
static void halve(struct slice_row *row, uint64_t first)
{
	struct slice_row halved = {0};
	for (size_t i = 0; i < SLICES; i++)
		add(&halved.slices[((first + i) >> 1) - (first >> 1)], &row->slices[i]);
	for (size_t i = 0; i < SLICES; i++)
		row->slices[i] = halved.slices[i];
}

static bool is_empty(const struct cpu_time_bins *slices, size_t slice)
{
	const struct bin_counts *of = &slices->sum.slices[slice];
	return !of->samples && !of->lost && !of->throttled_ns;
}

static void shift_row(struct slice_row *row, uint64_t by)
{
	for (size_t i = SLICES; i-- > 0;)
		row->slices[i] = i >= by ? row->slices[i - by] : (struct bin_counts){0};
}

/*
 * Moves all slices by `by` places, to make room for earlier times. Returns false if the last `by`
 * slices are in use.
 */
static bool begin_sooner(struct cpu_time_bins *slices, uint64_t by)
{
	if (by >= SLICES)
		return false;
	for (size_t i = SLICES - by; i < SLICES; i++)
		if (!is_empty(slices, i))
			return false;
	for (size_t i = 0; i < slices->rows.count; i++)
		shift_row(&slices->rows.items[i], by);
	shift_row(&slices->sum, by);
	slices->first -= by;
	return true;
}

/* Returns the index of the slice that contains a time. Until the time fits, moves or merges slices. */
static size_t slice_of(struct cpu_time_bins *slices, uint64_t time_ns)
{
	if (!slices->timed)
		slices->first = time_ns >> slices->shift;
	slices->timed = true;
	for (;;) {
		uint64_t number = time_ns >> slices->shift;
		if (number >= slices->first && number - slices->first < SLICES)
			return (size_t)(number - slices->first);
		if (number < slices->first && begin_sooner(slices, slices->first - number))
			continue;
		for (size_t i = 0; i < slices->rows.count; i++)
			halve(&slices->rows.items[i], slices->first);
		halve(&slices->sum, slices->first);
		slices->first >>= 1;
		slices->shift++;
	}
}

static void add_at(struct cpu_time_bins *slices, uint32_t cpu, uint64_t time_ns,
		   const struct bin_counts *what)
{
	struct slice_row *row = row_of(slices, cpu);
	add(&row->all, what);
	add(&slices->sum.all, what);
	if (!time_ns)
		return;
	size_t at = slice_of(slices, time_ns);
	add(&row->slices[at], what);
	add(&slices->sum.slices[at], what);
}

void time_bins_add_sample(struct cpu_time_bins *slices, const struct sp_sample *sample)
{
	static const struct bin_counts one = {.samples = 1};
	add_at(slices, sample->present & PERF_SAMPLE_CPU ? sample->cpu : UINT32_MAX,
	       sample->present & PERF_SAMPLE_TIME ? sample->time_ns : 0, &one);
}

/* Adds a throttled span, which may extend over several slices. */
static void add_throttling(struct cpu_time_bins *slices, const struct sp_throttling *throttling)
{
	struct slice_row *row = row_of(slices, throttling->cpu);
	uint64_t at_ns = throttling->begin_ns, end_ns = throttling->end_ns;
	row->throttled++;
	slices->sum.throttled++;
	if (end_ns <= at_ns)
		return;
	/* Calls slice_of() for both ends first, because it may change the slices' width. */
	(void)slice_of(slices, at_ns);
	(void)slice_of(slices, end_ns);
	while (at_ns < end_ns) {
		uint64_t next_ns = ((at_ns >> slices->shift) + 1) << slices->shift;
		bool here = next_ns > at_ns && next_ns < end_ns;
		const struct bin_counts part = {.throttled_ns = (here ? next_ns : end_ns) - at_ns};
		add_at(slices, throttling->cpu, at_ns ? at_ns : 1, &part);
		at_ns += part.throttled_ns;
	}
}

void time_bins_add_losses(struct cpu_time_bins *slices, const struct sp_losses *losses)
{
	for (size_t i = 0; i < sp_losses_moment_count(losses); i++) {
		const struct sp_loss *loss = sp_losses_moment(losses, i);
		const struct bin_counts lost = {.lost = loss->lost};
		add_at(slices, loss->cpu, loss->time_ns, &lost);
	}
	for (size_t i = 0; i < sp_losses_throttling_count(losses); i++)
		add_throttling(slices, sp_losses_throttling(losses, i));
}
