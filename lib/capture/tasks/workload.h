/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorded command: a child process that waits until all events are open, and then executes the
 * program.
 */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "base/error.h"

struct workload {
	pid_t pid;      /* 0: none, or it is reaped */
	int pidfd;      /* readable when it has ended; -1: none */
	int go, failed; /* socket that starts it; pipe with the errno of a failed exec */
	bool executed;  /* exec has succeeded */
	bool ended;
	int status;           /* status as of waitpid(2), once it has ended */
	struct rusage usage;  /* resource usage of it and its waited-for children */
};

/* Zeroed: there is no command. */
void workload_init(struct workload *workload);

/*
 * Kills and reaps a command that was not executed, and reaps one that has ended; one that runs
 * continues. Closes all descriptors.
 */
void workload_deinit(struct workload *workload);

/*
 * Forks the process. It has the caller's present signal mask and limits. If the recording is
 * written to standard output, the command writes to standard error instead. Fails with SP_ERROR_OS
 * or SP_ERROR_LIMIT.
 */
struct sp_error *workload_fork(struct workload *workload, const char *const *command,
			       bool stdout_taken) SP_MUST_CHECK;

/*
 * Starts it, and waits until it has executed the program. Fails with SP_ERROR_NOT_FOUND,
 * SP_ERROR_PERMISSION or SP_ERROR_OS if it cannot be executed, or was killed before; it has ended
 * then. Never raises SIGPIPE.
 */
struct sp_error *workload_start(struct workload *workload, const char *name) SP_MUST_CHECK;

/* Ends a waiting command with status 0. Does nothing to one that was started. */
void workload_forgo(struct workload *workload);

/* Sets `ended`, `status` and `usage` if it has ended. `wait`: waits for its end. */
struct sp_error *workload_reap(struct workload *workload, bool wait) SP_MUST_CHECK;
