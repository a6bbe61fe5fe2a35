/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure LOG COMMAND [ARG]...: runs COMMAND and appends one line to LOG:
 *
 *	WALL_MS CPU_MS MAXRSS_KB STATUS END_MS
 *
 * CPU is user and system time of it and of all children that it waited for;
 * STATUS is its exit status, or 128 and the signal; END_MS is CLOCK_MONOTONIC when
 * it had ended. Ends with status 0 whatever the command's was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double of_timeval(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: measure LOG COMMAND [ARG]...\n");
		return 2;
	}
	double begin = seconds(CLOCK_MONOTONIC);
	pid_t pid = vfork();
	if (pid < 0) {
		perror("measure: fork");
		return 1;
	}
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	struct rusage usage;
	int status;
	if (wait4(pid, &status, 0, &usage) != pid) {
		perror("measure: wait4");
		return 1;
	}
	double end = seconds(CLOCK_MONOTONIC);
	double cpu = of_timeval(usage.ru_utime) + of_timeval(usage.ru_stime);
	FILE *log = fopen(argv[1], "a");
	if (!log) {
		perror(argv[1]);
		return 1;
	}
	fprintf(log, "%.3f %.3f %ld %d %.3f\n", (end - begin) * 1e3, cpu * 1e3, usage.ru_maxrss,
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), end * 1e3);
	return fclose(log) ? 1 : 0;
}
