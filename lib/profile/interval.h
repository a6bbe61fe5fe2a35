/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Confidence interval of a share. A share is a sum of sample weights divided by the sum of all weights.
 * With equal weights it would be a count out of n. Unequal weights carry less information, that of
 * n_eff = (sum of w)² / sum of w² equal ones (Kish). The interval is Wilson's score interval for n_eff
 * draws. Unlike the normal approximation it keeps its 95 % for small counts, stays within 0 and 1, and
 * has a width for shares of 0 (a function without samples) and 1.
 *
 * It assumes that samples are independent of the running code. Lost samples reduce n_eff and so widen
 * the interval. It does not cover losses that prefer some code: losses are reported separately.
 */
#pragma once

#include <sprof/profile.h>
#include "base/wide.h"

/* 95 % of a normal distribution are within this number of standard deviations. */
#define INTERVAL_Z 1.959963984540054

/* Equal parts of a recording's time, between which its shares are compared. */
#define INTERVAL_PARTS 20

/* Multiple of the sampling variance from which a row's share varies over time. */
#define INTERVAL_VARIES 4

/* Sums for n_eff. They are exact, so the order of adding does not matter. */
struct weight_sums {
	uint64_t samples, weight;    /* saturating */
	struct wide squares;         /* saturating */
};

void weight_sums_add(struct weight_sums *sums, uint64_t weight);
void weight_sums_merge(struct weight_sums *sums, const struct weight_sums *other);

/* Returns n_eff: the number of equal samples with the same information; 0 without samples. */
double weight_sums_effective(const struct weight_sums *sums);

/* Adds with saturation: a sum that does not fit is UINT64_MAX. */
static inline uint64_t weight_add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Rounds to a weight. What does not fit is UINT64_MAX. `value` must not be negative. */
static inline uint64_t weight_round(double value)
{
	return value + 0.5 < 0x1p64 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* Returns a part of a weight, rounded. A part of 1 or more is the weight itself. */
static inline uint64_t weight_part(uint64_t weight, double part)
{
	uint64_t rounded = weight_round((double)weight * part);
	return part < 1 && rounded < weight ? rounded : weight;
}

/*
 * Returns `weight` as a share of `total` with its 95 % interval. If total or n_eff is 0: interval 0
 * to 1, and share 0 if total is.
 */
struct sp_share interval_share(uint64_t weight, uint64_t total, double n_eff);

/*
 * All samples' weights by batch: parts of a recording's time, or runs. A batch without weight does
 * not count.
 */
struct interval_batches {
	const uint64_t *weights; /* borrowed; each below 2^63 */
	size_t count;
	double n_eff;                    /* all batches' */
	double total, squares, products; /* sums of weights, squares, products of neighbours */
};

struct interval_batches interval_batches_of(const uint64_t *weights, size_t count, double n_eff);

/*
 * Between-run intervals: where another run of the program would find its share. `row` has the row's
 * weights by batch. Set *share's interval, and return the variance between batches as a multiple of
 * that which sampling alone causes. 0: unknown, and *share is unchanged.
 *
 * A part may depend on the one before it, as a first-order autoregression. Runs: at least three.
 */
double interval_of_parts(struct sp_share *share, const uint64_t *row,
			 const struct interval_batches *whole);
double interval_of_runs(struct sp_share *share, const uint64_t *row,
			const struct interval_batches *whole);

/*
 * Returns the t that bounds 95 % of Student's distribution with `df` >= 2, to 1 % of it. A
 * report needs it for most rows; student_quantile() (lib/diff) is exact, but searches.
 */
double interval_student(double df);

/*
 * Widens a share's interval by unsampled weight: the total may lack up to `missing`, and the row up to
 * `own` of that.
 */
void interval_widen(struct sp_share *share, uint64_t total, uint64_t missing, uint64_t own);

/* Widens a share's interval by weight of the total that may be the row's, or that may not be. */
void interval_shift(struct sp_share *share, uint64_t total, uint64_t less, uint64_t more);
