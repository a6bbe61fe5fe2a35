/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads COUNT SECONDS [LIFE_MS]: COUNT threads that share the CPUs for SECONDS
 * of wall time. With LIFE_MS each ends after that much CPU time and starts its
 * successor: threads come and go all the time.
 *
 * When the last thread runs, "ready" is printed; at the end, one line for each
 * thread there was, "TID CPU_NS", its CPU time by its own clock as its last act.
 * Each burns its time in worker(), which main never enters.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "clock.h"
#include "thread.h"

struct life {
	struct life *next;
	long tid;
	uint64_t cpu_ns;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct life *lives;
	unsigned int started, running;
	unsigned int count;
	uint64_t end_ns, life_ns;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void *worker(void *argument);

__attribute__((noinline)) void *worker(void *argument)
{
	(void)argument;
	struct life *life = calloc(1, sizeof(*life));
	life->tid = syscall(SYS_gettid);
	pthread_mutex_lock(&shared.lock);
	if (++shared.started == shared.count)
		pthread_cond_signal(&shared.changed);
	shared.running++;
	pthread_mutex_unlock(&shared.lock);

	uint64_t value = (uint64_t)life->tid;
	bool over = false;
	while (!over && (!shared.life_ns || clock_ns(CLOCK_THREAD_CPUTIME_ID) < shared.life_ns)) {
		value = spin(value, 20000);
		over = clock_ns(CLOCK_MONOTONIC) >= shared.end_ns;
	}
	if (!over)
		thread_start(worker, NULL);

	pthread_mutex_lock(&shared.lock);
	life->next = shared.lives;
	shared.lives = life;
	shared.running--;
	pthread_cond_signal(&shared.changed);
	life->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (value == 42);
	pthread_mutex_unlock(&shared.lock);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: threads COUNT SECONDS [LIFE_MS]\n");
		return 2;
	}
	shared.count = (unsigned int)atoi(argv[1]);
	shared.end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[2]) * 1e9);
	shared.life_ns = argc > 3 ? (uint64_t)(atof(argv[3]) * 1e6) : 0;
	for (unsigned int i = 0; i < shared.count; i++)
		thread_start(worker, NULL);

	pthread_mutex_lock(&shared.lock);
	while (shared.started < shared.count)
		pthread_cond_wait(&shared.changed, &shared.lock);
	puts("ready");
	fflush(stdout);
	while (shared.running || clock_ns(CLOCK_MONOTONIC) < shared.end_ns) {
		struct timespec soon;
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_sec++;
		pthread_cond_timedwait(&shared.changed, &shared.lock, &soon);
	}
	for (struct life *life = shared.lives; life; life = life->next)
		printf("%ld %llu\n", life->tid, (unsigned long long)life->cpu_ns);
	pthread_mutex_unlock(&shared.lock);
	return 0;
}
