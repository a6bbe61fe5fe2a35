/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters and views of the browser, as stacks. */
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>

void browse_show_rows(struct browse *browse, struct level *level, bool by_total)
{
	struct report *report = level_report(level);
	if (report->order_by_self == by_total)
		row_order_deinit(&level->order);
	report->order_by_self = !by_total;
	report->live = browse->source->live ? &browse->facts : NULL;
	report->term = screen_term(browse->screen);
	/* All rows from the limit on are shown. */
	report->row_limit = level->arguments.limit >= 0 ? level->arguments.limit : 0;
	report->row_coverage = 0;
	report->row_most = 0;
	row_view_set(&level->rows, report, level_profile(level));
	if (report->live)
		row_order_apply(&level->order, report, level->rows.cells,
				level_profile(level)->row_count);
	row_view_search(&level->rows, level->search);
	row_view_fit(&level->rows, &report->term);
}

void browse_fit(struct browse *browse)
{
	struct level *level = browse_current(browse);
	struct report *report = level_report(level);
	report->term = screen_term(browse->screen);
	row_view_fit(&level->rows, &report->term);
	while (browse->view_count > 1 && browse_view(browse)->fit &&
	       !browse_view(browse)->fit(browse))
		browse->view_count--;
}

/* Drops the counts of a level that ends. */
static void leave_counts(struct browse *browse, const struct level *level)
{
	if (browse->counted == level)
		browse_drop_counts(browse);
}

void browse_filter(struct browse *browse, const struct level_change *change)
{
	struct level *before = browse_current(browse), *level;
	if (browse->level_count == LEVELS_MAX) {
		browse_note(browse, "too many filters; z undoes the last one");
		return;
	}
	level = level_new(before, browse->levels[0], change);
	level->result = browse_analyse(browse, level->counted, &level->arguments);
	if (!level->result) {
		leave_counts(browse, level);
		level_free(level);
		return;
	}
	browse->levels[browse->level_count++] = level;
	/* Another mode has its own order: the innermost function of a wait is the scheduler's. */
	const struct report *of = level_report(change->list >= LEVEL_WAITS ? level : before);
	browse_show_rows(browse, level, report_by_total(of) && level_report(level)->children);
	browse_fit(browse);
}

bool browse_end_search(struct browse *browse)
{
	struct level *level = browse_current(browse);
	if (!*level->search)
		return false;
	*level->search = '\0';
	row_view_search(&level->rows, NULL);
	return true;
}

void browse_undo(struct browse *browse)
{
	struct level *last = browse_current(browse);
	const struct sp_tree_node *roots[FLAMES];
	if (browse->level_count < 2) {
		browse_note(browse, "there is no filter to undo; q quits");
		return;
	}
	browse->level_count--;
	for (size_t i = 0; i < FLAMES; i++)
		roots[i] = browse->flames[i].root;
	browse_fit(browse);
	/* Flame graphs that are not shown leave the level's trees, too. */
	for (size_t i = 0; i < FLAMES; i++)
		if (browse->flames[i].root == roots[i])
			flame_view_set(&browse->flames[i], NULL);
	leave_counts(browse, last);
	level_free(last);
}

void browse_open(struct browse *browse, const struct browse_view *view)
{
	size_t at = 0;
	while (at < browse->view_count && browse->views[at] != view)
		at++;
	browse->views[at] = view;
	browse->view_count = at + 1;
	if (view->fit && !view->fit(browse))
		browse->view_count--;
}

void browse_close(struct browse *browse)
{
	if (browse->view_count > 1)
		browse->view_count--;
	browse_fit(browse);
}

struct report_result *browse_picture(struct browse *browse, enum level_picture picture,
				     const char *function)
{
	struct level *level = browse_current(browse);
	struct level_tree *tree = &level->pictures[picture];
	if (tree->result && (!tree->function || !strcmp(tree->function, function)))
		return tree->result;
	level_set_picture(level, picture, function);
	tree->result = browse_analyse(browse, picture < LEVEL_FIRST_HALF ? level->counted : NULL,
				      &tree->arguments);
	return tree->result;
}
