/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim.h"

#include <stdlib.h>

/* The queue is a heap, ordered by time and then by the order of insertion. */
struct queued {
	uint64_t ns, order;
	void (*run)(void *arg, uint64_t number);
	void *arg;
	uint64_t number;
};

static struct {
	struct queued *items;
	size_t count, room;
	uint64_t order, last_stamp;
	uint64_t random[SIM_STREAMS];
} clock_state;

static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void sim_seed(uint64_t seed)
{
	uint64_t state = seed;
	for (int i = 0; i < SIM_STREAMS; i++)
		clock_state.random[i] = mix(&state);
}

void sim_seed_stream(enum sim_stream stream, uint64_t seed)
{
	clock_state.random[stream] = seed;
}

uint64_t sim_random(enum sim_stream stream, uint64_t bound)
{
	return mix(&clock_state.random[stream]) % bound;
}

bool sim_chance(enum sim_stream stream, unsigned int percent)
{
	return percent && sim_random(stream, 100) < percent;
}

static bool is_before(const struct queued *a, const struct queued *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

void sim_at(uint64_t ns, void (*run)(void *arg, uint64_t number), void *arg, uint64_t number)
{
	if (clock_state.count == clock_state.room) {
		clock_state.room = clock_state.room ? 2 * clock_state.room : 1024;
		clock_state.items = realloc(clock_state.items,
					    clock_state.room * sizeof(*clock_state.items));
		if (!clock_state.items)
			abort();
	}
	struct queued *items = clock_state.items;
	const struct queued fresh = {ns, clock_state.order++, run, arg, number};
	size_t at = clock_state.count++;
	for (; at && is_before(&fresh, &items[(at - 1) / 2]); at = (at - 1) / 2)
		items[at] = items[(at - 1) / 2];
	items[at] = fresh;
}

uint64_t sim_next_ns(void)
{
	return clock_state.count ? clock_state.items[0].ns : UINT64_MAX;
}

static struct queued pop_first(void)
{
	struct queued *items = clock_state.items;
	const struct queued first = items[0], last = items[--clock_state.count];
	size_t at = 0, count = clock_state.count;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < count && is_before(&items[child + 1], &items[child]))
			child++;
		if (child >= count || !is_before(&items[child], &last))
			break;
		items[at] = items[child];
		at = child;
	}
	if (count)
		items[at] = last;
	return first;
}

void sim_advance(uint64_t to_ns)
{
	while (sim_next_ns() <= to_ns) {
		struct queued event = pop_first();
		if (event.ns > sim.now_ns)
			sim.now_ns = event.ns;
		event.run(event.arg, event.number);
	}
	if (to_ns > sim.now_ns)
		sim.now_ns = to_ns;
	if (sim.now_ns > sim.limit_ns)
		sim_fatal("hang: the session did not end after %llu ms",
			  (unsigned long long)(sim.limit_ns / SIM_MS));
}

uint64_t sim_stamp(void)
{
	if (sim.now_ns <= clock_state.last_stamp)
		sim.now_ns = clock_state.last_stamp + 1;
	clock_state.last_stamp = sim.now_ns;
	return sim.now_ns;
}
