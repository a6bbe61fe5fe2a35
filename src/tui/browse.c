/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that all views have, and the run of the browser. */
#include "memory.h"
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>
#include "cmd/info/info.h"
#include "diag.h"
#include "out/findings_output.h"
#include "out/table.h"
#include "text.h"

/* Time between looks whether the analysis of the next window has ended. */
#define REFRESH_MS 50

/* Lines that the mouse wheel moves. */
#define WHEEL_LINES 3

/* Shows another event of the level. */
static void show_event(struct browse *browse, size_t index)
{
	struct level *level = browse_current(browse);
	level->profile = index;
	browse_show_rows(browse, level, report_by_total(level_report(level)));
	browse_fit(browse);
}

/* Shows the next event with rows, in a direction. */
static void change_event(struct browse *browse, size_t step)
{
	struct level *level = browse_current(browse);
	const struct report *report = level_report(level);
	size_t at = level->profile;
	do
		at = (at + step) % report->profile_count;
	while (at != level->profile && !report->profiles[at]->row_count);
	if (at == level->profile) {
		browse_note(browse, "no other event has samples");
		return;
	}
	show_event(browse, at);
}

static void next_event(struct browse *browse)
{
	change_event(browse, 1);
}

static void previous_event(struct browse *browse)
{
	change_event(browse, level_report(browse_current(browse))->profile_count - 1);
}

static void choose_event(struct browse *browse)
{
	size_t at = browse->key - '1';
	const struct report *report = level_report(browse_current(browse));
	if (at < report->profile_count && report->profiles[at]->row_count)
		show_event(browse, at);
	else
		browse_note(browse, "there is no event %zu with samples; Tab shows the next one",
			    at + 1);
}

static void filter_dso(struct browse *browse)
{
	const char *dso = browse_place(browse).dso;
	if (dso)
		browse_filter(browse, &(struct level_change){.dso = dso});
	else
		browse_note(browse, "this line has no dso");
}

static void filter_function(struct browse *browse)
{
	const struct browse_place place = browse_place(browse);
	const struct selection *selection = &browse_current(browse)->arguments.selection;
	if (!place.function)
		browse_note(browse, "there is no function at the cursor");
	else if (!place.by_total)
		browse_filter(browse, &(struct level_change){.symbol = place.function});
	else if (selection->focus.count)
		browse_note(browse, "stacks are selected by a function already; z undoes that");
	else
		browse_filter(browse, &(struct level_change){.function = place.function});
}

static void change_percentage(struct browse *browse)
{
	browse_filter(browse, &(struct level_change){.percentage = true});
}

static int visible_lines(const struct browse *browse)
{
	int lines = screen_rows(browse->screen) - 6;
	return lines < 1 ? 1 : lines;
}

static void move(struct browse *browse, long lines)
{
	browse_view(browse)->move(browse, lines);
}

static void move_up(struct browse *browse)
{
	move(browse, -1);
}

static void move_down(struct browse *browse)
{
	move(browse, 1);
}

static void page_up(struct browse *browse)
{
	move(browse, -visible_lines(browse));
}

static void page_down(struct browse *browse)
{
	move(browse, visible_lines(browse));
}

static void wheel_up(struct browse *browse)
{
	move(browse, -WHEEL_LINES);
}

static void wheel_down(struct browse *browse)
{
	move(browse, WHEEL_LINES);
}

static void move_first(struct browse *browse)
{
	move(browse, -INT32_MAX);
}

static void move_last(struct browse *browse)
{
	move(browse, INT32_MAX);
}

static void search(struct browse *browse)
{
	browse->searches = true;
}

/* Writes the command of the topmost view that has the level. */
static void write_command(const struct browse *browse, FILE *out)
{
	size_t at = browse->view_count - 1;
	while (at && browse->views[at]->is_text)
		at--;
	const struct browse_view *view = browse->views[at];
	level_write_command(browse_current(browse),
			    view->picture ? view->picture(browse) : LEVEL_PICTURES, browse->wing,
			    out);
}

/*
 * Shows the view's command in the last line. When the browser ends, it also prints the command of
 * the view at that time.
 */
static void print_command(struct browse *browse)
{
	char *text;
	size_t size;
	if (browse->source->live) {
		browse_note(browse, "the window has no file for 'sprof report'; S saves it");
		return;
	}
	FILE *out = text_stream_open(&text, &size);
	write_command(browse, out);
	text_stream_close(out, &text);
	browse_note(browse, "%s", text);
	free(browse->command);
	browse->command = text;
}

static void quit(struct browse *browse)
{
	browse->ends = true;
}

static void write_findings(struct browse *browse, FILE *out)
{
	const struct report *report = level_report(browse_current(browse));
	const struct term term = screen_term(browse->screen);
	if (!findings_write_all(&term, report->findings, report->finding_count, out))
		fputs("Nothing limits the data.\n", out);
}

static void show_findings(struct browse *browse)
{
	browse_show_text(browse, "limits of the data, and remedies", write_findings);
}

static void write_header(struct browse *browse, FILE *out)
{
	const struct recordings *recordings = browse->source->recordings;
	for (size_t i = 0; i < recordings->count; i++)
		info_print_header(recordings->items[i].reader, out);
}

static void show_header(struct browse *browse)
{
	browse_show_text(browse, "header of the recording", write_header);
}

static void write_group(struct browse *browse, FILE *out)
{
	struct level *level = browse_current(browse);
	struct report *report = level_report(level);
	report->term = screen_term(browse->screen);
	for (size_t i = 0; i < report->group_count; i++)
		if (joint_view_has(&report->groups[i], level_profile(level)))
			table_write_group(report, &report->groups[i], out);
	if (!ftell(out))
		fputs("The event is in no group. 'sprof record -e {A,B}' records one.\n", out);
}

static void show_group(struct browse *browse)
{
	browse_show_text(browse, "events of the group, with their ratios", write_group);
}

static void filter_kernel(struct browse *browse)
{
	browse_filter(browse, &(struct level_change){.dso = "[kernel.kallsyms]"});
}

static void show_help(struct browse *browse);

static const struct binding level_keys[] = {
	{'m', "m", "menu of the keys; Enter runs one", browse_open_menu},
	{'f', "f", "flame graph", browse_open_flame},
	{'b', "b", "butterfly: callers above the function, callees below", browse_open_butterfly},
	{'T', "T", "timeline: when; with states of threads, and a heat map", browse_open_time},
	{'a', "a", "code of the function: source and instructions",
	 browse_open_code},
	{'D', "D", "changes from the first half of the time to the second", browse_open_changes},
	{'g', "g", "events of the group, with their ratios", show_group},
	{'/', "/", "search: show only rows with a text; pictures mark them", search},
	{'d', "d", "only this dso", filter_dso},
	{'k', "k", "only the kernel", filter_kernel},
	{'s', "s", "only samples in this function (by self), or stacks through it",
	 filter_function},
	{'F', "F", "percentages of all samples, or of the filtered ones",
	 change_percentage},
	{'z', "z", "undo the last filter", browse_undo},
	{'\t', "Tab", "next event", next_event},
	{SCREEN_KEY_BACK_TAB, "Shift-Tab", "previous event", previous_event},
	{'1', "1 to 9", "this event", choose_event},
	{'w', "w", "limits of the data, and remedies: what is lost", show_findings},
	{'i', "i", "header of the recording", show_header},
	{'p', "p, P", "print the command for this view at the end", print_command},
	{'P', NULL, NULL, print_command},
	{0, NULL, NULL, NULL},
};

static const struct binding common_keys[] = {
	{SCREEN_KEY_UP, "Up, Down", "move by a line", move_up},
	{SCREEN_KEY_DOWN, NULL, NULL, move_down},
	{SCREEN_KEY_PAGE_UP, "PgUp, PgDn", "move by a screen", page_up},
	{SCREEN_KEY_PAGE_DOWN, NULL, NULL, page_down},
	{' ', NULL, NULL, page_down},
	{SCREEN_KEY_HOME, "Home, End", "move to the first or last line", move_first},
	{SCREEN_KEY_END, NULL, NULL, move_last},
	{SCREEN_KEY_WHEEL_UP, "mouse", "click: select, again: open; wheel: move", wheel_up},
	{SCREEN_KEY_WHEEL_DOWN, NULL, NULL, wheel_down},
	{'?', "?, h, F1", "help", show_help},
	{'h', NULL, NULL, show_help},
	{SCREEN_KEY_F1, NULL, NULL, show_help},
	{'q', "q, Ctrl-C", "quit", quit},
	{0, NULL, NULL, NULL},
};

static void write_keys(const struct binding *keys, FILE *out)
{
	for (; keys->act; keys++)
		if (keys->name)
			fprintf(out, "  %-17s %s\n", keys->name, keys->help);
}

/* Writes the keys of the view below the help. */
static void write_help(struct browse *browse, FILE *out)
{
	const struct browse_view *view = browse->views[browse->view_count - 2];
	fprintf(out, "%s\n", view->name);
	write_keys(view->keys, out);
	if (!view->is_text) {
		fputs("\nall pictures and the table\n", out);
		write_keys(level_keys, out);
		if (browse->source->live)
			fputs(BROWSE_LIVE_HELP, out);
	}
	fputs("\nall views\n", out);
	write_keys(common_keys, out);
	if (view->help)
		fprintf(out, "\n%s", view->help);
}

static void show_help(struct browse *browse)
{
	if (browse_view(browse)->is_text)
		browse_note(browse, "Esc goes back; arrows, PgUp and PgDn move; q quits");
	else
		browse_show_text(browse, "keys", write_help);
}

/* Adds a character to a text of `room` bytes, or removes the last one. */
static void edit_text(char *text, size_t room, uint32_t key)
{
	size_t size = strlen(text);
	char character[4];
	if (key == SCREEN_KEY_BACKSPACE) {
		while (size && (text[size - 1] & 0xc0) == 0x80)
			size--;
		text[size ? size - 1 : 0] = '\0';
	} else if (key < SCREEN_KEY_NONE && !text_is_control(key)) {
		size_t more = text_put(key, character);
		if (size + more >= room)
			return;
		memcpy(text + size, character, more);
		text[size + more] = '\0';
	}
}

/* Edits the text of the search. */
static void edit_search(struct browse *browse, uint32_t key)
{
	struct level *level = browse_current(browse);
	browse->searches = key != SCREEN_KEY_ENTER && key != SCREEN_KEY_ESCAPE;
	if (key == SCREEN_KEY_ENTER)
		return;
	if (key == SCREEN_KEY_ESCAPE)
		level->search[0] = '\0';
	else
		edit_text(level->search, sizeof(level->search), key);
	row_view_search(&level->rows, level->search);
}

/* Edits the limit of rows, which Enter sets. */
static void edit_limit(struct browse *browse, uint32_t key)
{
	struct level *level = browse_current(browse);
	char *end;
	browse->sets_limit = key != SCREEN_KEY_ENTER && key != SCREEN_KEY_ESCAPE;
	edit_text(browse->limit, sizeof(browse->limit), key);
	if (key != SCREEN_KEY_ENTER)
		return;
	double percent = strtod(browse->limit, &end);
	if (*end || end == browse->limit || !(percent >= 0 && percent <= 100)) {
		browse_note(browse, "'%s' is not a percentage from 0 to 100", browse->limit);
		return;
	}
	level->arguments.limit = percent / 100;
	level->has_limit = true;
	browse_show_rows(browse, level, report_by_total(level_report(level)));
}

static const struct binding *find_binding(const struct binding *keys, uint32_t key)
{
	while (keys->act && keys->key != key)
		keys++;
	return keys->act ? keys : NULL;
}

static void handle(struct browse *browse, const struct screen_event *event)
{
	const struct browse_view *view = browse_view(browse);
	const struct binding *binding;
	if (event->key == SCREEN_KEY_NONE)
		return;
	browse->key = event->key;
	browse->message[0] = '\0';
	if (event->key == SCREEN_KEY_END_OF_INPUT) {
		browse->ends = true;
	} else if (event->key == SCREEN_KEY_RESIZE) {
		browse_fit(browse);
	} else if (browse->sets_limit) {
		edit_limit(browse, event->key);
	} else if (browse->searches && event->key != SCREEN_KEY_UP &&
		   event->key != SCREEN_KEY_DOWN) {
		edit_search(browse, event->key);
	} else if (browse->source->live && !view->is_text && browse_live_key(browse, event->key)) {
		return;
	} else if (event->key == SCREEN_KEY_PRESS || event->key == SCREEN_KEY_RELEASE) {
		if (view->press)
			view->press(browse, event);
	} else {
		uint32_t key = event->key > '1' && event->key <= '9' ? '1' : event->key;
		binding = find_binding(view->keys, key);
		if (!binding && !view->is_text)
			binding = find_binding(level_keys, key);
		binding = binding ? binding : find_binding(common_keys, key);
		if (binding)
			binding->act(browse);
		else
			browse_note(browse, "this key has no meaning here; ? lists the keys");
	}
}

/* Returns whether a key changes no level. */
static bool is_move(uint32_t key)
{
	static const uint32_t moves[] = {
		SCREEN_KEY_NONE, SCREEN_KEY_RESIZE, SCREEN_KEY_UP, SCREEN_KEY_DOWN,
		SCREEN_KEY_PAGE_UP, SCREEN_KEY_PAGE_DOWN, SCREEN_KEY_HOME, SCREEN_KEY_END,
		SCREEN_KEY_WHEEL_UP, SCREEN_KEY_WHEEL_DOWN,
	};
	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++)
		if (key == moves[i])
			return true;
	return false;
}

/* Returns the next key: first those that came while a job ran. */
static struct screen_event take_key(struct browse *browse)
{
	const struct browse_live *live = browse->source->live;
	if (!browse->early_count)
		return screen_wait(browse->screen, browse->refresh.runs ? REFRESH_MS :
					   live ? live->wait_ms(live->arg) : -1);
	struct screen_event event = browse->early[0];
	browse->early_count--;
	memmove(browse->early, browse->early + 1, browse->early_count * sizeof(event));
	return event;
}

int browse_run(const struct browse_source *source, struct report_result *first)
{
	struct level *level = xcalloc(1, sizeof(*level));
	struct browse browse = {.source = source,
				.level_keys = level_keys,
				.levels = {level},
				.level_count = 1,
				.views = {&browse_rows_view},
				.view_count = 1,
				.screen = screen_open()};
	if (!browse.screen) {
		report_result_free(first);
		free(level);
		return 1;
	}
	level->arguments = *source->arguments;
	level->counted = level;
	if (source->live)
		browse.facts = *report_result_report(first)->live;
	level->result = first ?: browse_analyse(&browse, level, &level->arguments);
	if (!level->result) {
		screen_close(browse.screen);
		if (browse.error)
			diag_error(browse.error);
		else
			diag_print("%s", browse.message);
		free(level);
		return 1;
	}
	const struct report *report = level_report(level);
	while (level->profile + 1 < report->profile_count &&
	       !report->profiles[level->profile]->row_count)
		level->profile++;
	browse_show_rows(&browse, level, report_by_total(report));
	while (!browse.ends) {
		if (browse.resized)
			browse_fit(&browse);
		browse.resized = false;
		browse_draw(&browse);
		struct screen_event event = take_key(&browse);
		if (!is_move(event.key))
			browse_live_cancel(&browse);
		handle(&browse, &event);
		if (source->live) {
			browse_live_refresh(&browse);
			browse.ends |= source->live->is_over(source->live->arg);
		}
	}
	browse_live_cancel(&browse);
	screen_close(browse.screen);
	if (browse.command)
		puts(browse.command);
	browse_drop_counts(&browse);
	while (browse.level_count)
		level_free(browse.levels[--browse.level_count]);
	for (size_t i = 0; i < FLAMES; i++)
		flame_view_deinit(&browse.flames[i]);
	time_view_deinit(&browse.time);
	free(browse.command);
	free(browse.wing);
	free(browse.text.text);
	free(browse.text.hot.items);
	annotate_code_deinit(&browse.code);
	sp_analysis_free(browse.functions);
	return 0;
}
