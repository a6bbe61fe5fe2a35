/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits [SECONDS [GROUP]...]: threads that wait in known functions for SECONDS (2).
 * They measure each function's wall time, CPU time and number of waits.
 *
 *	GROUP	threads and their functions
 *	sleep	one: sleep_a (1 ms), sleep_b (1.3 ms)
 *	lock	two: lock_hold sleeps with the lock held; lock_wait takes it, then rest
 *	pipe	two: pipe_feed sleeps, then writes; pipe_wait reads
 *	fsync	one: disk_wait writes and flushes a file, then rest
 *	cond	two: cond_post sleeps, then signals; cond_wait
 *	epoll	one: epoll_tick waits for a timer
 *	spin	four that share one CPU: preempted; spin_peer, spin_peer; busy_hold works with a
 *		lock held, and is preempted; bursts works as long in pieces, hardly preempted
 *
 * "ready" is printed once all threads run. A line at the end is
 *
 *	FUNCTION WALL_NS CPU_NS WAITS TID
 *
 * with one line for each function of each thread. run_role() calls all of them: its line is
 * the thread's life. The main thread waits in join_all(). Times include called functions.
 * WAITS counts the voluntary context switches. Reading the CPU clock and the count is part of
 * run_role(); a function's CPU time has one reading too many (about 0.3 us for each call).
 * The flushed file is in $TMPDIR, or in the current directory.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "clock.h"

#define STEPS 3
#define ROLES 13
#define NOINLINE __attribute__((noinline))

static struct {
	uint64_t end_ns;
	pthread_barrier_t begin;
	pthread_mutex_t held; /* by lock_hold() */
	pthread_mutex_t lock; /* protects the tickets */
	pthread_mutex_t busy; /* by busy_hold() */
	pthread_cond_t posted;
	unsigned int tickets;
	bool post_ended;
	int pipe[2], timer, epoll, file;
} shared = {
	.held = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.busy = PTHREAD_MUTEX_INITIALIZER,
	.posted = PTHREAD_COND_INITIALIZER,
};

static void expect(bool good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static inline __attribute__((always_inline)) void nap(long ns)
{
	struct timespec time = {.tv_nsec = ns};
	nanosleep(&time, NULL);
}

static NOINLINE void sleep_a(void)
{
	nap(1000000);
}

static NOINLINE void sleep_b(void)
{
	nap(1300000);
}

static NOINLINE void rest(void)
{
	nap(300000);
}

static NOINLINE void lock_hold(void)
{
	pthread_mutex_lock(&shared.held);
	nap(1100000);
	pthread_mutex_unlock(&shared.held);
	nap(400000);
}

static NOINLINE void lock_wait(void)
{
	pthread_mutex_lock(&shared.held);
	pthread_mutex_unlock(&shared.held);
}

static NOINLINE void pipe_feed(void)
{
	nap(700000);
	expect(write(shared.pipe[1], "", 1) == 1, "write");
}

static NOINLINE void pipe_wait(void)
{
	char byte;
	expect(read(shared.pipe[0], &byte, 1) >= 0, "read");
}

static void close_pipe(void)
{
	close(shared.pipe[1]);
}

static NOINLINE void disk_wait(void)
{
	static const char block[4096];
	expect(pwrite(shared.file, block, sizeof(block), 0) == sizeof(block), "pwrite");
	expect(!fsync(shared.file), "fsync");
}

static NOINLINE void cond_post(void)
{
	nap(800000);
	pthread_mutex_lock(&shared.lock);
	shared.tickets++;
	pthread_cond_signal(&shared.posted);
	pthread_mutex_unlock(&shared.lock);
}

static NOINLINE void cond_wait(void)
{
	pthread_mutex_lock(&shared.lock);
	while (!shared.tickets && !shared.post_ended)
		pthread_cond_wait(&shared.posted, &shared.lock);
	shared.tickets = 0;
	pthread_mutex_unlock(&shared.lock);
}

static void end_posts(void)
{
	pthread_mutex_lock(&shared.lock);
	shared.post_ended = true;
	pthread_cond_signal(&shared.posted);
	pthread_mutex_unlock(&shared.lock);
}

static NOINLINE void epoll_tick(void)
{
	struct epoll_event event;
	uint64_t ticks;
	expect(epoll_wait(shared.epoll, &event, 1, -1) == 1, "epoll_wait");
	expect(read(shared.timer, &ticks, sizeof(ticks)) == sizeof(ticks), "read");
}

/* The last CPU that the process may use. */
static void share_a_cpu(void)
{
	cpu_set_t cpus;
	expect(!sched_getaffinity(0, sizeof(cpus), &cpus), "sched_getaffinity");
	size_t cpu = CPU_SETSIZE - 1;
	while (cpu > 0 && !CPU_ISSET(cpu, &cpus))
		cpu--;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	expect(!sched_setaffinity(0, sizeof(cpus), &cpus), "sched_setaffinity");
}

/*
 * The kernel also preempts when the CPU clock is read at the end of a time slice, in run_role().
 * About 20 ms of work between the readings keep that share small.
 */
static NOINLINE void preempted(void)
{
	KEEP_FRAME();
	spin(1, 13000000);
}

static NOINLINE void spin_peer(void)
{
	KEEP_FRAME();
	spin(2, 14000000);
}

static NOINLINE void busy_hold(void)
{
	pthread_mutex_lock(&shared.busy);
	spin(3, 13000000);
	pthread_mutex_unlock(&shared.busy);
}

static NOINLINE void bursts(void)
{
	for (int i = 0; i < 26; i++) {
		nap(200000);
		spin(4, 500000);
	}
}

static const struct role {
	const char *group;
	struct {
		const char *name;
		void (*run)(void);
	} steps[STEPS];
	void (*begin)(void);
	void (*end)(void);
} roles[] = {
	{"sleep", {{"sleep_a", sleep_a}, {"sleep_b", sleep_b}}, NULL, NULL},
	{"lock", {{"lock_hold", lock_hold}}, NULL, NULL},
	{"lock", {{"lock_wait", lock_wait}, {"rest", rest}}, NULL, NULL},
	{"pipe", {{"pipe_feed", pipe_feed}}, NULL, close_pipe},
	{"pipe", {{"pipe_wait", pipe_wait}}, NULL, NULL},
	{"fsync", {{"disk_wait", disk_wait}, {"rest", rest}}, NULL, NULL},
	{"cond", {{"cond_post", cond_post}}, NULL, end_posts},
	{"cond", {{"cond_wait", cond_wait}}, NULL, NULL},
	{"epoll", {{"epoll_tick", epoll_tick}}, NULL, NULL},
	{"spin", {{"preempted", preempted}}, share_a_cpu, NULL},
	{"spin", {{"spin_peer", spin_peer}}, share_a_cpu, NULL},
	{"spin", {{"spin_peer", spin_peer}}, share_a_cpu, NULL},
	{"spin", {{"busy_hold", busy_hold}, {"bursts", bursts}}, share_a_cpu, NULL},
};

_Static_assert(sizeof(roles) / sizeof(roles[0]) == ROLES, "ROLES counts roles");

struct times {
	uint64_t wall_ns, cpu_ns, waits;
};

static struct thread {
	const struct role *role;
	pthread_t thread;
	long tid;
	struct times life, steps[STEPS];
} threads[ROLES];

static uint64_t count_waits(void)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

/* The wall clock is read last here and first in times_add(): the call's time has nothing else. */
static struct times times_now(void)
{
	struct times now = {.waits = count_waits(), .cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID)};
	now.wall_ns = clock_ns(CLOCK_MONOTONIC);
	return now;
}

/* Returns the wall time. */
static uint64_t times_add(struct times *sum, const struct times *begin)
{
	uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC);
	sum->wall_ns += wall_ns - begin->wall_ns;
	sum->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin->cpu_ns;
	sum->waits += count_waits() - begin->waits;
	return wall_ns;
}

static NOINLINE void *run_role(void *argument)
{
	struct thread *thread = argument;
	const struct role *role = thread->role;
	struct times life = times_now();
	thread->tid = syscall(SYS_gettid);
	if (role->begin)
		role->begin();
	pthread_barrier_wait(&shared.begin);
	for (bool ended = false; !ended;) {
		for (size_t i = 0; i < STEPS && role->steps[i].run; i++) {
			struct times begin = times_now();
			role->steps[i].run();
			ended = times_add(&thread->steps[i], &begin) >= shared.end_ns;
		}
	}
	if (role->end)
		role->end();
	times_add(&thread->life, &life);
	return NULL;
}

static NOINLINE void join_all(void)
{
	for (size_t i = 0; i < ROLES; i++)
		if (threads[i].role)
			pthread_join(threads[i].thread, NULL);
}

static void print(const char *function, const struct times *times, long tid)
{
	printf("%s %llu %llu %llu %ld\n", function, (unsigned long long)times->wall_ns,
	       (unsigned long long)times->cpu_ns, (unsigned long long)times->waits, tid);
}

static void print_thread(const struct thread *thread)
{
	print("run_role", &thread->life, thread->tid);
	for (size_t i = 0; i < STEPS && thread->role->steps[i].run; i++)
		print(thread->role->steps[i].name, &thread->steps[i], thread->tid);
}

static void open_files(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/waits.XXXXXX", getenv("TMPDIR") ?: ".");
	shared.file = mkstemp(path);
	expect(shared.file >= 0 && !unlink(path), path);
	expect(!pipe(shared.pipe), "pipe");
	shared.timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct timespec period = {.tv_nsec = 1200000};
	struct itimerspec setting = {.it_interval = period, .it_value = period};
	expect(shared.timer >= 0 && !timerfd_settime(shared.timer, 0, &setting, NULL), "timerfd");
	shared.epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	expect(!epoll_ctl(shared.epoll, EPOLL_CTL_ADD, shared.timer, &event), "epoll_ctl");
}

static unsigned int choose(char **groups)
{
	unsigned int chosen = 0;
	for (size_t i = 0; i < ROLES; i++) {
		bool wanted = !*groups;
		for (char **group = groups; *group; group++)
			wanted |= !strcmp(*group, roles[i].group);
		threads[i].role = wanted ? &roles[i] : NULL;
		chosen += wanted;
	}
	return chosen;
}

int main(int argc, char **argv)
{
	static char *all[] = {NULL};
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	unsigned int count = choose(argc > 2 ? argv + 2 : all);
	if (!(seconds > 0) || !count) {
		fprintf(stderr, "usage: waits [SECONDS [sleep|lock|pipe|fsync|cond|epoll|spin]...]\n");
		return 2;
	}
	open_files();
	shared.end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	pthread_barrier_init(&shared.begin, NULL, count + 1);
	for (size_t i = 0; i < ROLES; i++)
		if (threads[i].role)
			expect(!pthread_create(&threads[i].thread, NULL, run_role, &threads[i]),
			       "pthread_create");
	pthread_barrier_wait(&shared.begin);
	puts("ready");
	fflush(stdout);

	struct times joined = {0}, begin = times_now();
	join_all();
	times_add(&joined, &begin);
	for (size_t i = 0; i < ROLES; i++)
		if (threads[i].role)
			print_thread(&threads[i]);
	print("join_all", &joined, (long)getpid());
	return 0;
}
