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
	double weight = sums->weight;
	double squares = wide_double(sums->squares);
	return squares > 0 ? weight * weight / squares : 0;
}

/* Returns Wilson's interval of a share of n draws; `z`: its half width in standard deviations. */
static struct sp_share wilson(double p, double n, double z)
{
	struct sp_share share = {.high = 1};
	double z2n = z * z / n;
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

struct sp_share interval_share(uint64_t weight, uint64_t total, double n_eff)
{
	double p = weight < total ? (double)weight / (double)total : total > 0;
	return n_eff > 0 && total ? wilson(p, n_eff, INTERVAL_Z)
				  : (struct sp_share){.value = p, .high = 1};
}

/* Expansion by the quantile of the normal distribution (Abramowitz and Stegun 26.7.5). */
double interval_student(double df)
{
	const double z = INTERVAL_Z, z2 = z * z;
	const double g[] = {
		z * (z2 + 1) / 4,
		z * ((5 * z2 + 16) * z2 + 3) / 96,
		z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
		z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160,
	};
	return z + (g[0] + (g[1] + (g[2] + g[3] / df) / df) / df) / df;
}

struct interval_batches interval_batches_of(const uint64_t *weights, size_t count, double n_eff)
{
	struct interval_batches whole = {.weights = weights, .count = count, .n_eff = n_eff};
	for (size_t i = 0; i < count; i++) {
		double weight = weights[i];
		whole.total += weight;
		whole.squares += weight * weight;
		whole.products += i ? weight * (double)weights[i - 1] : 0;
	}
	return whole;
}

/* Returns the factor from a variance of the mean to a multiple of the sampling variance. */
static double per_sampling_variance(const struct interval_batches *whole, double p)
{
	return whole->n_eff / (p * (1 - p));
}

/* Limits of the autoregression: its coefficient, and the degrees of freedom that it leaves. */
#define COEFFICIENT_MOST 0.85
#define FREEDOM_LEAST 2.5

/* Least multiple of the sampling variance from which parts can depend on each other. */
#define DEPENDS 2

double interval_of_parts(struct sp_share *share, const uint64_t *row,
			 const struct interval_batches *whole)
{
	const size_t count = whole->count;
	double sum = 0, squares = 0, products = 0, cross = 0, shifted = 0;
	/* Sums over parts; most parts of most rows are empty. */
	for (size_t i = 0; i < count; i++) {
		if (!row[i])
			continue;
		double weight = (double)(int64_t)row[i];
		sum += weight;
		squares += weight * weight;
		cross += weight * (double)(int64_t)whole->weights[i];
		if (i) {
			products += weight * (double)(int64_t)row[i - 1];
			shifted += weight * (double)(int64_t)whole->weights[i - 1];
		}
		if (i + 1 < count)
			shifted += weight * (double)(int64_t)whole->weights[i + 1];
	}
	double p = sum / whole->total, freedom = (double)count - 1, r = 0;
	if (!(p > 0 && p < 1 && whole->n_eff > 0) || count < 3)
		return 0;
	/* Changes them to sums over the excess weights, row - p * whole. */
	squares += p * (p * whole->squares - 2 * cross);
	products += p * (p * whole->products - shifted);
	double variance = (double)count / freedom * squares / (whole->total * whole->total);
	double ratio = variance * per_sampling_variance(whole, p);
	/* The estimate of the coefficient is too small by 1/count. */
	if (ratio >= DEPENDS)
		r = fmin(fmax(products / squares + 1 / (double)count, 0), COEFFICIENT_MOST);
	double factor = (1 + r) / (1 - r);
	double t = interval_student(fmax(freedom / factor, FREEDOM_LEAST));
	if (!(ratio > 0))
		return 0;
	*share = wilson(share->value, whole->n_eff / (ratio * factor), t);
	return ratio;
}

/* Smaller shares vary by factors rather than by differences. */
#define SMALL 0.05

double interval_of_runs(struct sp_share *share, const uint64_t *row,
			const struct interval_batches *whole)
{
	/* Half a sample keeps the logarithms of shares of 0 finite. */
	double half = whole->total / whole->n_eff / 2;
	double sum = 0, runs = 0, mean = 0, squares = 0, log_mean = 0, log_squares = 0;
	for (size_t i = 0; i < whole->count; i++) {
		if (!whole->weights[i])
			continue;
		double weight = row[i], all = whole->weights[i];
		double one = weight / all;
		double odds = log((weight + half) / (fmax(all - weight, 0) + half));
		double step = one - mean, log_step = odds - log_mean;
		runs++;
		sum += weight;
		mean += step / runs;
		log_mean += log_step / runs;
		squares += step * (one - mean);
		log_squares += log_step * (odds - log_mean);
	}
	double p = sum / whole->total, freedom = runs - 1;
	if (!(p > 0 && p < 1) || runs < 3)
		return 0;
	double t = interval_student(freedom), error = t * sqrt(squares / freedom / runs);
	double log_error = t * sqrt(log_squares / freedom / runs);
	bool small = p < SMALL;
	share->low = small ? 1 / (1 + exp(log_error - log_mean)) : fmax(mean - error, 0);
	share->high = small ? 1 / (1 + exp(-log_error - log_mean)) : fmin(mean + error, 1);
	return squares / freedom / runs * per_sampling_variance(whole, p);
}

void interval_widen(struct sp_share *share, uint64_t total, uint64_t missing, uint64_t own)
{
	double all = total, part = (double)(own < missing ? own : missing);
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
