/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs an analysis while the browser shows its progress. */
#include "tui/browse_state.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Steps of time at which a running analysis shows its progress, and after which it does first. */
#define STEP_MS 50
#define FIRST_STEPS 6

/* An analysis in a thread of its own, so that keys can cancel it. */
struct job {
	const struct browse_source *source;
	const struct report_arguments *arguments;
	struct report_result *result;
	struct sp_error *error;
	atomic_bool ended;
};

static void *run_job(void *arg)
{
	struct job *job = arg;
	const struct browse_source *source = job->source;
	job->error = source->make(job->arguments, source->ctx, source->recordings, source->names,
				  &job->result);
	atomic_store(&job->ended, true);
	return NULL;
}


/* Shows how far the analysis is. */
static void draw_progress(struct browse *browse)
{
	uint64_t done, total;
	sp_ctx_progress(browse->source->ctx, &done, &total);
	if (total)
		browse_note(browse, "reading the recording: %.0f%% (Esc cancels)",
		     100 * (double)done / (double)total);
	else
		browse_note(browse, "reading the recording (Esc cancels)");
	browse_draw(browse);
	browse->message[0] = '\0';
}

struct report_result *browse_analyse(struct browse *browse,
				     const struct report_arguments *arguments)
{
	struct job job = {.source = browse->source, .arguments = arguments};
	sigset_t all, before;
	pthread_t thread;
	/* The thread blocks all signals, because ncurses handles them in the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = !pthread_create(&thread, NULL, run_job, &job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!started) {
		browse_note(browse, "cannot create a thread");
		return NULL;
	}
	/* A short wait at first: most analyses with known names end soon. */
	for (unsigned int step = 0; !atomic_load(&job.ended); step++) {
		if (step >= FIRST_STEPS)
			draw_progress(browse);
		uint32_t key = screen_wait(browse->screen, step ? STEP_MS : 5).key;
		if (key == SCREEN_KEY_ESCAPE || key == 'q')
			sp_ctx_cancel(browse->source->ctx);
		else if (key == SCREEN_KEY_RESIZE)
			browse_resize(browse);
	}
	pthread_join(thread, NULL);
	sp_ctx_uncancel(browse->source->ctx);
	if (job.error && sp_error_code(job.error) == SP_ERROR_CANCELLED)
		browse_note(browse, "cancelled");
	else if (job.error)
		browse_note(browse, "%s", sp_error_message(job.error));
	else if (!job.result)
		browse->failed = true;
	sp_error_free(job.error);
	return job.result;
}
