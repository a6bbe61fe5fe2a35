/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "count/estimate.h"

#include <math.h>
#include <sprof/private/command.h>
#include <sprof/stat.h>
#include "test.h"

TEST(quantiles_are_those_of_tables)
{
	static const struct {
		double freedom, wanted;
	} table[] = {{1, 12.7062}, {2, 4.30265}, {3, 3.18245}, {5, 2.57058}, {6, 2.44691},
		     {7, 2.36462}, {10, 2.22814}, {20, 2.08596}, {30, 2.04227}, {120, 1.97993},
		     {1e9, 1.95996}};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		double got = student_975(table[i].freedom);
		ck_assert_msg(fabs(got - table[i].wanted) < 2e-3 * table[i].wanted, "t(%g) = %g, not %g",
			      table[i].freedom, got, table[i].wanted);
	}
	/* Between whole numbers it falls. */
	for (double f = 1; f < 20; f += 0.25)
		ck_assert_double_gt(student_975(f), student_975(f + 0.25));
}

TEST(means_know_their_error)
{
	struct sp_stat_mean mean = {0};
	sp_stat_mean_add(&mean, 5);
	ck_assert_double_eq(sp_stat_mean_error(&mean), 0);
	ck_assert_double_eq(sp_stat_mean_interval(&mean), 0);
	sp_stat_mean_add(&mean, 7);
	sp_stat_mean_add(&mean, 9);
	ck_assert_double_eq_tol(mean.mean, 7, 1e-12);
	/* Variance 4, of three. */
	ck_assert_double_eq_tol(sp_stat_mean_error(&mean), sqrt(4.0 / 3), 1e-12);
	ck_assert_double_eq_tol(sp_stat_mean_interval(&mean), 4.30265 * sqrt(4.0 / 3), 1e-4);
}

TEST(a_count_that_ran_all_the_time_is_exact)
{
	struct observations observations = {0};
	double variance = -1;
	for (unsigned int i = 0; i < 10; i++)
		observations_add(&observations, 100 + 37 * i % 11, 20);
	ck_assert(observations_variance(&observations, 1000, 200, 200, &variance));
	ck_assert_double_eq(variance, 0);
}

TEST(nothing_is_known_of_one_reading)
{
	struct observations observations = {0};
	double variance;
	observations_add(&observations, 100, 20);
	observations_add(&observations, 0, 0); /* it did not run */
	ck_assert_uint_eq(observations.count, 1);
	ck_assert(!observations_variance(&observations, 100, 40, 20, &variance));
	ck_assert(!observations_variance(&(struct observations){.count = 5}, 0, 40, 0, &variance));
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#define SLICES 5000 /* number of 4 ms slices: a run of 20 s */
#define SLICE_NS 4000000

/*
 * Simulates a run with a rate that varies by chance and drifts; the event has one slice of `every`.
 * Returns whether the truth is within the interval.
 */
static bool covered(uint64_t *state, unsigned int every, bool drifts)
{
	struct observations observations = {0};
	uint64_t truth = 0, n = 0, run = 0, part_n = 0, part_run = 0;
	for (unsigned int i = 0; i < SLICES; i++) {
		uint64_t count = 10000 + next_random(state) % 20000;
		/* Three phases, and a slope. */
		if (drifts)
			count += (uint64_t)(i / (SLICES / 3)) * 50000 + 4 * i;
		truth += count;
		if (i % every == 0) {
			part_n += count;
			part_run += SLICE_NS;
		}
		if (i % 5 == 4) { /* read each 20 ms */
			observations_add(&observations, part_n, part_run);
			n += part_n;
			run += part_run;
			part_n = part_run = 0;
		}
	}
	double variance = 0, enabled = (double)SLICES * SLICE_NS;
	ck_assert(observations_variance(&observations, n, (uint64_t)enabled, run, &variance));
	double half = student_975(observations_freedom(observations.count)) * sqrt(variance);
	return fabs((double)n * enabled / (double)run - (double)truth) <= half;
}

/* 95 of 100; of 1,000 trials three standard deviations are 2 %. */
static void check_coverage(unsigned int every, bool drifts, unsigned int low, unsigned int high)
{
	uint64_t state = 88172645463325252u;
	unsigned int hits = 0;
	for (unsigned int i = 0; i < 1000; i++)
		hits += covered(&state, every, drifts);
	ck_assert_msg(hits >= low && hits <= high, "%u of 1000, one slice of %u", hits, every);
}

TEST(the_truth_is_within_95_of_100_intervals)
{
	check_coverage(2, false, 930, 970);
	check_coverage(3, false, 930, 970);
	check_coverage(8, false, 930, 970);
}

TEST(drift_makes_intervals_hardly_wider)
{
	check_coverage(2, true, 900, 1000);
	check_coverage(5, true, 900, 1000);
}
