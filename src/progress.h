/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress line on the terminal during a long call of the library. */
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
 * Shows the progress of `ctx` after 0.3 s, if `wanted` and standard error is a terminal. Shows
 * nothing if no thread can be created.
 */
void progress_begin(struct progress *progress, const struct sp_ctx *ctx, bool wanted);

/* Removes the progress line. Nothing else may be printed between progress_begin() and this. */
void progress_end(struct progress *progress);

#endif
