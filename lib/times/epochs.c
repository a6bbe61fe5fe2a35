/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/epochs.h"

#include <stdlib.h>

void epochs_deinit(struct epochs *epochs)
{
	vec_deinit(epochs);
	free(epochs->first);
}

/* Returns the time until which a thread keeps its name and program, at most `end_ns`. */
static uint64_t same_until(const struct machine *machine, const struct task_totals *of,
			   uint64_t begin_ns, uint64_t end_ns)
{
	struct machine_span span = machine_span(machine, of->pid, of->tid, begin_ns);
	const char *name = span.name;
	while (span.until_ns < end_ns) {
		uint64_t time_ns = span.until_ns;
		span = machine_span(machine, of->pid, of->tid, time_ns);
		if (span.name != name || span.exec_until_ns)
			return time_ns;
	}
	return end_ns;
}

/* Adds the epochs of one slice. Returns false when out of memory. */
static bool add_slice(struct epochs *epochs, const struct slices *slices,
		      const struct machine *machine, uint32_t number)
{
	const struct slice slice = slices_get(slices, number);
	const struct task_totals *of = task_states_totals(slices->states, slice.lifetime);
	uint64_t begin_ns = slice.begin_ns;
	do {
		uint64_t ns[TASK_STATES] = {0};
		struct epoch *epoch = epochs->count < UINT32_MAX ? vec_push(epochs) : NULL;
		if (!epoch)
			return false;
		uint64_t end_ns = same_until(machine, of, begin_ns, slice.end_ns);
		task_states_sum(slices->states, slice.lifetime, begin_ns, end_ns, ns);
		*epoch = (struct epoch){.begin_ns = begin_ns,
					.end_ns = end_ns,
					.running_ns = ns[TASK_RUNNING],
					.unknown_ns = ns[TASK_UNKNOWN],
					.slice = number};
		begin_ns = end_ns;
	} while (begin_ns < slice.end_ns);
	return true;
}

bool epochs_make(struct epochs *epochs, const struct slices *slices, const struct machine *machine)
{
	epochs->slices = slices;
	epochs->first = calloc(slices->count + 1, sizeof(*epochs->first));
	if (!epochs->first)
		return false;
	for (uint32_t i = 0; i < slices->count; i++) {
		epochs->first[i] = epochs->count;
		if (!add_slice(epochs, slices, machine, i))
			return false;
	}
	epochs->first[slices->count] = epochs->count;
	return true;
}

uint32_t epochs_at(const struct epochs *epochs, uint32_t lifetime, uint64_t time_ns)
{
	uint32_t slice = slices_at(epochs->slices, lifetime, time_ns);
	uint32_t first = epochs->first[slice];
	size_t count = epochs->first[slice + 1] - first;
	size_t before = sorted_up_to(epochs->items + first, count, .begin_ns, time_ns);
	return first + (uint32_t)(before ? before - 1 : 0);
}

uint32_t epochs_last(const struct epochs *epochs, uint32_t lifetime)
{
	return epochs->first[epochs->slices->first[lifetime + 1]] - 1;
}

struct slice epochs_get(const struct epochs *epochs, uint32_t index)
{
	const struct epoch *epoch = &epochs->items[index];
	struct slice slice = slices_get(epochs->slices, epoch->slice);
	slice.begin_ns = epoch->begin_ns;
	slice.end_ns = epoch->end_ns;
	return slice;
}
