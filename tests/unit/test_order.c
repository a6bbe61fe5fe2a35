/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting records by time: stable, whatever the runs are. */
#include "script/order.h"

#include "test.h"

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Ascending by time, and of one time as they were. */
static void check_sorted(const struct record_ref *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		ck_assert_uint_le(items[i - 1].time_ns, items[i].time_ns);
		if (items[i - 1].time_ns == items[i].time_ns)
			ck_assert_uint_lt(items[i - 1].offset, items[i].offset);
	}
}

static void fill(struct record_ref *items, size_t count, uint32_t spread, uint32_t *state)
{
	uint64_t time_ns = 0;
	for (size_t i = 0; i < count; i++) {
		/* Runs like those of rings, with overlapping times. */
		if (next_random(state) % 50 == 0)
			time_ns = time_ns > spread ? time_ns - next_random(state) % spread : 0;
		time_ns += next_random(state) % 3;
		items[i] = (struct record_ref){.time_ns = time_ns, .offset = i, .size = i & 0xffff};
	}
}

TEST(runs_are_merged)
{
	static struct record_ref items[5000];
	uint32_t state = 1;
	for (size_t count = 0; count < 5000; count = count * 3 / 2 + 1) {
		for (uint32_t spread = 1; spread < 10000; spread *= 10) {
			uint64_t sum = 0;
			fill(items, count, spread, &state);
			ck_assert(order_sort(items, count));
			check_sorted(items, count);
			for (size_t i = 0; i < count; i++)
				sum += items[i].offset;
			ck_assert_uint_eq(sum, count ? count * (count - 1) / 2 : 0);
		}
	}
}

TEST(descending_and_equal)
{
	static struct record_ref items[257];
	for (size_t i = 0; i < 257; i++)
		items[i] = (struct record_ref){.time_ns = 1000 - i, .offset = i};
	ck_assert(order_sort(items, 257));
	check_sorted(items, 257);
	for (size_t i = 0; i < 257; i++)
		items[i] = (struct record_ref){.time_ns = 7, .offset = i};
	ck_assert(order_sort(items, 257));
	check_sorted(items, 257);
}
