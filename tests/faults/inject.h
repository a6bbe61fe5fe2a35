/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of another process that fail: tests/faults/calls.c. */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include <stdbool.h>
#include <sys/types.h>

struct inject_result {
	int status; /* exit status as a shell has it */
	bool timed_out;
	unsigned long calls;   /* number of calls that could have failed */
	const char *name;      /* name of the failed call, or "" */
	const char *how;       /* it failed */
};

/* Whether calls can be made to fail on this architecture. */
bool inject_possible(void);

/*
 * Call it in the process with the calls that shall fail, before it executes anything: it stops
 * there.
 */
void inject_begin(void);

/*
 * Runs `pid`, a child that has called inject_begin(), to its end. Call `number` (1, …) of those
 * of its threads fails, with one of the errnos that `seed` chooses of those that it may have; 0:
 * none does. The programs it starts are let be.
 */
struct inject_result inject_trace(pid_t pid, unsigned long number, unsigned long seed,
				  int limit_s);

#endif
