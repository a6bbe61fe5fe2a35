/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of time by state, with intervals. */
#include "profile/state_sums.h"
#include "profile/interval.h"
#include "test.h"

#define SECOND 1000000000

TEST(one_long_wait_is_exact)
{
	const struct state_whole whole = {.sums = {.ns = {[TIME_BLOCKED] = 4 * (uint64_t)SECOND}}};
	const struct state_sums part = {.ns = {[TIME_BLOCKED] = SECOND}, .waits = 1};
	struct sp_share share = state_share(&part, &whole);
	ck_assert(share.value == 0.25 && share.low == 0.25 && share.high == 0.25);
}

TEST(thinned_waits_have_the_variance_of_thinning)
{
	/* 100 waits of 0.5 ms, recorded with period 1 ms and probability 1/2: T² (1 - d / T) each. */
	const struct state_whole whole = {.sums = {.ns = {[TIME_BLOCKED] = SECOND}}};
	const struct state_sums part = {.ns = {[TIME_BLOCKED] = 100000000}, .waits = 200,
					.variance = 100 * 1e12 * 0.5};
	struct sp_share share = state_share(&part, &whole);
	double half = 1.959963984540054 * 7071067.8 / SECOND;
	ck_assert_double_eq_tol(share.value, 0.1, 1e-12);
	ck_assert_double_eq_tol(share.high - share.value, half, 1e-7);
	ck_assert_double_eq_tol(share.value - share.low, half, 1e-7);
}

TEST(on_cpu_time_has_the_interval_of_its_samples)
{
	const struct state_whole whole = {.sums = {.ns = {[TIME_ON_CPU] = SECOND}}, .n_eff = 1000};
	const struct state_sums part = {.ns = {[TIME_ON_CPU] = SECOND / 5}};
	struct sp_share share = state_share(&part, &whole);
	struct sp_share wilson = interval_share(SECOND / 5, SECOND, 1000);
	ck_assert_double_eq_tol(share.low, wilson.low, 1e-12);
	ck_assert_double_eq_tol(share.high, wilson.high, 1e-12);
}

TEST(a_row_of_both_has_the_width_of_its_sampled_part)
{
	struct state_whole whole = {.sums = {.ns = {[TIME_ON_CPU] = SECOND,
						    [TIME_BLOCKED] = 3 * (uint64_t)SECOND}}, .n_eff = 1000};
	const struct state_sums part = {.ns = {[TIME_ON_CPU] = SECOND / 5, [TIME_BLOCKED] = SECOND}};
	struct sp_share share = state_share(&part, &whole);
	struct sp_share wilson = interval_share(SECOND / 5, SECOND, 1000);
	ck_assert_double_eq_tol(share.value, 0.3, 1e-12);
	ck_assert_double_eq_tol(share.high - share.value, (wilson.high - wilson.value) / 4, 1e-12);
	ck_assert_double_eq_tol(share.value - share.low, (wilson.value - wilson.low) / 4, 1e-12);
}

TEST(sums_add_and_keep_the_longest_wait)
{
	struct state_sums sums = {.ns = {1, 2, 3, 4}, .waits = 1.5, .longest_ns = 7, .variance = 2};
	const struct state_sums more = {.ns = {10, 20, 30, UINT64_MAX}, .waits = 1, .longest_ns = 5,
					.variance = 3};
	state_sums_add(&sums, &more);
	ck_assert_uint_eq(sums.ns[TIME_ON_CPU], 11);
	ck_assert_uint_eq(sums.ns[TIME_UNKNOWN], UINT64_MAX);
	ck_assert_uint_eq(sums.longest_ns, 7);
	ck_assert_uint_eq(state_times(&sums, &(struct state_whole){.n_eff = 0}).waits, 3);
	ck_assert(sums.variance == 5);
}
