/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interval of a count. An event that shared a hardware counter with others ran for `run` of
 * the `enabled` time and counted n. Its count is estimated by n * enabled / run.
 *
 * The model: the counter is read now and then. The i-th reading found n_i counted in run_i.
 * With R = n / run, the residual e_i = n_i - R run_i is the deviation of the rate in that time.
 * The rate of a program drifts, but each reading has its share of the time, so that drift does
 * not bias the estimate. Chance between readings does; successive differences measure it, as in
 * systematic sampling:
 *
 *	s2 = sum (e_i - e_(i-1))^2 / 2 (K - 1)         variance of one e_i, K readings
 *	variance of the estimate = (enabled / run)^2 (1 - run / enabled) K s2
 *
 * where 1 - run/enabled is the finite population correction: the counted part has no error.
 * s2 has about 2/3 (K - 1) degrees of freedom; the interval is by Student's t.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sums over readings in which the counter ran. Zeroed: none yet. */
struct observations {
	uint64_t count;
	double last_n, last_run;
	double nn, nr, rr; /* successive differences of n_i and run_i: squares and products */
};

/* Adds a count and its run time since the reading before. Ignored if the run time is 0. */
void observations_add(struct observations *observations, uint64_t n, uint64_t run_ns);

/*
 * Computes the variance of n * enabled / run. Returns false with less than two observations, or if
 * `run` is 0.
 */
bool observations_variance(const struct observations *observations, uint64_t n,
			   uint64_t enabled_ns, uint64_t run_ns, double *ret);

/* Returns the degrees of freedom of that variance; at least 1. */
double observations_freedom(uint64_t count);

/*
 * Returns half the 95 % interval of an estimate with that variance, from `observations`
 * observations.
 */
double interval_half(uint64_t observations, double variance);

/* The 0.975 quantile of Student's t; `freedom` at least 1. */
double student_975(double freedom);
