/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer of the browser: the report for one set of filters. */
#ifndef TUI_LEVEL_H
#define TUI_LEVEL_H

#include "out/row_order.h"
#include "tui/browse.h"
#include "tui/row_view.h"

/* Most call trees of rows that a level keeps. */
#define LEVEL_TREES 16

/* Rows by other keys than the command line's. */
enum level_list {
	LEVEL_FUNCTIONS, /* the command line's keys */
	LEVEL_THREADS,
	LEVEL_PROCESSES,
	LEVEL_WAITS,  /* mode off-cpu */
	LEVEL_WAKERS, /* mode wakers */
};

/* Change of the arguments from one level to the next. Exactly one member is set. */
struct level_change {
	const char *comm, *dso;
	const char *symbol;   /* sampled function */
	const char *function; /* function in the stack */
	int32_t tid, pid;     /* 0: not set */
	enum level_list list; /* LEVEL_FUNCTIONS: not set */
	bool percentage; /* shares are of what passes the filters, or of all again */
	const struct time_range *time;
};

/* A picture of a level: another analysis of its samples. */
enum level_picture {
	LEVEL_CALLEES,	       /* call tree from the outermost callers */
	LEVEL_CALLERS,	       /* call tree from sampled functions up to their callers */
	LEVEL_FUNCTION_CALLEES, /* the same of one function */
	LEVEL_FUNCTION_CALLERS,
	LEVEL_TIMELINE, /* timeline */
	LEVEL_FIRST_HALF, /* rows of the halves of the time, without a tree */
	LEVEL_SECOND_HALF,
	LEVEL_PICTURES,
};

/* Report with a call tree: of all functions, or of one function's callees. */
struct level_tree {
	struct report_arguments arguments;
	struct option_strings comms;
	char *pool;     /* pool of threads, "worker-* (16 threads)"; NULL: the tree has commands */
	char *function; /* function with the callees; NULL: the tree is from callee to callers */
	struct report_result *result;
};

struct level {
	struct report_arguments arguments; /* borrows from earlier levels what is not in `own` */
	struct {
		struct option_strings comms, dsos, symbols, functions;
		struct option_numbers tids, pids;
	} own;
	enum level_list list;
	bool has_time; /* a level before set the time, or this one */
	bool has_mode; /* the same of the mode */
	bool has_limit; /* the same of the limit of rows */
	struct report_result *result;
	/* Owner of the counted samples: an earlier level, or this one. */
	const struct level *counted;
	struct level_tree trees[LEVEL_TREES];
	struct level_tree pictures[LEVEL_PICTURES];
	size_t next_tree; /* replaced next */
	size_t profile; /* index of the shown event */
	struct row_view rows;
	struct row_order order; /* live recordings: order of `rows` */
	char search[64];
};

/* Frees what a tree has, and zeroes it. */
void level_tree_deinit(struct level_tree *tree);

/* Adds a command's name to a filter: of a pool, "worker-* (16 threads)", the pattern. */
void level_add_comm(struct option_strings *comms, const char *name);

/* Frees a level. NULL is allowed. */
void level_free(struct level *level);

/*
 * Returns a level without a result. Its arguments are those of `before` and a change; texts are
 * copied; `first` has the arguments of the command line.
 */
struct level *level_new(const struct level *before, const struct level *first,
			const struct level_change *change);

/*
 * Sets the arguments of a picture, without its result. `function`: of the pictures of one function.
 */
void level_set_picture(struct level *level, enum level_picture picture, const char *function);

/* Returns the report of the level. */
struct report *level_report(const struct level *level);

const struct sp_profile *level_profile(const struct level *level);

/* Returns the profile of a result that has the level's event. NULL: there is none. */
const struct sp_profile *level_same_profile(const struct level *level,
					    struct report_result *result);

/*
 * Writes the `sprof report` command that prints a picture of the level, or its rows
 * (LEVEL_PICTURES). `function`: of the pictures of one function.
 */
void level_write_command(const struct level *level, enum level_picture picture,
			 const char *function, FILE *out);

#endif
