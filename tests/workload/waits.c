/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that wait in different ways, until a time has passed. At its end, each prints its function and
 * how long it was not on a CPU there, in ms: wall-clock time around the waits, less the thread's CPU time.
 *
 *	waits MS
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "clock.h"

#define NOINLINE __attribute__((noinline))

static uint64_t end_ns;
static int pipe_fds[2], poll_fds[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;

static uint64_t thread_now_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void pause_us(long us)
{
	struct timespec time = {.tv_nsec = us * 1000};
	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static NOINLINE void sleep_long(void)
{
	pause_us(7000);
	sink++;
}

static NOINLINE void sleep_short(void)
{
	pause_us(300);
	sink++;
}

static NOINLINE void read_pipe(void)
{
	char byte;
	if (read(pipe_fds[0], &byte, 1) != 1)
		exit(1);
	sink++;
}

static NOINLINE void wait_poll(void)
{
	struct pollfd fd = {.fd = poll_fds[0], .events = POLLIN};
	poll(&fd, 1, 5);
	sink++;
}

static NOINLINE void wait_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sink++;
}

/* A function that waits, and what its thread does between calls of it. */
struct waiter {
	const char *name;
	void (*wait)(void);
	uint64_t off_ns, waits;
};

static struct waiter waiters[] = {
	{.name = "sleep_long", .wait = sleep_long},
	{.name = "sleep_short", .wait = sleep_short},
	{.name = "read_pipe", .wait = read_pipe},
	{.name = "wait_poll", .wait = wait_poll},
	{.name = "wait_lock", .wait = wait_lock},
};
#define WAITERS (sizeof(waiters) / sizeof(*waiters))

static void *run(void *arg)
{
	struct waiter *waiter = arg;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC), cpu_ns = thread_now_ns();
		waiter->wait();
		uint64_t cpu_end_ns = thread_now_ns();
		waiter->off_ns += clock_ns(CLOCK_MONOTONIC) - wall_ns - (cpu_end_ns - cpu_ns);
		waiter->waits++;
		if (waiter->wait == wait_lock)
			pause_us(1000);
	}
	return NULL;
}

/* Holds the lock, and writes into the pipe. */
static void *feed(void *arg)
{
	(void)arg;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns + 20000000) {
		pthread_mutex_lock(&mutex);
		pause_us(4000);
		pthread_mutex_unlock(&mutex);
		if (write(pipe_fds[1], "", 1) != 1)
			exit(1);
		pause_us(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[WAITERS + 1];
	if (argc != 2 || pipe(pipe_fds) < 0 || pipe(poll_fds) < 0)
		return 1;
	end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)atol(argv[1]) * 1000000;
	for (size_t i = 0; i < WAITERS; i++)
		if (pthread_create(&threads[i], NULL, run, &waiters[i]))
			return 1;
	if (pthread_create(&threads[WAITERS], NULL, feed, NULL))
		return 1;
	for (size_t i = 0; i <= WAITERS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < WAITERS; i++)
		printf("%s %.3f %llu\n", waiters[i].name, (double)waiters[i].off_ns / 1e6,
		       (unsigned long long)waiters[i].waits);
	return 0;
}
