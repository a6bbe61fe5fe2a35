/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the browser. A view draws the model, which is the current level, from its own state, and
 * has keys that change either.
 */
#ifndef TUI_BROWSE_STATE_H
#define TUI_BROWSE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include "cmd/annotate/annotate.h"
#include "tui/browse.h"
#include "tui/flame_view.h"
#include "tui/level.h"
#include "tui/screen.h"
#include "tui/time_view.h"

/* Most filters that can be undone, and number of views: each is open once at most. */
#define LEVELS_MAX 32
#define VIEWS 6

/* Most keys that wait for the end of a job. */
#define EARLY_MAX 32

/* Flame graphs: of the level, and the halves of the butterfly. */
enum flame { FLAME_LEVEL, FLAME_CALLEES, FLAME_CALLERS, FLAMES };

struct browse;

/* A key of a view. */
struct binding {
	uint32_t key;
	const char *name, *help; /* NULL: another name of the key before */
	void (*act)(struct browse *browse);
};

/* Function that a view's cursor is at. */
struct browse_place {
	const char *function, *dso; /* NULL: unknown */
	bool inlined;
	bool by_total; /* the view is of stacks through the function, not of its own samples */
};

struct browse_view {
	const char *name; /* title of its list of keys */
	const char *hint; /* its most important keys */
	const struct binding *keys;
	const char *help; /* text after the keys; NULL: none */
	/* Draws on `count` lines from `row`. */
	void (*draw)(struct browse *browse, int row, int count);
	void (*move)(struct browse *browse, long lines);
	/* Makes what it draws, after another level or event, and after another size. Returns false
	 * after a message if it cannot; NULL: nothing to make. */
	bool (*fit)(struct browse *browse);
	/* Returns the function at the cursor. NULL: it has none. */
	struct browse_place (*place)(const struct browse *browse);
	/* Returns the picture that it shows. NULL: rows. */
	enum level_picture (*picture)(const struct browse *browse);
	/* Handles the mouse's left button; NULL: nothing. */
	void (*press)(struct browse *browse, const struct screen_event *event);
	bool searches; /* it marks the search's text */
	bool is_text;  /* it has lines of its own, and no filters */
};

struct browse_text {
	char *text;
	const char *title;
	void (*write)(struct browse *browse, FILE *out);
	size_t top; /* first drawn line */
	/* Lines with samples, the hottest first; the one with the index `place` is marked. */
	LIST(struct browse_line {
		size_t line;
		uint64_t weight;
	}) hot;
	size_t place;
};

/* A job in a thread of its own, so that keys have an effect meanwhile. */
struct job {
	struct sp_error *(*run)(void *data);
	void *data;
	struct sp_error *error;
	pthread_t thread;
	uint64_t cpu_ns; /* CPU time of the thread */
	atomic_bool ended;
};

/* Starts a job; false: there is no thread. The caller joins the thread. */
bool job_start(struct job *job);

/* Analysis of the next window of a live recording. */
struct refresh {
	struct job job;
	bool runs;
	struct recordings next;
	struct report_live facts;
	struct report_result *results[LEVELS_MAX];
	size_t count; /* number of results: of the levels, in their order */
};

struct browse {
	const struct browse_source *source;
	struct report_live facts; /* about the window that is shown */
	struct refresh refresh;
	struct screen *screen;
	struct level *levels[LEVELS_MAX];
	size_t level_count;
	const struct browse_view *views[VIEWS];
	size_t view_count;
	struct browse_text text;
	struct sp_analysis *functions; /* the code's function among all */
	struct annotate_code code;
	struct flame_view flames[FLAMES];
	struct time_view time;
	struct sp_counts *counts;    /* counts of the samples of `counted`; NULL: none are kept */
	const struct level *counted;
	bool of_callers;	     /* the flame graph is from sampled functions to callers */
	char *wing;		     /* function of the butterfly; NULL: none */
	enum flame half;	     /* flame graph of the butterfly with the cursor */
	uint32_t key;		     /* the last one */
	char message[512];	     /* shown until the next key */
	bool searches;		     /* keys edit the text of the search */
	bool sets_limit;	     /* keys edit `limit` */
	char limit[16];		     /* least percentage of rows */
	const struct binding *level_keys; /* keys of all views of the level, for the menu */
	size_t choice;		     /* key of the menu with the cursor */
	char *command;		     /* printed at the end; NULL: none */
	struct screen_event early[EARLY_MAX]; /* keys that came while a job ran */
	size_t early_count;
	struct sp_error *error;	     /* error of the first analysis */
	bool resized;		     /* while a job ran */
	bool ends;
};

static inline struct level *browse_current(const struct browse *browse)
{
	return browse->levels[browse->level_count - 1];
}

static inline const struct browse_view *browse_view(const struct browse *browse)
{
	return browse->views[browse->view_count - 1];
}

/* Returns the time of the first sample, by the recording's clock; 0 for several recordings. */
uint64_t browse_first_ns(const struct browse *browse);

/* Returns the place at the view's cursor; empty: there is no function. */
static inline struct browse_place browse_place(const struct browse *browse)
{
	return browse_view(browse)->place ? browse_view(browse)->place(browse)
					  : (struct browse_place){0};
}

/* Sets the message of the last line. */
void browse_note(struct browse *browse, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Draws a line of plain text of unknown origin. */
void browse_draw_plain(struct browse *browse, int row, int column, const char *text, bool marked);

/* Draws a text's lines, at most `count`, from a row of the screen. Returns the lines drawn. */
int browse_draw_lines(struct browse *browse, int row, int count, const char *text);

/* Draws the view, and the message or keys in the last line. */
void browse_draw(struct browse *browse);

/*
 * Runs a job of the library in a thread, within the times of `arguments`, while keys can cancel it.
 * Returns false after a message if it fails or is cancelled.
 */
bool browse_run_job(struct browse *browse, const struct report_arguments *arguments,
		    struct sp_error *(*run)(void *data), void *data);

/*
 * Analyses the recordings, while keys can cancel that. Analyses for one `counted` count the same
 * samples, and only the first one reads them; NULL: the samples are others. Returns NULL after a
 * message if it fails or is cancelled.
 */
struct report_result *browse_analyse(struct browse *browse, const struct level *counted,
				     const struct report_arguments *arguments);

/* Frees the counts of samples, and with them the names of their modules for other analyses. */
void browse_drop_counts(struct browse *browse);

/* Shows the rows of the level's event. `by_total`: orders them by total. */
void browse_show_rows(struct browse *browse, struct level *level, bool by_total);

/* Adds a level with a change of the current one, unless its analysis fails. */
void browse_filter(struct browse *browse, const struct level_change *change);

/* Shows all rows again after a search. Returns whether there was one. */
bool browse_end_search(struct browse *browse);

/* Removes the current level. */
void browse_undo(struct browse *browse);

/* Fits the rows and the view to the screen and the level. Leaves a view that cannot show that. */
void browse_fit(struct browse *browse);

/* Opens a view on top of the others, unless it cannot show the level. */
void browse_open(struct browse *browse, const struct browse_view *view);

/* Closes the view, unless it is the first one. */
void browse_close(struct browse *browse);

/*
 * Returns the result of a picture, which it makes if it is not there. `function`: of the pictures
 * of one function. NULL after a message.
 */
struct report_result *browse_picture(struct browse *browse, enum level_picture picture,
				     const char *function);

/* Shows what `write` writes. */
void browse_show_text(struct browse *browse, const char *title,
		      void (*write)(struct browse *browse, FILE *out));

extern const struct browse_view browse_rows_view, browse_text_view, browse_flame_view,
	browse_butterfly_view, browse_time_view;

/* Opens a menu of what the keys of the view do. */
void browse_open_menu(struct browse *browse);

/* Open a view, or set a filter, for the function at the cursor of the current view. */
void browse_open_flame(struct browse *browse);
void browse_open_butterfly(struct browse *browse);
void browse_open_code(struct browse *browse);

/* Open a view of the whole level, or note why there is none. */
void browse_open_time(struct browse *browse);
void browse_open_changes(struct browse *browse);

#endif
