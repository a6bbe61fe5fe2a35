/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/membership.h"
#include "test.h"

static void fork_at(struct membership *membership, uint64_t time_ns, uint32_t parent_pid,
		    uint32_t parent_tid, uint32_t pid, uint32_t tid)
{
	struct task_change birth = {pid, tid, parent_pid, parent_tid, time_ns, TASK_FORKED,
				    .is_process = pid != parent_pid};
	ck_assert(membership_on_change(membership, &birth));
}

static void exec_at(struct membership *membership, uint32_t pid, uint64_t time_ns)
{
	struct task_change change = {.kind = TASK_EXECED, .pid = pid, .time_ns = time_ns};
	ck_assert(membership_on_change(membership, &change));
}

static void exit_at(struct membership *membership, uint32_t tid, uint64_t time_ns)
{
	struct task_change change = {.kind = TASK_ENDED, .tid = tid, .time_ns = time_ns};
	ck_assert(membership_on_change(membership, &change));
}

static bool has(struct membership *membership, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	return membership_has(membership, pid, tid, time_ns);
}

TEST(membership_follows_children_from_their_fork_on)
{
	struct membership m = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	ck_assert(membership_add(&m, 10, 10, 100));
	fork_at(&m, 200, 10, 10, 20, 20);
	fork_at(&m, 300, 20, 20, 30, 30);
	fork_at(&m, 300, 99, 99, 40, 40);
	ck_assert(!has(&m, 10, 10, 99));
	ck_assert(has(&m, 10, 10, 100));
	ck_assert(!has(&m, 20, 20, 199));
	ck_assert(has(&m, 20, 21, 200));
	ck_assert(has(&m, 30, 30, 1000));
	ck_assert(!has(&m, 40, 40, 1000));
	ck_assert_uint_eq(m.live.count, 3);
	membership_deinit(&m);
}

TEST(membership_by_process_takes_all_threads)
{
	struct membership m = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	ck_assert(membership_add(&m, 10, 10, 0));
	ck_assert(membership_add(&m, 10, 11, 0));
	fork_at(&m, 5, 10, 11, 10, 12);
	ck_assert(has(&m, 10, 12, 1));
	ck_assert_uint_eq(m.live.count, 3);
	membership_exit(&m, 10);
	membership_exit(&m, 11);
	/* A child of a thread after its leader has ended. */
	fork_at(&m, 7, 10, 12, 20, 20);
	ck_assert(has(&m, 20, 20, 7));
	membership_exit(&m, 12);
	membership_exit(&m, 20);
	membership_exit(&m, 777);
	ck_assert_uint_eq(m.live.count, 0);
	membership_deinit(&m);
}

TEST(membership_by_thread_takes_what_the_thread_makes)
{
	struct membership m = {.by = MEMBERSHIP_BY_THREAD, .follow = true};
	ck_assert(membership_add(&m, 10, 11, 0));
	fork_at(&m, 5, 10, 11, 10, 12);
	fork_at(&m, 5, 10, 10, 10, 13);
	fork_at(&m, 6, 10, 12, 20, 20);
	ck_assert(!has(&m, 10, 10, 9));
	ck_assert(has(&m, 10, 11, 9));
	ck_assert(has(&m, 10, 12, 9));
	ck_assert(!has(&m, 10, 13, 9));
	ck_assert(has(&m, 20, 20, 9));
	membership_deinit(&m);
}

TEST(membership_without_following_stays_as_it_is)
{
	struct membership m = {.by = MEMBERSHIP_BY_THREAD, .follow = false};
	ck_assert(membership_add(&m, 10, 10, 0));
	fork_at(&m, 5, 10, 10, 10, 11);
	fork_at(&m, 5, 10, 10, 20, 20);
	ck_assert(has(&m, 10, 10, 9));
	ck_assert(!has(&m, 10, 11, 9));
	ck_assert(!has(&m, 20, 20, 9));
	ck_assert_uint_eq(m.live.count, 1);
	membership_deinit(&m);
}

TEST(membership_ends_where_a_number_is_used_again)
{
	struct membership m = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	ck_assert(membership_add(&m, 10, 10, 0));
	fork_at(&m, 100, 10, 10, 20, 20);
	membership_exit(&m, 20);
	fork_at(&m, 200, 99, 99, 20, 20); /* a task of another target */
	fork_at(&m, 250, 20, 20, 30, 30); /* and its child */
	fork_at(&m, 300, 10, 10, 20, 20); /* ours again */
	ck_assert(!has(&m, 20, 20, 99));
	ck_assert(has(&m, 20, 20, 199));
	ck_assert(!has(&m, 20, 20, 200));
	ck_assert(!has(&m, 20, 20, 299));
	ck_assert(!has(&m, 30, 30, 260));
	ck_assert(has(&m, 20, 20, 300));
	uint64_t since_ns, until_ns;
	ck_assert(!membership_find(&m, 20, 20, 250, &since_ns, &until_ns));
	ck_assert_uint_eq(since_ns, 200);
	ck_assert_uint_eq(until_ns, 300);
	ck_assert(membership_find(&m, 20, 20, 350, &since_ns, &until_ns));
	ck_assert_uint_eq(since_ns, 300);
	ck_assert_uint_eq(until_ns, UINT64_MAX);
	ck_assert(!membership_find(&m, 555, 555, 350, &since_ns, &until_ns));
	ck_assert_uint_eq(since_ns, 0);
	ck_assert_uint_eq(until_ns, UINT64_MAX);

	membership_expire(&m, 250);
	ck_assert(!has(&m, 20, 20, 250));
	ck_assert(has(&m, 20, 20, 300));
	membership_expire(&m, 400);
	ck_assert(has(&m, 20, 20, 400));
	ck_assert_uint_eq(m.chained, 0);
	membership_deinit(&m);
}

TEST(membership_memory_does_not_grow_by_numbers_used_again)
{
	struct membership m = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	ck_assert(membership_add(&m, 10, 10, 0));
	for (uint64_t time_ns = 1; time_ns < 100000; time_ns += 2) {
		fork_at(&m, time_ns, 10, 10, 20, 20);
		ck_assert_msg(has(&m, 20, 20, time_ns), "%llu", (unsigned long long)time_ns);
		membership_exit(&m, 20);
		fork_at(&m, time_ns + 1, 99, 99, 20, 20);
		if (time_ns % 100 == 1)
			membership_expire(&m, time_ns);
	}
	ck_assert_uint_le(m.spans.count, 110);
	ck_assert_uint_eq(m.live.count, 1);
	membership_deinit(&m);
}

TEST(membership_keeps_its_thread_through_exec)
{
	/* The leader has ended; thread 12 becomes the leader by exec. */
	struct membership m = {.by = MEMBERSHIP_BY_THREAD, .follow = true};
	ck_assert(membership_add(&m, 10, 12, 0));
	exec_at(&m, 10, 50);
	ck_assert(!has(&m, 10, 10, 49));
	ck_assert(has(&m, 10, 10, 50));
	ck_assert_uint_eq(m.live.count, 1);
	membership_exit(&m, 10);
	ck_assert_uint_eq(m.live.count, 0);
	membership_deinit(&m);

	struct membership p = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	ck_assert(membership_add(&p, 10, 10, 0));
	exec_at(&p, 10, 50);
	exec_at(&p, 77, 50); /* a task of another target */
	ck_assert(has(&p, 10, 10, 20));
	ck_assert(!has(&p, 77, 77, 60));
	ck_assert_uint_eq(p.live.count, 1);
	membership_deinit(&p);
}

/* Unused numbers are dropped after the samples, unless they are used again. */
TEST(membership_gives_up_numbers_that_ended)
{
	struct membership m = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	ck_assert(membership_add(&m, 10, 10, 0));
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t time_ns = 100 + 10 * i;
		fork_at(&m, time_ns, 10, 10, 100 + i, 100 + i);
		fork_at(&m, time_ns + 1, 100 + i, 100 + i, 100 + i, 5000 + i);
		exit_at(&m, 100 + i, time_ns + 2);
		ck_assert(has(&m, 100 + i, 5000 + i, time_ns + 3));
		exit_at(&m, 5000 + i, time_ns + 4);
		membership_expire(&m, time_ns > 50 ? time_ns - 50 : 0);
		ck_assert(has(&m, 100 + i, 100 + i, time_ns + 5));
		ck_assert(has(&m, 10, 10, time_ns));
	}
	ck_assert_uint_lt(m.newest.count, 10);
	ck_assert_uint_lt(m.spans.count, 20);
	ck_assert_uint_lt(m.ended.count, 40);
	/* One that is used again meanwhile stays. */
	fork_at(&m, 20000, 10, 10, 7, 7);
	exit_at(&m, 7, 20010);
	fork_at(&m, 20020, 10, 10, 7, 7);
	membership_expire(&m, 30000);
	ck_assert(has(&m, 7, 7, 30000));
	ck_assert_uint_eq(m.live.count, 2);
	membership_deinit(&m);
}

TEST(membership_by_thread_gives_up_each_thread)
{
	struct membership m = {.by = MEMBERSHIP_BY_THREAD, .follow = true};
	ck_assert(membership_add(&m, 10, 11, 0));
	fork_at(&m, 5, 10, 11, 10, 12);
	exit_at(&m, 12, 8);
	membership_expire(&m, 8);
	ck_assert(has(&m, 10, 12, 8));
	membership_expire(&m, 9);
	ck_assert(!has(&m, 10, 12, 9));
	ck_assert(has(&m, 10, 11, 9));
	membership_deinit(&m);
}
