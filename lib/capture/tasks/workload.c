/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/io.h"

void workload_init(struct workload *workload)
{
	*workload = (struct workload){.pidfd = -1, .go = -1, .failed = -1};
}

void workload_deinit(struct workload *workload)
{
	/*
	 * Kills the child: closing the socket is not enough, because another process may hold the
	 * other end.
	 */
	bool waits = workload->pid && !workload->executed;
	if (waits)
		kill(workload->pid, SIGKILL);
	while (workload->pid && waitpid(workload->pid, NULL, waits ? 0 : WNOHANG) < 0 &&
	       errno == EINTR)
		;
	cleanup_close(&workload->go);
	cleanup_close(&workload->failed);
	cleanup_close(&workload->pidfd);
	workload_init(workload);
}

/*
 * Runs in the child, and calls only functions that are allowed after fork() in a program with
 * threads.
 */
static void __attribute__((noreturn)) wait_and_exec(int go, int failed, const char *const *command)
{
	char byte;
	if (read(go, &byte, 1) != 1)
		_exit(0);
	execvp(command[0], (char *const *)(uintptr_t)command);
	int errnum = errno;
	if (write(failed, &errnum, sizeof(errnum)) < 0)
		_exit(126);
	_exit(errnum == ENOENT ? 127 : 126);
}

struct sp_error *workload_fork(struct workload *workload, const char *const *command,
			       bool stdout_taken)
{
	int go[2], failed[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return error_os(errno, "cannot make a socket pair");
	CLEANUP_CLOSE int go_read = go[0];
	CLEANUP_CLOSE int go_write = go[1];
	if (pipe2(failed, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	CLEANUP_CLOSE int failed_read = failed[0];
	CLEANUP_CLOSE int failed_write = failed[1];
	pid_t pid = fork();
	if (pid < 0)
		return error_os(errno, "cannot make a process for %s", command[0]);
	if (!pid) {
		close(go_write); /* else its end would never be found */
		if (stdout_taken)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		wait_and_exec(go_read, failed_write, command);
	}
	workload->pid = pid;
	workload->go = take_fd(&go_write);
	workload->failed = take_fd(&failed_read);
	/* Needs Linux 5.3. Without it, the timer's next round finds the end. */
	workload->pidfd = syscall(SYS_pidfd_open, pid, 0);
	return NULL;
}

void workload_forgo(struct workload *workload)
{
	cleanup_close(&workload->go);
	workload->go = -1;
}

static struct sp_error *exec_error(int errnum, const char *name)
{
	struct sp_error *error = error_os(errnum, "cannot run %s", name);
	if (errnum == ENOENT)
		return error_set_remedy(error, "check the spelling and PATH");
	if (errnum == EACCES)
		return error_set_remedy(error, "the file is not executable (chmod +x), or a directory "
					"of its path is not searchable");
	return error;
}

struct sp_error *workload_start(struct workload *workload, const char *name)
{
	if (send(workload->go, "", 1, MSG_NOSIGNAL) < 0)
		return error_os(errno, "%s did not start", name);
	workload_forgo(workload);
	/* The exec closes the other end, or the child writes its errno. */
	int exec_errnum = 0;
	size_t size;
	int errnum = io_read(workload->failed, &exec_errnum, sizeof(exec_errnum), &size);
	if (errnum)
		return error_os(errnum, "%s did not start", name);
	workload->executed = size < sizeof(exec_errnum);
	return workload->executed ? NULL : exec_error(exec_errnum, name);
}

struct sp_error *workload_reap(struct workload *workload, bool wait)
{
	if (!workload->pid)
		return NULL;
	pid_t pid;
	do {
		pid = wait4(workload->pid, &workload->status, wait ? 0 : WNOHANG, &workload->usage);
	} while (pid < 0 && errno == EINTR && !wait);
	if (pid < 0 && errno == EINTR)
		return NULL; /* returns at a signal, which the caller handles */
	if (pid < 0)
		return error_os(errno, "cannot wait for process %d", workload->pid);
	if (pid) {
		workload->ended = true;
		workload->pid = 0;
	}
	return NULL;
}
