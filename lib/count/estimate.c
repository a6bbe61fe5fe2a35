/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "count/estimate.h"

#include <math.h>
#include <sprof/private/command.h>
#include <sprof/stat.h>

/* 0.975 quantile of the normal distribution. */
#define NORMAL_975 1.959963984540054

void observations_add(struct observations *observations, uint64_t n, uint64_t run_ns)
{
	if (!run_ns)
		return;
	if (observations->count++) {
		double dn = (double)n - observations->last_n;
		double dr = (double)run_ns - observations->last_run;
		observations->nn += dn * dn;
		observations->nr += dn * dr;
		observations->rr += dr * dr;
	}
	observations->last_n = n;
	observations->last_run = run_ns;
}

bool observations_variance(const struct observations *observations, uint64_t n,
			   uint64_t enabled_ns, uint64_t run_ns, double *ret)
{
	if (observations->count < 2 || !run_ns || enabled_ns < run_ns)
		return false;
	double k = observations->count, rate = (double)n / (double)run_ns;
	double scale = (double)enabled_ns / (double)run_ns;
	double squares = observations->nn - 2 * rate * observations->nr +
			 rate * rate * observations->rr;
	if (squares < 0) /* rounding errors */
		squares = 0;
	*ret = scale * scale * (1 - 1 / scale) * k * squares / (2 * (k - 1));
	return true;
}

double observations_freedom(uint64_t count)
{
	double k = count;
	/* Degrees of freedom of the mean square successive difference (von Neumann, 1941). */
	double freedom = count > 2 ? 2 * (k - 1) * (k - 1) / (3 * k - 4) : 1;
	return freedom > 1 ? freedom : 1;
}

double student_975(double freedom)
{
	/* Below 6 the expansion is off by more than 0.1 %. */
	static const double small[] = {12.7062047, 4.30265273, 3.18244631, 2.77644511, 2.57058184,
				       2.44691185};
	double z = NORMAL_975, f = freedom;
	if (f <= 1)
		return small[0];
	if (f < 6) {
		unsigned int below = f;
		/* Quantiles are nearly linear in 1/f. */
		double part = (1.0 / below - 1 / f) / (1.0 / below - 1.0 / (below + 1));
		return small[below - 1] + part * (small[below] - small[below - 1]);
	}
	/* Cornish and Fisher's expansion (Abramowitz and Stegun, 26.7.5). */
	double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
	return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f) +
	       (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * f * f * f * f);
}

double interval_half(uint64_t observations, double variance)
{
	return variance > 0 ? student_975(observations_freedom(observations)) * sqrt(variance) : 0;
}

void sp_stat_mean_add(struct sp_stat_mean *mean, double value)
{
	/* Welford's algorithm, which is numerically stable. */
	double difference = value - mean->mean;
	mean->count++;
	mean->mean += difference / (double)mean->count;
	mean->squares += difference * (value - mean->mean);
}

double sp_stat_mean_error(const struct sp_stat_mean *mean)
{
	if (mean->count < 2)
		return 0;
	return sqrt(mean->squares / (double)(mean->count - 1) / (double)mean->count);
}

double sp_stat_mean_interval(const struct sp_stat_mean *mean)
{
	if (mean->count < 2)
		return 0;
	return student_975(mean->count - 1) * sp_stat_mean_error(mean);
}
