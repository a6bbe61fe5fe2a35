/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strike [-i US] [-p PID] REPORT US COMMAND [ARG]...: starts COMMAND, and kills it (SIGKILL)
 * after US microseconds; with -i, that many after it was asked to end (SIGINT) at that time.
 * All that it had started is killed then. What happened goes to the file REPORT, as one line:
 *
 *	killed BEGUN_NS STRUCK_NS CPU_NS	the times of CLOCK_MONOTONIC, and the CPU time that
 *	                            	COMMAND's own child (or PID, since then) had had by then
 *	ended STATUS                	it was over before that, by exit status or 128 + signal
 *
 * Exit status 0 in both cases.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t time_ns)
{
	struct timespec time = {
		.tv_sec = (time_t)(time_ns / 1000000000),
		.tv_nsec = (long)(time_ns % 1000000000),
	};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

/* 0: it has none. */
static pid_t first_child(pid_t pid)
{
	char path[64];
	int child = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%d", &child) != 1)
			child = 0;
		fclose(file);
	}
	return child;
}

/* CPU time of its first thread; 0 for a process that has ended. */
static uint64_t cpu_time_ns(pid_t pid)
{
	char path[64];
	unsigned long long time_ns = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
	FILE *file = pid ? fopen(path, "r") : NULL;
	if (file) {
		if (fscanf(file, "%llu", &time_ns) != 1)
			time_ns = 0;
		fclose(file);
	}
	return time_ns;
}

/* They are children of ours now, since we are their reaper. */
static void kill_orphans(void)
{
	for (pid_t child; (child = first_child(getpid())) > 0;) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

/* Whether it is over; *status_ret is as a shell has it. */
static int is_over(pid_t pid, int *status_ret)
{
	int status;
	if (waitpid(pid, &status, WNOHANG) != pid)
		return 0;
	*status_ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 1;
}

int main(int argc, char **argv)
{
	long ending_us = -1;
	pid_t other = 0;
	for (int option; (option = getopt(argc, argv, "+i:p:")) != -1;) {
		if (option == 'i')
			ending_us = atol(optarg);
		else if (option == 'p')
			other = atoi(optarg);
		else
			return 2;
	}
	if (argc - optind < 3)
		return 2;
	FILE *report = fopen(argv[optind], "we");
	uint64_t begun_ns = now_ns(), cpu_ns = cpu_time_ns(other);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t pid = start(argv + optind + 2);
	if (!report || pid < 0)
		return 2;
	uint64_t moment_ns = begun_ns + strtoull(argv[optind + 1], NULL, 10) * 1000;
	sleep_until(moment_ns);
	if (ending_us >= 0) {
		kill(pid, SIGINT);
		sleep_until(now_ns() + (uint64_t)ending_us * 1000);
	}
	int status;
	pid_t workload = other ? other : first_child(pid);
	if (is_over(pid, &status)) {
		fprintf(report, "ended %d\n", status);
	} else {
		kill(pid, SIGKILL);
		uint64_t struck_ns = now_ns();
		uint64_t had_ns = cpu_time_ns(workload);
		waitpid(pid, NULL, 0);
		fprintf(report, "killed %llu %llu %llu\n", (unsigned long long)begun_ns,
			(unsigned long long)struck_ns,
			(unsigned long long)(had_ns > cpu_ns ? had_ns - cpu_ns : 0));
	}
	kill_orphans();
	return fclose(report) ? 2 : 0;
}
