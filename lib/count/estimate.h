/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How sure a count is. An event that took turns with others on the hardware ran for `run` of
 * the `enabled` time and counted n; what it would have counted is estimated by n * enabled / run.
 *
 * The model: the counter is read every now and then. The i-th reading found n_i counted in
 * run_i. With R = n / run, the residual e_i = n_i - R run_i is how much the rate of that time
 * was off. The rate of a program drifts, and every reading has its share of the time, so drift
 * does no harm: what does is chance from one reading to the next, which is measured by
 * successive differences (as systematic samples are):
 *
 *	s2 = sum (e_i - e_(i-1))^2 / 2 (K - 1)         variance of one e_i, K readings
 *	variance of the estimate = (enabled / run)^2 (1 - run / enabled) K s2
 *
 * where 1 - run/enabled is the finite population correction: what was counted is certain.
 * s2 has some 2/3 (K - 1) degrees of freedom, and the interval is Student's.
 */
#ifndef COUNT_ESTIMATE_H
#define COUNT_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* Sums over readings in which the counter ran. Zeroed: none yet. */
struct observations {
	uint64_t count;
	double last_n, last_run;
	double nn, nr, rr; /* successive differences of n_i and run_i: squares and products */
};

/* Add a count and its run time since the reading before. Without run time it is ignored. */
void observations_add(struct observations *observations, uint64_t n, uint64_t run_ns);

/*
 * The variance of n * enabled / run; false with less than two observations, or where nothing is
 * to be estimated (run is 0).
 */
bool observations_variance(const struct observations *observations, uint64_t n,
			   uint64_t enabled_ns, uint64_t run_ns, double *ret);

/* Degrees of freedom of that variance; at least 1. */
double observations_freedom(uint64_t count);

/*
 * Returns half the 95 % interval of an estimate with that variance, from `observations`
 * observations.
 */
double interval_half(uint64_t observations, double variance);

/* The 0.975 quantile of Student's t; `freedom` at least 1. */
double student_975(double freedom);

#endif
