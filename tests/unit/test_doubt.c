/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/doubt.h"
#include "test.h"

enum { PERIOD = 1000, THREAD = 7, INHERITED = 100, OWN = 200, OWN_OF_PARENT = 300, OTHER = 400 };

static struct doubts new_doubts(void)
{
	struct doubts doubts = {0};
	ck_assert(doubts_add_id(&doubts, INHERITED, 0));
	ck_assert(doubts_add_id(&doubts, OWN, 0));
	ck_assert(doubts_add_id(&doubts, OWN_OF_PARENT, 0));
	ck_assert(doubts_add_id(&doubts, OTHER, 1));
	ck_assert(doubts_add_task(&doubts, THREAD));
	return doubts;
}

static bool sample(struct doubts *doubts, uint32_t tid, uint32_t cpu, uint64_t id)
{
	bool keep = false;
	ck_assert(doubts_sample(doubts, tid, cpu, id, PERIOD, &keep));
	return keep;
}

TEST(doubt_keeps_all_of_a_single_event)
{
	struct doubts doubts = new_doubts();
	for (int i = 0; i < 10; i++)
		ck_assert(sample(&doubts, THREAD, 0, OWN));
	doubts_deinit(&doubts);
}

TEST(doubt_counts_two_events_once)
{
	/* Whichever comes first in each period, and however late the second begins. */
	for (int late = 0; late < 5; late++)
		for (int own_first = 0; own_first < 2; own_first++) {
			struct doubts doubts = new_doubts();
			int kept = 0;
			for (int i = 0; i < 1000; i++)
				for (int turn = 0; turn < 2; turn++) {
					bool own = turn != own_first;
					if (!own || i >= late)
						kept += sample(&doubts, THREAD, 0,
							       own ? OWN : INHERITED);
				}
			ck_assert_int_eq(kept, 1000);
			doubts_deinit(&doubts);
		}
}

TEST(doubt_takes_three_events_for_one)
{
	struct doubts doubts = new_doubts();
	int kept = 0;
	for (int i = 0; i < 100; i++) {
		kept += sample(&doubts, THREAD, 0, INHERITED);
		kept += sample(&doubts, THREAD, 0, OWN_OF_PARENT);
		kept += sample(&doubts, THREAD, 0, OWN);
	}
	ck_assert_int_eq(kept, 100);
	doubts_deinit(&doubts);
}

TEST(doubt_keeps_cpus_kinds_and_tasks_apart)
{
	struct doubts doubts = new_doubts();
	ck_assert(doubts_add_task(&doubts, THREAD + 1));
	ck_assert(sample(&doubts, THREAD, 0, INHERITED));
	ck_assert(!sample(&doubts, THREAD, 0, OWN));
	ck_assert(sample(&doubts, THREAD, 1, OWN));
	ck_assert(sample(&doubts, THREAD, 0, OTHER));
	ck_assert(sample(&doubts, THREAD + 1, 0, OWN));
	/* Of a task that is not in doubt, and of an event that is not ours: all. */
	ck_assert(sample(&doubts, 99, 0, INHERITED));
	ck_assert(sample(&doubts, 99, 0, OWN));
	ck_assert(sample(&doubts, THREAD, 0, 12345));
	doubts_deinit(&doubts);
}

TEST(doubt_goes_over_to_children)
{
	struct doubts doubts = new_doubts();
	ck_assert(doubts_fork(&doubts, THREAD, 8));
	ck_assert(doubts_fork(&doubts, 8, 9));
	ck_assert(doubts_fork(&doubts, 55, 56));
	ck_assert(doubts_has(&doubts, 9));
	ck_assert(!doubts_has(&doubts, 56));
	doubts_deinit(&doubts);
}

TEST(doubt_ends_with_its_task)
{
	struct doubts doubts = new_doubts();
	for (int i = 0; i < 1000; i++) {
		ck_assert(sample(&doubts, THREAD, 0, OWN));
		ck_assert(sample(&doubts, THREAD, 1, INHERITED));
		ck_assert(doubts_exit(&doubts, THREAD));
		/* Samples of before the exit may still come. */
		ck_assert(sample(&doubts, THREAD, 0, OWN));
		ck_assert(!sample(&doubts, THREAD, 0, INHERITED));
		doubts_forget_ended(&doubts);
		ck_assert(!doubts_has(&doubts, THREAD));
		/* Another task gets the number; what the first one had is not held against it. */
		ck_assert(doubts_add_task(&doubts, THREAD));
		ck_assert(sample(&doubts, THREAD, 0, INHERITED));
		ck_assert(doubts_exit(&doubts, THREAD));
		doubts_forget_ended(&doubts);
		ck_assert(doubts_add_task(&doubts, THREAD));
	}
	ck_assert_uint_le(doubts.streams.count, 4);
	doubts_deinit(&doubts);
}
