/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the labels of frames: for each frame its functions, the outermost first, and for each function
 * its row and tree node. Labels are made when all frames are known, because debug information is read
 * for all places of a module together.
 */
#pragma once

#include "frames/names.h"
#include "profile/function.h"

struct label {
	uint32_t row;  /* index of the function in `functions`; UINT32_MAX: no key of rows depends on code */
	uint32_t node; /* index of the function in `nodes`; UINT32_MAX: no tree is made */
};

struct frame_labels {
	uint32_t first, count; /* range of labels in `items`; at least one label */
	bool shown; /* passes the filters by dso and symbol, of inlined functions, too */
	bool named; /* the innermost function has a name */
	bool lined; /* the innermost function's line is known */
};

/*
 * For a frame that is a branch's end or a data address: indexes in `functions`; UINT32_MAX: not
 * requested.
 */
struct side_labels {
	uint32_t symbol, dso, line; /* `line` may also be UINT32_MAX if it is unknown */
};

/* Options of labels_make(). */
struct label_options {
	const bool *keys; /* keys of rows, by enum sp_key */
	bool tree;        /* make tree nodes */
	bool expand;      /* inlined functions have their own rows and nodes */
	bool fold_python; /* a run of CPython's garbage collector is one function */
	bool tree_lines;  /* source lines have their own nodes */
	bool tree_addresses; /* addresses have their own nodes */
	bool instructions; /* instructions of frames with debug information have their own rows */
	bool annotate;     /* all instructions have, and the resolver outlives the labels */
	unsigned int threads;
	const struct sp_ctx *ctx; /* labels_make() fails if this context is cancelled */
};

struct labels {
	VEC(struct frame_labels) frames; /* by index in struct names */
	VEC(struct label) items;
	VEC(struct side_labels) sides; /* index: frame; empty unless a key needs it */
	struct functions *functions;     /* functions of rows; borrowed; own all texts */
	struct functions *nodes;         /* functions of nodes; borrowed */
};

/* Returns whether labels need the debug information of modules. */
bool labels_need_sources(const struct label_options *options);

/* Makes labels of all frames in `names`, which must not change during the call. */
struct sp_error *labels_make(struct labels *labels, const struct names *names,
			     const struct label_options *options, struct functions *functions,
			     struct functions *nodes) SP_MUST_CHECK;
void labels_deinit(struct labels *labels);
