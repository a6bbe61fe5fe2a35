/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress line on the terminal during a long call of the library. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <sprof/ctx.h>

struct progress {
	const struct sp_ctx *ctx;
	const char *name;  /* shown in place of ctx's step; NULL: that is shown */
	bool after_output; /* the terminal's last line may be another program's, and stays */
	pthread_t thread;
	pthread_mutex_t lock; /* guards `ended` */
	pthread_cond_t end;
	bool started, ended;
};

/* Returns what a step does: "reading samples". */
const char *progress_step_name(enum sp_step step);

/*
 * Shows the progress of `ctx` after 0.3 s, if `wanted` and standard error is a terminal. Shows
 * nothing if no thread can be created.
 */
void progress_begin(struct progress *progress, const struct sp_ctx *ctx, bool wanted);

/* The same for steps without numbers: a file is written, or a recording is finished. */
void progress_begin_writing(struct progress *progress, bool wanted);
void progress_begin_finishing(struct progress *progress, bool wanted);

/* Removes the progress line. Nothing else may be printed between progress_begin() and this. */
void progress_end(struct progress *progress);

#endif
