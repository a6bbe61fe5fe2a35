/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/coverage.h"
#include "test.h"

enum { PID = 10 };

static const uint64_t OPENED_NS = 5000000000;

static struct coverage new_coverage(void)
{
	struct coverage coverage = {.follow = true};
	ck_assert(coverage_add(&coverage, PID, PID, true));
	struct cover *cover = coverage_find(&coverage, PID);
	ck_assert_int_eq(cover->state, COVER_NONE);
	cover->state = COVER_OPENED;
	cover->end_ns = OPENED_NS;
	return coverage;
}

static enum cover_state fork_at(struct coverage *coverage, uint64_t time_ns, uint32_t parent,
				uint32_t tid)
{
	struct task_change birth = {PID, tid, PID, parent, time_ns};
	ck_assert(coverage_fork(coverage, &birth));
	const struct cover *cover = coverage_find(coverage, tid);
	ck_assert(cover != NULL);
	ck_assert(cover->samples);
	return cover->state;
}

TEST(coverage_is_inherited_from_the_second_fork_on)
{
	struct coverage c = new_coverage();
	ck_assert_int_eq(fork_at(&c, OPENED_NS - 1000, PID, 20), COVER_NONE);
	ck_assert_int_eq(fork_at(&c, OPENED_NS, PID, 21), COVER_NONE);
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 10, PID, 22), COVER_NONE);
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 20, PID, 23), COVER_INHERITED);
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 30, PID, 24), COVER_INHERITED);
	/* Children of tasks covered from birth are covered at once; others are not. */
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 40, 23, 25), COVER_INHERITED);
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 50, 22, 26), COVER_NONE);
	coverage_deinit(&c);
}

TEST(coverage_trusts_a_first_fork_long_after)
{
	struct coverage c = new_coverage();
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 1500000000, PID, 20), COVER_INHERITED);
	coverage_deinit(&c);
}

TEST(coverage_takes_a_birth_once)
{
	struct coverage c = new_coverage();
	/* Both side-band events of a thread in doubt tell of it. */
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 100, PID, 20), COVER_NONE);
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 200, PID, 20), COVER_NONE);
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 300, PID, 21), COVER_INHERITED);
	coverage_deinit(&c);
}

TEST(coverage_keeps_tasks_opened_before_their_fork_record)
{
	struct coverage c = new_coverage();
	ck_assert(coverage_add(&c, PID, 20, true));
	struct cover *cover = coverage_find(&c, 20);
	cover->state = COVER_OPENED;
	cover->end_ns = OPENED_NS + 500;
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 100, PID, 20), COVER_OPENED);
	/* But later it is another task of that number. */
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 2000000000, PID, 20), COVER_INHERITED);
	coverage_deinit(&c);
}

TEST(coverage_of_a_number_used_again)
{
	struct coverage c = new_coverage();
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 10, PID, 20), COVER_NONE);
	coverage_find(&c, 20)->state = COVER_ENDED;
	ck_assert_int_eq(fork_at(&c, OPENED_NS + 9000000, PID, 20), COVER_INHERITED);
	/* A filtered task with that number has no effect, and is not added. */
	struct task_change stranger = {99, 77, 99, 99, OPENED_NS + 30};
	ck_assert(coverage_fork(&c, &stranger));
	ck_assert(!coverage_find(&c, 77));
	coverage_deinit(&c);
}

TEST(coverage_without_following)
{
	struct coverage c = new_coverage();
	c.follow = false;
	struct task_change birth = {PID, 20, PID, PID, OPENED_NS + 30};
	ck_assert(coverage_fork(&c, &birth));
	ck_assert(!coverage_find(&c, 20));
	coverage_deinit(&c);
}
