/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line on the terminal that shows the progress of a long call of the library. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <sprof/ctx.h>

struct progress {
	const struct sp_ctx *ctx;
	pthread_t thread;
	pthread_mutex_t lock; /* guards `ended` */
	pthread_cond_t end;
	bool started, ended;
};

/*
 * Starts to show the progress of `ctx` if `wanted` and standard error is a terminal, after half a second.
 * If there is no thread for it, nothing is shown.
 */
void progress_begin(struct progress *progress, const struct sp_ctx *ctx, bool wanted);

/* Removes the line. Nothing else may be printed between the two. */
void progress_end(struct progress *progress);

#endif
