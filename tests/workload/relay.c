/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that wait for others, or that others wait for:
 *
 *	relay feed COUNT NS	sleeps NS, then writes a byte to the standard output, COUNT times, as "feeder"
 *	relay read		reads bytes until the standard input ends
 *	relay nap COUNT NS	sleeps NS, COUNT times
 *	relay family COUNT	waits for COUNT children, one after the other, which sleep 2 ms and end
 *	relay join COUNT	the same with threads
 *
 * At the end it prints "TID WAITS" to the standard error: voluntary context switches of the main thread since
 * it began to wait.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(long ns)
{
	struct timespec time = {.tv_nsec = ns};
	nanosleep(&time, NULL);
}

static void feed(long ns)
{
	nap(ns);
	if (write(STDOUT_FILENO, "x", 1) != 1)
		exit(1);
}

static void wait_for_child(void)
{
	if (!fork()) {
		nap(2000000);
		_exit(0);
	}
	wait(NULL);
}

static void *nap_in_thread(void *arg)
{
	nap(2000000);
	return arg;
}

static void wait_for_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, nap_in_thread, NULL))
		exit(1);
	pthread_join(thread, NULL);
}

static long waits(void)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

int main(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";
	long count = argc > 2 ? atol(argv[2]) : 0, ns = argc > 3 ? atol(argv[3]) : 0, before = waits();
	char byte;
	if (!strcmp(role, "feed"))
		prctl(PR_SET_NAME, "feeder");
	for (long i = 0; i < count; i++)
		if (!strcmp(role, "feed"))
			feed(ns);
		else if (!strcmp(role, "nap"))
			nap(ns);
		else if (!strcmp(role, "family"))
			wait_for_child();
		else if (!strcmp(role, "join"))
			wait_for_thread();
	while (!strcmp(role, "read") && read(STDIN_FILENO, &byte, 1) == 1)
		;
	fprintf(stderr, "%d %ld\n", (int)getpid(), waits() - before);
	return 0;
}
