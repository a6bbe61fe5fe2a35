/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flame graph of a call tree: the page's (html/flame.js), in half cells. Heavier children are to
 * the left. A box has its share of the zoomed node's width. Boxes narrower than half a cell share
 * one.
 */
#ifndef TUI_FLAME_VIEW_H
#define TUI_FLAME_VIEW_H

#include <sprof/sprof.h>
#include "list.h"
#include "tui/screen.h"

/* Steps of a cursor: down leads to a child of the tree. */
enum flame_step { FLAME_DOWN, FLAME_UP, FLAME_BEFORE, FLAME_AFTER };

struct flame_box {
	const struct sp_tree_node *node;
	size_t parent;	  /* index of the caller's box; of the first box: its own */
	size_t depth;	  /* 0: the tree's root */
	int begin, end;	  /* in half cells; in cells without UTF-8 */
};

/* Nodes from the root to one of the nodes below it. */
struct flame_path {
	LIST(const struct sp_tree_node *);
};

/* A zeroed struct is empty. */
struct flame_view {
	const struct sp_tree_node *root;	/* borrowed; NULL: there is no tree */
	struct flame_path zoom;			/* path to the zoomed node */
	LIST(struct flame_box) boxes;		/* callers come before their callees */
	size_t cursor;				/* index of a box */
	size_t deepest;				/* depth of the deepest box */
	size_t skip;				/* depths that are not drawn */
	size_t top;				/* first drawn depth */
	bool up;				/* callees are above their callers */
	bool halves;				/* widths are in half cells */
	int width;				/* width of all boxes together */
	int first_row, rows;			/* place on the screen */
};

void flame_view_deinit(struct flame_view *view);

/*
 * Sets the tree. Zoom and cursor stay on the same path of functions, as far as the tree has it; the
 * tree before must still exist. NULL: there is no tree, and zoom and cursor are reset.
 */
void flame_view_set(struct flame_view *view, const struct sp_tree_node *root);

/* Fits boxes to a terminal. */
void flame_view_fit(struct flame_view *view, const struct term *term);

/* Returns the node at the cursor; NULL: there is no tree. */
const struct sp_tree_node *flame_view_node(const struct flame_view *view);

/* Zooms to the node at the cursor, or out by one node if it is zoomed already. */
void flame_view_zoom(struct flame_view *view);

/* Zooms out by one node. Returns false if the root is zoomed already. */
bool flame_view_leave(struct flame_view *view);

/* Moves the cursor. Returns false if there is no box in this direction. */
bool flame_view_move(struct flame_view *view, enum flame_step step);

/* Moves the cursor to the next box, in the order of boxes, with a name that contains `text`. */
bool flame_view_find(struct flame_view *view, const char *text);

/* Moves the cursor to the box at a place of the screen. Returns false if there is none. */
bool flame_view_point(struct flame_view *view, int row, int column);

/*
 * Draws the graph on `count` screen lines from `first`. Names that contain `search` are marked;
 * NULL or "": none. `active`: with the cursor.
 */
void flame_view_draw(struct flame_view *view, struct screen *screen, const char *search,
		     bool active, int first, int count);

#endif
