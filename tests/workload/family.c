/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family COUNT SECONDS [daemon]: a pre-forking server. COUNT children burn CPU time in
 * child_burns() for SECONDS; the parent sleeps until they end. With daemon, the parent ends at
 * once, and the children go on in a session of their own. Prints the children's pids, then "ready".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"

uint64_t child_burns(double seconds);

__attribute__((noinline)) uint64_t child_burns(double seconds)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	uint64_t value = end_ns;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		value = spin(value, 20000);
	return value;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: family COUNT SECONDS [daemon]\n");
		return 2;
	}
	bool daemonizes = argc > 3;
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid = fork();
		if (pid < 0) {
			perror("family: fork");
			return 1;
		}
		if (pid) {
			printf("%d\n", pid);
			continue;
		}
		if (daemonizes)
			setsid();
		else
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Readers of the output must not wait for the children. */
		close(STDOUT_FILENO);
		_exit(child_burns(atof(argv[2])) == 42);
	}
	printf("ready\n");
	fflush(stdout);
	while (!daemonizes && wait(NULL) > 0)
		;
	return 0;
}
