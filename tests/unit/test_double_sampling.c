/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/double_sampling.h"
#include "test.h"

enum { PERIOD = 1000, THREAD = 7, INHERITED = 100, OWN = 200, OWN_OF_PARENT = 300, OTHER = 400 };

static struct double_sampling new_doubts(void)
{
	struct double_sampling double_sampling = {0};
	ck_assert(double_sampling_add_id(&double_sampling, INHERITED, 0));
	ck_assert(double_sampling_add_id(&double_sampling, OWN, 0));
	ck_assert(double_sampling_add_id(&double_sampling, OWN_OF_PARENT, 0));
	ck_assert(double_sampling_add_id(&double_sampling, OTHER, 1));
	ck_assert(double_sampling_add_task(&double_sampling, THREAD));
	return double_sampling;
}

static bool sample(struct double_sampling *double_sampling, uint32_t tid, uint32_t cpu, uint64_t id)
{
	bool keep = false;
	ck_assert(double_sampling_sample(double_sampling, tid, cpu, id, PERIOD, &keep));
	return keep;
}

TEST(double_sample_keeps_all_of_a_single_event)
{
	struct double_sampling double_sampling = new_doubts();
	for (int i = 0; i < 10; i++)
		ck_assert(sample(&double_sampling, THREAD, 0, OWN));
	double_sampling_deinit(&double_sampling);
}

TEST(double_sample_counts_two_events_once)
{
	/* Whichever comes first in each period, and however late the second begins. */
	for (int late = 0; late < 5; late++)
		for (int own_first = 0; own_first < 2; own_first++) {
			struct double_sampling double_sampling = new_doubts();
			int kept = 0;
			for (int i = 0; i < 1000; i++)
				for (int turn = 0; turn < 2; turn++) {
					bool own = turn != own_first;
					if (!own || i >= late)
						kept += sample(&double_sampling, THREAD, 0,
							       own ? OWN : INHERITED);
				}
			ck_assert_int_eq(kept, 1000);
			double_sampling_deinit(&double_sampling);
		}
}

TEST(double_sample_takes_three_events_for_one)
{
	struct double_sampling double_sampling = new_doubts();
	int kept = 0;
	for (int i = 0; i < 100; i++) {
		kept += sample(&double_sampling, THREAD, 0, INHERITED);
		kept += sample(&double_sampling, THREAD, 0, OWN_OF_PARENT);
		kept += sample(&double_sampling, THREAD, 0, OWN);
	}
	ck_assert_int_eq(kept, 100);
	double_sampling_deinit(&double_sampling);
}

TEST(double_sample_keeps_cpus_kinds_and_tasks_apart)
{
	struct double_sampling double_sampling = new_doubts();
	ck_assert(double_sampling_add_task(&double_sampling, THREAD + 1));
	ck_assert(sample(&double_sampling, THREAD, 0, INHERITED));
	ck_assert(!sample(&double_sampling, THREAD, 0, OWN));
	ck_assert(sample(&double_sampling, THREAD, 1, OWN));
	ck_assert(sample(&double_sampling, THREAD, 0, OTHER));
	ck_assert(sample(&double_sampling, THREAD + 1, 0, OWN));
	/* All samples of other tasks, and of other events, are kept. */
	ck_assert(sample(&double_sampling, 99, 0, INHERITED));
	ck_assert(sample(&double_sampling, 99, 0, OWN));
	ck_assert(sample(&double_sampling, THREAD, 0, 12345));
	double_sampling_deinit(&double_sampling);
}

TEST(double_sample_goes_over_to_children)
{
	struct double_sampling double_sampling = new_doubts();
	ck_assert(double_sampling_fork(&double_sampling, THREAD, 8));
	ck_assert(double_sampling_fork(&double_sampling, 8, 9));
	ck_assert(double_sampling_fork(&double_sampling, 55, 56));
	ck_assert(double_sampling_has(&double_sampling, 9));
	ck_assert(!double_sampling_has(&double_sampling, 56));
	double_sampling_deinit(&double_sampling);
}

TEST(double_sample_ends_with_its_task)
{
	struct double_sampling double_sampling = new_doubts();
	for (int i = 0; i < 1000; i++) {
		ck_assert(sample(&double_sampling, THREAD, 0, OWN));
		ck_assert(sample(&double_sampling, THREAD, 1, INHERITED));
		ck_assert(double_sampling_exit(&double_sampling, THREAD));
		/* Samples of before the exit may still come. */
		ck_assert(sample(&double_sampling, THREAD, 0, OWN));
		ck_assert(!sample(&double_sampling, THREAD, 0, INHERITED));
		double_sampling_remove_ended(&double_sampling);
		ck_assert(!double_sampling_has(&double_sampling, THREAD));
		/* Another task gets the number; what the first one had is not held against it. */
		ck_assert(double_sampling_add_task(&double_sampling, THREAD));
		ck_assert(sample(&double_sampling, THREAD, 0, INHERITED));
		ck_assert(double_sampling_exit(&double_sampling, THREAD));
		double_sampling_remove_ended(&double_sampling);
		ck_assert(double_sampling_add_task(&double_sampling, THREAD));
	}
	ck_assert_uint_le(double_sampling.streams.count, 4);
	double_sampling_deinit(&double_sampling);
}
