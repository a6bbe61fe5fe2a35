/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/event_control/rate_control.h"
#include "test.h"

#define MS UINT64_C(1000000)

/*
 * Runs `ms` with samples and losses every 10 ms. Returns the time of the change, in ms from
 * `*now_ns`, or 0.
 */
static uint64_t pass(struct rate_control *rate_control, struct rate_control_seen *seen, uint64_t *now_ns,
		     uint64_t ms, uint64_t samples, uint64_t lost)
{
	uint64_t begin_ns = *now_ns;
	for (; *now_ns < begin_ns + ms * MS; *now_ns += 10 * MS) {
		seen->samples += samples;
		seen->lost += lost;
		if (rate_control_changes(rate_control, seen, *now_ns))
			return (*now_ns - begin_ns) / MS;
	}
	return 0;
}

TEST(rate_control_stays_without_losses)
{
	struct rate_control rate_control = {0};
	struct rate_control_seen seen = {0};
	uint64_t now_ns = MS;
	ck_assert_uint_eq(pass(&rate_control, &seen, &now_ns, 10000, 50, 0), 0);
	/* Nor for a few all the time, or one burst, or nearly nothing at all. */
	ck_assert_uint_eq(pass(&rate_control, &seen, &now_ns, 10000, 50, 4), 0);
	/* Bursts that are far apart are not added up. */
	for (int i = 0; i < 4; i++) {
		ck_assert_uint_eq(pass(&rate_control, &seen, &now_ns, 240, 10, 50), 0);
		ck_assert_uint_eq(pass(&rate_control, &seen, &now_ns, 10000, 50, 0), 0);
	}
	ck_assert_uint_eq(pass(&rate_control, &seen, &now_ns, 10000, 0, 3), 0);
}

TEST(rate_control_slows_down_and_tries_again)
{
	struct rate_control rate_control = {0};
	struct rate_control_seen seen = {0};
	uint64_t now_ns = MS;
	uint64_t after = pass(&rate_control, &seen, &now_ns, 2000, 50, 20);
	ck_assert(rate_control.slow);
	ck_assert_uint_ge(after, 500);
	ck_assert_uint_lt(after, 1100);
	ck_assert(rate_control.share > 0.28 && rate_control.share < 0.29);
	after = pass(&rate_control, &seen, &now_ns, 20000, 12, 0);
	ck_assert(!rate_control.slow);
	ck_assert_uint_ge(after, 5000);
	ck_assert_uint_lt(after, 5400);
	/* The second time is longer. */
	ck_assert_uint_gt(pass(&rate_control, &seen, &now_ns, 2000, 50, 20), 0);
	ck_assert(rate_control.slow);
	after = pass(&rate_control, &seen, &now_ns, 20000, 12, 0);
	ck_assert_uint_ge(after, 10000);
	ck_assert_uint_lt(after, 10400);
}

TEST(rate_control_stays_slow_while_there_are_losses)
{
	struct rate_control rate_control = {0};
	struct rate_control_seen seen = {0};
	uint64_t now_ns = MS;
	ck_assert_uint_gt(pass(&rate_control, &seen, &now_ns, 2000, 50, 20), 0);
	ck_assert_uint_eq(pass(&rate_control, &seen, &now_ns, 30000, 12, 1), 0);
	ck_assert(rate_control.slow);
}
