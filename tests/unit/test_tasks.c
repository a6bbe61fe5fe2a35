/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded tasks from records in rings and a made-up /proc; no event is opened. */
#include "capture/tasks/tasks.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <sprof/private/command.h>
#include "capture/tasks/descendants.h"
#include "capture/tasks/find.h"
#include "capture/tasks/rescan.h"
#include "made_tasks.h"

static const int32_t pid_ten[] = {10};
static const struct sp_capture_target process_ten = {.pids = {pid_ten, 1}};

/* A process of two threads, 10 and 11, is recorded. */
static void init_with_process(struct made_tasks *made, const struct sp_capture_target *target,
			      enum capture_target kind)
{
	made_tasks_init(made, kind);
	made_tasks_stat(made, (struct made_stat){.pid = 10, .parent = 1});
	made_tasks_stat(made, (struct made_stat){.pid = 10, .tid = 11, .parent = 1});
	root_put(&made->root, "/proc/11/status", "Name:\tx\nTgid:\t10\n");
	ok_or_fail(tasks_find(&made->tasks, target));
	tasks_connect(&made->tasks);
	ok_or_fail(tasks_find_threads(&made->tasks));
}

static bool is_recorded(const struct made_tasks *made, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	return membership_has(&made->tasks.membership, pid, tid, time_ns);
}

TEST(tasks_follow_forks_until_all_have_ended)
{
	MADE_TASKS made;
	init_with_process(&made, &process_ten, CAPTURE_PROCESSES);
	ck_assert_uint_eq(made.tasks.membership.live.count, 2);
	made_tasks_put(&made, 0, 100, made_fork(10, 10, 20, 20));
	made_tasks_put(&made, 1, 110, made_fork(20, 20, 20, 21));
	made_tasks_put(&made, 0, 120, made_fork(99, 99, 98, 98));
	made_tasks_put(&made, 1, 130, made_exit(20, 21));
	made_tasks_put(&made, 1, 131, made_comm(20, true));
	made_tasks_put(&made, 1, 140, made_exit(10, 11));
	made_tasks_put(&made, 0, 150, made_exit(10, 10));
	made_tasks_drain(&made);
	ck_assert_uint_eq(made.tasks.tracker.counts.saved, 6);
	ck_assert(!is_recorded(&made, 20, 20, 99) && is_recorded(&made, 20, 20, 100));
	ck_assert(!is_recorded(&made, 98, 98, 200));
	ck_assert_uint_eq(tasks_now_ns(&made.tasks), 150);
	ck_assert(!tasks_is_over(&made.tasks));
	made_tasks_put(&made, 0, 160, made_exit(20, 20));
	made_tasks_drain(&made);
	ck_assert(tasks_is_over(&made.tasks));
	/* Samples from before the end are still theirs, until that time is forgotten. */
	ck_assert(is_recorded(&made, 20, 20, 155));
	tasks_expire(&made.tasks, 161);
	ck_assert_uint_eq(made.tasks.membership.newest.count, 0);
}

TEST(tasks_of_chosen_threads)
{
	static const int32_t eleven[] = {11};
	const struct sp_capture_target target = {.tids = {eleven, 1}};
	MADE_TASKS made;
	init_with_process(&made, &target, CAPTURE_THREADS);
	ck_assert(!tasks_wants_thread(&made.tasks, 10) && tasks_wants_thread(&made.tasks, 11));
	made_tasks_put(&made, 0, 100, made_fork(10, 11, 10, 12));
	made_tasks_put(&made, 0, 110, made_fork(10, 10, 10, 13));
	/* Mappings are the process's: records of its other threads are kept, too. */
	made_tasks_put(&made, 0, 120, made_comm(10, false));
	made_tasks_drain(&made);
	ck_assert_uint_eq(made.tasks.tracker.counts.filtered, 0);
	ck_assert(is_recorded(&made, 10, 11, 130) && is_recorded(&made, 10, 12, 130));
	ck_assert(!is_recorded(&made, 10, 10, 130) && !is_recorded(&made, 10, 13, 130));
	made_tasks_put(&made, 0, 140, made_exit(10, 11));
	made_tasks_put(&made, 0, 150, made_exit(10, 12));
	made_tasks_drain(&made);
	ck_assert(tasks_is_over(&made.tasks));
	made_tasks_put(&made, 0, 160, made_exit(10, 13));
	made_tasks_drain(&made);
	tasks_expire(&made.tasks, 161);
	ck_assert_uint_eq(made.tasks.membership.newest.count, 0);
	ck_assert_uint_eq(made.tasks.spaces.newest.count, 0);
}

TEST(tasks_without_inheritance_are_threads)
{
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_PROCESSES);
	made.config.inherit = false;
	made.plan.cpu_wide = false;
	tasks_connect(&made.tasks);
	ck_assert_int_eq(made.tasks.membership.by, MEMBERSHIP_BY_THREAD);
	ck_assert_ptr_eq(made.tasks.tracker.spaces, &made.tasks.spaces);
	/* Events of tasks give records of these tasks alone. */
	ck_assert(made.tasks.tracker.saves_all);
	ok_or_fail(tasks_follow(&made.tasks, 10, 10, 0));
	made_tasks_put(&made, 0, 100, made_fork(10, 10, 10, 11));
	made_tasks_drain(&made);
	ck_assert(is_recorded(&made, 10, 10, 100) && !is_recorded(&made, 10, 11, 100));
}

TEST(tasks_of_a_command_are_over_with_it)
{
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_COMMAND);
	made.tasks.workload.pid = 30;
	tasks_connect(&made.tasks);
	made.tasks.workload.pid = 0; /* no process for tasks_deinit() to end */
	made_tasks_put(&made, 0, 90, made_fork(30, 30, 31, 31));
	made_tasks_put(&made, 0, 100, made_comm(30, true));
	made_tasks_put(&made, 0, 110, made_fork(30, 30, 32, 32));
	made_tasks_put(&made, 0, 120, made_exit(30, 30));
	made_tasks_put(&made, 0, 130, made_exit(32, 32));
	made_tasks_drain(&made);
	ck_assert(!is_recorded(&made, 30, 30, 99) && is_recorded(&made, 30, 30, 100));
	ck_assert(is_recorded(&made, 32, 32, 110) && !is_recorded(&made, 31, 31, 110));
	ck_assert(!tasks_is_over(&made.tasks));
	made.tasks.workload.ended = true;
	ck_assert(tasks_is_over(&made.tasks));
}

TEST(tasks_of_the_system_are_all)
{
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_SYSTEM_WIDE);
	tasks_connect(&made.tasks);
	made_tasks_put(&made, 0, 100, made_fork(5, 5, 6, 6));
	made_tasks_put(&made, 0, 110, made_exit(6, 6));
	made_tasks_drain(&made);
	ck_assert_uint_eq(made.tasks.tracker.counts.saved, 2);
	ck_assert(!tasks_is_over(&made.tasks));
}

TEST(tasks_times_are_shifted)
{
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_SYSTEM_WIDE);
	made.plan.clock_id = CLOCK_MONOTONIC;
	uint64_t before_ns = tasks_now_ns(&made.tasks);
	made.rewrite.shift_ns = (uint64_t)1 << 62;
	ck_assert_uint_ge(tasks_now_ns(&made.tasks), before_ns + made.rewrite.shift_ns);
}

/* -- Finding the target ---------------------------------------------------- */

static void put_status(struct made_tasks *made, uint32_t pid, uid_t uid)
{
	char path[64], text[64];
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	snprintf(text, sizeof(text), "Tgid:\t%u\nUid:\t%u\t0\t0\t0\n", pid, (unsigned int)uid);
	root_put(&made->root, path, text);
}

TEST(find_takes_each_process_once)
{
	static const int32_t pids[] = {30, 10, 30};
	const struct sp_capture_target target = {.pids = {pids, 3}};
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_PROCESSES);
	ok_or_fail(tasks_find(&made.tasks, &target));
	ck_assert_uint_eq(made.tasks.processes.count, 2);
	ck_assert_uint_eq(made.tasks.processes.items[0].pid, 30);
	ck_assert_uint_eq(made.tasks.roots.count, 2);
	ck_assert_uint_eq(made.tasks.roots.items[0], 10);
	tasks_connect(&made.tasks);
	made_tasks_stat(&made, (struct made_stat){.pid = 30});
	struct sp_error *error = tasks_find_threads(&made.tasks);
	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(sp_error_message(error), "process 10 does not exist");
	sp_error_free(error);
}

TEST(find_takes_the_process_of_another_thread)
{
	static const int32_t pids[] = {11, 10};
	const struct sp_capture_target target = {.pids = {pids, 2}};
	MADE_TASKS made;
	init_with_process(&made, &target, CAPTURE_PROCESSES);
	ck_assert_uint_eq(made.tasks.processes.count, 1);
	ck_assert_uint_eq(made.tasks.roots.count, 1);
	ck_assert(is_recorded(&made, 10, 10, 1) && is_recorded(&made, 10, 11, 1));
	ck_assert(!is_recorded(&made, 11, 11, 1));
}

TEST(find_takes_a_users_processes_but_not_the_recorder)
{
	const struct sp_capture_target target = {.by_user = true, .uid = 1234};
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_PROCESSES);
	put_status(&made, 10, 1234);
	put_status(&made, 20, 1235);
	put_status(&made, (uint32_t)getpid(), 1234);
	ok_or_fail(tasks_find(&made.tasks, &target));
	ck_assert_uint_eq(made.tasks.processes.count, 1);
	ck_assert_uint_eq(made.tasks.processes.items[0].pid, 10);
	ck_assert_uint_eq(made.tasks.roots.count, 0);
	/* It ends before its threads are listed. */
	ok_or_fail(tasks_find_threads(&made.tasks));
	ck_assert_uint_eq(made.tasks.membership.live.count, 0);
}

TEST(find_needs_tasks_that_exist)
{
	static const int32_t tids[] = {77};
	const struct sp_capture_target user = {.by_user = true, .uid = 4000}, thread = {.tids = {tids, 1}};
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_THREADS);
	put_status(&made, 10, 1234);
	fails_with(SP_ERROR_NOT_FOUND, tasks_find(&made.tasks, &user));
	fails_with(SP_ERROR_NOT_FOUND, tasks_find(&made.tasks, &thread));
}

/* -- Descendants ----------------------------------------------------------- */

static int refuse_odd(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		      int group_fd, unsigned long flags)
{
	(void)attr, (void)cpu, (void)group_fd, (void)flags;
	++*(int *)arg;
	return pid % 2 ? -EACCES : -ESRCH;
}

TEST(descendants_are_added_if_the_kernel_permits)
{
	MADE_TASKS made;
	int tried = 0;
	const char *text = NULL;
	made_tasks_init(&made, CAPTURE_PROCESSES);
	made.kernel = (struct event_kernel){.open = refuse_odd, .arg = &tried};
	made.plan.cpu_wide = false;
	made.tasks.descendants = true;
	ok_or_fail(tasks_find(&made.tasks, &process_ten));
	tasks_connect(&made.tasks);
	made_tasks_stat(&made, (struct made_stat){.pid = 10, .parent = 1});
	made_tasks_stat(&made, (struct made_stat){.pid = 20, .parent = 10});
	made_tasks_stat(&made, (struct made_stat){.pid = 30, .parent = 20, .state = 'Z'});
	made_tasks_stat(&made, (struct made_stat){.pid = 41, .parent = 20});
	made_tasks_stat(&made, (struct made_stat){.pid = 50, .parent = 41});
	made_tasks_stat(&made, (struct made_stat){.pid = 60, .parent = 1});
	made_tasks_stat(&made, (struct made_stat){.pid = (uint32_t)getpid(), .parent = 10});
	ok_or_fail(tasks_find_descendants(&made.tasks));
	ok_or_fail(tasks_find_descendants(&made.tasks));
	ck_assert_int_eq(tried, 3); /* 20, 41 and 50, once each */
	ck_assert_uint_eq(made.tasks.processes.count, 3);
	ck_assert(tasks_process(&made.tasks, 20)->may_end);
	ck_assert(tasks_process(&made.tasks, 50)->may_end);
	ck_assert(!tasks_process(&made.tasks, 10)->may_end);
	ok_or_fail(tasks_note_refused(&made.tasks));
	ck_assert(made_tasks_noted(&made, NOTE_ATTACH_REFUSED, &text));
	ck_assert_ptr_nonnull(strstr(text, "task41 (41)"));
	/* One that ends before its threads are listed is no error; one that was given is. */
	made_tasks_remove(&made, 20);
	ok_or_fail(tasks_find_threads(&made.tasks));
	ck_assert_uint_eq(made.tasks.membership.live.count, 2);
	made_tasks_remove(&made, 10);
	fails_with(SP_ERROR_NOT_FOUND, tasks_find_threads(&made.tasks));
}

TEST(descendants_on_whole_cpus_need_no_permission)
{
	MADE_TASKS made; /* made.kernel has no functions */
	made_tasks_init(&made, CAPTURE_PROCESSES);
	made.tasks.descendants = true;
	ok_or_fail(tasks_find(&made.tasks, &process_ten));
	made_tasks_stat(&made, (struct made_stat){.pid = 10, .parent = 1});
	made_tasks_stat(&made, (struct made_stat){.pid = 21, .parent = 10});
	ok_or_fail(tasks_find_descendants(&made.tasks));
	ck_assert_uint_eq(made.tasks.processes.count, 2);
	ok_or_fail(tasks_note_refused(&made.tasks));
	ck_assert_uint_eq(made.notes.count, 0);
}

TEST(descendants_that_were_not_recorded_are_listed)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	MADE_TASKS made;
	init_with_process(&made, &process_ten, CAPTURE_PROCESSES);
	made_tasks_stat(&made, (struct made_stat){.pid = 10, .parent = 1, .cpu_ticks = 100});
	made_tasks_stat(&made, (struct made_stat){.pid = 40, .parent = 10, .start_ticks = 7, .cpu_ticks = 5});
	made_tasks_stat(&made, (struct made_stat){.pid = 50, .parent = 10, .start_ticks = 7, .cpu_ticks = 9});
	ok_or_fail(tasks_begin_descent(&made.tasks));
	/* 20 was seen to begin; 50's number has another process now. */
	made_tasks_put(&made, 0, 100, made_fork(10, 10, 20, 20));
	made_tasks_drain(&made);
	made_tasks_stat(&made, (struct made_stat){.pid = 10, .parent = 1, .cpu_ticks = 130});
	made_tasks_stat(&made, (struct made_stat){.pid = 20, .parent = 10, .cpu_ticks = 1});
	made_tasks_stat(&made, (struct made_stat){.pid = 40, .parent = 10, .start_ticks = 7,
						  .cpu_ticks = 8, .state = 'R'});
	made_tasks_stat(&made, (struct made_stat){.pid = 50, .parent = 10, .start_ticks = 8, .cpu_ticks = 4});
	made_tasks_stat(&made, (struct made_stat){.pid = 60, .parent = 10, .state = 'Z'});
	ok_or_fail(tasks_end_descent(&made.tasks));
	const struct related_processes *list = &made.tasks.unrecorded;
	ck_assert_uint_eq(list->count, 2);
	ck_assert(list->items[0].pid == 40 && list->items[0].parent == 10 && list->items[0].runs);
	ck_assert_uint_eq(list->items[0].cpu_ns, 3 * tick_ns);
	ck_assert(list->items[1].pid == 50 && !list->items[1].runs);
	ck_assert_uint_eq(list->items[1].cpu_ns, 4 * tick_ns);
	ck_assert_uint_eq(made.tasks.used_ns, 30 * tick_ns);
}

TEST(descendants_that_a_command_left_are_listed)
{
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_COMMAND);
	tasks_connect(&made.tasks);
	made.tasks.begin_ticks = 1000;
	ok_or_fail(tasks_follow(&made.tasks, 40, 40, 0));
	ok_or_fail(tasks_follow(&made.tasks, 40, 41, 0));
	ok_or_fail(tasks_follow(&made.tasks, 20, 20, 0));
	ok_or_fail(tasks_follow(&made.tasks, 50, 50, 0));
	ok_or_fail(tasks_follow(&made.tasks, 60, 60, 0));
	made_tasks_stat(&made, (struct made_stat){.pid = 40, .parent = 1, .start_ticks = 1000});
	made_tasks_stat(&made, (struct made_stat){.pid = 20, .parent = 1, .start_ticks = 1500});
	made_tasks_stat(&made, (struct made_stat){.pid = 50, .parent = 1, .start_ticks = 999});
	ok_or_fail(tasks_end_descent(&made.tasks));
	ck_assert_uint_eq(made.tasks.unrecorded.count, 0); /* the command runs */
	made.tasks.workload.ended = true;
	ok_or_fail(tasks_end_descent(&made.tasks));
	ck_assert_uint_eq(made.tasks.unrecorded.count, 2);
	ck_assert_int_eq(made.tasks.unrecorded.items[0].pid, 20);
	ck_assert_int_eq(made.tasks.unrecorded.items[1].pid, 40);
}

/* -- Rescans --------------------------------------------------------------- */

static void lose(struct made_tasks *made, uint64_t time_ns, uint64_t count)
{
	made_tasks_put(made, 0, time_ns, made_lost(count));
	made_tasks_drain(made);
}

TEST(rescan_begins_after_a_loss_once_a_second)
{
	const uint64_t s = RESCAN_INTERVAL_NS;
	MADE_TASKS made;
	init_with_process(&made, &process_ten, CAPTURE_PROCESSES);
	struct recorded_tasks *tasks = &made.tasks;
	ck_assert(!tasks_start_rescan(tasks, 5 * s, false) && !tasks_start_rescan(tasks, 5 * s, true));
	lose(&made, 100, 3);
	ck_assert(tasks_start_rescan(tasks, 5 * s, false));
	/* Every second until the loss is repaired, and in the last round. */
	ck_assert(!tasks_start_rescan(tasks, 6 * s - 1, false) && tasks_start_rescan(tasks, 6 * s, false));
	ck_assert(tasks_start_rescan(tasks, 6 * s + 1, true));
	tasks->rescan.lost = 3;
	ck_assert(!tasks_start_rescan(tasks, 9 * s, true));
	lose(&made, 200, 1);
	ck_assert(tasks_start_rescan(tasks, 9 * s, false));
}

TEST(rescan_is_requested_once)
{
	const uint64_t s = RESCAN_INTERVAL_NS;
	MADE_TASKS made;
	init_with_process(&made, &process_ten, CAPTURE_PROCESSES);
	struct recorded_tasks *tasks = &made.tasks;
	tasks_request_rescan(tasks, false);
	ck_assert(tasks_start_rescan(tasks, 5 * s, false) && !tasks_start_rescan(tasks, 7 * s, true));
	tasks_request_rescan(tasks, false);
	ck_assert(!tasks_start_rescan(tasks, 5 * s + 1, false));
	tasks_request_rescan(tasks, true);
	ck_assert(tasks_start_rescan(tasks, 5 * s + 2, false));
}

/* All of /proc after a loss; the recorded process is this one. */
static void put_running(struct made_tasks *made, uint32_t self)
{
	uint64_t begin = made->tasks.begin_ticks = 1000;
	made_tasks_stat(made, (struct made_stat){.pid = self, .parent = 1});
	made_tasks_stat(made, (struct made_stat){.pid = 4000020, .parent = self, .start_ticks = begin});
	made_tasks_stat(made, (struct made_stat){.pid = 4000020, .tid = 4000021, .parent = self,
						 .start_ticks = begin});
	made_tasks_stat(made, (struct made_stat){.pid = 4000030, .parent = self, .start_ticks = begin - 1});
	made_tasks_stat(made, (struct made_stat){.pid = 4000040, .parent = 4000020,
						 .start_ticks = begin + 5});
	made_tasks_stat(made, (struct made_stat){.pid = 4000050, .parent = 1, .start_ticks = begin + 5});
}

TEST(rescan_follows_new_descendants)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	uint32_t self = (uint32_t)getpid();
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_PROCESSES);
	tasks_connect(&made.tasks);
	ok_or_fail(tasks_follow(&made.tasks, self, self, 0));
	ok_or_fail(tasks_follow(&made.tasks, 4000060, 4000060, 0)); /* its EXIT was lost */
	ok_or_fail(synth_new(made.root.ctx, &made_attr, MADE_ID, &made.synthesised, &made.tasks.synth));
	put_running(&made, self);
	lose(&made, 100, 3);
	ok_or_fail(tasks_rescan(&made.tasks, 90, 120, &running));
	ck_assert_uint_eq(running.count, 5);
	ck_assert_uint_eq(made.tasks.membership.live.count, 4); /* self, 20, 21 and 40 */
	ck_assert(!is_recorded(&made, 4000020, 4000020, 89) && is_recorded(&made, 4000020, 4000021, 90));
	ck_assert(is_recorded(&made, 4000040, 4000040, 90));
	ck_assert(!is_recorded(&made, 4000030, 4000030, 120) && !is_recorded(&made, 4000050, 4000050, 120));
	ck_assert_uint_eq(made_tasks_described(&made, 4000020, 90), 1);
	ck_assert_uint_eq(made_tasks_described(&made, 4000021, 90), 1);
	ck_assert_uint_eq(made_tasks_described(&made, 4000050, 90), 0);
	ck_assert(made_tasks_noted(&made, NOTE_REREAD, NULL));
	/* Further losses are made good without a further note. */
	lose(&made, 200, 1);
	ok_or_fail(tasks_rescan(&made.tasks, 190, 220, &running));
	ck_assert(made_tasks_noted(&made, NOTE_REREAD, NULL));
	ck_assert(!tasks_start_rescan(&made.tasks, 5 * (uint64_t)RESCAN_INTERVAL_NS, true));
}

/* A command that runs, with pid 4000010. */
static void init_with_command(struct made_tasks *made)
{
	made_tasks_init(made, CAPTURE_COMMAND);
	made->tasks.workload.pid = 4000010;
	made->tasks.workload.executed = true;
	tasks_connect(&made->tasks);
	ok_or_fail(synth_new(made->root.ctx, &made_attr, MADE_ID, &made->synthesised,
			     &made->tasks.synth));
	put_running(made, 4000010);
}

TEST(rescan_follows_the_command_if_its_exec_was_lost)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	MADE_TASKS made;
	init_with_command(&made);
	/* A rescan before does not delay this one. */
	made.tasks.rescan.time_ns = 4000;
	lose(&made, 100, 3);
	ck_assert(tasks_start_rescan(&made.tasks, 4001, false));
	ok_or_fail(tasks_rescan(&made.tasks, 90, 120, &running));
	ck_assert(!is_recorded(&made, 4000010, 4000010, 89));
	ck_assert(is_recorded(&made, 4000010, 4000010, 90));
	ck_assert(is_recorded(&made, 4000040, 4000040, 90));
	ck_assert(!is_recorded(&made, 4000050, 4000050, 120));
	ck_assert_uint_eq(made_tasks_described(&made, 4000010, 90), 1);
	lose(&made, 200, 1);
	ck_assert(!tasks_start_rescan(&made.tasks, 4002, false));
	made.tasks.workload.pid = 0;
}

TEST(rescan_does_not_follow_a_command_before_its_exec)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	MADE_TASKS made;
	init_with_command(&made);
	made.tasks.workload.executed = false;
	lose(&made, 100, 3);
	ok_or_fail(tasks_rescan(&made.tasks, 90, 120, &running));
	ok_or_fail(tasks_rescan_command(&made.tasks, 2000, 1000, 90));
	ck_assert(!is_recorded(&made, 4000010, 4000010, 120));
	made.tasks.workload.pid = 0;
}

TEST(rescan_of_the_command_comes_after_a_part_of_its_age)
{
	MADE_TASKS made;
	init_with_command(&made);
	made_tasks_put(&made, 1, 50, made_comm(4000010, true));
	made_tasks_drain(&made);
	ok_or_fail(tasks_rescan_command(&made.tasks, 1600, 0, 80));
	ck_assert_uint_eq(made_tasks_described(&made, 4000010, 80), 0); /* nothing was lost */
	lose(&made, 100, 3);
	ok_or_fail(tasks_rescan_command(&made.tasks, 1600, 0, 90));
	ok_or_fail(tasks_rescan_command(&made.tasks, 1800, 0, 95));
	ck_assert_uint_eq(made_tasks_described(&made, 4000010, 90), 1);
	/* The next loss waits for a sixteenth. */
	lose(&made, 200, 1);
	ok_or_fail(tasks_rescan_command(&made.tasks, 1700, 0, 95));
	ck_assert_uint_eq(made_tasks_described(&made, 4000010, 90), 1);
	made.synthesised.count = 0;
	ok_or_fail(tasks_rescan_command(&made.tasks, 1710, 0, 96));
	ck_assert_uint_eq(made_tasks_described(&made, 4000010, 96), 1);
	/* A full ring may have lost records; a reaped command's pid may be another process's. */
	made.synthesised.count = 0;
	made.tasks.workload.pid = 0;
	tasks_request_rescan(&made.tasks, false);
	ok_or_fail(tasks_rescan_command(&made.tasks, 4000, 0, 97));
	ck_assert_uint_eq(made.synthesised.count, 0);
}

TEST(rescan_without_a_loss_adds_no_note)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_SYSTEM_WIDE);
	tasks_connect(&made.tasks);
	ok_or_fail(synth_new(made.root.ctx, &made_attr, MADE_ID, &made.synthesised, &made.tasks.synth));
	put_running(&made, 4000010);
	ok_or_fail(tasks_rescan(&made.tasks, 90, 120, &running));
	ck_assert_uint_eq(made_tasks_described(&made, 4000050, 90), 1); /* all are recorded */
	ck_assert_uint_eq(made.notes.count, 0);
}

TEST(rescan_when_a_cpu_is_back_describes_tasks_as_they_are_now)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	MADE_TASKS made;
	made_tasks_init(&made, CAPTURE_SYSTEM_WIDE);
	tasks_connect(&made.tasks);
	ok_or_fail(synth_new(made.root.ctx, &made_attr, MADE_ID, &made.synthesised, &made.tasks.synth));
	put_running(&made, 4000010);
	made.tasks.tracker.last_ns = 115; /* the kernel's clock */
	tasks_request_rescan(&made.tasks, true);
	ok_or_fail(tasks_rescan(&made.tasks, 90, 120, &running));
	ck_assert_uint_eq(made_tasks_described(&made, 4000050, 115), 1);
	made.synthesised.count = 0;
	/* Lost records may be older. */
	tasks_request_rescan(&made.tasks, true);
	lose(&made, 200, 1);
	ok_or_fail(tasks_rescan(&made.tasks, 190, 220, &running));
	ck_assert_uint_eq(made_tasks_described(&made, 4000050, 190), 1);
}

TEST(rescan_finds_tasks_with_a_lost_end)
{
	const uint64_t s = 1000000000;
	MADE_TASKS made;
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		pause();
		_exit(0);
	}
	made_tasks_init(&made, CAPTURE_PROCESSES);
	ok_or_fail(tasks_add_process(&made.tasks, (uint32_t)child, false));
	tasks_connect(&made.tasks);
	ok_or_fail(tasks_follow(&made.tasks, (uint32_t)child, (uint32_t)child, 0));
	made.tasks.rescan.lost = 1;
	ok_or_fail(tasks_look_for_ended(&made.tasks, 5 * s));
	ck_assert(!tasks_is_over(&made.tasks));
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ok_or_fail(tasks_look_for_ended(&made.tasks, 6 * s - 1));
	ck_assert(!tasks_is_over(&made.tasks));
	made.tasks.rescan.lost = 0; /* without a loss, the end comes by its record */
	ok_or_fail(tasks_look_for_ended(&made.tasks, 6 * s));
	ck_assert(!tasks_is_over(&made.tasks));
	made.tasks.rescan.lost = 1;
	ok_or_fail(tasks_look_for_ended(&made.tasks, 6 * s));
	ck_assert(tasks_is_over(&made.tasks));
}
