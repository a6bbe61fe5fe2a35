/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * busy THREADS SECONDS: threads that compute all the time, with stacks of more than 8 KB. Says
 * at the end, on standard error, how many seconds of CPU time they used: "cpu 1.2345".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 256
#define DEPTH 12

static double seconds_limit, began;

static double seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static unsigned int compute(void)
{
	unsigned int x = 1;
	do
		for (int i = 0; i < 20000; i++)
			x = x * 1664525u + 1013904223u;
	while (seconds(CLOCK_MONOTONIC) - began < seconds_limit);
	return x;
}

/* A kilobyte for each call. */
static __attribute__((noinline)) unsigned int deep(int depth)
{
	volatile char frame[1024];
	frame[0] = frame[1023] = (char)depth;
	unsigned int x = depth ? deep(depth - 1) : compute();
	return x + (unsigned int)frame[1023];
}

static void *run(void *arg)
{
	*(unsigned int *)arg = deep(DEPTH);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t threads[THREADS_MAX];
	unsigned int results[THREADS_MAX];
	seconds_limit = argc > 2 ? atof(argv[2]) : 1;
	began = seconds(CLOCK_MONOTONIC);
	if (count < 1 || count > THREADS_MAX)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &results[i]))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	fprintf(stderr, "cpu %.4f\n", seconds(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
