/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For a build without ncurses. */
#include "tui/screen.h"

#include "diag.h"

struct screen *screen_open(void)
{
	diag_print("this sprof was built without the browser");
	diag_more("install libncurses-dev, and build with --with-ncurses=yes");
	return NULL;
}

void screen_close(struct screen *screen)
{
	(void)screen;
}

int screen_rows(const struct screen *screen)
{
	(void)screen;
	return 0;
}

bool screen_has_colours(const struct screen *screen)
{
	(void)screen;
	return false;
}

struct term screen_term(const struct screen *screen)
{
	(void)screen;
	return (struct term){0};
}

void screen_clear(struct screen *screen)
{
	(void)screen;
}

void screen_line(struct screen *screen, int row, int column, const char *text, bool marked)
{
	(void)screen, (void)row, (void)column, (void)text, (void)marked;
}

void screen_update(struct screen *screen, int row, int column)
{
	(void)screen, (void)row, (void)column;
}

struct screen_event screen_wait(struct screen *screen, int timeout_ms)
{
	(void)screen, (void)timeout_ms;
	return (struct screen_event){.key = SCREEN_KEY_END_OF_INPUT};
}
