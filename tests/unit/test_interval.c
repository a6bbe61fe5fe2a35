/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/interval.h"
#include <math.h>
#include <stdlib.h>
#include "test.h"

static void near(double value, double wanted)
{
	ck_assert_msg(fabs(value - wanted) < 0.00005, "%f instead of %f", value, wanted);
}

/* Table I, method 3 of Newcombe, "Two-sided confidence intervals for the single proportion" (1998). */
TEST(wilson_gives_the_published_values)
{
	static const struct {
		uint64_t part, of;
		double low, high;
	} cases[] = {
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0.0000, 0.1611},
		{1, 29, 0.0061, 0.1718},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t part = cases[i].part, of = cases[i].of;
		struct sp_share share = interval_share(part, of, (double)of);
		near(share.value, (double)part / (double)of);
		near(share.low, cases[i].low);
		near(share.high, cases[i].high);
		/* The same the other way round, and in any unit. */
		struct sp_share rest = interval_share((of - part) * 1003009, of * 1003009,
						      (double)of);
		near(rest.low, 1 - share.high);
		near(rest.high, 1 - share.low);
	}
}

TEST(bounds_hold_at_the_ends)
{
	struct sp_share none = interval_share(0, 1000, 1000);
	ck_assert(none.value == 0 && none.low == 0 && none.high > 0.003 && none.high < 0.004);
	struct sp_share all = interval_share(1000, 1000, 1000);
	ck_assert(all.value == 1 && all.high == 1 && all.low > 0.996 && all.low < 0.997);
	struct sp_share unknown = interval_share(0, 0, 0);
	ck_assert(unknown.value == 0 && unknown.low == 0 && unknown.high == 1);
	struct sp_share overflowed = interval_share(UINT64_MAX, UINT64_MAX - 1, 2);
	ck_assert(overflowed.value == 1 && overflowed.high == 1);
	for (double n = 1e-3; n < 1e15; n *= 7) {
		for (uint64_t part = 0; part <= 1000; part += 125) {
			struct sp_share share = interval_share(part, 1000, n);
			ck_assert(share.low >= 0 && share.low <= share.value);
			ck_assert(share.high <= 1 && share.high >= share.value);
		}
	}
}

TEST(weight_that_was_not_sampled_widens)
{
	/* 30 of 100, with 20 to 40 certain; 100 more, and 60 of these may be the row's. */
	struct sp_share share = {.value = 0.3, .low = 0.2, .high = 0.4};
	interval_widen(&share, 100, 100, 60);
	near(share.low, 0.1);
	near(share.high, 100.0 / 160);
	/* It is never more than all that is missing, and 0 changes nothing. */
	interval_widen(&share, 100, 0, 60);
	near(share.high, 100.0 / 160);
	interval_widen(&share, 0, 10, 10);
	near(share.low, 0.1);
}

TEST(weight_of_unknown_rows_shifts_both_bounds)
{
	struct sp_share share = {.value = 0.3, .low = 0.2, .high = 0.4};
	interval_shift(&share, 100, 5, 20);
	near(share.low, 0.15);
	near(share.high, 0.6);
	interval_shift(&share, 100, 50, 50);
	near(share.low, 0);
	near(share.high, 1);
	interval_shift(&share, 0, 10, 10);
	near(share.high, 1);
}

TEST(unequal_weights_are_worth_fewer_samples)
{
	struct weight_sums sums = {0};
	ck_assert(weight_sums_effective(&sums) == 0);
	for (int i = 0; i < 50; i++)
		weight_sums_add(&sums, 1003009);
	near(weight_sums_effective(&sums), 50);
	weight_sums_add(&sums, 50 * 1003009); /* one as heavy as all others */
	near(weight_sums_effective(&sums), 100.0 * 100 / (50 + 2500));
	ck_assert_uint_eq(sums.samples, 51);
}

TEST(sums_neither_overflow_nor_depend_on_order)
{
	struct weight_sums a = {0}, b = {0}, both = {0}, reverse = {0};
	for (int i = 0; i < 5; i++) {
		weight_sums_add(&a, UINT64_MAX / 2 + (uint64_t)i);
		weight_sums_add(&b, (uint64_t)i);
	}
	weight_sums_merge(&both, &a);
	weight_sums_merge(&both, &b);
	weight_sums_merge(&reverse, &b);
	weight_sums_merge(&reverse, &a);
	ck_assert_uint_eq(both.weight, UINT64_MAX);
	ck_assert(!memcmp(&both.squares, &reverse.squares, sizeof(both.squares)) &&
		  both.weight == reverse.weight);
	ck_assert(isfinite(weight_sums_effective(&both)));
}

/* How often the interval holds the true share, over many made-up recordings. */
static double coverage(double p, int samples, bool unequal)
{
	int runs = 4000, held = 0;
	for (int run = 0; run < runs; run++) {
		struct weight_sums sums = {0};
		uint64_t part = 0;
		for (int i = 0; i < samples; i++) {
			uint64_t weight = unequal ? 1 + (uint64_t)(drand48() * 20) : 1;
			weight_sums_add(&sums, weight);
			if (drand48() < p)
				part += weight;
		}
		struct sp_share share =
			interval_share(part, sums.weight, weight_sums_effective(&sums));
		held += share.low <= p && p <= share.high;
	}
	return (double)held / runs;
}

TEST(the_true_share_is_inside_95_times_of_100)
{
	static const double shares[] = {0.02, 0.1, 0.35, 0.7};
	static const int samples[] = {60, 300, 2000};
	srand48(1);
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 3; j++) {
			double equal = coverage(shares[i], samples[j], false);
			double unequal = coverage(shares[i], samples[j], true);
			/* Counts are whole numbers, so that the exact 95 % is seldom possible. */
			ck_assert_msg(equal > 0.925 && equal < 0.985, "p %g of %d: %g", shares[i],
				      samples[j], equal);
			ck_assert_msg(unequal > 0.915 && unequal < 0.985, "p %g of %d: %g",
				      shares[i], samples[j], unequal);
		}
	}
}
