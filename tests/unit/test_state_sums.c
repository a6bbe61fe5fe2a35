/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of time by state, with intervals. */
#include "profile/state_sums.h"
#include <math.h>
#include "profile/interval.h"
#include "test.h"

#define SECOND 1000000000

TEST(one_long_wait_is_exact)
{
	const struct state_whole whole = {.sums = {.ns = {[TIME_BLOCKED] = 4 * (uint64_t)SECOND}}};
	const struct state_sums part = {.ns = {[TIME_BLOCKED] = SECOND}, .waits = 1};
	struct sp_share share = state_share(&part, &whole);
	ck_assert(share.value == 0.25 && share.low == 0.25 && share.high == 0.25);
}

/* Each has the interval of its own samples. */
TEST(preempted_time_has_few_samples)
{
	const struct state_whole whole = {
		.sums = {.ns = {[TIME_RUNNABLE] = 2 * (uint64_t)SECOND}, .preempted_ns = SECOND},
		.n_eff = 10000, .preempted_n_eff = 25,
	};
	const struct state_sums part = {.ns = {[TIME_RUNNABLE] = SECOND},
					.preempted_ns = SECOND / 2};
	struct sp_share many = interval_share(1, 2, 10000), few = interval_share(1, 2, 25);
	struct sp_share share = state_share(&part, &whole);
	ck_assert_double_eq_tol(share.value, 0.5, 1e-12);
	ck_assert_double_eq_tol(share.high - share.value,
				hypot(many.high - 0.5, few.high - 0.5) / 2, 1e-7);
}

TEST(thinned_waits_have_the_variance_of_thinning)
{
	/* 100 waits of 0.5 ms, recorded with period 1 ms and probability 1/2: T² (1 - d / T) each. */
	const double variance = 100 * 1e12 * 0.5, few = 1.959963984540054 * variance / SECOND;
	const struct state_whole whole = {.sums = {.ns = {[TIME_BLOCKED] = SECOND}, .variance = variance}};
	const struct state_sums part = {.ns = {[TIME_BLOCKED] = 100000000}, .waits = 200,
					.variance = variance};
	struct sp_share share = state_share(&part, &whole);
	double half = 1.959963984540054 * sqrt(0.9 * 0.9 * variance + few * few) / SECOND;
	ck_assert_double_eq_tol(share.value, 0.1, 1e-12);
	ck_assert_double_eq_tol(share.high - share.value, half, 1e-7);
	ck_assert_double_eq_tol(share.value - share.low, half, 1e-7);
}

static double next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005 + 1442695040888963407;
	return (double)(*random >> 32) / 4294967296.0;
}

/*
 * Adds the samples of `count` waits of d ns with period T, and returns their true time. Reading takes up to
 * `read` ns: samples then have unequal weights, as those by snapshots.
 */
static double add_waits(struct state_sums *sums, uint64_t *random, int count, double d, double t, double read)
{
	for (int i = 0; i < count; i++) {
		double part = (d - next_random(random) * read) / t, weight = d / part;
		if (next_random(random) >= part)
			continue;
		sums->ns[TIME_BLOCKED] += (uint64_t)weight;
		sums->variance += weight * weight * (1 - d / weight);
	}
	return count * d;
}

/* The true share is in 94 % to `most_percent` of the intervals. */
static void covers(int count, int others, double read, int most_percent)
{
	uint64_t random = 7;
	int inside = 0, trials = 4000;
	for (int i = 0; i < trials; i++) {
		struct state_sums part = {0}, other = {0};
		double time = add_waits(&part, &random, count, 300000, 1000000, read);
		double all = time + add_waits(&other, &random, others, 100000, 1000000, read);
		struct state_whole whole = {.sums = part};
		state_sums_add(&whole.sums, &other);
		uint64_t sampled = whole.sums.ns[TIME_BLOCKED];
		double factor = sampled ? all / (double)sampled : 0;
		whole.sums.ns[TIME_BLOCKED] = (uint64_t)all;
		whole.sums.variance *= factor * factor;
		part.ns[TIME_BLOCKED] = (uint64_t)((double)part.ns[TIME_BLOCKED] * factor);
		part.variance *= factor * factor;
		struct sp_share share = state_share(&part, &whole);
		inside += share.low <= time / all && time / all <= share.high;
	}
	ck_assert_int_ge(inside, trials * 94 / 100);
	ck_assert_int_le(inside, trials * most_percent / 100);
}

TEST(intervals_of_thinned_waits_cover_their_true_share)
{
	covers(1000, 1000, 0, 97);
	covers(100, 1000, 0, 97);
	/* Intervals of few samples are wider. */
	covers(100, 20, 0, 100);
}

TEST(intervals_of_unequal_weights_cover_the_true_share)
{
	covers(1000, 1000, 75000, 98);
	covers(100, 1000, 75000, 98);
}

TEST(on_cpu_time_has_the_interval_of_its_samples)
{
	const struct state_whole whole = {.sums = {.ns = {[TIME_ON_CPU] = SECOND}}, .n_eff = 1000};
	const struct state_sums part = {.ns = {[TIME_ON_CPU] = SECOND / 5}};
	struct sp_share share = state_share(&part, &whole);
	struct sp_share wilson = interval_share(SECOND / 5, SECOND, 1000);
	ck_assert_double_eq_tol(share.low, wilson.low, 1e-12);
	ck_assert_double_eq_tol(share.high, wilson.high, 1e-12);
}

TEST(a_row_of_both_has_the_width_of_its_sampled_part)
{
	struct state_whole whole = {.sums = {.ns = {[TIME_ON_CPU] = SECOND,
						    [TIME_BLOCKED] = 3 * (uint64_t)SECOND}}, .n_eff = 1000};
	const struct state_sums part = {.ns = {[TIME_ON_CPU] = SECOND / 5, [TIME_BLOCKED] = SECOND}};
	struct sp_share share = state_share(&part, &whole);
	struct sp_share wilson = interval_share(SECOND / 5, SECOND, 1000);
	ck_assert_double_eq_tol(share.value, 0.3, 1e-12);
	ck_assert_double_eq_tol(share.high - share.value, (wilson.high - wilson.value) / 4, 1e-12);
	ck_assert_double_eq_tol(share.value - share.low, (wilson.value - wilson.low) / 4, 1e-12);
}

TEST(sums_add_and_keep_the_longest_wait)
{
	struct state_sums sums = {.ns = {1, 2, 3, 4}, .waits = 1.5, .longest_ns = 7, .variance = 2};
	const struct state_sums more = {.ns = {10, 20, 30, UINT64_MAX}, .waits = 1, .longest_ns = 5,
					.variance = 3};
	state_sums_add(&sums, &more);
	ck_assert_uint_eq(sums.ns[TIME_ON_CPU], 11);
	ck_assert_uint_eq(sums.ns[TIME_UNKNOWN], UINT64_MAX);
	ck_assert_uint_eq(sums.longest_ns, 7);
	ck_assert_uint_eq(state_times(&sums, &(struct state_whole){.n_eff = 0}).waits, 3);
	ck_assert(sums.variance == 5);
}
