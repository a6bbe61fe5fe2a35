/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Menu of the keys of a view and of the level. The chosen one is handled as if it was pressed. */
#include "tui/browse_state.h"

/* Returns the key with an index among those that the menu has; NULL: there are not as many. */
static const struct binding *find_choice(const struct browse *browse, size_t index)
{
	const struct binding *lists[] = {browse->views[browse->view_count - 2]->keys,
					 browse->level_keys};
	for (size_t i = 0; i < 2; i++)
		for (const struct binding *key = lists[i]; key->act; key++)
			if (key->name && key->act != browse_open_menu && !index--)
				return key;
	return NULL;
}

static void move(struct browse *browse, long lines)
{
	for (; lines < 0 && browse->choice; lines++)
		browse->choice--;
	for (; lines > 0 && find_choice(browse, browse->choice + 1); lines--)
		browse->choice++;
}

/* Draws the function at the cursor of the view below, and the keys around the chosen one. */
static void draw(struct browse *browse, int row, int count)
{
	const struct browse_view *below = browse->views[browse->view_count - 2];
	const struct browse_place place = below->place ? below->place(browse)
						       : (struct browse_place){0};
	size_t room = count > 2 ? (size_t)count - 2 : 1;
	size_t first = browse->choice < room ? 0 : browse->choice - room + 1;
	char line[512];
	snprintf(line, sizeof(line), "%s%s%s", place.function ?: "menu", place.dso ? " of " : "",
		 place.dso ?: "");
	browse_draw_plain(browse, row, 0, line, false);
	for (size_t i = 0; i < room; i++) {
		const struct binding *key = find_choice(browse, first + i);
		if (!key)
			return;
		snprintf(line, sizeof(line), "  %-17s %s", key->name, key->help);
		browse_draw_plain(browse, row + 2 + (int)i, 0, line, first + i == browse->choice);
	}
}

static void choose(struct browse *browse)
{
	const struct binding *key = find_choice(browse, browse->choice);
	browse_close(browse);
	browse->key = key->key;
	key->act(browse);
}

static const struct binding keys[] = {
	{SCREEN_KEY_ENTER, "Enter, Right", "do this", choose},
	{SCREEN_KEY_RIGHT, NULL, NULL, choose},
	{SCREEN_KEY_ESCAPE, "Esc, Left, m", "back", browse_close},
	{SCREEN_KEY_LEFT, NULL, NULL, browse_close},
	{'m', NULL, NULL, browse_close},
	{0, NULL, NULL, NULL},
};

static const struct browse_view menu_view = {
	.name = "keys of the menu",
	.hint = "Enter do this  Esc back  q quit",
	.keys = keys,
	.draw = draw,
	.move = move,
	.is_text = true,
};

void browse_open_menu(struct browse *browse)
{
	browse->choice = 0;
	browse_open(browse, &menu_view);
}
