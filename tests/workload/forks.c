/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forks COUNT CPU_MS [exec]: COUNT children one after the other, each burning
 * CPU_MS of CPU time in child_work(); with exec each first executes this program
 * anew. At the end, a line for each, "PID CPU_NS" as wait4 says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"

uint64_t child_work(double cpu_ms);

__attribute__((noinline)) uint64_t child_work(double cpu_ms)
{
	uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(cpu_ms * 1e6);
	uint64_t value = end_ns;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		value = spin(value, 20000);
	return value;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "child"))
		return child_work(atof(argv[2])) == 42;
	if (argc < 3) {
		fprintf(stderr, "usage: forks COUNT CPU_MS [exec]\n");
		return 2;
	}
	int count = atoi(argv[1]);
	bool exec = argc > 3;
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid < 0) {
			perror("forks: fork");
			return 1;
		}
		if (!pid && exec) {
			execl("/proc/self/exe", "forks", "child", argv[2], (char *)NULL);
			_exit(127);
		}
		if (!pid)
			_exit(child_work(atof(argv[2])) == 42);
		struct rusage usage;
		int status;
		if (wait4(pid, &status, 0, &usage) != pid || status) {
			fprintf(stderr, "forks: child %d ended with status 0x%x\n", pid, status);
			return 1;
		}
		long long us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
			       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
		printf("%d %lld\n", pid, us * 1000);
	}
	return 0;
}
