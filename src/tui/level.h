/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer of the browser: the report for one set of filters. */
#ifndef TUI_LEVEL_H
#define TUI_LEVEL_H

#include "tui/browse.h"
#include "tui/row_view.h"

/* Most call trees that a level keeps. */
#define LEVEL_TREES 16

/* Change of the arguments from one level to the next. Exactly one member is set. */
struct level_change {
	const char *comm, *dso;
	int32_t tid;	 /* 0: not set */
	bool threads;	 /* rows are threads */
	bool percentage; /* shares are of what passes the filters, or of all again */
};

/* Report with the call tree of a command: of all functions, or of one function's callees. */
struct level_tree {
	struct report_arguments arguments;
	struct option_strings comms;
	char *comm;     /* NULL: all commands, because rows are not by comm */
	char *function; /* function with the callees; NULL: the tree is from callee to callers */
	struct report_result *result;
};

struct level {
	struct report_arguments arguments; /* borrows from earlier levels what is not in `own` */
	struct {
		struct option_strings comms, dsos;
		struct option_numbers tids;
	} own;
	struct report_result *result;
	struct level_tree trees[LEVEL_TREES];
	size_t next_tree; /* replaced next */
	size_t profile; /* index of the shown event */
	struct row_view rows;
	char search[64];
};

/* Frees what a tree has, and zeroes it. */
void level_tree_deinit(struct level_tree *tree);

/* Frees a level. NULL is allowed. */
void level_free(struct level *level);

/*
 * Returns a level without a result. Its arguments are those of `before` and a change; texts are
 * copied; `first` has the arguments of the command line. Returns NULL when out of memory.
 */
struct level *level_new(const struct level *before, const struct level *first,
			const struct level_change *change);

/*
 * Adds a command's name to a filter. That of a pool, "worker-* (16 threads)", becomes the pattern.
 * Returns false when out of memory.
 */
bool level_add_comm(struct option_strings *comms, const char *name);

/* Returns the report of the level. */
struct report *level_report(const struct level *level);

const struct sp_profile *level_profile(const struct level *level);

/* Writes the `sprof report` command that prints what the level shows. */
void level_write_command(const struct level *level, FILE *out);

#endif
