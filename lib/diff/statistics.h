/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distributions and tests of a comparison: pure functions of numbers and arrays. */
#pragma once

#include <stddef.h>

/* Derivatives of ln Γ(x): the first and the second. x > 0. */
double digamma(double x);
double trigamma(double x);

/* Returns the x with trigamma(x) = y. y > 0. */
double trigamma_inverse(double y);

/*
 * Student's t with `df` > 0 degrees of freedom. Tail: the probability that |t| is at least as
 * large. Quantile: the t that is exceeded with the probability (1 - p), for 0.5 <= p < 1.
 */
double student_tail(double t, double df);
double student_quantile(double p, double df);

/*
 * Returns the change, in standard errors, for which t exceeds `critical` in 9 of 10 comparisons:
 * the mean of a noncentral t of `df` degrees of freedom. Exact to 0.2 % for df >= 2.
 */
double student_errors_found(double critical, double df);

/*
 * Replaces each p by the smallest probability of any false verdict at which it counts as found
 * (Holm 1979). `order` is scratch memory for `count` indexes.
 */
void adjust_family(double *p, size_t *order, size_t count);

/* Prior distribution of variances: scaled inverse chi-square with `df` degrees of freedom. */
struct variance_prior {
	double scale, df; /* df: INFINITY if all variances are alike; 0: nothing is known */
};

/*
 * Fits the prior to variances, each estimated with `df` degrees of freedom (Smyth 2004). Variances
 * of 0 count as 0.00001 times the median. `scratch` has `count` numbers.
 */
struct variance_prior variance_prior_fit(const double *variances, double *scratch, size_t count,
					 double df);

/*
 * Returns the variance between runs, τ², by which rows with many samples vary more than sampling:
 * rows with c samples vary by about (1 + c τ²) times the variance of sampling. The value makes
 * the logarithms of factors[i] / (1 + samples[i] τ²) most alike. 0 for fewer than 8 rows.
 */
double variance_trend_fit(const double *factors, const double *samples, size_t count);

/* Returns the mean of a variance's posterior distribution. */
double variance_moderate(const struct variance_prior *prior, double variance, double df);
