/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serial_parallel [SERIAL_SECONDS [PARALLEL_SECONDS [THREADS]]]: the main thread burns
 * SERIAL_SECONDS (0.5) of CPU time in serial_work(). Then each of THREADS (4) burns
 * PARALLEL_SECONDS (0.5) in parallel_work(), while the main thread waits.
 *
 * A line at the end is
 *
 *	FUNCTION WALL_NS CPU_NS
 *
 * with the part's wall time, which begins when the part before ends, and its CPU time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

enum { MOST_THREADS = 256 };

static uint64_t parallel_ns; /* CPU time of each thread */

static inline __attribute__((always_inline)) uint64_t burn(uint64_t value, uint64_t cpu_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		value = spin(value, 20000);
	return value;
}

uint64_t serial_work(uint64_t cpu_ns);
void *parallel_work(void *argument);

__attribute__((noinline)) uint64_t serial_work(uint64_t cpu_ns)
{
	return burn(1, cpu_ns);
}

__attribute__((noinline)) void *parallel_work(void *argument)
{
	uint64_t *result = argument;
	*result = burn(*result, parallel_ns);
	return NULL;
}

static void run_threads(size_t count)
{
	static pthread_t threads[MOST_THREADS];
	static uint64_t results[MOST_THREADS];
	for (size_t i = 0; i < count; i++) {
		results[i] = i;
		if (pthread_create(&threads[i], NULL, parallel_work, &results[i])) {
			fprintf(stderr, "serial_parallel: cannot create thread %zu\n", i);
			exit(1);
		}
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	double serial = argc > 1 ? atof(argv[1]) : 0.5;
	double parallel = argc > 2 ? atof(argv[2]) : 0.5;
	int count = argc > 3 ? atoi(argv[3]) : 4;
	if (!(serial > 0) || !(parallel > 0) || count < 1 || count > MOST_THREADS) {
		fprintf(stderr, "usage: serial_parallel [SERIAL_SECONDS [PARALLEL_SECONDS [THREADS]]]\n");
		return 2;
	}
	parallel_ns = (uint64_t)(parallel * 1e9);

	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t value = serial_work((uint64_t)(serial * 1e9));
	uint64_t middle_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t middle_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run_threads((size_t)count);
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t end_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	printf("serial_work %llu %llu\n", (unsigned long long)(middle_ns - begin_ns),
	       (unsigned long long)(middle_cpu_ns - begin_cpu_ns));
	printf("parallel_work %llu %llu\n", (unsigned long long)(end_ns - middle_ns),
	       (unsigned long long)(end_cpu_ns - middle_cpu_ns));
	return value == 42; /* keeps the work */
}
