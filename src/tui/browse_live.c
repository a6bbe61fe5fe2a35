/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces the recordings below an open screen: a thread analyses all levels again, while keys
 * move the cursor. Levels keep their event, search, selected row, and order of rows.
 */
#include "tui/browse_live.h"

#include <string.h>
#include "tui/browse_state.h"

/* Shows a level's new result as its old one was shown. */
static void replace(struct browse *browse, struct level *level, struct report_result *result)
{
	struct row_view *rows = &level->rows;
	const struct report *old = level_report(level);
	const struct row_view_line *line = row_view_selected(rows);
	bool by_total = report_by_total(old);
	size_t top = rows->top, selected = rows->selected;
	uint64_t row = line ? row_order_hash(old, line->cells->row) : 0;
	struct report *report = report_result_report(result);
	level->profile = report_find_event(report, level_profile(level)->event);
	level->profile = level->profile < report->profile_count ? level->profile : 0;
	struct report_result *before = level->result;
	for (size_t i = 0; i < LEVEL_TREES; i++)
		level_tree_deinit(&level->trees[i]);
	for (size_t i = 0; i < LEVEL_PICTURES; i++)
		level_tree_deinit(&level->pictures[i]);
	level->result = result;
	report->order_by_self = !(by_total && report->children);
	browse_show_rows(browse, level, by_total && report->children);
	report_result_free(before);
	rows->top = top;
	rows->selected = selected < rows->lines.count ? selected : 0;
	for (size_t i = 0; line && i < rows->lines.count; i++)
		if (row_order_hash(report, rows->lines.items[i].cells->row) == row)
			rows->selected = i;
}

/* Forgets what views that are not shown have of the current window. */
static void leave_window(struct browse *browse)
{
	for (size_t i = 0; i < FLAMES; i++)
		flame_view_set(&browse->flames[i], NULL);
	time_view_deinit(&browse->time);
	browse->time = (struct time_view){0};
	annotate_code_deinit(&browse->code);
	sp_analysis_free(browse->functions);
	browse->functions = NULL;
}

static struct sp_error *analyse_next(void *data)
{
	struct browse *browse = data;
	struct refresh *refresh = &browse->refresh;
	struct sp_error *error = NULL;
	for (size_t i = 0; i < browse->level_count && !error; i++, refresh->count++)
		error = browse->source->make(&browse->levels[i]->arguments, browse->source->ctx,
					     &refresh->next, browse->source->names, NULL,
					     &refresh->results[i]);
	return error;
}

/*
 * Callers and callees are those of the window in which they were unfolded: a refresh waits while
 * the selected line is among them, and folds other rows. A range of time is of its window, too.
 */
static bool keeps_window(const struct browse *browse)
{
	const struct level *level = browse_current(browse);
	const struct row_view_line *line = row_view_selected(&level->rows);
	return browse_view(browse) != &browse_rows_view || browse->searches || browse->sets_limit ||
	       level->has_time || (line && (line->open || line->depth));
}

static void show_failure(struct browse *browse, const struct sp_error *error)
{
	browse_note(browse, "cannot analyse the next window, so this one stays: %s",
		    error ? sp_error_message(error) : "no thread can be created");
}

static void start(struct browse *browse)
{
	const struct browse_live *live = browse->source->live;
	struct refresh *refresh = &browse->refresh;
	*refresh = (struct refresh){.job = {.run = analyse_next, .data = browse}};
	refresh->job.error = live->open(live->arg, &refresh->next, &refresh->facts);
	refresh->runs = !refresh->job.error && refresh->next.count && job_start(&refresh->job);
	if (refresh->runs)
		return;
	if (refresh->next.count || refresh->job.error)
		show_failure(browse, refresh->job.error);
	sp_error_free(refresh->job.error);
	recordings_close(&refresh->next);
	live->on_end(live->arg, 0, true);
}

/* Waits for the analysis. With `shows`, shows what it made. */
static void finish(struct browse *browse, bool shows)
{
	const struct browse_source *source = browse->source;
	struct refresh *refresh = &browse->refresh;
	pthread_join(refresh->job.thread, NULL);
	refresh->runs = false;
	bool failed = shows && refresh->job.error;
	source->live->on_end(source->live->arg, shows && !failed ? refresh->job.cpu_ns : 0, failed);
	if (shows && !failed) {
		leave_window(browse);
		browse->facts = refresh->facts;
		for (size_t i = 0; i < refresh->count; i++)
			replace(browse, browse->levels[i], refresh->results[i]);
		recordings_close(source->recordings);
		*source->recordings = refresh->next;
		return;
	}
	if (failed)
		show_failure(browse, refresh->job.error);
	sp_error_free(refresh->job.error);
	for (size_t i = 0; i < refresh->count; i++)
		report_result_free(refresh->results[i]);
	recordings_close(&refresh->next);
}

void browse_live_refresh(struct browse *browse)
{
	const struct browse_live *live = browse->source->live;
	if (browse->refresh.runs && atomic_load(&browse->refresh.job.ended))
		finish(browse, !keeps_window(browse));
	else if (!browse->refresh.runs && live->is_due(live->arg) && !keeps_window(browse))
		start(browse);
}

void browse_live_cancel(struct browse *browse)
{
	if (!browse->refresh.runs)
		return;
	sp_ctx_cancel(browse->source->ctx);
	finish(browse, false);
	sp_ctx_uncancel(browse->source->ctx);
}

bool browse_live_key(struct browse *browse, uint32_t key)
{
	const struct browse_live *live = browse->source->live;
	if (key == ' ') {
		/* A window that is being analysed would replace the frozen one. */
		browse_live_cancel(browse);
		live->freeze(live->arg, &browse->facts);
	} else if (key == 'S')
		live->save(live->arg, browse->source->recordings, browse->message,
			   sizeof(browse->message));
	else
		return false;
	return true;
}
