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
#include <stdio.h>
#include <stdlib.h>
#include "lives.h"

static struct {
	unsigned int started, count;
	uint64_t end_ns, life_ns;
} shared;

void *worker(void *argument);

__attribute__((noinline)) void *worker(void *argument)
{
	(void)argument;
	struct life *life = life_begin();
	pthread_mutex_lock(&lives.lock);
	if (++shared.started == shared.count)
		pthread_cond_signal(&lives.changed);
	lives.running++;
	pthread_mutex_unlock(&lives.lock);

	uint64_t value = (uint64_t)life->tid;
	bool over = false;
	while (!over && (!shared.life_ns || clock_ns(CLOCK_THREAD_CPUTIME_ID) < shared.life_ns)) {
		value = spin(value, 20000);
		over = clock_ns(CLOCK_MONOTONIC) >= shared.end_ns;
	}
	if (!over)
		thread_start(worker, NULL);

	life_end(life, value, false);
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

	pthread_mutex_lock(&lives.lock);
	while (shared.started < shared.count)
		pthread_cond_wait(&lives.changed, &lives.lock);
	puts("ready");
	fflush(stdout);
	while (lives.running || clock_ns(CLOCK_MONOTONIC) < shared.end_ns) {
		lives_wait();
	}
	for (struct life *life = lives.ended; life; life = life->next)
		printf("%ld %llu\n", life->tid, (unsigned long long)life->cpu_ns);
	pthread_mutex_unlock(&lives.lock);
	return 0;
}
