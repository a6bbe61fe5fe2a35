/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 300 /* no progress line for calls shorter than this */
#define NEXT_MS 100

const char *progress_step_name(enum sp_step step)
{
	static const char *const names[] = {
		[SP_STEP_NONE] = "reading",
		[SP_STEP_INFLATE] = "reading compressed records",
		[SP_STEP_MAPPINGS] = "reading mappings",
		[SP_STEP_SAMPLES] = "reading samples",
		[SP_STEP_NAMES] = "reading debug information",
		[SP_STEP_ROWS] = "summing samples",
		[SP_STEP_RECORDS] = "writing records",
	};
	return names[step];
}

static void show(const struct progress *progress)
{
	uint64_t done = 0, total = 0;
	enum sp_step step = progress->name ? SP_STEP_NONE :
			    sp_ctx_progress(progress->ctx, &done, &total);
	fprintf(stderr, "\r\033[K%s", progress->name ?: progress_step_name(step));
	if (total)
		fprintf(stderr, ": %.0f%%", 100 * (double)done / (double)total);
	fflush(stderr);
}

static struct timespec after_ms(long ms)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ms * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void *show_until_end(void *arg)
{
	struct progress *progress = arg;
	struct timespec next = after_ms(FIRST_MS);
	bool shown = false;
	pthread_mutex_lock(&progress->lock);
	while (!progress->ended) {
		if (!pthread_cond_timedwait(&progress->end, &progress->lock, &next))
			continue;
		if (!shown && progress->after_output)
			fputs("\n", stderr);
		show(progress);
		shown = true;
		next = after_ms(NEXT_MS);
	}
	pthread_mutex_unlock(&progress->lock);
	if (shown) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	return NULL;
}

static void start(struct progress *progress, bool wanted)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	const char *terminal = getenv("TERM");
	if (!wanted || !isatty(STDERR_FILENO) || !terminal || !strcmp(terminal, "dumb"))
		return;
	pthread_mutex_init(&progress->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->end, &attributes);
	pthread_condattr_destroy(&attributes);
	/* The progress thread blocks all signals: the main thread handles them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	progress->started = !pthread_create(&progress->thread, NULL, show_until_end, progress);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_begin(struct progress *progress, const struct sp_ctx *ctx, bool wanted)
{
	*progress = (struct progress){.ctx = ctx};
	start(progress, wanted);
}

void progress_begin_writing(struct progress *progress, bool wanted)
{
	*progress = (struct progress){.name = "writing the file"};
	start(progress, wanted);
}

void progress_begin_finishing(struct progress *progress, bool wanted)
{
	*progress = (struct progress){.name = "finishing the recording", .after_output = true};
	start(progress, wanted);
}

void progress_end(struct progress *progress)
{
	if (!progress->started)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->ended = true;
	pthread_cond_signal(&progress->end);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	pthread_cond_destroy(&progress->end);
	pthread_mutex_destroy(&progress->lock);
}
