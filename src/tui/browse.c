/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys and views of the browser. Each filter is an analysis with the options that `sprof report`
 * has for it, so that the numbers are those of the text report.
 */
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>
#include "cmd/info/info.h"
#include "diag.h"
#include "out/findings_output.h"
#include "text.h"

/* Most lines that "unfold all" makes. */
#define LINES_MAX 10000

/* Lines that the mouse wheel moves. */
#define WHEEL_LINES 3

/* A key of a view. */
struct binding {
	uint32_t key;
	const char *name, *help; /* NULL: another name of the key before */
	void (*act)(struct browse *browse);
};

static void fail(struct browse *browse)
{
	browse->failed = true;
}

/* Ends the browser if an action ran out of memory. */
static void need(struct browse *browse, bool done)
{
	if (!done)
		fail(browse);
}

/* Shows the rows of the level's event. `by_total`: orders them by total. */
static void show_rows(struct browse *browse, struct level *level, bool by_total)
{
	struct report *report = level_report(level);
	report->order_by_self = !by_total;
	report->term = screen_term(browse->screen);
	/* All rows are shown. */
	report->row_limit = level->arguments.limit >= 0 ? level->arguments.limit : 0;
	report->row_coverage = 0;
	report->row_most = 0;
	need(browse, row_view_set(&level->rows, report, level_profile(level)) &&
			     row_view_search(&level->rows, level->search) &&
			     row_view_fit(&level->rows, &report->term));
}

/* Adds a level with a change of the current one, unless its analysis fails. */
static void filter(struct browse *browse, const struct level_change *change)
{
	struct level *before = browse_current(browse), *level;
	if (browse->level_count == LEVELS_MAX) {
		browse_note(browse, "too many filters; z undoes the last one");
		return;
	}
	level = level_new(before, browse->levels[0], change);
	if (!level) {
		fail(browse);
		return;
	}
	level->result = browse_analyse(browse, &level->arguments);
	if (!level->result) {
		level_free(level);
		return;
	}
	browse->levels[browse->level_count++] = level;
	show_rows(browse, level,
		  report_by_total(level_report(before)) && level_report(level)->children);
}

static const struct sp_row *selected_row(const struct browse *browse)
{
	const struct row_view_line *line = row_view_selected(&browse_current(browse)->rows);
	return line ? line->cells->row : NULL;
}

static void filter_dso(struct browse *browse)
{
	const struct row_view_line *line = row_view_selected(&browse_current(browse)->rows);
	const char *dso = !line				  ? NULL
			  : line->node && line->node->dso ? line->node->dso
							  : line->cells->row->dso;
	if (dso)
		filter(browse, &(struct level_change){.dso = dso});
	else
		browse_note(browse, "this line has no dso");
}

static void filter_comm(struct browse *browse)
{
	const struct sp_row *row = selected_row(browse);
	if (row && row->comm)
		filter(browse, &(struct level_change){.comm = row->comm});
	else
		browse_note(browse, "this row has no comm; t shows threads");
}

static bool has_key(const struct level *level, enum sp_key key)
{
	return report_has_key(level_report(level), key);
}

/* Shows the threads, or, if they are shown, only the samples of one. */
static void filter_thread(struct browse *browse)
{
	const struct sp_row *row = selected_row(browse);
	if (!has_key(browse_current(browse), SP_KEY_TID))
		filter(browse, &(struct level_change){.threads = true});
	else if (row && row->tid > 0)
		filter(browse, &(struct level_change){.tid = row->tid});
	else
		browse_note(browse, "this row has no thread");
}

static void change_percentage(struct browse *browse)
{
	filter(browse, &(struct level_change){.percentage = true});
}

static void undo(struct browse *browse)
{
	if (browse->level_count < 2) {
		browse_note(browse, "there is no filter to undo; q quits");
		return;
	}
	level_free(browse_current(browse));
	browse->level_count--;
	struct level *level = browse_current(browse);
	level_report(level)->term = screen_term(browse->screen);
	need(browse, row_view_fit(&level->rows, &level_report(level)->term));
}

static void change_order(struct browse *browse)
{
	struct level *level = browse_current(browse);
	struct report *report = level_report(level);
	if (report->children)
		show_rows(browse, level, !report_by_total(report));
	else
		browse_note(browse, "rows have no total: 'sprof record -g' records call chains");
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
	level->profile = at;
	show_rows(browse, level, report_by_total(report));
}

static void next_event(struct browse *browse)
{
	change_event(browse, 1);
}

static void previous_event(struct browse *browse)
{
	change_event(browse, level_report(browse_current(browse))->profile_count - 1);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Returns whether the node is the row's function with exactly its weight. */
static bool is_node_of(const struct sp_tree_node *node, const struct sp_row *row, uint64_t weight)
{
	return !node->truncated && node->level == row->level &&
	       same_text(node_name(node), row_view_function(row)) &&
	       (!row->dso || same_text(node->dso, row->dso)) && node->total.weight == weight;
}

/* Finds the node of a row among those below the root. NULL: there is none. */
static const struct sp_tree_node *find_node(const struct sp_tree_node *root,
					    const struct sp_row *row, uint64_t weight)
{
	for (size_t i = 0; root && i < root->child_count; i++)
		if (is_node_of(sp_tree_child(root, i), row, weight))
			return sp_tree_child(root, i);
	return NULL;
}

/* Returns the profile of a result that has the same event as the level's. NULL: there is none. */
static const struct sp_profile *same_profile(const struct level *level,
					     struct report_result *result)
{
	const struct report *report = report_result_report(result);
	for (size_t i = 0; i < report->profile_count; i++)
		if (!strcmp(report->profiles[i]->event, level_profile(level)->event))
			return report->profiles[i];
	return NULL;
}

/*
 * Returns the report with the call tree of a row: its command's callers, or the callees of its
 * function. A new tree replaces the oldest one, and then folds all lines, because they may be of
 * that. NULL after a message.
 */
static struct report_result *tree_of(struct browse *browse, const struct sp_row *row, bool callees)
{
	struct level *level = browse_current(browse);
	const char *comm = has_key(level, SP_KEY_COMM) ? row->comm : NULL;
	const char *function = callees ? row_view_function(row) : NULL;
	for (size_t i = 0; i < LEVEL_TREES; i++)
		if (level->trees[i].result && same_text(level->trees[i].comm, comm) &&
		    same_text(level->trees[i].function, function))
			return level->trees[i].result;
	struct level_tree *tree = &level->trees[level->next_tree];
	if (tree->result)
		row_view_fold_all(&level->rows);
	level_tree_deinit(tree);
	tree->arguments = level->arguments;
	tree->arguments.tree = callees ? SP_TREE_CALLER : SP_TREE_CALLEE;
	tree->arguments.limit = 0;
	if (function) {
		tree->function = strdup(function);
		tree->arguments.callees = tree->function;
		tree->arguments.callers = NULL;
		need(browse, tree->function);
	}
	if (comm) {
		tree->comm = strdup(comm);
		need(browse, tree->comm && level_add_comm(&tree->comms, comm));
		tree->arguments.selection.comms = tree->comms;
	}
	if (browse->failed)
		return NULL;
	level->next_tree = (level->next_tree + 1) % LEVEL_TREES;
	tree->result = browse_analyse(browse, &tree->arguments);
	return tree->result;
}

/* Returns the node with the row's callers or callees as its children. NULL after a message. */
static const struct sp_tree_node *node_of(struct browse *browse, const struct sp_row *row,
					  bool callees)
{
	uint64_t weight = callees ? row->total.weight : row->self.weight;
	if (!weight) {
		browse_note(browse, "this function has no self time; o orders by total, and shows "
				    "callees");
		return NULL;
	}
	struct report_result *result = tree_of(browse, row, callees);
	const struct sp_profile *profile =
		result ? same_profile(browse_current(browse), result) : NULL;
	const struct sp_tree_node *node = profile ? find_node(profile->tree, row, weight) : NULL;
	if (!node && result)
		browse_note(browse, "%s are known only for rows by comm, dso and function",
			    callees ? "callees" : "callers");
	return node;
}

static void unfold(struct browse *browse)
{
	struct level *level = browse_current(browse);
	const struct row_view_line *line = row_view_selected(&level->rows);
	const struct sp_tree_node *node = NULL;
	if (!line || line->open)
		return;
	const struct sp_row *row = line->cells->row;
	if (!line->node && (!row_view_function(row) || !level_profile(level)->has_callchains)) {
		browse_note(browse, row_view_function(row)
				     ? "no call chains: 'sprof record -g' records them"
				     : "rows without a function have no callers");
		return;
	}
	if (!line->node) {
		bool by_total = report_by_total(level_report(level));
		node = node_of(browse, row, by_total);
		if (!node)
			return;
		if (!node->child_count)
			browse_note(browse,
			     by_total ? "this function calls no other" : "the caller is not known");
	}
	need(browse, row_view_unfold(&level->rows, node));
}

static void fold(struct browse *browse)
{
	if (!row_view_fold(&browse_current(browse)->rows))
		browse_note(browse, "nothing is unfolded here");
}

static void toggle(struct browse *browse)
{
	const struct row_view_line *line = row_view_selected(&browse_current(browse)->rows);
	if (line && line->open)
		fold(browse);
	else
		unfold(browse);
}

/* Unfolds all that is below the selected row. */
static void unfold_all(struct browse *browse)
{
	struct row_view *rows = &browse_current(browse)->rows;
	const struct row_view_line *line = row_view_selected(rows);
	if (!line)
		return;
	const struct table_line *cells = line->cells;
	unfold(browse);
	size_t selected = rows->selected;
	while (rows->lines.count < LINES_MAX && !browse->failed) {
		rows->selected++;
		line = row_view_selected(rows);
		if (!line || line->cells != cells)
			break;
		if (line->node && !line->open && line->node->child_count)
			need(browse, row_view_unfold(rows, line->node));
	}
	if (rows->lines.count >= LINES_MAX)
		browse_note(browse, "only the first %d lines are unfolded", LINES_MAX);
	rows->selected = selected;
}

static void fold_all(struct browse *browse)
{
	row_view_fold_all(&browse_current(browse)->rows);
}

/* Goes back by one step: folds, ends the search, or undoes a filter. */
static void back(struct browse *browse)
{
	struct level *level = browse_current(browse);
	const struct row_view_line *line = row_view_selected(&level->rows);
	if (line && (line->open || line->depth)) {
		row_view_fold(&level->rows);
	} else if (*level->search) {
		*level->search = '\0';
		need(browse, row_view_search(&level->rows, NULL));
	} else {
		undo(browse);
	}
}

static void escape(struct browse *browse)
{
	struct level *level = browse_current(browse);
	if (*level->search) {
		*level->search = '\0';
		need(browse, row_view_search(&level->rows, NULL));
	} else {
		undo(browse);
	}
}

static int visible_lines(const struct browse *browse)
{
	int lines = screen_rows(browse->screen) - 6;
	return lines < 1 ? 1 : lines;
}

static void move(struct browse *browse, long lines)
{
	size_t count = 0;
	if (browse->view == VIEW_ROWS) {
		row_view_move(&browse_current(browse)->rows, lines);
		return;
	}
	for (const char *at = browse->text; *at; at++)
		count += *at == '\n';
	long top = (long)browse->text_top + lines;
	browse->text_top = top < 0 || !count ? 0 : (size_t)top >= count ? count - 1 : (size_t)top;
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

static void print_command(struct browse *browse)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out)
		level_write_command(browse_current(browse), out);
	if (!out || (ferror(out) | fclose(out)))
		fail(browse);
	else
		browse_note(browse, "%s", text);
	free(text);
	browse->prints = true;
}

static void quit(struct browse *browse)
{
	browse->ends = true;
}

/* Shows what `write` writes. */
static void show_text(struct browse *browse, const char *title,
		      void (*write)(const struct browse *browse, FILE *out))
{
	size_t size;
	free(browse->text);
	browse->text = NULL;
	FILE *out = open_memstream(&browse->text, &size);
	if (out)
		write(browse, out);
	if (!out || (ferror(out) | fclose(out))) {
		fail(browse);
		return;
	}
	browse->view = VIEW_TEXT;
	browse->text_title = title;
	browse->text_top = 0;
}

static void close_text(struct browse *browse)
{
	browse->view = VIEW_ROWS;
}

static void write_findings(const struct browse *browse, FILE *out)
{
	const struct report *report = level_report(browse_current(browse));
	const struct term term = screen_term(browse->screen);
	findings_write_all(&term, report->findings, report->finding_count, out);
	if (!ftell(out))
		fputs("Nothing limits the data.\n", out);
}

static void show_findings(struct browse *browse)
{
	show_text(browse, "limits of the data, and remedies", write_findings);
}

static void write_header(const struct browse *browse, FILE *out)
{
	const struct recordings *recordings = browse->source->recordings;
	for (size_t i = 0; i < recordings->count; i++)
		info_print_header(recordings->items[i].reader, out);
}

static void show_header(struct browse *browse)
{
	show_text(browse, "header of the recording", write_header);
}

static void show_help(struct browse *browse);

static const struct binding row_keys[] = {
	{SCREEN_KEY_ENTER, "Enter, e, +",
	 "unfold or fold the callers (by self) or callees (by total)", toggle},
	{'e', NULL, NULL, toggle},
	{'+', NULL, NULL, toggle},
	{SCREEN_KEY_RIGHT, "Right", "unfold", unfold},
	{SCREEN_KEY_LEFT, "Left", "fold; else end the search; else undo the last filter", back},
	{'-', "-", "fold", fold},
	{'E', "E", "unfold all below the row", unfold_all},
	{'C', "c, C", "fold all", fold_all},
	{'c', NULL, NULL, fold_all},
	{'o', "o", "order by self or by total", change_order},
	{'/', "/", "show only rows that contain a text", search},
	{'d', "d", "only this dso", filter_dso},
	{'n', "n", "only this command name (comm)", filter_comm},
	{'t', "t", "list the threads; there: only this thread", filter_thread},
	{'F', "F", "percentages of all samples, or of those that pass the filters",
	 change_percentage},
	{'z', "z", "undo the last filter", undo},
	{SCREEN_KEY_ESCAPE, "Esc", "end the search; else undo the last filter", escape},
	{'\t', "Tab", "next event", next_event},
	{SCREEN_KEY_BACK_TAB, "Shift-Tab", "previous event", previous_event},
	{'w', "w", "what limits the data, and remedies", show_findings},
	{'i', "i", "header of the recording", show_header},
	{'p', "p, P", "print the 'sprof report' command for this view at the end", print_command},
	{'P', NULL, NULL, print_command},
	{0, NULL, NULL, NULL},
};

static const struct binding text_keys[] = {
	{SCREEN_KEY_ESCAPE, "Esc, Left, Enter", "back", close_text},
	{SCREEN_KEY_LEFT, NULL, NULL, close_text},
	{SCREEN_KEY_ENTER, NULL, NULL, close_text},
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
	{SCREEN_KEY_WHEEL_UP, "mouse", "click: select, again: unfold; wheel: move", wheel_up},
	{SCREEN_KEY_WHEEL_DOWN, NULL, NULL, wheel_down},
	{'?', "?, h, F1", "help", show_help},
	{'h', NULL, NULL, show_help},
	{SCREEN_KEY_F1, NULL, NULL, show_help},
	{'q', "q, Ctrl-C", "quit", quit},
	{0, NULL, NULL, NULL},
};

static const struct binding *keys_of(const struct browse *browse)
{
	return browse->view == VIEW_ROWS ? row_keys : text_keys;
}

static void write_keys(const struct binding *keys, FILE *out)
{
	for (; keys->act; keys++)
		if (keys->name)
			fprintf(out, "  %-17s %s\n", keys->name, keys->help);
}

static void write_help(const struct browse *browse, FILE *out)
{
	write_keys(keys_of(browse), out);
	write_keys(common_keys, out);
	if (browse->view == VIEW_ROWS)
		fputs("\nA bar ends softly between the limits of the 95% confidence interval.\n"
		      "Callers have the row's self, callees its total; all percentages are of the "
		      "event.\n",
		      out);
}

static void show_help(struct browse *browse)
{
	show_text(browse, browse->view == VIEW_ROWS ? "keys of the table" : "keys of texts",
		  write_help);
}

/* Edits the text of the search. */
static void edit_search(struct browse *browse, uint32_t key)
{
	struct level *level = browse_current(browse);
	size_t size = strlen(level->search);
	char character[4];
	if (key == SCREEN_KEY_ENTER || key == SCREEN_KEY_ESCAPE) {
		browse->searches = false;
		if (key == SCREEN_KEY_ENTER)
			return;
		level->search[0] = '\0';
	} else if (key == SCREEN_KEY_BACKSPACE) {
		while (size && (level->search[size - 1] & 0xc0) == 0x80)
			size--;
		level->search[size ? size - 1 : 0] = '\0';
	} else if (key < SCREEN_KEY_NONE && !text_is_control(key)) {
		size_t more = text_put(key, character);
		if (size + more >= sizeof(level->search))
			return;
		memcpy(level->search + size, character, more);
		level->search[size + more] = '\0';
	} else {
		return;
	}
	need(browse, row_view_search(&level->rows, level->search));
}

/* Selects the line of a mouse press, or unfolds it if it is selected. */
static void press(struct browse *browse, int row)
{
	struct row_view *rows = &browse_current(browse)->rows;
	int last = screen_rows(browse->screen) - 2;
	if (browse->view != VIEW_ROWS || row < rows->first_row || row > last)
		return;
	size_t at = rows->top + (size_t)(row - rows->first_row);
	if (at >= rows->lines.count)
		return;
	if (at == rows->selected)
		toggle(browse);
	else
		rows->selected = at;
}

static const struct binding *find_binding(const struct binding *keys, uint32_t key)
{
	while (keys->act && keys->key != key)
		keys++;
	return keys->act ? keys : NULL;
}

static void handle(struct browse *browse, const struct screen_event *event)
{
	const struct binding *binding;
	if (event->key == SCREEN_KEY_NONE)
		return;
	browse->message[0] = '\0';
	if (event->key == SCREEN_KEY_END_OF_INPUT) {
		browse->ends = true;
	} else if (event->key == SCREEN_KEY_RESIZE) {
		browse_resize(browse);
	} else if (browse->searches && event->key != SCREEN_KEY_UP &&
		   event->key != SCREEN_KEY_DOWN) {
		edit_search(browse, event->key);
	} else if (event->key == SCREEN_KEY_PRESS) {
		press(browse, event->row);
	} else {
		binding = find_binding(keys_of(browse), event->key);
		binding = binding ? binding : find_binding(common_keys, event->key);
		if (binding)
			binding->act(browse);
		else
			browse_note(browse, "this key has no meaning here; ? lists the keys");
	}
}

int browse_run(const struct browse_source *source, struct report_result *first)
{
	struct level *level = calloc(1, sizeof(*level));
	struct browse browse = {.source = source, .levels = {level}, .level_count = 1};
	if (level)
		browse.screen = screen_open();
	if (!browse.screen) {
		if (!level)
			diag_say("out of memory");
		report_result_free(first);
		free(level);
		return 1;
	}
	level->arguments = *source->arguments;
	level->result = first;
	const struct report *report = level_report(level);
	while (level->profile + 1 < report->profile_count &&
	       !report->profiles[level->profile]->row_count)
		level->profile++;
	show_rows(&browse, level, report_by_total(report));
	while (!browse.ends && !browse.failed) {
		browse_draw(&browse);
		if (!browse.failed) {
			struct screen_event event = screen_wait(browse.screen, -1);
			handle(&browse, &event);
		}
	}
	screen_close(browse.screen);
	if (browse.failed)
		diag_say("out of memory");
	if (browse.prints) {
		level_write_command(browse_current(&browse), stdout);
		putchar('\n');
	}
	while (browse.level_count)
		level_free(browse.levels[--browse.level_count]);
	free(browse.text);
	return browse.failed;
}
