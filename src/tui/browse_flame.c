/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of call trees as pictures: the flame graph, and the butterfly of one function. */
#include "memory.h"
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>

/* Least width of a terminal for the self of the box at the cursor. */
#define SELF_WIDTH 80

/* Returns the number of the flame graph with the cursor. */
static enum flame number_of(const struct browse *browse)
{
	return browse_view(browse) == &browse_butterfly_view ? browse->half : FLAME_LEVEL;
}

static struct flame_view *flame_of(struct browse *browse)
{
	return &browse->flames[number_of(browse)];
}

/* Writes a share with its interval: "20.00% (16.4–24.2)". */
static void write_share(const struct term *term, const struct sp_share *share, int decimals,
			FILE *out)
{
	char value[FORMAT_SIZE], range[FORMAT_SIZE];
	fprintf(out, "%s (", format_share(share->value, value));
	for (const char *at = format_range(term, share, decimals, range); *at; at++)
		if (*at != ' ')
			putc(*at, out);
	putc(')', out);
}

/*
 * Draws shares, samples and name of the node at the cursor. In trees of callers, self would be of
 * stacks without further callers.
 */
static void draw_node(struct browse *browse, int row, const struct flame_view *flame,
		      bool of_callers)
{
	const struct term term = screen_term(browse->screen);
	const struct sp_tree_node *node = flame_view_node(flame);
	int decimals = range_decimals(level_profile(browse_current(browse))->samples);
	char count[FORMAT_SIZE], *text;
	size_t size;
	if (!node)
		return;
	FILE *out = text_stream_open(&text, &size);
	write_share(&term, &node->total.share, decimals, out);
	if (!of_callers && term.width >= SELF_WIDTH) {
		fputs(", self ", out);
		write_share(&term, &node->self.share, decimals, out);
	}
	fprintf(out, ", %s sample%s  %s%s%s%s", format_count(node->total.samples, count),
		node->total.samples == 1 ? "" : "s",
		node == flame->root ? "all" : node_name(node) ?: "?",
		node->inlined ? " (inlined)" : "", node->dso ? "  " : "", node->dso ?: "");
	text_stream_close(out, &text);
	browse_draw_plain(browse, row, 0, text, false);
	free(text);
}

/* Draws the halves: callers upwards, and below them the function with its callees. */
static void draw_butterfly(struct browse *browse, int row, int count)
{
	const char *search = browse_current(browse)->search;
	const struct flame_view *callers = &browse->flames[FLAME_CALLERS];
	size_t end = callers->deepest + 1, depths = end > callers->skip ? end - callers->skip : 0;
	int most = count > 3 ? (count - 1) / 2 : 0;
	int above = depths < (size_t)most ? (int)depths : most;
	draw_node(browse, row, flame_of(browse), browse->half == FLAME_CALLERS);
	flame_view_draw(&browse->flames[FLAME_CALLERS], browse->screen, search,
			browse->half == FLAME_CALLERS, row + 1, above);
	flame_view_draw(&browse->flames[FLAME_CALLEES], browse->screen, search,
			browse->half == FLAME_CALLEES, row + 1 + above, count - 1 - above);
}

static void draw_flame(struct browse *browse, int row, int count)
{
	struct flame_view *flame = &browse->flames[FLAME_LEVEL];
	draw_node(browse, row, flame, browse->of_callers);
	flame_view_draw(flame, browse->screen, browse_current(browse)->search, true, row + 1,
			count - 1);
}

static void move(struct browse *browse, long lines)
{
	enum flame_step step = lines > 0 ? FLAME_DOWN : FLAME_UP;
	for (long i = lines < 0 ? -lines : lines; i > 0; i--)
		if (!flame_view_move(&browse->flames[FLAME_LEVEL], step))
			break;
}

/* Moves by a line in a half of the butterfly, or from one to the other. Returns whether it did. */
static bool move_line(struct browse *browse, bool down)
{
	struct flame_view *callers = &browse->flames[FLAME_CALLERS];
	if (browse->half == FLAME_CALLEES) {
		struct flame_view *callees = &browse->flames[FLAME_CALLEES];
		if (flame_view_move(callees, down ? FLAME_DOWN : FLAME_UP))
			return true;
		bool hidden = callers->boxes.count &&
			      callers->boxes.items[callers->cursor].depth < callers->skip;
		if (down || (hidden && !flame_view_move(callers, FLAME_DOWN)))
			return false;
		browse->half = FLAME_CALLERS;
		return true;
	}
	if (flame_view_move(callers, down ? FLAME_UP : FLAME_DOWN))
		return true;
	if (down)
		browse->half = FLAME_CALLEES;
	return down;
}

static void move_butterfly(struct browse *browse, long lines)
{
	for (long i = lines < 0 ? -lines : lines; i > 0; i--)
		if (!move_line(browse, lines > 0))
			break;
}

static void step_left(struct browse *browse)
{
	(void)flame_view_move(flame_of(browse), FLAME_BEFORE);
}

static void step_right(struct browse *browse)
{
	(void)flame_view_move(flame_of(browse), FLAME_AFTER);
}

static void find_next(struct browse *browse)
{
	const char *search = browse_current(browse)->search;
	if (!*search)
		browse_note(browse, "/ begins a search");
	else if (!flame_view_find(flame_of(browse), search))
		browse_note(browse, "no box has this text");
}

static void zoom(struct browse *browse)
{
	flame_view_zoom(flame_of(browse));
}

/* Goes back by one step: ends the search, zooms out, or closes the view. */
static void back(struct browse *browse)
{
	if (!browse_end_search(browse) && !flame_view_leave(&browse->flames[FLAME_LEVEL]))
		browse_close(browse);
}

static struct browse_place place(const struct browse *browse)
{
	const struct flame_view *flame = &browse->flames[number_of(browse)];
	const struct sp_tree_node *node = flame_view_node(flame);
	if (!node || node == flame->root || node->truncated || node->state)
		return (struct browse_place){.by_total = true};
	return (struct browse_place){node_name(node), node->dso, node->inlined, true};
}

/* Selects the box of a mouse press, or zooms to it if it is selected. */
static void press(struct browse *browse, const struct screen_event *event)
{
	struct flame_view *flame = flame_of(browse);
	const struct sp_tree_node *before = flame_view_node(flame);
	if (event->key == SCREEN_KEY_PRESS && flame_view_point(flame, event->row, event->column) &&
	    flame_view_node(flame) == before)
		zoom(browse);
}

void browse_open_flame(struct browse *browse)
{
	browse_open(browse, &browse_flame_view);
}

void browse_open_butterfly(struct browse *browse)
{
	const struct browse_place place = browse_place(browse);
	if (!place.function) {
		browse_note(browse, "there is no function at the cursor");
		return;
	}
	char *wing = xstrdup(place.function);
	flame_view_set(&browse->flames[FLAME_CALLEES], NULL);
	flame_view_set(&browse->flames[FLAME_CALLERS], NULL);
	free(browse->wing);
	browse->wing = wing;
	browse->half = FLAME_CALLEES;
	browse_open(browse, &browse_butterfly_view);
}

/* Selects the box of a mouse press, or makes it the butterfly if it is selected. */
static void press_butterfly(struct browse *browse, const struct screen_event *event)
{
	enum flame half = browse->half;
	const struct sp_tree_node *before = flame_view_node(&browse->flames[half]);
	if (event->key != SCREEN_KEY_PRESS)
		return;
	for (enum flame i = FLAME_CALLEES; i <= FLAME_CALLERS; i++) {
		if (!flame_view_point(&browse->flames[i], event->row, event->column))
			continue;
		browse->half = i;
		if (i == half && flame_view_node(&browse->flames[i]) == before)
			browse_open_butterfly(browse);
		return;
	}
}

/* Sets the tree of a flame graph from a picture of the level. */
static bool set_tree(struct browse *browse, enum flame number, enum level_picture picture,
		     const char *function)
{
	struct flame_view *flame = &browse->flames[number];
	const struct term term = screen_term(browse->screen);
	if (!level_profile(browse_current(browse))->has_callchains) {
		browse_note(browse, "no call chains: 'sprof record -g' records them");
		return false;
	}
	struct report_result *result = browse_picture(browse, picture, function);
	const struct sp_profile *profile =
		result ? level_same_profile(browse_current(browse), result) : NULL;
	if (!profile)
		return false;
	flame->up = number != FLAME_LEVEL && picture == LEVEL_FUNCTION_CALLERS;
	flame_view_set(flame, profile->tree);
	flame_view_fit(flame, &term);
	return true;
}

static enum level_picture flame_picture(const struct browse *browse)
{
	return browse->of_callers ? LEVEL_CALLERS : LEVEL_CALLEES;
}

static enum level_picture butterfly_picture(const struct browse *browse)
{
	return browse->half == FLAME_CALLERS ? LEVEL_FUNCTION_CALLERS : LEVEL_FUNCTION_CALLEES;
}

static bool fit_flame(struct browse *browse)
{
	return set_tree(browse, FLAME_LEVEL, flame_picture(browse), NULL);
}

static void turn(struct browse *browse)
{
	browse->of_callers = !browse->of_callers;
	browse_fit(browse);
}

/* Zooms a half to its function. Its callers begin above that. */
static void begin_half(struct browse *browse, enum flame number)
{
	struct flame_view *flame = &browse->flames[number];
	bool is_one = flame->root && flame->root->child_count == 1;
	while (flame_view_leave(flame))
		continue;
	flame->skip = 0;
	if (is_one && flame_view_move(flame, FLAME_DOWN))
		flame_view_zoom(flame);
	flame->skip = is_one + (number == FLAME_CALLERS);
}

static bool fit_butterfly(struct browse *browse)
{
	for (enum flame i = FLAME_CALLEES; i <= FLAME_CALLERS; i++) {
		bool is_new = !browse->flames[i].root;
		if (!set_tree(browse, i, i == FLAME_CALLEES ? LEVEL_FUNCTION_CALLEES
							    : LEVEL_FUNCTION_CALLERS,
			      browse->wing))
			return false;
		if (is_new)
			begin_half(browse, i);
	}
	return true;
}

static const struct binding flame_keys[] = {
	{SCREEN_KEY_LEFT, "Left, Right", "box before or after, of the same depth", step_left},
	{SCREEN_KEY_RIGHT, NULL, NULL, step_right},
	{SCREEN_KEY_ENTER, "Enter", "zoom to the box; again: zoom out", zoom},
	{'r', "r", "callers below callees, or callees below callers", turn},
	{'n', "n", "next box that the search marks", find_next},
	{SCREEN_KEY_ESCAPE, "Esc", "end the search; else zoom out; else back to the table", back},
	{0, NULL, NULL, NULL},
};

const struct browse_view browse_flame_view = {
	.name = "keys of the flame graph",
	.hint = "Esc back  ? help  Enter zoom  r callers  a code  b butterfly  s filter  / search",
	.keys = flame_keys,
	.help = "Yellow: program. Cyan: libraries. Magenta: kernel. Blue: unknown. Red: found.\n"
		"A box is as wide as its share. The line above has its numbers.\n",
	.draw = draw_flame,
	.move = move,
	.fit = fit_flame,
	.place = place,
	.picture = flame_picture,
	.press = press,
	.searches = true,
};

static const struct binding butterfly_keys[] = {
	{SCREEN_KEY_LEFT, "Left, Right", "box before or after, of the same depth", step_left},
	{SCREEN_KEY_RIGHT, NULL, NULL, step_right},
	{SCREEN_KEY_ENTER, "Enter, b", "butterfly of the function at the cursor",
	 browse_open_butterfly},
	{'n', "n", "next box that the search marks", find_next},
	{SCREEN_KEY_ESCAPE, "Esc", "back", browse_close},
	{0, NULL, NULL, NULL},
};

const struct browse_view browse_butterfly_view = {
	.name = "keys of the butterfly",
	.hint = "Esc back  ? help  arrows move  Enter butterfly of the box  a code  s filter",
	.keys = butterfly_keys,
	.help = "The widest box is the function. Its callers are above, its callees below.\n"
		"A box is as wide as its share of the function's total. The line above has its "
		"numbers,\nwhich are percentages of the event.\n",
	.draw = draw_butterfly,
	.move = move_butterfly,
	.fit = fit_butterfly,
	.place = place,
	.picture = butterfly_picture,
	.press = press_butterfly,
	.searches = true,
};
