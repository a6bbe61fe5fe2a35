/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "diff/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The asymptotic series are exact to 1e-13 from here; smaller arguments are shifted up to it. */
#define SERIES_FROM 12

double digamma(double x)
{
	double sum = 0;
	for (; x < SERIES_FROM; x++)
		sum -= 1 / x;
	double s = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s / 132))));
}

double trigamma(double x)
{
	double sum = 0;
	for (; x < SERIES_FROM; x++)
		sum += 1 / (x * x);
	double s = 1 / (x * x);
	return sum + 1 / x + s / 2 +
	       s / x * (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * 5 / 66))));
}

/* Third derivative of ln Γ(x). */
static double tetragamma(double x)
{
	double sum = 0;
	for (; x < SERIES_FROM; x++)
		sum -= 2 / (x * x * x);
	double s = 1 / (x * x);
	return sum - s - s / x - s * s * (0.5 - s * (1.0 / 6 - s * (1.0 / 6 - s * 0.3)));
}

double trigamma_inverse(double y)
{
	/* Newton's method for 1 / trigamma(x), which is convex and nearly linear, from below. */
	if (y > 1e7)
		return 1 / sqrt(y);
	if (y < 1e-6)
		return 1 / y;
	double x = 0.5 + 1 / y;
	for (int i = 0; i < 50; i++) {
		double value = trigamma(x);
		double step = value * (1 - value / y) / tetragamma(x);
		x += step;
		if (-step / x < 1e-12)
			break;
	}
	return x;
}

/*
 * Continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). Converges
 * fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;
	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m < 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		const double terms[] = {even, odd};
		double factor = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + terms[i] * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + terms[i] / c;
			c = fabs(c) < tiny ? tiny : c;
			factor = c * d;
			result *= factor;
		}
		if (fabs(factor - 1) < 1e-15)
			break;
	}
	return result;
}

/* Returns the regularized incomplete beta function I_x(a, b). */
static double beta_share(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_tail(double t, double df)
{
	return beta_share(df / 2, 0.5, df / (df + t * t));
}

double student_quantile(double p, double df)
{
	/* Newton's method from below: the tail is convex. */
	double t = 0, step = 1;
	double peak = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * M_PI) / 2;
	for (int i = 0; i < 100 && step > 1e-13 * t; i++) {
		double density = exp(peak - (df + 1) / 2 * log1p(t * t / df));
		step = (student_tail(t, df) - 2 * (1 - p)) / (2 * density);
		t += step;
	}
	return t;
}

double student_errors_found(double critical, double df)
{
	const double z = 1.2815515655446; /* exceeded by a normal variable in 1 of 10 cases */
	/* Abramowitz and Stegun 26.7.10 */
	return critical * (1 - 1 / (4 * df)) + z * sqrt(1 + critical * critical / (2 * df));
}

static int by_probability(const void *a, const void *b, void *arg)
{
	const double *p = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	return p[i] != p[j] ? (p[i] > p[j] ? 1 : -1) : (i > j) - (i < j);
}

void adjust_family(double *p, size_t *order, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_probability, p);
	for (size_t i = 0; i < count; i++) {
		most = fmax(most, fmin(1, p[order[i]] * (double)(count - i)));
		p[order[i]] = most;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct variance_prior variance_prior_fit(const double *variances, double *scratch, size_t count,
					 double df)
{
	double sum = 0, logs = 0, spread = 0, median;
	if (count < 2)
		return (struct variance_prior){.scale = count ? variances[0] : 1};
	memcpy(scratch, variances, count * sizeof(*scratch));
	qsort(scratch, count, sizeof(*scratch), by_value);
	median = (scratch[(count - 1) / 2] + scratch[count / 2]) / 2;
	if (!(median > 0))
		median = 1;
	for (size_t i = 0; i < count; i++) {
		double variance = fmax(variances[i], 1e-5 * median);
		sum += variance;
		scratch[i] = log(variance) - digamma(df / 2) + log(df / 2);
		logs += scratch[i];
	}
	logs /= (double)count;
	for (size_t i = 0; i < count; i++)
		spread += (scratch[i] - logs) * (scratch[i] - logs);
	spread = spread / (double)(count - 1) - trigamma(df / 2);
	if (!(spread > 0))
		return (struct variance_prior){.scale = sum / (double)count, .df = INFINITY};
	double prior = 2 * trigamma_inverse(spread);
	return (struct variance_prior){
		.scale = exp(logs + digamma(prior / 2) - log(prior / 2)),
		.df = prior,
	};
}

/* Fewest rows from which a trend is estimated. */
#define TREND_ROWS 8

/* Returns the variance of ln(factor / (1 + samples * trend)). */
static double spread_around(const double *factors, const double *samples, size_t count,
			    double trend)
{
	double sum = 0, squares = 0, n = count;
	for (size_t i = 0; i < count; i++) {
		double value = log(fmax(factors[i], 1e-5) / (1 + samples[i] * trend));
		sum += value;
		squares += value * value;
	}
	return squares / n - sum / n * (sum / n);
}

double variance_trend_fit(const double *factors, const double *samples, size_t count)
{
	double best = 0, least = spread_around(factors, samples, count, 0);
	/* From runs that differ by 0.1 % to 100 %, in steps of 12 %. */
	for (double spread = 0.001; count >= TREND_ROWS && spread < 1; spread *= 1.12) {
		double around = spread_around(factors, samples, count, spread * spread);
		if (around < least) {
			least = around;
			best = spread * spread;
		}
	}
	return best;
}

double variance_moderate(const struct variance_prior *prior, double variance, double df)
{
	if (isinf(prior->df))
		return prior->scale;
	return (prior->df * prior->scale + df * variance) / (prior->df + df);
}
