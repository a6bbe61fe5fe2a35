/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boxes of flame graphs, and their cursor. Columns of timelines. */
#include "tui/flame_view.h"

#include <stdlib.h>
#include <string.h>
#include "test.h"
#include "tui/time_view.h"

#define NARROW 500

/* Returns a node with these children, the heaviest first. */
static struct sp_tree_node node(const char *function, uint64_t weight,
				const struct sp_tree_node *children, size_t count)
{
	return (struct sp_tree_node){.function = function,
				     .dso = "a",
				     .symbol_known = true,
				     .total.weight = weight,
				     .children = children,
				     .child_count = count};
}

static void show(struct flame_view *view, const struct sp_tree_node *root, int columns)
{
	const struct term term = {.utf8 = true, .width = columns};
	flame_view_set(view, root);
	flame_view_fit(view, &term);
}

static const struct flame_box *box(const struct flame_view *view, const char *function)
{
	for (size_t i = 0; i < view->boxes.count; i++)
		if (!strcmp(view->boxes.items[i].node->function, function))
			return &view->boxes.items[i];
	return NULL;
}

static const char *at_cursor(const struct flame_view *view)
{
	return flame_view_node(view)->function;
}

TEST(flame_boxes_have_their_share_in_half_cells)
{
	const struct sp_tree_node inner[] = {node("c", 30, NULL, 0)};
	const struct sp_tree_node outer[] = {node("a", 60, inner, 1), node("b", 25, NULL, 0)};
	const struct sp_tree_node root = node("root", 100, outer, 2);
	struct flame_view view = {0};
	show(&view, &root, 50);
	ck_assert_int_eq(box(&view, "a")->begin, 0);
	ck_assert_int_eq(box(&view, "a")->end, 60);
	ck_assert_int_eq(box(&view, "b")->begin, 60);
	ck_assert_int_eq(box(&view, "b")->end, 85);
	ck_assert_int_eq(box(&view, "c")->end, 30);
	ck_assert_uint_eq(box(&view, "c")->depth, 2);
	flame_view_deinit(&view);
}

TEST(flame_narrow_boxes_share_a_half_cell)
{
	struct sp_tree_node narrow[NARROW];
	for (size_t i = 0; i < NARROW; i++)
		narrow[i] = node("n", 1, NULL, 0);
	const struct sp_tree_node root = node("root", NARROW, narrow, NARROW);
	struct flame_view view = {0};
	show(&view, &root, 20);
	/* One for each of 40 half cells, and the root. */
	ck_assert_uint_eq(view.boxes.count, 41);
	for (size_t i = 1; i < view.boxes.count; i++) {
		ck_assert_int_eq(view.boxes.items[i].begin, (int)i - 1);
		ck_assert_int_eq(view.boxes.items[i].end, (int)i);
	}
	flame_view_deinit(&view);
}

TEST(flame_zoom_and_cursor_follow_functions_to_another_tree)
{
	const struct sp_tree_node inner[] = {node("c", 30, NULL, 0), node("d", 20, NULL, 0)};
	const struct sp_tree_node outer[] = {node("a", 60, inner, 2), node("b", 40, NULL, 0)};
	const struct sp_tree_node root = node("root", 100, outer, 2);
	const struct sp_tree_node other_inner[] = {node("d", 9, NULL, 0)};
	const struct sp_tree_node other_outer[] = {node("b", 50, NULL, 0),
						   node("a", 10, other_inner, 1)};
	const struct sp_tree_node other = node("root", 60, other_outer, 2);
	const struct sp_tree_node without = node("root", 5, &outer[1], 1);
	struct flame_view view = {0};
	show(&view, &root, 50);
	ck_assert(flame_view_move(&view, FLAME_DOWN));
	flame_view_zoom(&view);
	ck_assert(flame_view_move(&view, FLAME_DOWN));
	ck_assert(flame_view_move(&view, FLAME_AFTER));
	ck_assert_str_eq(at_cursor(&view), "d");
	show(&view, &other, 50);
	ck_assert_str_eq(at_cursor(&view), "d");
	ck_assert_ptr_eq(flame_view_node(&view), &other_inner[0]);
	ck_assert_uint_eq(view.zoom.count, 2);
	/* The zoomed function has the whole width. */
	ck_assert_int_eq(box(&view, "d")->end, 90);
	show(&view, &without, 50);
	ck_assert_str_eq(at_cursor(&view), "root");
	ck_assert_uint_eq(view.zoom.count, 1);
	flame_view_deinit(&view);
}

TEST(flame_cursor_stays_when_the_size_changes)
{
	const struct sp_tree_node outer[] = {node("a", 60, NULL, 0), node("b", 25, NULL, 0)};
	const struct sp_tree_node root = node("root", 100, outer, 2);
	const struct term narrow = {.utf8 = false, .width = 20};
	struct flame_view view = {0};
	show(&view, &root, 50);
	ck_assert(flame_view_find(&view, "B"));
	ck_assert_str_eq(at_cursor(&view), "b");
	flame_view_fit(&view, &narrow);
	ck_assert_str_eq(at_cursor(&view), "b");
	ck_assert_int_eq(box(&view, "b")->begin, 12);
	ck_assert(!flame_view_move(&view, FLAME_DOWN));
	ck_assert(!flame_view_find(&view, "no function"));
	flame_view_deinit(&view);
}

TEST(a_timeline_of_the_longest_time_has_columns_for_all_samples)
{
	const uint64_t last_ns = UINT64_MAX - 1;
	const struct sp_timeline_thread thread = {.pid = 7, .tid = 7, .comm = "a"};
	const struct sp_cell cells[] = {{.time_ns = 5, .weight = 1, .samples = 1},
					{.time_ns = last_ns, .weight = 2, .samples = 1}};
	const struct sp_timeline timeline = {.begin_ns = 5,
					     .end_ns = last_ns,
					     .width_ns = 1,
					     .threads = &thread,
					     .thread_count = 1,
					     .cells = cells,
					     .cell_count = 2};
	const struct time_source source = {
		.timeline = &timeline, .begin_ns = 5, .end_ns = last_ns + 1};
	const struct term term = {.utf8 = true, .width = 80};
	struct time_view view = {0};
	for (int heat = 0; heat < 2; heat++) {
		view.heat = heat;
		time_view_set(&view, &source, &term, 20);
		ck_assert_uint_gt(view.columns, 1);
		ck_assert_uint_eq(view.samples[0], 1);
		uint64_t place = (last_ns - 5) / view.width_ns;
		ck_assert_uint_lt(place, view.columns * view.rows);
		ck_assert_uint_eq(view.samples[place], 1);
	}
	time_view_deinit(&view);
}
