/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View of the samples over time, which chooses ranges. A range is a filter, as --time is. */
#include "memory.h"
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>

/* Lines of the view other than the timeline. */
#define HEAD_ROWS 1

static void write_states(const struct sp_thread_times *times, FILE *out)
{
	const struct {
		const char *name;
		uint64_t ns;
	} states[] = {{"on a CPU", times->running_ns},
		      {"runnable", times->runnable_ns},
		      {"blocked", times->blocked_ns},
		      {"unknown", times->unknown_ns}};
	char text[FORMAT_SIZE];
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (states[i].ns)
			fprintf(out, "  %s %s ms", states[i].name, format_ms(states[i].ns, text));
}

/* Draws the time, the number of samples and the thread's states at the cursor. */
static void draw_place(struct browse *browse, int row)
{
	const struct time_view *view = &browse->time;
	const struct sp_time_span span = time_view_span(view);
	const struct time_lane *lane =
		view->lane < view->lanes.count ? &view->lanes.items[view->lane] : NULL;
	char count[FORMAT_SIZE], *text;
	size_t size;
	FILE *out = text_stream_open(&text, &size);
	uint64_t samples = view->samples[view->cursor * view->rows + view->row];
	fprintf(out, "%+.6f s to %+.6f s: %s sample%s",
		((double)span.begin_ns - (double)view->origin_ns) / 1e9,
		((double)span.end_ns - (double)view->origin_ns) / 1e9, format_count(samples, count),
		samples == 1 ? "" : "s");
	if (lane) {
		fprintf(out, "  %s:", lane->name);
		if (lane->states)
			write_states(&lane->states[view->cursor], out);
		else
			fputs(lane->columns[view->cursor] > 0 ? " has samples" : " has no sample",
			      out);
	}
	text_stream_close(out, &text);
	browse_draw_plain(browse, row, 0, text, false);
	free(text);
}

static void draw(struct browse *browse, int row, int count)
{
	draw_place(browse, row);
	time_view_draw(&browse->time, browse->screen, row + HEAD_ROWS, count - HEAD_ROWS);
}

static bool fit(struct browse *browse)
{
	const struct level *level = browse_current(browse);
	const struct term term = screen_term(browse->screen);
	struct report_result *result = browse_picture(browse, LEVEL_TIMELINE, NULL);
	const struct report *report = result ? report_result_report(result) : NULL;
	if (!report)
		return false;
	size_t index = report_find_event(report, level_profile(level)->event);
	const struct sp_timeline *timeline =
		index < report->profile_count ? report->timelines[index] : NULL;
	if (!timeline || !timeline->cell_count) {
		browse_note(browse, "no samples with times");
		return false;
	}
	struct time_source source = {
		.analysis = report->analysis,
		.timeline = timeline,
		.begin_ns = timeline->begin_ns,
		.end_ns = timeline->end_ns + 1,
		.origin_ns = browse_first_ns(browse),
	};
	if (level->has_time) {
		source.begin_ns = level->arguments.selection.times.items[0].begin.ns;
		source.end_ns = level->arguments.selection.times.items[0].end.ns + 1;
	}
	time_view_set(&browse->time, &source, &term, screen_rows(browse->screen) - 5);
	return true;
}

static void move(struct browse *browse, long lines)
{
	time_view_move(&browse->time, 0, lines);
}

static void move_left(struct browse *browse)
{
	time_view_move(&browse->time, -1, 0);
}

static void move_right(struct browse *browse)
{
	time_view_move(&browse->time, 1, 0);
}

static void begin_range(struct browse *browse)
{
	browse->time.marked = true;
	browse->time.mark_ns = time_view_span(&browse->time).begin_ns;
	browse_note(browse, "the range begins at %+.6f s; ] ends it at the cursor",
		    ((double)browse->time.mark_ns - (double)browse->time.origin_ns) / 1e9);
}

/* Selects the time from the mark, or from the cursor, to the cursor. */
static void end_range(struct browse *browse)
{
	struct time_view *view = &browse->time;
	struct sp_time_span span = time_view_span(view);
	bool several = browse->source->recordings->count > 1;
	uint64_t mark_ns = view->marked ? view->mark_ns : span.begin_ns;
	if (mark_ns >= span.end_ns) {
		mark_ns = span.begin_ns;
		span.end_ns = view->mark_ns + view->width_ns;
	}
	const struct time_range range = {
		.has_end = true,
		/* Recordings have different clocks. */
		.begin = {.kind = several ? MOMENT_OFFSET : MOMENT_CLOCK, .ns = mark_ns},
		.end = {.kind = several ? MOMENT_OFFSET : MOMENT_CLOCK, .ns = span.end_ns - 1},
	};
	view->marked = false;
	browse_filter(browse, &(struct level_change){.time = &range});
}

static void filter_thread(struct browse *browse)
{
	const struct time_view *view = &browse->time;
	int32_t tid = view->lane < view->lanes.count ? view->lanes.items[view->lane].tid : -1;
	if (tid > 0)
		browse_filter(browse, &(struct level_change){.tid = tid});
	else
		browse_note(browse, "there is no thread at the cursor");
}

static void turn(struct browse *browse)
{
	browse->time.heat = !browse->time.heat;
	browse_fit(browse);
}

static void back(struct browse *browse)
{
	if (browse->time.marked)
		browse->time.marked = false;
	else
		browse_close(browse);
}

/* A press begins a range at its place, and a release at another one ends it. */
static void press(struct browse *browse, const struct screen_event *event)
{
	size_t before = browse->time.cursor;
	if (!time_view_point(&browse->time, event->row, event->column))
		return;
	if (event->key == SCREEN_KEY_PRESS) {
		begin_range(browse);
	} else if (browse->time.cursor != before) {
		end_range(browse);
	} else {
		browse->time.marked = false;
		browse->message[0] = '\0';
	}
}

static const struct binding keys[] = {
	{SCREEN_KEY_LEFT, "Left, Right", "move by a column", move_left},
	{SCREEN_KEY_RIGHT, NULL, NULL, move_right},
	{'[', "[", "begin a time range at the cursor", begin_range},
	{']', "], Enter", "end it at the cursor: only samples in this time", end_range},
	{SCREEN_KEY_ENTER, NULL, NULL, end_range},
	{'t', "t", "only this thread", filter_thread},
	{'M', "M", "heat map: rows are parts of a column's time; again: lanes", turn},
	{SCREEN_KEY_ESCAPE, "Esc", "drop the begin of the range; else back", back},
	{0, NULL, NULL, NULL},
};

const struct browse_view browse_time_view = {
	.name = "keys of the timeline",
	.hint = "Esc back  ? help  arrows move  [ ] range  z undo  M heat map  t thread",
	.keys = keys,
	.help = "Lanes have samples; in modes of time they have states. Green: on a CPU, with the "
		"part of\nthe time as height. Yellow: runnable. Blue: blocked. ?: unknown. !: "
		"samples were lost.\nThe mouse selects a range, too.\n",
	.draw = draw,
	.move = move,
	.fit = fit,
	.press = press,
};

void browse_open_time(struct browse *browse)
{
	browse_open(browse, &browse_time_view);
}
