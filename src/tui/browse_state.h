/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the browser, and its drawing. */
#ifndef TUI_BROWSE_STATE_H
#define TUI_BROWSE_STATE_H

#include "tui/browse.h"
#include "tui/level.h"
#include "tui/screen.h"

/* Most filters that can be undone. */
#define LEVELS_MAX 32

enum view { VIEW_ROWS, VIEW_TEXT };

struct browse {
	const struct browse_source *source;
	struct screen *screen;
	struct level *levels[LEVELS_MAX];
	size_t level_count;
	enum view view;
	char *text; /* VIEW_TEXT: its lines */
	const char *text_title;
	size_t text_top;
	char message[256]; /* shown until the next key */
	bool searches;	   /* keys edit the text of the search */
	bool prints;	   /* the command is printed at the end */
	bool ends;
	bool failed; /* out of memory */
};

static inline struct level *browse_current(const struct browse *browse)
{
	return browse->levels[browse->level_count - 1];
}

/* Sets the message of the last line. */
void browse_note(struct browse *browse, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The functions below set browse->failed when out of memory. */

/* Draws the view, and the message or keys in the last line. */
void browse_draw(struct browse *browse);

/* Fits the rows to the screen after its size changed. */
void browse_resize(struct browse *browse);

/*
 * Analyses the recordings, while keys can cancel that. Returns NULL after a message if it fails or
 * is cancelled.
 */
struct report_result *browse_analyse(struct browse *browse,
				     const struct report_arguments *arguments);

#endif
