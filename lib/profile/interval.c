/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/interval.h"

#include <math.h>

void weight_sums_add(struct weight_sums *sums, uint64_t weight)
{
	const struct weight_sums one = {1, weight, wide_product(weight, weight)};
	weight_sums_merge(sums, &one);
}

void weight_sums_merge(struct weight_sums *sums, const struct weight_sums *other)
{
	sums->samples = weight_add(sums->samples, other->samples);
	sums->weight = weight_add(sums->weight, other->weight);
	sums->squares = wide_add(sums->squares, other->squares);
}

double weight_sums_effective(const struct weight_sums *sums)
{
	double weight = (double)sums->weight;
	double squares = wide_double(sums->squares);
	return squares > 0 ? weight * weight / squares : 0;
}

struct sp_share interval_share(uint64_t weight, uint64_t total, double n_eff)
{
	struct sp_share share = {.high = 1};
	if (!total || !(n_eff > 0))
		return share;
	double p = weight < total ? (double)weight / (double)total : 1;
	double z2n = INTERVAL_Z * INTERVAL_Z / n_eff;
	double center = (p + z2n / 2) / (1 + z2n);
	double half = sqrt(z2n * (p * (1 - p) + z2n / 4)) / (1 + z2n);
	share.value = p;
	/* At p = 0 or 1 the bound is exactly p, despite rounding. */
	if (p > 0 && center > half)
		share.low = fmin(center - half, p);
	if (p < 1 && center + half < 1)
		share.high = fmax(center + half, p);
	return share;
}

void interval_widen(struct sp_share *share, uint64_t total, uint64_t missing, uint64_t own)
{
	double all = (double)total, part = (double)(own < missing ? own : missing);
	if (!total)
		return;
	share->low *= all / (all + (double)missing);
	share->high = (share->high * all + part) / (all + part);
}

void interval_shift(struct sp_share *share, uint64_t total, uint64_t less, uint64_t more)
{
	if (!total)
		return;
	share->low = fmax(share->low - (double)less / (double)total, 0);
	share->high = fmin(share->high + (double)more / (double)total, 1);
}
