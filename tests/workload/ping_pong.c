/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ping_pong ROUNDS: two threads on one CPU pass a byte back and forth through pipes. Each round is two
 * context switches. Prints "CPU_NS SWITCHES": both threads' CPU time, and the context switches of the
 * process.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "clock.h"

static struct {
	long rounds;
	int ping[2], pong[2];
} shared;

static void move(int from, int to)
{
	char byte;
	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) {
		perror("pipe");
		exit(1);
	}
}

static void *answer(void *argument)
{
	for (long i = 0; i < shared.rounds; i++)
		move(shared.ping[0], shared.pong[1]);
	return argument;
}

static int use_one_cpu(void)
{
	cpu_set_t cpus;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return -1;
	size_t cpu = 0;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	shared.rounds = argc > 1 ? atol(argv[1]) : 0;
	if (shared.rounds < 1) {
		fprintf(stderr, "usage: ping_pong ROUNDS\n");
		return 2;
	}
	if (use_one_cpu() < 0 || pipe(shared.ping) < 0 || pipe(shared.pong) < 0 ||
	    pthread_create(&thread, NULL, answer, NULL) || write(shared.pong[1], "", 1) != 1) {
		perror("ping_pong");
		return 1;
	}
	for (long i = 0; i < shared.rounds; i++)
		move(shared.pong[0], shared.ping[1]);
	pthread_join(thread, NULL);
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("%llu %ld\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	       usage.ru_nvcsw + usage.ru_nivcsw);
	return 0;
}
