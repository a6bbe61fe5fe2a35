/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command that is recorded: a child process that waits until all events are
 * open, and then becomes that program.
 */
#ifndef CAPTURE_TASKS_WORKLOAD_H
#define CAPTURE_TASKS_WORKLOAD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "base/error.h"

struct workload {
	pid_t pid;      /* 0: none, or reaped */
	int pidfd;      /* readable when it has ended; -1: none */
	int go, failed; /* socket that starts it; pipe with the errno of a failed exec */
	bool executed;  /* exec has succeeded */
	bool ended;
	int status;           /* status as of waitpid(2), once it has ended */
	struct rusage usage;  /* resource usage of it and its waited-for children */
};

/* Without a command yet: nothing to free. */
void workload_init(struct workload *workload);

/*
 * Kills and reaps a command that was not executed, and reaps one that has ended; one that runs is
 * left alone. Closes all descriptors.
 */
void workload_deinit(struct workload *workload);

/*
 * Makes the process. It has the caller's signal mask and limits of this moment;
 * where the recording goes to standard output, it writes to standard error
 * instead. Fails with SP_ERROR_OS or SP_ERROR_LIMIT.
 */
struct sp_error *workload_fork(struct workload *workload, const char *const *command,
			       bool stdout_taken) SP_MUST_CHECK;

/*
 * Starts it, and waits until it has executed the program. Fails with SP_ERROR_NOT_FOUND,
 * SP_ERROR_PERMISSION or SP_ERROR_OS where it cannot be executed, or was killed before; it has
 * ended then. Never raises SIGPIPE.
 */
struct sp_error *workload_start(struct workload *workload, const char *name) SP_MUST_CHECK;

/* A command that still waits ends instead, with status 0; nothing for one that was started. */
void workload_forgo(struct workload *workload);

/* Sets `ended`, `status` and `usage` if it has ended; with `wait` that is waited for. */
struct sp_error *workload_reap(struct workload *workload, bool wait) SP_MUST_CHECK;

#endif
