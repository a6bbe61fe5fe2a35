/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ratio.h"

#include <math.h>
#include <stdlib.h>
#include "test.h"

/* The same in every run. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

/* How many of 1,000 intervals, each of `samples` samples, hold the true ratio. */
static int count_hits(int samples, bool together)
{
	uint64_t state = 88172645463325252;
	int hits = 0;
	for (int run = 0; run < 1000; run++) {
		uint64_t above[REPLICATES] = {0}, below[REPLICATES] = {0};
		for (int i = 0; i < samples; i++) {
			/* Counts of 1.5 for each of the others, half of it and more by chance. */
			uint64_t cycles = 1000 + (uint64_t)(1000 * random_unit(&state));
			double rate = 0.5 + 2 * random_unit(&state);
			int hand = (int)(random_next(&state) % REPLICATES);
			below[hand] += cycles;
			if (!together)
				hand = (int)(random_next(&state) % REPLICATES);
			above[hand] += (uint64_t)((double)cycles * rate);
		}
		struct sp_ratio ratio = ratio_estimate(above, below);
		ck_assert(ratio.known && ratio.bounded);
		ck_assert(ratio.low <= ratio.value && ratio.value <= ratio.high);
		hits += ratio.low <= 1.5 && 1.5 <= ratio.high;
	}
	return hits;
}

TEST(intervals_hold_what_they_promise)
{
	/* Three standard deviations of 1,000 trials at 95 % are 21. */
	ck_assert_int_ge(count_hits(200, true), 929);
	ck_assert_int_le(count_hits(200, true), 971);
	ck_assert_int_ge(count_hits(40, true), 929);
	ck_assert_int_ge(count_hits(12, true), 920);
}

TEST(events_that_were_sampled_apart_say_less)
{
	uint64_t above[REPLICATES], below[REPLICATES];
	for (int i = 0; i < REPLICATES; i++) {
		below[i] = 100 + 50 * (uint64_t)(i % 2);
		above[i] = 2 * below[i];
	}
	struct sp_ratio same = ratio_estimate(above, below);
	ck_assert(same.value == 2 && same.low > 1.999 && same.high < 2.001);
	for (int i = 0; i < REPLICATES; i++)
		above[i] = 2 * below[(i + 1) % REPLICATES];
	struct sp_ratio apart = ratio_estimate(above, below);
	ck_assert(apart.value == 2 && apart.low < 1.8 && apart.high > 2.2);
	ck_assert_int_ge(count_hits(200, false), 990);
}

TEST(unknown_ratios_are_omitted)
{
	uint64_t none[REPLICATES] = {0}, one[REPLICATES] = {[3] = 10}, two[REPLICATES] = {10, 20};
	ck_assert(!ratio_estimate(one, none).known);
	ck_assert(!ratio_estimate(none, none).known);
	struct sp_ratio ratio = ratio_estimate(none, two);
	ck_assert(ratio.known && !ratio.bounded && ratio.value == 0);
	ratio = ratio_estimate(one, one);
	ck_assert(ratio.known && !ratio.bounded && ratio.value == 1);
	/* Without the one hand there would be nothing. */
	ratio = ratio_estimate(one, two);
	ck_assert(ratio.known && !ratio.bounded);
	uint64_t most[REPLICATES] = {UINT64_MAX, UINT64_MAX};
	ratio = ratio_estimate(most, most);
	ck_assert(ratio.bounded && ratio.value == 1 && isfinite(ratio.high));
}

/* Ratios of a part to its whole, by samples of each event. */
TEST(parts_end_at_the_whole)
{
	struct sp_ratio ratio = ratio_limit((struct sp_ratio){1.2, 0.9, 1.6, true, true});
	ck_assert(ratio.known && ratio.bounded);
	ck_assert(ratio.value == 1 && ratio.low == 0.9 && ratio.high == 1);
	ratio = ratio_limit((struct sp_ratio){0.5, 0.2, 1.3, true, true});
	ck_assert(ratio.value == 0.5 && ratio.low == 0.2 && ratio.high == 1);
	/* Neither these samples nor all others of such events can be right. */
	ratio = ratio_limit((struct sp_ratio){1.8, 1.1, 2.7, true, true});
	ck_assert(!ratio.known && !ratio.bounded);
	ratio = ratio_limit((struct sp_ratio){9.01, 9.01, 9.01, true, false});
	ck_assert(!ratio.known);
	ratio = ratio_limit((struct sp_ratio){1, 1, 1, true, false});
	ck_assert(ratio.known && ratio.value == 1);
}

TEST(ratios_are_known_by_their_events)
{
	static const struct perf_event_attr
		cycles = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES},
		instructions = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS},
		loads = {.type = PERF_TYPE_HW_CACHE, .config = PERF_COUNT_HW_CACHE_LL},
		misses = {.type = PERF_TYPE_HW_CACHE,
			  .config = PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
		/* A hybrid machine's: its PMU is in the upper half. */
		big_cycles = {.type = PERF_TYPE_HARDWARE, .config = UINT64_C(4) << 32};
	const struct perf_event_attr *all[] = {&cycles, &loads, &instructions, &misses};
	size_t count;
	struct sp_ratio_kind *kinds = ratio_kinds(all, 4, &count);
	ck_assert_int_eq(count, 2);
	ck_assert_str_eq(kinds[0].name, "IPC");
	ck_assert(!kinds[0].percent && kinds[0].numerator == 2 && kinds[0].denominator == 0);
	ck_assert_str_eq(kinds[1].name, "LLC-load-miss-rate");
	ck_assert(kinds[1].percent && kinds[1].numerator == 3 && kinds[1].denominator == 1);
	free(kinds);
	const struct perf_event_attr *hybrid[] = {&big_cycles, &instructions};
	kinds = ratio_kinds(hybrid, 2, &count);
	ck_assert_int_eq(count, 1);
	free(kinds);
	kinds = ratio_kinds(all, 2, &count);
	ck_assert_int_eq(count, 0);
	free(kinds);
}
