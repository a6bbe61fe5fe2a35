/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * View of the rows, and the filters that its rows set. Each filter is an analysis with the options
 * that `sprof report` has for it, so that the numbers are those of the text report.
 */
#include "memory.h"
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>
#include "out/table.h"
#include "text.h"

/* Most lines that "unfold all" makes. */
#define LINES_MAX 10000

static const struct sp_row *selected_row(const struct browse *browse)
{
	const struct row_view_line *line = row_view_selected(&browse_current(browse)->rows);
	return line ? line->cells->row : NULL;
}

static void filter_comm(struct browse *browse)
{
	const struct sp_row *row = selected_row(browse);
	if (row && row->comm)
		browse_filter(browse, &(struct level_change){.comm = row->comm});
	else
		browse_note(browse, "this row has no comm; t shows threads");
}

static bool has_key(const struct level *level, enum sp_key key)
{
	return report_has_key(level_report(level), key);
}

/* Lists threads or processes, or, if they are listed, selects the one of the row. */
static void list_tasks(struct browse *browse, enum level_list list)
{
	const struct sp_row *row = selected_row(browse);
	bool threads = list == LEVEL_THREADS;
	struct level_change change = {0};
	if (!has_key(browse_current(browse), threads ? SP_KEY_TID : SP_KEY_PID))
		change.list = list;
	else if (row && threads && row->tid > 0)
		change.tid = row->tid;
	else if (row && !threads && row->pid > 0)
		change.pid = row->pid;
	if (change.list || change.tid || change.pid)
		browse_filter(browse, &change);
	else
		browse_note(browse, "this row has no %s", threads ? "thread" : "process");
}

static void filter_thread(struct browse *browse)
{
	list_tasks(browse, LEVEL_THREADS);
}

static void filter_process(struct browse *browse)
{
	list_tasks(browse, LEVEL_PROCESSES);
}

static void list_waits(struct browse *browse)
{
	browse_filter(browse, &(struct level_change){.list = LEVEL_WAITS});
}

static void list_wakers(struct browse *browse)
{
	browse_filter(browse, &(struct level_change){.list = LEVEL_WAKERS});
}

static void change_order(struct browse *browse)
{
	struct level *level = browse_current(browse);
	struct report *report = level_report(level);
	if (report->children)
		browse_show_rows(browse, level, !report_by_total(report));
	else
		browse_note(browse, "rows have no total: 'sprof record -g' records call chains");
}

/* Returns whether the node is the row's function with exactly its weight. */
static bool is_node_of(const struct sp_tree_node *node, const struct sp_row *row, uint64_t weight)
{
	return !node->truncated && node->level == row->level &&
	       text_is_same(node_name(node), row_view_function(row)) &&
	       (!row->dso || text_is_same(node->dso, row->dso)) && node->total.weight == weight;
}

/* Finds the node of a row among those below the root, or its command. NULL: there is none. */
static const struct sp_tree_node *find_node(const struct sp_tree_node *root, bool comms,
					    const struct sp_row *row, uint64_t weight)
{
	const struct sp_tree_node *found = NULL;
	for (size_t i = 0; root && i < root->child_count && !found; i++) {
		const struct sp_tree_node *node = sp_tree_child(root, i);
		if (comms)
			found = text_is_same(node_name(node), row->comm) ?
				find_node(node, false, row, weight) : NULL;
		else
			found = is_node_of(node, row, weight) ? node : NULL;
	}
	return found;
}

/*
 * Returns the report with the tree of callers, or of a function's callees; of one pool of threads,
 * unless that is NULL. A new tree replaces the oldest one, and then folds all lines, because they
 * may be of that. NULL after a message.
 */
static struct report_result *tree_of(struct browse *browse, const char *pool, const char *function)
{
	struct level *level = browse_current(browse);
	for (size_t i = 0; i < LEVEL_TREES; i++)
		if (level->trees[i].result && text_is_same(level->trees[i].pool, pool) &&
		    text_is_same(level->trees[i].function, function))
			return level->trees[i].result;
	struct level_tree *tree = &level->trees[level->next_tree];
	if (tree->result)
		row_view_fold_all(&level->rows);
	level_tree_deinit(tree);
	tree->arguments = level->arguments;
	tree->arguments.tree = function ? SP_TREE_CALLER : SP_TREE_CALLEE;
	tree->arguments.tree_comms = has_key(level, SP_KEY_COMM) && !pool;
	tree->arguments.tree_only = true;
	tree->arguments.limit = 0;
	if (function) {
		tree->function = xstrdup(function);
		tree->arguments.callees = tree->function;
		tree->arguments.callers = NULL;
	}
	if (pool) {
		tree->pool = xstrdup(pool);
		level_add_comm(&tree->comms, pool);
		tree->arguments.selection.comms = tree->comms;
	}
	level->next_tree = (level->next_tree + 1) % LEVEL_TREES;
	tree->result = browse_analyse(browse, pool ? NULL : level->counted, &tree->arguments);
	return tree->result;
}

/* Returns the node with the row's callers or callees as its children. NULL after a message. */
static const struct sp_tree_node *node_of(struct browse *browse, const struct sp_row *row,
					  bool callees)
{
	struct level *level = browse_current(browse);
	uint64_t weight = callees ? row->total.weight : row->self.weight;
	if (!weight) {
		browse_note(browse, "this function has no self time; o orders by total, and shows "
				    "callees");
		return NULL;
	}
	bool by_comm = has_key(level, SP_KEY_COMM);
	const char *pool = by_comm && row->comm && strchr(row->comm, '*') ? row->comm : NULL;
	struct report_result *result =
		tree_of(browse, pool, callees ? row_view_function(row) : NULL);
	const struct sp_profile *profile = result ? level_same_profile(level, result) : NULL;
	const struct sp_tree_node *node =
		profile ? find_node(profile->tree, by_comm && !pool, row, weight) : NULL;
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
	row_view_unfold(&level->rows, node);
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
	while (rows->lines.count < LINES_MAX) {
		rows->selected++;
		line = row_view_selected(rows);
		if (!line || line->cells != cells)
			break;
		if (line->node && !line->open && line->node->child_count)
			row_view_unfold(rows, line->node);
	}
	if (rows->lines.count >= LINES_MAX)
		browse_note(browse, "only the first %d lines are unfolded", LINES_MAX);
	rows->selected = selected;
}

static void change_dsos(struct browse *browse)
{
	struct row_view *rows = &browse_current(browse)->rows;
	rows->all_dsos = !rows->all_dsos;
	browse_note(browse, "callers and callees have %s", rows->all_dsos
			    ? "their dso" : "a dso where it is not the row's");
}

static void set_limit(struct browse *browse)
{
	browse->sets_limit = true;
	browse->limit[0] = '\0';
}

static void fold_all(struct browse *browse)
{
	row_view_fold_all(&browse_current(browse)->rows);
}

static void escape(struct browse *browse)
{
	if (!browse_end_search(browse))
		browse_undo(browse);
}

/* Goes back by one step: folds, ends the search, or undoes a filter. */
static void back(struct browse *browse)
{
	struct row_view *rows = &browse_current(browse)->rows;
	const struct row_view_line *line = row_view_selected(rows);
	if (line && (line->open || line->depth))
		row_view_fold(rows);
	else
		escape(browse);
}

static void draw_empty(struct browse *browse, int row, int count)
{
	struct level *level = browse_current(browse);
	char *text;
	size_t size;
	if (*level->search && level_profile(level)->row_count) {
		browse_draw_plain(browse, row, 0, "No row contains this text; Esc shows all rows.",
				  false);
		return;
	}
	FILE *out = text_stream_open(&text, &size);
	report_write_empty(level_report(level), level_profile(level), out);
	text_stream_close(out, &text);
	browse_draw_lines(browse, row, count, text);
	free(text);
}

static void draw(struct browse *browse, int row, int count)
{
	struct level *level = browse_current(browse);
	if (level->rows.lines.count)
		row_view_draw(&level->rows, browse->screen, row, count);
	else
		draw_empty(browse, row, count);
}

static void move(struct browse *browse, long lines)
{
	row_view_move(&browse_current(browse)->rows, lines);
}

static struct browse_place place(const struct browse *browse)
{
	const struct level *level = browse_current(browse);
	const struct row_view_line *line = row_view_selected(&level->rows);
	struct browse_place place = {0};
	if (!line)
		return place;
	const struct sp_row *row = line->cells->row;
	place.by_total = report_by_total(level_report(level));
	place.function = line->node ? node_name(line->node) : row_view_function(row);
	place.dso = line->node && line->node->dso ? line->node->dso : row->dso;
	place.inlined = line->node ? line->node->inlined : row->inlined;
	return place;
}

/* Selects the line of a mouse press, or unfolds it if it is selected. */
static void press(struct browse *browse, const struct screen_event *event)
{
	struct row_view *rows = &browse_current(browse)->rows;
	int last = screen_rows(browse->screen) - 2;
	if (event->key != SCREEN_KEY_PRESS || event->row < rows->first_row || event->row > last)
		return;
	size_t at = rows->top + (size_t)(event->row - rows->first_row);
	if (at >= rows->lines.count)
		return;
	if (at == rows->selected)
		toggle(browse);
	else
		rows->selected = at;
}

static const struct binding keys[] = {
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
	{'L', "L", "least percentage of shown rows", set_limit},
	{'V', "V", "show the dso of all callers and callees", change_dsos},
	{'n', "n", "only this command name (comm)", filter_comm},
	{'t', "t", "list the threads; there: only this thread", filter_thread},
	{'x', "x", "list the processes; there: only this process", filter_process},
	{'y', "y", "list the waits: why threads do not run (mode off-cpu)", list_waits},
	{'u', "u", "list which threads woke which (mode wakers)", list_wakers},
	{SCREEN_KEY_ESCAPE, "Esc", "end the search; else undo the last filter", escape},
	{0, NULL, NULL, NULL},
};

const struct browse_view browse_rows_view = {
	.name = "keys of the table",
	.hint = "q quit  ? help  Enter unfold  f flame  a code  b butterfly  T time  / search  o "
		"order  z undo",
	.keys = keys,
	.help = "A bar ends softly between the limits of the 95% confidence interval.\n"
		"Callers have the row's self, callees its total; all percentages are of the "
		"event.\n",
	.draw = draw,
	.move = move,
	.place = place,
	.press = press,
	.searches = true,
};

