/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drawing goes through a canvas with the number of the box in each half cell. A cell with two boxes
 * is a half block in their colours.
 */
#include "tui/flame_view.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/report.h"
#include "text.h"

/* Widths from which a box ends in a gap, in half cells, and from which it has a name, in cells. */
#define GAP_UNITS 4
#define NAME_CELLS 3

/* A node with the next child to place. */
struct placed_node {
	size_t box, next; /* next: index of the next child */
	double left;
};

void flame_view_deinit(struct flame_view *view)
{
	free(view->zoom.items);
	free(view->boxes.items);
	*view = (struct flame_view){0};
}

/* Fills a list with the nodes from the root to a box. */
static void path_of(const struct flame_view *view, size_t box, struct flame_path *path)
{
	size_t depth = view->boxes.items[box].depth;
	list_reserve(path, depth + 1);
	path->count = depth + 1;
	for (;; box = view->boxes.items[box].parent) {
		path->items[depth] = view->boxes.items[box].node;
		if (!depth--)
			return;
	}
}

/* Appends a box. Returns its index. */
static size_t add_box(struct flame_view *view, struct flame_box box)
{
	*list_push(&view->boxes) = box;
	view->deepest = box.depth > view->deepest ? box.depth : view->deepest;
	return view->boxes.count - 1;
}

/* Places the nodes below the last box, as far as they have a half cell. */
static void place_below(struct flame_view *view)
{
	LIST(struct placed_node) open = {0};
	LIST(int) used = {0}; /* by depth: end of the last box */
	size_t first = view->boxes.count - 1, base = view->boxes.items[first].depth;
	uint64_t weight = view->boxes.items[first].node->total.weight;
	double scale = weight ? view->width / (double)weight : 0;
	*list_push(&open) = (struct placed_node){first, 0, 0};
	while (open.count) {
		struct placed_node *node = &open.items[open.count - 1];
		const struct flame_box parent = view->boxes.items[node->box];
		if (node->next == parent.node->child_count) {
			open.count--;
			continue;
		}
		const struct sp_tree_node *child = sp_tree_child(parent.node, node->next++);
		size_t depth = parent.depth + 1 - base, box = node->box;
		double left = node->left, right = left + (double)child->total.weight * scale;
		node->left = right;
		while (used.count <= depth)
			*list_push(&used) = 0;
		if (!child->total.weight)
			continue;
		int begin = (int)left, end = (int)right;
		begin = begin < used.items[depth] ? used.items[depth] : begin;
		begin = begin < parent.begin ? parent.begin : begin;
		/* A narrow box has a half cell if no other box has it. */
		end = end <= begin && (int)left >= begin ? begin + 1 : end;
		end = end > parent.end ? parent.end : end;
		if (end <= begin)
			continue;
		used.items[depth] = end;
		box = add_box(view, (struct flame_box){child, box, parent.depth + 1, begin, end});
		*list_push(&open) = (struct placed_node){box, 0, left};
	}
	free(open.items);
	free(used.items);
}

/* Makes the boxes: the zoomed node's callers in whole width, that node, and those below it. */
static void lay_out(struct flame_view *view)
{
	view->boxes.count = 0;
	view->deepest = 0;
	for (size_t i = 0; i < view->zoom.count; i++)
		add_box(view, (struct flame_box){view->zoom.items[i], i ? i - 1 : 0, i, 0,
						 view->width});
	if (view->zoom.count)
		place_below(view);
}

static bool is_same_function(const struct sp_tree_node *a, const struct sp_tree_node *b)
{
	return a->level == b->level && a->state == b->state && a->inlined == b->inlined &&
	       a->truncated == b->truncated && text_is_same(node_name(a), node_name(b)) &&
	       text_is_same(a->dso, b->dso);
}

/* Replaces a path by that of the same functions in another tree, as far as that has them. */
static void follow(struct flame_path *path, const struct sp_tree_node *root)
{
	size_t count = 0;
	while (count < path->count) {
		const struct sp_tree_node *found = count ? NULL : root;
		const struct sp_tree_node *parent = count ? path->items[count - 1] : NULL;
		for (size_t i = 0; parent && i < parent->child_count && !found; i++)
			if (is_same_function(sp_tree_child(parent, i), path->items[count]))
				found = sp_tree_child(parent, i);
		if (!found)
			break;
		path->items[count++] = found;
	}
	path->count = count;
}

/* Lays out, and sets the cursor to the innermost box on a path of nodes. */
static void lay_out_at(struct flame_view *view, const struct flame_path *path)
{
	lay_out(view);
	view->cursor = 0;
	for (size_t i = 0, depth = 1; i < view->boxes.count && depth < path->count; i++) {
		const struct flame_box *box = &view->boxes.items[i];
		if (box->depth != depth || box->node != path->items[depth] ||
		    box->parent != view->cursor)
			continue;
		view->cursor = i;
		depth++;
	}
	if (view->cursor + 1 < view->zoom.count)
		view->cursor = view->zoom.count - 1;
}

void flame_view_set(struct flame_view *view, const struct sp_tree_node *root)
{
	struct flame_path path = {0};
	if (view->boxes.count)
		path_of(view, view->cursor, &path);
	if (root) {
		follow(&path, root);
		follow(&view->zoom, root);
		if (!view->zoom.count)
			*list_push(&view->zoom) = root;
	} else {
		view->zoom.count = 0;
	}
	view->root = root;
	lay_out_at(view, &path);
	free(path.items);
}

void flame_view_fit(struct flame_view *view, const struct term *term)
{
	struct flame_path path = {0};
	view->halves = term->utf8;
	view->width = term->width * (view->halves ? 2 : 1);
	if (view->boxes.count)
		path_of(view, view->cursor, &path);
	lay_out_at(view, &path);
	free(path.items);
}

const struct sp_tree_node *flame_view_node(const struct flame_view *view)
{
	return view->boxes.count ? view->boxes.items[view->cursor].node : NULL;
}

void flame_view_zoom(struct flame_view *view)
{
	struct flame_path path = {0};
	if (!view->boxes.count)
		return;
	if (view->boxes.items[view->cursor].depth + 1 == view->zoom.count) {
		flame_view_leave(view);
		return;
	}
	path_of(view, view->cursor, &path);
	free(view->zoom.items);
	view->zoom = path;
	view->cursor = path.count - 1;
	lay_out(view);
}

bool flame_view_leave(struct flame_view *view)
{
	struct flame_path path = {0};
	if (view->zoom.count < 2)
		return false;
	path_of(view, view->cursor, &path);
	view->zoom.count--;
	lay_out_at(view, &path);
	free(path.items);
	return true;
}

bool flame_view_move(struct flame_view *view, enum flame_step step)
{
	const struct flame_box *boxes = view->boxes.items;
	size_t at = view->cursor, depth = at < view->boxes.count ? boxes[at].depth : 0;
	if (step == FLAME_UP && view->boxes.count && depth > view->skip) {
		view->cursor = boxes[at].parent;
		return true;
	}
	for (; step == FLAME_BEFORE && at; at--)
		if (boxes[at - 1].depth == depth) {
			view->cursor = at - 1;
			return true;
		}
	for (at++; (step == FLAME_AFTER || step == FLAME_DOWN) && at < view->boxes.count; at++)
		if (step == FLAME_AFTER ? boxes[at].depth == depth
					: boxes[at].parent == view->cursor) {
			view->cursor = at;
			return true;
		}
	return false;
}

static bool has_text(const struct sp_tree_node *node, const char *text)
{
	return text && *text && node_name(node) && strcasestr(node_name(node), text);
}

bool flame_view_find(struct flame_view *view, const char *text)
{
	for (size_t i = 1; i <= view->boxes.count; i++) {
		size_t at = (view->cursor + i) % view->boxes.count;
		if (view->boxes.items[at].depth < view->skip ||
		    !has_text(view->boxes.items[at].node, text))
			continue;
		view->cursor = at;
		return true;
	}
	return false;
}

/* Returns the depth at a line of the screen. */
static size_t depth_at(const struct flame_view *view, int row)
{
	int down = row - view->first_row;
	return view->top + (size_t)(view->up ? view->rows - 1 - down : down);
}

bool flame_view_point(struct flame_view *view, int row, int column)
{
	int unit = column * (view->halves ? 2 : 1);
	if (row < view->first_row || row >= view->first_row + view->rows)
		return false;
	for (size_t i = 0; i < view->boxes.count; i++) {
		const struct flame_box *box = &view->boxes.items[i];
		if (box->depth != depth_at(view, row) || unit + view->halves < box->begin ||
		    unit >= box->end)
			continue;
		view->cursor = i;
		return true;
	}
	return false;
}

/* Colours of a box, as digits of SGR. */
struct box_colours {
	char text, background;
};

static struct box_colours colours_of(const struct sp_tree_node *node, const char *search)
{
	static const struct box_colours states[] = {
		[SP_STATE_ON_CPU] = {'0', '2'}, [SP_STATE_RUNNABLE] = {'0', '3'},
		[SP_STATE_BLOCKED] = {'7', '4'}, [SP_STATE_UNKNOWN] = {'7', '4'}};
	if (has_text(node, search))
		return (struct box_colours){'7', '1'};
	if (node->state)
		return states[node->state];
	if (node->level == SP_LEVEL_KERNEL || node->level == SP_LEVEL_HYPERVISOR ||
	    node->level == SP_LEVEL_GUEST_KERNEL)
		return (struct box_colours){'0', '5'};
	if (node->truncated || !node->dso || !node->symbol_known)
		return (struct box_colours){'7', '4'};
	return (struct box_colours){'0', node->own_code ? '3' : '6'};
}

/* A line of the canvas, and how to write it. */
struct canvas {
	const struct flame_view *view;
	const size_t *units; /* number of the box in each unit, from 1; 0: none */
	const char *search;
	size_t marked; /* number of the box at the cursor; 0: none */
	bool colour;
	struct term term;
};

static void put_style(const struct canvas *canvas, size_t number, FILE *out)
{
	if (number && number == canvas->marked) {
		fputs(canvas->colour ? "\033[0;1;7m" : "\033[0;1m", out);
	} else if (number && canvas->colour) {
		struct box_colours colours =
			colours_of(canvas->view->boxes.items[number - 1].node, canvas->search);
		fprintf(out, "\033[0;3%c;4%cm", colours.text, colours.background);
	} else {
		fputs(number ? "\033[0;7m" : "\033[0m", out);
	}
}

/* Writes the name in `cells` cells. */
static void put_name(const struct canvas *canvas, size_t number, int cells, FILE *out)
{
	const struct sp_tree_node *node = canvas->view->boxes.items[number - 1].node;
	int used = 0;
	if (cells >= NAME_CELLS) {
		char *made = NULL;
		bool is_root = node == canvas->view->root;
		const char *name = is_root ? "all" : node_name(node);
		name = name_shorten(&canvas->term, name ?: "?", cells, &made);
		used = term_put(&canvas->term, name, cells, out);
		free(made);
	}
	term_pad(cells - used, out);
}

/* Writes a cell of two halves that differ. */
static void put_halves(const struct canvas *canvas, size_t left, size_t right, FILE *out)
{
	const struct flame_box *boxes = canvas->view->boxes.items;
	if (canvas->colour) {
		char background = '0';
		if (right && left)
			background = colours_of(boxes[right - 1].node, canvas->search).background;
		char text = colours_of(boxes[(left ?: right) - 1].node, canvas->search).background;
		if (left && right)
			fprintf(out, "\033[0;3%c;4%cm", text, background);
		else
			fprintf(out, "\033[0;3%cm", text);
	} else {
		fputs("\033[0m", out);
	}
	fputs(left ? "▌" : "▐", out);
}

/* Writes a line of the canvas. */
static void put_line(const struct canvas *canvas, FILE *out)
{
	int step = canvas->view->halves ? 2 : 1;
	for (int unit = 0; unit + step <= canvas->view->width;) {
		size_t number = canvas->units[unit], half = canvas->units[unit + step - 1];
		int cells = 0;
		if (number != half) {
			put_halves(canvas, number, half, out);
			unit += step;
			continue;
		}
		while (unit + (cells + 1) * step <= canvas->view->width &&
		       canvas->units[unit + cells * step] == number &&
		       canvas->units[unit + cells * step + step - 1] == number)
			cells++;
		put_style(canvas, number, out);
		if (!number)
			term_pad(cells, out);
		else
			put_name(canvas, number, cells, out);
		unit += cells * step;
	}
	fputs("\033[0m", out);
}

/* Scrolls so that the cursor is visible. */
static void scroll(struct flame_view *view, int count)
{
	size_t depth = view->boxes.items[view->cursor].depth, rows = (size_t)count;
	size_t most = view->deepest + 1 > rows ? view->deepest + 1 - rows : 0;
	view->top = view->top < view->skip || view->top > most ? view->skip : view->top;
	if (depth >= view->skip && depth < view->top)
		view->top = depth;
	if (depth >= view->top + rows)
		view->top = depth - rows + 1;
}

void flame_view_draw(struct flame_view *view, struct screen *screen, const char *search,
		     bool active, int first, int count)
{
	struct canvas canvas = {.view = view,
				.search = search,
				.marked = active ? view->cursor + 1 : 0,
				.colour = screen_has_colours(screen),
				.term = screen_term(screen)};
	view->first_row = first;
	view->rows = count;
	if (count < 1 || !view->boxes.count)
		return;
	scroll(view, count);
	size_t width = (size_t)view->width;
	size_t *units = xcalloc(width * (size_t)count + 1, sizeof(*units));
	for (size_t i = 0; i < view->boxes.count; i++) {
		const struct flame_box *box = &view->boxes.items[i];
		if (box->depth < view->top || box->depth >= view->top + (size_t)count)
			continue;
		size_t down = box->depth - view->top;
		size_t *line = units + width * (view->up ? (size_t)count - 1 - down : down);
		int end = box->end - (box->end - box->begin >= GAP_UNITS);
		for (int unit = box->begin; unit < end; unit++)
			line[unit] = i + 1;
	}
	for (int i = 0; i < count; i++) {
		char *text;
		size_t size;
		FILE *out = text_stream_open(&text, &size);
		canvas.units = units + width * (size_t)i;
		put_line(&canvas, out);
		text_stream_close(out, &text);
		screen_line(screen, first + i, 0, text, false);
		free(text);
	}
	free(units);
}
