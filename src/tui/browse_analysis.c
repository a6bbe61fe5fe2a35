/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs an analysis while the browser shows its progress. */
#include "tui/browse_state.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include "progress.h"

/*
 * Steps of time at which a running analysis shows its progress, and after which it does first. Most
 * end before: their end is noticed at once.
 */
#define STEP_MS 50
#define FIRST_MS 300
#define EARLY_STEP_MS 2

/* Width of the bar, and time of a step from which its rate says how long it takes. */
#define BAR_CELLS 24
#define LEAST_S 0.5

static void *run_job(void *arg)
{
	struct job *job = arg;
	struct timespec cpu;
	job->error = job->run(job->data);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	job->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
	atomic_store(&job->ended, true);
	return NULL;
}

bool job_start(struct job *job)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	sigset_t all, before;
	/*
	 * The thread blocks signals, because ncurses handles them in the main thread. A blocked
	 * fault would end the process without the handler that restores the terminal.
	 */
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = !pthread_create(&job->thread, NULL, run_job, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A step of the analysis, and its begin. */
struct timed_step {
	enum sp_step number;
	double since_s;
};

/* Shows a bar of the running step, its bytes and the time left, which its rate so far gives. */
static void draw_progress(struct browse *browse, struct timed_step *step)
{
	const struct term term = screen_term(browse->screen);
	char bar[BAR_CELLS * 4] = "", bytes[64] = "", left[64] = "", line[256];
	uint64_t done, total;
	enum sp_step number = sp_ctx_progress(browse->source->ctx, &done, &total);
	if (number != step->number)
		*step = (struct timed_step){number, now_s()};
	done = done > total ? total : done;
	if (total) {
		size_t full = (size_t)((double)done / (double)total * BAR_CELLS), used = 0;
		for (size_t i = 0; i < BAR_CELLS && used + 4 < sizeof(bar); i++)
			used += (size_t)snprintf(bar + used, sizeof(bar) - used, "%s",
						 i < full ? term_glyph(&term, "█", "#")
							  : term_glyph(&term, "░", "."));
	}
	if (total && number <= SP_STEP_SAMPLES)
		snprintf(bytes, sizeof(bytes), "  %.1f of %.1f MB", (double)done / 1e6,
			 (double)total / 1e6);
	if (done && now_s() - step->since_s > LEAST_S)
		snprintf(left, sizeof(left), ", %.0f s left of this step",
			 (now_s() - step->since_s) * (double)(total - done) / (double)done);
	snprintf(line, sizeof(line), "%s  %s%s%s (Esc cancels)", progress_step_name(number), bar,
		 bytes, left);
	/* The view may not fit the level yet: the rest of the screen stays. */
	browse_draw_plain(browse, screen_rows(browse->screen) - 1, 0, line, true);
	screen_update(browse->screen, -1, 0);
}

bool browse_run_job(struct browse *browse, const struct report_arguments *arguments,
		    struct sp_error *(*run)(void *data), void *data)
{
	struct job job = {.run = run, .data = data};
	struct timed_step progress = {SP_STEP_NONE, now_s()};
	if (!recordings_resolve_times(browse->source->recordings, &arguments->selection)) {
		browse_note(browse, "the recording does not have the times");
		return false;
	}
	if (!job_start(&job)) {
		browse_note(browse, "cannot create a thread");
		return false;
	}
	bool cancelled = false;
	int step_ms;
	for (int waited_ms = 0; !cancelled && !atomic_load(&job.ended); waited_ms += step_ms) {
		bool is_first = !browse->levels[0]->result;
		step_ms = waited_ms < FIRST_MS ? EARLY_STEP_MS : STEP_MS;
		if (waited_ms % STEP_MS == 0 && (waited_ms >= FIRST_MS || is_first))
			draw_progress(browse, &progress);
		struct screen_event event = screen_wait(browse->screen, step_ms);
		cancelled = event.key == SCREEN_KEY_ESCAPE || event.key == 'q' ||
			    event.key == SCREEN_KEY_END_OF_INPUT;
		browse->resized |= event.key == SCREEN_KEY_RESIZE;
		if (event.key != SCREEN_KEY_NONE && event.key != SCREEN_KEY_RESIZE &&
		    browse->early_count < EARLY_MAX)
			browse->early[browse->early_count++] = event;
	}
	if (cancelled)
		sp_ctx_cancel(browse->source->ctx);
	pthread_join(job.thread, NULL);
	sp_ctx_uncancel(browse->source->ctx);
	bool failed = job.error;
	if (failed && !browse->levels[0]->result) {
		browse->error = job.error;
		return false;
	}
	if (failed && sp_error_code(job.error) == SP_ERROR_CANCELLED) {
		browse_note(browse, "cancelled");
		browse->early_count = 0;
	} else if (failed) {
		const char *remedy = sp_error_remedy(job.error);
		browse_note(browse, "%s%s%s", sp_error_message(job.error), remedy ? ": " : "",
			    remedy ?: "");
	}
	sp_error_free(job.error);
	return !failed;
}

/* A report to make. */
struct wanted_report {
	const struct browse_source *source;
	const struct report_arguments *arguments;
	struct sp_counts **counts;
	struct report_result *result;
};

static struct sp_error *make_report(void *data)
{
	struct wanted_report *wanted = data;
	const struct browse_source *source = wanted->source;
	return source->make(wanted->arguments, source->ctx, source->recordings, source->names,
			    wanted->counts, &wanted->result);
}

void browse_drop_counts(struct browse *browse)
{
	sp_counts_free(browse->counts);
	browse->counts = NULL;
	browse->counted = NULL;
}

struct report_result *browse_analyse(struct browse *browse, const struct level *counted,
				     const struct report_arguments *arguments)
{
	/* A live recording is analysed once, and other windows replace it. */
	bool keeps = counted && !browse->source->live;
	struct wanted_report wanted = {browse->source, arguments,
				       keeps ? &browse->counts : NULL, NULL};
	if (!keeps || browse->counted != counted)
		browse_drop_counts(browse);
	browse->counted = counted;
	(void)browse_run_job(browse, arguments, make_report, &wanted);
	return wanted.result;
}
