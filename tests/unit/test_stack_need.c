/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much is copied of stacks, by what they were like. */
#include "capture/event_control/stack_need.h"

#include <sprof/capture.h>
#include "test.h"

#define SECOND UINT64_C(1000000000)

/* A recording of 1,000 stacks a second. */
struct recording {
	struct stack_need need;
	struct stack_need_seen seen;
	uint64_t now_ns;
	size_t changes;
};

/* Runs `ms`, checked every 10 ms; `beyond` of 1,000 stacks need large copies, `lost` are lost. */
static void go_on(struct recording *recording, uint64_t ms, uint64_t beyond, uint64_t lost)
{
	for (uint64_t i = 0; i < ms; i++) {
		uint64_t turn = recording->seen.stacks++ * 7919 % 1000;
		recording->seen.beyond += turn < beyond;
		recording->seen.lost += recording->need.large && turn < lost;
		recording->now_ns += 1000000;
		if (i % 10 || !stack_need_changes(&recording->need, &recording->seen, recording->now_ns))
			continue;
		recording->changes++;
		stack_need_set(&recording->need, !recording->need.large, &recording->seen,
			       recording->now_ns);
	}
}

TEST(small_stacks_get_small_copies)
{
	struct recording recording = {.now_ns = SECOND};
	go_on(&recording, 5000, 0, 0);
	ck_assert(!recording.need.large);
	/* One in a thousand is not worth it. */
	go_on(&recording, 2000, 1, 0);
	ck_assert_uint_eq(recording.changes, 0);
}

TEST(large_stacks_get_large_copies_at_once)
{
	struct recording recording = {.now_ns = SECOND};
	go_on(&recording, 1000, 0, 0);
	go_on(&recording, 30, 900, 0);
	ck_assert(recording.need.large);
	go_on(&recording, 5000, 10, 0);
	ck_assert(recording.need.large);
	go_on(&recording, 2500, 0, 0);
	ck_assert(!recording.need.large);
	ck_assert_uint_eq(recording.changes, 2);
}

TEST(the_beginning_may_be_large)
{
	struct recording recording = {.now_ns = SECOND};
	stack_need_set(&recording.need, true, &recording.seen, recording.now_ns);
	go_on(&recording, 900, 0, 0);
	ck_assert(recording.need.large);
	go_on(&recording, 500, 0, 0);
	ck_assert(!recording.need.large);
}

/* Not to and fro all the time. */
TEST(repeated_need_keeps_large_copies)
{
	struct recording recording = {.now_ns = SECOND};
	for (int i = 0; i < 60; i++) {
		go_on(&recording, 100, 200, 0);
		ck_assert(recording.need.large);
		go_on(&recording, 1900, 0, 0);
	}
	ck_assert_uint_lt(recording.changes, 16);
}

TEST(lost_large_copies_are_suspended)
{
	struct recording recording = {.now_ns = SECOND};
	uint64_t large_ms = 0;
	for (int i = 0; i < 200; i++) {
		go_on(&recording, 100, 900, 100);
		large_ms += recording.need.large ? 100 : 0;
	}
	/* It is tried again, less and less often. */
	ck_assert_uint_lt(large_ms, 3000);
	ck_assert_uint_gt(recording.changes, 4);
	ck_assert_uint_lt(recording.changes, 12);
}

TEST(a_few_that_are_lost_are_no_reason)
{
	struct recording recording = {.now_ns = SECOND};
	go_on(&recording, 10000, 900, 2);
	ck_assert(recording.need.large);
	ck_assert_uint_eq(recording.changes, 1);
}

TEST(one_hitch_is_no_reason)
{
	struct recording recording = {.now_ns = SECOND};
	go_on(&recording, 500, 900, 0);
	for (int i = 0; i < 5; i++) {
		recording.seen.lost += 500;
		go_on(&recording, 3000, 900, 0);
	}
	ck_assert(recording.need.large);
	ck_assert_uint_eq(recording.changes, 1);
}
