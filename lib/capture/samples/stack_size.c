/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/stack_size.h"

#include <sprof/capture.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "proc/maps.h"

/*
 * Minimum time between two reads, as reading all mappings of a process takes up to a millisecond.
 */
#define LOOK_NS 50000000

/* Finds the mapping that holds `sp`. Returns false if there is none, or it cannot be read. */
static bool find_stack(const struct sp_ctx *ctx, uint32_t pid, uint64_t sp, uint64_t *low_ret,
		       uint64_t *high_ret)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry = NULL;
	struct sp_error *error = maps_open(ctx, pid, 0, MAPS_ALL, &maps);
	bool found = false;
	while (!error && !found) {
		error = maps_next(maps, &entry);
		if (error || !entry)
			break;
		found = sp >= entry->start && sp < entry->end;
	}
	sp_error_free(error);
	if (found) {
		*low_ret = entry->start;
		*high_ret = entry->end;
	}
	return found;
}

void stack_sizes_on_cut(struct stack_sizes *sizes, uint32_t pid, uint32_t tid, uint64_t sp,
			uint64_t time_ns)
{
	size_t place = hash_u64(tid) % STACK_SIZE_PLACES;
	uint64_t low = sizes->places[place].low, high = sizes->places[place].high;
	sizes->cut++;
	/* A main thread's stack grows downwards: `low` was its lowest address before. */
	if (sizes->places[place].tid != tid || sp >= high || sp + (8 << 20) < low) {
		if (sizes->looked_ns && time_ns < sizes->looked_ns + LOOK_NS)
			return;
		sizes->looked_ns = time_ns;
		if (!find_stack(sizes->ctx, pid, sp, &low, &high))
			return;
		sizes->places[place].tid = tid;
		sizes->places[place].low = low;
		sizes->places[place].high = high;
	}
	uint64_t step = (high - sp - 1) / STACK_SIZE_STEP;
	sizes->known++;
	sizes->steps[step < STACK_SIZE_STEPS ? step : STACK_SIZE_STEPS]++;
}

void stack_sizes_add(struct stack_sizes *sum, const struct stack_sizes *other)
{
	sum->cut += other->cut;
	sum->known += other->known;
	for (size_t i = 0; i <= STACK_SIZE_STEPS; i++)
		sum->steps[i] += other->steps[i];
}

uint32_t stack_sizes_enough(const struct stack_sizes *sizes)
{
	uint64_t held = 0;
	if (!sizes->known)
		return 0;
	for (uint32_t i = 0; i < STACK_SIZE_STEPS; i++) {
		held += sizes->steps[i];
		if (held * 100 >= sizes->known * 99) {
			uint32_t bytes = (i + 1) * STACK_SIZE_STEP;
			return bytes < SP_STACK_BYTES_MAX ? bytes : SP_STACK_BYTES_MAX;
		}
	}
	return UINT32_MAX;
}
