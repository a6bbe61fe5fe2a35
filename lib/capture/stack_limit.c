/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/stack_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/format.h"

#define PATH "/proc/sys/kernel/perf_event_max_stack"

/* The guard tries a hundred times in the first second, then each second of an hour. */
#define OFTEN_NS 10000000
#define OFTEN 100
#define TRIES (OFTEN + 3600)

/* So long is it waited for. */
#define WAIT_TIMES 30

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9; without it, files stay open until the guard ends */
#endif

/* 0 or the errno. Only what may be called after fork() in a program with threads. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int errnum = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return errnum;
}

static bool is(const char *path, const char *text)
{
	char now[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t size = read(fd, now, sizeof(now) - 1);
	close(fd);
	return size > 0 && strtoul(now, NULL, 10) == strtoul(text, NULL, 10);
}

static void pause_ns(uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	nanosleep(&time, NULL);
}

/* The guard. */
static void __attribute__((noreturn)) wait_and_restore(int alive, const char *path,
						       const char *before, const char *raised)
{
	char byte;
	setsid(); /* what ends the terminal's processes is not to end it */
	dup2(alive, STDIN_FILENO);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < TRIES && is(path, raised); i++) {
		int errnum = put(path, before);
		if (errnum != EBUSY)
			_exit(errnum != 0);
		pause_ns(i < OFTEN ? OFTEN_NS : 1000000000);
	}
	_exit(0);
}

/* Signals are held back before it is there, so that none comes too early. */
static pid_t fork_guard(int alive, const char *path, const char *before, const char *raised)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid_t pid = fork();
	if (!pid)
		wait_and_restore(alive, path, before, raised);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pid;
}

struct sp_error *stack_limit_raise(struct stack_limit *limit, const struct sp_ctx *ctx,
				   uint32_t before, uint32_t frames)
{
	CLEANUP_FREE char *path = format_text("%s" PATH, ctx_root(ctx));
	char before_text[16], raised_text[16];
	int ends[2];
	snprintf(before_text, sizeof(before_text), "%u", before);
	snprintf(raised_text, sizeof(raised_text), "%u", frames);
	if (!path)
		return error_no_memory();
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	/* First, so that there is no moment at which it could not be put back. */
	struct stack_limit made = {fork_guard(ends[0], path, before_text, raised_text), ends[1]};
	int errnum = made.guard < 0 ? errno : 0;
	close(ends[0]);
	if (errnum) {
		close(ends[1]);
		return error_os(errnum, "cannot make a process that restores %s", path);
	}
	errnum = put(path, raised_text);
	if (errnum) {
		stack_limit_restore(&made);
		return error_os(errnum, "cannot write to %s", path);
	}
	*limit = made;
	return NULL;
}

bool stack_limit_restore(struct stack_limit *limit)
{
	struct stack_limit guard = *limit;
	*limit = (struct stack_limit){0};
	if (!guard.guard)
		return true;
	close(guard.alive);
	for (int i = 0; i < WAIT_TIMES; i++) {
		int status;
		pid_t pid = waitpid(guard.guard, &status, WNOHANG);
		if (pid)
			return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
		pause_ns(i < 10 ? OFTEN_NS / 10 : OFTEN_NS);
	}
	return false;
}
