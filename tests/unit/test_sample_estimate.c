/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/samples/sample_estimate.h"
#include "test.h"

TEST(losses_count_without_helpers_and_with_those_at_the_end)
{
	const struct filter_counts counts = {.lost = 100};
	const struct losses losses = {.not_counting = 30, .at_end = 5};
	ck_assert_uint_eq(sample_estimate_lost(&counts, &losses), 75);
}

TEST(missing_cpu_time_attributes_lost_samples)
{
	/* 90 samples of 1 ms: of 100 ms, 10 are missing. */
	const struct filter_counts counts = {.samples = 90, .weight = 90000000, .filtered = 900, .lost = 50,
					     .lost_own = 5};
	const struct losses losses = {0};
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 100000000), 10);
	/* No more than were lost, and not less than none. */
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 900000000), 50);
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 80000000), 0);
}

TEST(neighbours_attribute_lost_samples_without_cpu_time)
{
	const struct filter_counts counts = {.samples = 100, .weight = 100, .filtered = 300, .lost = 80,
					     .lost_own = 40};
	struct losses losses = {0};
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 0), 40);
	/* The target has the same share of losses at the end as of all samples. */
	losses.at_end = 40;
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 0), 40 + 10);
	/* Half of the reported losses are helpers' samples. */
	losses.not_counting = 40;
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 0), 20 + 10);
}

TEST(losses_without_any_sample_are_all_the_targets)
{
	const struct filter_counts counts = {0};
	const struct losses losses = {.at_end = 7};
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 0), 7);
	ck_assert_uint_eq(sample_estimate_lost_own(&counts, &losses, 1000), 7);
}

TEST(dropped_samples_have_no_weight)
{
	struct filter_counts counts = {.samples = 100, .weight = 1000};
	ck_assert_uint_eq(sample_estimate_written_weight(&counts, 0), 1000);
	ck_assert_uint_eq(sample_estimate_written_weight(&counts, 25), 750);
	counts = (struct filter_counts){0};
	ck_assert_uint_eq(sample_estimate_written_weight(&counts, 0), 0);
}
