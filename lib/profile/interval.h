/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far a measured share may be from the true one. A share is a sum of sample
 * weights over the sum of all; were all weights equal it would be a count out of
 * n, and unequal ones are worth fewer: n_eff = (sum of w)² / sum of w² (Kish).
 * The interval is Wilson's score interval for n_eff draws: unlike the normal
 * approximation it holds its 95 % for small counts, never leaves 0 to 1, and says
 * something of shares of 0 (a function no sample met) and of 1.
 *
 * What it takes for granted: that samples are drawn independently of what runs.
 * Lost samples make n_eff smaller and so the interval wider, but a loss that
 * prefers some code is beyond it: losses are reported by themselves.
 */
#ifndef PROFILE_INTERVAL_H
#define PROFILE_INTERVAL_H

#include <sprof/profile.h>
#include "base/wide.h"

/* The sums of which n_eff is made; exact, so that no order of adding matters. */
struct weight_sums {
	uint64_t samples, weight;    /* saturating */
	struct wide squares;         /* saturating */
};

void weight_sums_add(struct weight_sums *sums, uint64_t weight);
void weight_sums_merge(struct weight_sums *sums, const struct weight_sums *other);

/* The number of equal samples with the same information; 0 without samples. */
double weight_sums_effective(const struct weight_sums *sums);

/* Saturating: a sum that does not fit stays at UINT64_MAX. */
static inline uint64_t weight_add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* `weight` of `total`, with its 95 % interval; where total or n_eff is 0: 0, from 0 to 1. */
struct sp_share interval_share(uint64_t weight, uint64_t total, double n_eff);

/*
 * Widens the interval of a share of `total` by unsampled weight: at most `missing` in all, and at most
 * `own` of it the row's.
 */
void interval_widen(struct sp_share *share, uint64_t total, uint64_t missing, uint64_t own);

#endif
