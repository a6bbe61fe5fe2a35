/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/info/cpu_time_bins.h"

#include <stdlib.h>
#include <string.h>
#include "input.h"

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

/* Moves a row's slices: the first gets the number `to`, and 1 << `wider` slices become one. */
static void move_row(struct slice_row *row, uint64_t from, unsigned int wider, uint64_t to)
{
	struct slice_row moved = {0};
	for (size_t i = 0; i < SLICES && (from + i) >> wider < to + SLICES; i++)
		add(&moved.slices[((from + i) >> wider) - to], &row->slices[i]);
	memcpy(row->slices, moved.slices, sizeof(moved.slices));
}

/* Returns the index of the slice that contains a time. Moves or merges slices to include it. */
static size_t slice_of(struct cpu_time_bins *slices, uint64_t time_ns)
{
	uint64_t number = time_ns >> slices->shift;
	uint64_t low = slices->timed && slices->first < number ? slices->first : number;
	uint64_t high = slices->timed && slices->highest > number ? slices->highest : number;
	unsigned int wider = 0;
	while ((high >> wider) - (low >> wider) >= SLICES)
		wider++;
	if (slices->timed && (wider || low < slices->first)) {
		for (size_t i = 0; i < slices->rows.count; i++)
			move_row(&slices->rows.items[i], slices->first, wider, low >> wider);
		move_row(&slices->sum, slices->first, wider, low >> wider);
	}
	slices->timed = true;
	slices->shift += wider;
	slices->first = low >> wider;
	slices->highest = high >> wider;
	return (size_t)((number >> wider) - slices->first);
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
	       sample->present & PERF_SAMPLE_TIME && input_has_own_time(sample) ?
		       sample->time_ns : 0, &one);
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
