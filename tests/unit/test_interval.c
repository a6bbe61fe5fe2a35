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
	struct sp_share no_sample = interval_share(500, 1000, 0);
	ck_assert(no_sample.value == 0.5 && no_sample.low == 0 && no_sample.high == 1);
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

/*
 * Calls and results of these functions of R 4.2:
 *
 * wilson <- function(p, n, z) {
 *   c <- (p + z^2/(2*n)) / (1 + z^2/n); h <- z*sqrt(p*(1-p)/n + z^2/(4*n^2)) / (1 + z^2/n)
 *   c(c-h, c+h) }
 * parts <- function(k, n, e) {
 *   B <- length(k); N <- sum(n); p <- sum(k)/N; d <- k - p*n; v <- B/(B-1)*sum(d^2)/N^2
 *   phi <- v*e/(p*(1-p))
 *   r <- if (phi < 2) 0 else min(max(sum(d[-1]*d[-B])/sum(d^2) + 1/B, 0), .85)
 *   f <- (1+r)/(1-r); c(phi, wilson(p, p*(1-p)/(v*f), qt(.975, max(2.5, (B-1)/f)))) }
 * runs <- function(k, n, e) {
 *   s <- k/n; m <- length(k); h <- sum(n)/e/2; p <- sum(k)/sum(n); t <- qt(.975, m-1)/sqrt(m)
 *   phi <- var(s)/m*e/(p*(1-p)); x <- log((k+h)/(n-k+h))
 *   c(phi, if (p < .05) plogis(mean(x) + c(-t, t)*sd(x)) else mean(s) + c(-t, t)*sd(s)) }
 */
struct spread_case {
	uint64_t row[20], whole[20];
	size_t count;
	double n_eff, dispersion, low, high;
};

#define EVEN {50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50}

static const struct spread_case part_cases[] = {
	/* parts(c(15,17,14,...), rep(50,20), 1000) */
	{{15, 17, 14, 16, 13, 15, 18, 12, 15, 16, 14, 15, 17, 13, 15, 16, 14, 15, 15, 15}, EVEN, 20,
	 1000, 0.200501253, 0.286599008, 0.313752022},
	/* parts(rep(c(30,0,0,0),5), rep(50,20), 1000) */
	{{30, 0, 0, 0, 30, 0, 0, 0, 30, 0, 0, 0, 30, 0, 0, 0, 30, 0, 0, 0}, EVEN, 20,
	 1000, 27.8637770898, 0.0643015595, 0.3118482370},
	/* parts(c(rep(0,10),rep(30,10)), rep(50,20), 1000) */
	{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30}, EVEN, 20,
	 1000, 22.5563909774, 0.0222019405, 0.8899791118},
	/* parts(10*(1:10), c(100,120,90,100,130,100,110,100,150,140), 500) */
	{{10, 20, 30, 40, 50, 60, 70, 80, 90, 100},
	 {100, 120, 90, 100, 130, 100, 110, 100, 150, 140}, 10,
	 500, 10.4537452926, 0.0941321776, 0.8931935468},
	/* parts(c(3,rep(0,19)), rep(50,20), 1000) */
	{{3}, EVEN, 20, 1000, 3.009027081, 0.000444697794, 0.01994547048},
};

static const struct spread_case run_cases[] = {
	/* runs(c(300,320,310), c(1000,1000,1000), 3000) */
	{{300, 320, 310}, {1000, 1000, 1000}, 3, 3000, 0.467508181, 0.285158623, 0.334841377},
	/* runs(c(300,500,100), c(1000,1200,900), 3100): the bound below 0 is cut */
	{{300, 500, 100}, {1000, 1200, 900}, 3, 3100, 119.242841654, 0, 0.658964497},
	/* runs(c(10,0,25,12), c(1000,1000,1000,900), 3900); a run without samples does not count */
	{{10, 0, 25, 0, 12}, {1000, 1000, 1000, 0, 900}, 5, 3900,
	 8.700934544, 0.000400052814, 0.099334277865},
};

/* Bounds may differ as much as interval_student() does. */
static void check_spread(const struct spread_case *of, bool runs)
{
	const struct interval_batches whole = interval_batches_of(of->whole, of->count, of->n_eff);
	double sum = 0;
	for (size_t i = 0; i < of->count; i++)
		sum += (double)of->row[i];
	struct sp_share share = {.value = sum / whole.total, .low = -1, .high = 2};
	double ratio = (runs ? interval_of_runs : interval_of_parts)(&share, of->row, &whole);
	ck_assert_msg(fabs(ratio / of->dispersion - 1) < 1e-8, "%.10g, not %.10g", ratio,
		      of->dispersion);
	double most = 0.01 * (of->high - of->low);
	ck_assert_msg(fabs(share.low - of->low) < most, "%g, not %g", share.low, of->low);
	ck_assert_msg(fabs(share.high - of->high) < most, "%g, not %g", share.high, of->high);
}

TEST(variation_of_parts_and_runs_is_that_of_r)
{
	for (size_t i = 0; i < sizeof(part_cases) / sizeof(*part_cases); i++)
		check_spread(&part_cases[i], false);
	for (size_t i = 0; i < sizeof(run_cases) / sizeof(*run_cases); i++)
		check_spread(&run_cases[i], true);
}

/* qt(.975, c(2, 2.5, 3, 5, 10, 19)) */
TEST(students_bounds_are_those_of_r)
{
	static const struct {
		double df, t, error;
	} cases[] = {
		{2, 4.30265273, 0.01}, {2.5, 3.57465484, 0.004}, {3, 3.18244631, 0.002},
		{5, 2.57058184, 3e-4}, {10, 2.22813885, 1e-5},	 {19, 2.09302405, 1e-6},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_double_le(fabs(interval_student(cases[i].df) / cases[i].t - 1),
				    cases[i].error);
}

/* Nothing varies, or there is too little: the interval stays as it was. */
TEST(without_variation_there_is_no_interval_of_parts)
{
	static const uint64_t whole[20] = EVEN, none[20];
	const struct interval_batches all = interval_batches_of(whole, 20, 1000);
	const struct interval_batches two = interval_batches_of(whole, 2, 100);
	const struct interval_batches empty = interval_batches_of(none, 20, 0);
	struct sp_share share = {.low = 0.25, .high = 0.75};
	ck_assert(interval_of_parts(&share, none, &all) == 0);
	ck_assert(interval_of_parts(&share, whole, &all) == 0);
	ck_assert(interval_of_parts(&share, none, &empty) == 0);
	ck_assert(interval_of_runs(&share, none, &all) == 0);
	ck_assert(interval_of_runs(&share, (const uint64_t[]){10, 20}, &two) == 0);
	ck_assert(interval_of_runs(&share, none, &empty) == 0);
	ck_assert(share.low == 0.25 && share.high == 0.75);
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
