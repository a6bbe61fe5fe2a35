/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to tasks of a made-up /proc. The kernel's events are event file descriptors; while one is
 * opened, tasks are created and end as each case wants.
 */
#include "capture/tasks/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "capture/tasks/describe_tasks.h"
#include "capture/tasks/find.h"
#include "made_tasks.h"

/* An event that was opened. */
struct opened_event {
	int32_t pid, cpu;
	bool is_sideband;
};

struct bench {
	struct made_tasks made;
	struct event_set *set;
	struct { VEC(struct opened_event); } opened;
	uint32_t gone; /* this task has ended */
	/* Called at each event of a task, before it is open. */
	void (*on_open)(struct bench *bench, uint32_t tid, bool is_sideband);
	uint32_t created; /* by on_open() */
};

/* The id of a made event, an eventfd, is its descriptor. All else is up to the kernel. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	va_start(args, request);
	void *arg = va_arg(args, void *);
	va_end(args);
	int ret = (int)syscall(SYS_ioctl, fd, request, arg);
	if (!ret || request != PERF_EVENT_IOC_ID || errno != ENOTTY)
		return ret;
	*(uint64_t *)arg = (uint64_t)fd;
	return 0;
}

static int open_made(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		     int group_fd, unsigned long flags)
{
	struct bench *bench = arg;
	bool is_sideband = attr->comm;
	(void)flags;
	if (group_fd < 0) /* a holder */
		return eventfd(0, EFD_CLOEXEC);
	if (bench->on_open)
		bench->on_open(bench, (uint32_t)pid, is_sideband);
	if (bench->gone && (uint32_t)pid == bench->gone)
		return -ESRCH;
	struct opened_event *event = vec_push(&bench->opened);
	ck_assert_ptr_nonnull(event);
	*event = (struct opened_event){pid, cpu, is_sideband};
	return eventfd(0, EFD_CLOEXEC);
}

static void close_made(void *arg, int fd)
{
	(void)arg;
	close(fd);
}

/* Process 10 with threads 10 and 11 is to be recorded task by task. */
static void bench_init(struct bench *bench, enum capture_target target)
{
	static const int32_t pids[] = {10};
	const struct sp_capture_target ten = {.pids = {pids, target == CAPTURE_PROCESSES}};
	*bench = (struct bench){0};
	struct made_tasks *made = &bench->made;
	made_tasks_init(made, target);
	made->kernel = (struct event_kernel){.open = open_made, .close = close_made, .arg = bench};
	made->plan.sideband.attr.comm = 1;
	made->plan.cpu_wide = false;
	made->config.rights.files = made->config.rights.files_max = 4096;
	made_tasks_stat(made, (struct made_stat){.pid = 10, .parent = 1, .last_cpu = 1});
	made_tasks_stat(made, (struct made_stat){.pid = 10, .tid = 11, .parent = 1});
	root_put(&made->root, "/proc/10/maps", "2000-4000 r-xp 00001000 08:01 7 /bin/a\n");
	ok_or_fail(event_set_new(&made->kernel, &made->plan, made->config.cpus.items, MADE_CPUS,
				 &bench->set));
	ok_or_fail(tasks_find(&made->tasks, &ten));
}

static void bench_deinit(struct bench *bench)
{
	event_set_free(bench->set);
	vec_deinit(&bench->opened);
	made_tasks_deinit(&bench->made);
}

#define BENCH CLEANUP(bench_deinit) struct bench

static struct sp_error *attach(struct bench *bench, bool describes_at_end)
{
	const struct attach_parts parts = {.set = bench->set, .rings = bench->made.rings,
					   .describes_at_end = describes_at_end};
	tasks_connect(&bench->made.tasks);
	return tasks_attach(&bench->made.tasks, &parts);
}

/* Whether a task has one event of each role, or of metadata alone, on each CPU. */
static bool has_events(const struct bench *bench, int32_t pid, bool with_samples)
{
	size_t counts[MADE_CPUS][2] = {0};
	for (size_t i = 0; i < bench->opened.count; i++) {
		const struct opened_event *event = &bench->opened.items[i];
		if (event->pid == pid)
			counts[event->cpu][event->is_sideband]++;
	}
	for (size_t i = 0; i < MADE_CPUS; i++)
		if (counts[i][true] != 1 || counts[i][false] != with_samples)
			return false;
	return true;
}

TEST(attach_opens_events_of_each_thread)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	ok_or_fail(attach(&b, false));
	ck_assert(has_events(&b, 10, true) && has_events(&b, 11, true));
	ck_assert_uint_eq(b.opened.count, 8);
	/* All metadata events come first: a thread created by then is reported. */
	for (size_t i = 0; i < 8; i++)
		ck_assert(b.opened.items[i].is_sideband == (i < 4));
	ck_assert_uint_eq(b.made.tasks.membership.live.count, 2);
	ck_assert_uint_eq(b.made.tasks.double_sampling.tasks.count, 0);
	ck_assert_uint_eq(made_tasks_described(&b.made, 10, 0), 1);
	ck_assert_uint_eq(made_tasks_described(&b.made, 11, 0), 1);
	ck_assert(!b.made.tasks.tracker.collect_births);
}

/* While samples of 10 are opened, it creates 12. */
static void create_twelve(struct bench *bench, uint32_t tid, bool is_sideband)
{
	if (tid != 10 || is_sideband || bench->created)
		return;
	bench->created = 12;
	made_tasks_stat(&bench->made, (struct made_stat){.pid = 10, .tid = 12, .parent = 1});
}

TEST(attach_doubts_threads_of_later_passes)
{
	bool keep;
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.on_open = create_twelve;
	ok_or_fail(attach(&b, false));
	ck_assert(has_events(&b, 12, true));
	ck_assert(double_sampling_has(&b.made.tasks.double_sampling, 12) &&
		  !double_sampling_has(&b.made.tasks.double_sampling, 10));
	ck_assert_uint_eq(b.made.tasks.membership.live.count, 3);
	ck_assert_uint_eq(made_tasks_described(&b.made, 12, 0), 1);
	/* Doubts know the ids of both events that may sample it: the second sample repeats the first. */
	const struct sp_event *events;
	size_t count;
	ok_or_fail(event_set_events(b.set, &events, &count));
	ck_assert_uint_eq(events[0].id_count, 6);
	ck_assert(
		double_sampling_sample(&b.made.tasks.double_sampling, 12, 0, events[0].ids[0], 100, &keep) &&
		keep);
	ck_assert(
		double_sampling_sample(&b.made.tasks.double_sampling, 12, 0, events[0].ids[5], 100, &keep) &&
		!keep);
}

/* The same, and 12 is reported by its FORK record alone. */
static void fork_twelve(struct bench *bench, uint32_t tid, bool is_sideband)
{
	if (tid != 10 || is_sideband || bench->created)
		return;
	bench->created = 12;
	made_tasks_put(&bench->made, 0, 100, made_fork(10, 10, 12, 12));
}

TEST(attach_opens_events_of_forked_processes)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.on_open = fork_twelve;
	ok_or_fail(attach(&b, false));
	ck_assert(has_events(&b, 12, true) && double_sampling_has(&b.made.tasks.double_sampling, 12));
	ck_assert_uint_eq(b.made.tasks.tracker.births.count, 0);
}

TEST(attach_follows_threads_only)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.made.config.threads_only = true;
	b.on_open = fork_twelve; /* a process, not a thread */
	ok_or_fail(attach(&b, false));
	ck_assert_uint_eq(b.opened.count, 8);
}

TEST(attach_samples_wanted_threads_alone)
{
	static const int32_t eleven[] = {11};
	const struct sp_capture_target target = {.tids = {eleven, 1}};
	BENCH b;
	bench_init(&b, CAPTURE_THREADS);
	root_put(&b.made.root, "/proc/11/status", "Tgid:\t10\n");
	ok_or_fail(tasks_find(&b.made.tasks, &target));
	ok_or_fail(attach(&b, false));
	/* The other thread's mappings are shared, so its metadata is needed. */
	ck_assert(has_events(&b, 11, true) && has_events(&b, 10, false));
	ck_assert_uint_eq(b.made.tasks.membership.live.count, 1);
}

TEST(attach_forgets_threads_that_end)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.gone = 11;
	ok_or_fail(attach(&b, false));
	ck_assert(has_events(&b, 10, true));
	ck_assert_uint_eq(b.opened.count, 4);
	ck_assert_uint_eq(b.made.tasks.membership.live.count, 1);
	ck_assert(!tasks_is_over(&b.made.tasks));
}

TEST(attach_to_cpus_does_not_follow_ended_threads)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.made.plan.cpu_wide = true;
	made_tasks_stat(&b.made, (struct made_stat){.pid = 10, .parent = 1, .state = 'Z'});
	ok_or_fail(attach(&b, false));
	ck_assert_uint_eq(b.made.tasks.membership.live.count, 1);
	made_tasks_put(&b.made, 0, 50, made_exit(10, 11));
	made_tasks_drain(&b.made);
	ck_assert(tasks_is_over(&b.made.tasks));
}

/* Each thread creates the next one while its events are being opened. */
static void create_next(struct bench *bench, uint32_t tid, bool is_sideband)
{
	if (is_sideband || tid <= bench->created)
		return;
	bench->created = tid;
	made_tasks_stat(&bench->made, (struct made_stat){.pid = 10, .tid = tid + 1, .parent = 1});
}

TEST(attach_ends_with_a_note_if_threads_run_away)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.on_open = create_next;
	b.created = 10;
	ok_or_fail(attach(&b, true));
	ck_assert_uint_ge(b.opened.count, 4 * 100);
	ck_assert_uint_ge(b.made.notes.count, 1);
	ck_assert_uint_eq(b.made.notes.items[0].note.kind, NOTE_ATTACH_INCOMPLETE);
}

TEST(attach_refuses_what_resources_cannot_hold)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	for (uint32_t tid = 12; tid < 300; tid++)
		made_tasks_stat(&b.made, (struct made_stat){.pid = 10, .tid = tid, .parent = 1});
	b.made.config.rights.files = b.made.config.rights.files_max = 1000;
	fails_with(SP_ERROR_LIMIT, attach(&b, false));
	ck_assert_uint_eq(b.opened.count, 0);
}

/* While whole CPUs' metadata events are opened, 10 creates 12. */
static void create_unseen(struct bench *bench, uint32_t tid, bool is_sideband)
{
	if (tid == UINT32_MAX && is_sideband)
		made_tasks_stat(&bench->made, (struct made_stat){.pid = 10, .tid = 12, .parent = 1});
}

TEST(attach_to_cpus_reads_proc_between_the_roles)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.made.plan.cpu_wide = true;
	b.on_open = create_unseen;
	ok_or_fail(attach(&b, false));
	ck_assert_uint_eq(b.opened.count, 4);
	ck_assert(has_events(&b, -1, true));
	ck_assert_uint_eq(b.made.tasks.membership.live.count, 3);
	ck_assert_uint_eq(made_tasks_described(&b.made, 12, 0), 1);
}

/* When samples of whole CPUs are opened, 10 ends. */
static void end_ten(struct bench *bench, uint32_t tid, bool is_sideband)
{
	if (tid == UINT32_MAX && !is_sideband)
		made_tasks_remove(&bench->made, 10);
}

TEST(attach_to_cpus_knows_the_names_of_tasks_that_end_at_once)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	b.made.plan.cpu_wide = true;
	b.on_open = end_ten;
	ok_or_fail(attach(&b, false));
	ck_assert_uint_eq(made_tasks_described(&b.made, 10, 0), 1);
	ck_assert_uint_eq(made_tasks_described(&b.made, 11, 0), 1);
}

/*
 * While the first process is described, the second forks a third and ends. The FIFO orders the clock's change
 * and its reading, which ThreadSanitizer does not know.
 */
static __attribute__((no_sanitize("thread"))) void *fork_and_end(void *arg)
{
	struct made_tasks *made = arg;
	char path[128];
	static const char stat[] = "10 (task10) S 1 1 1 0 -1 0 1 2 3 4 5 0 7 8 20 0 1 0 6 0 0\n";
	snprintf(path, sizeof(path), "%s/proc/10/task/10/stat", made->root.path);
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	made_tasks_stat(made, (struct made_stat){.pid = 30, .parent = 1,
						 .start_ticks = made->tasks.begin_ticks});
	made_tasks_remove(made, 20);
	made->tasks.tracker.last_ns = 600; /* the clock */
	ck_assert_int_eq(write(fd, stat, strlen(stat)), (ssize_t)strlen(stat));
	return NULL;
}

TEST(attach_to_all_describes_processes_that_others_left)
{
	pthread_t thread;
	char path[128];
	BENCH b;
	bench_init(&b, CAPTURE_SYSTEM_WIDE);
	b.made.plan.cpu_wide = true;
	b.made.tasks.tracker.last_ns = 500;
	made_tasks_stat(&b.made, (struct made_stat){.pid = 20, .parent = 1,
						    .start_ticks = b.made.tasks.begin_ticks});
	made_tasks_stat(&b.made, (struct made_stat){.pid = 21, .parent = 1,
						    .start_ticks = b.made.tasks.begin_ticks});
	snprintf(path, sizeof(path), "%s/proc/10/task/10/stat", b.made.root.path);
	ck_assert_int_eq(remove(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, fork_and_end, &b.made), 0);
	ok_or_fail(attach(&b, false));
	pthread_join(thread, NULL);
	ck_assert_uint_eq(made_tasks_described(&b.made, 10, 0), 1);
	ck_assert_uint_eq(made_tasks_described(&b.made, 20, 500), 0);
	ck_assert_uint_eq(made_tasks_described(&b.made, 21, 500), 1);
	ck_assert_uint_eq(made_tasks_described(&b.made, 30, 600), 1);
}

TEST(attach_to_a_command_opens_its_events)
{
	BENCH b;
	bench_init(&b, CAPTURE_COMMAND);
	b.made.tasks.workload.pid = 10;
	ok_or_fail(attach(&b, false));
	b.made.tasks.workload.pid = 0; /* no process for tasks_deinit() to end */
	ck_assert_uint_eq(b.opened.count, 4);
	ck_assert(has_events(&b, 10, true));
	ck_assert_uint_eq(made_tasks_described(&b.made, 10, 0), 0);
}

TEST(attach_leaves_descriptions_to_the_end)
{
	BENCH b;
	bench_init(&b, CAPTURE_PROCESSES);
	ok_or_fail(attach(&b, true));
	ck_assert_uint_eq(made_tasks_described(&b.made, 10, 0), 0);
	made_tasks_stat(&b.made, (struct made_stat){.pid = 10, .tid = 13, .parent = 1});
	ok_or_fail(tasks_describe_tail(&b.made.tasks));
	ck_assert_uint_eq(made_tasks_described(&b.made, 10, 0), 1);
	ck_assert_uint_eq(made_tasks_described(&b.made, 13, 0), 1);
	b.made.synthesised.count = 0;
	made_tasks_remove(&b.made, 10);
	ok_or_fail(tasks_describe_tail(&b.made.tasks));
	ck_assert_uint_eq(b.made.synthesised.count, 0);
}
