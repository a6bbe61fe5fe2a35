/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels of frames, made at once when all frames are known: the functions at each frame, the
 * outermost first, and for each function its row and tree node. Debug information is read here,
 * for all places of a module together.
 */
#ifndef AGGREGATE_LABELS_H
#define AGGREGATE_LABELS_H

#include "aggregate/names.h"
#include "profile/function.h"

struct label {
	uint32_t row;  /* in functions; UINT32_MAX: rows have no key that tells code apart */
	uint32_t node; /* in nodes; UINT32_MAX: there is no tree */
};

struct frame_labels {
	uint32_t first, count; /* in items; at least one */
	bool shown; /* passes the filter by symbol, which also takes names of functions */
	bool named; /* the innermost function has a name */
	bool lined; /* and its line is known */
};

/* Indexes in functions of a frame that is a branch's end, or data; UINT32_MAX: not requested. */
struct side_labels {
	uint32_t symbol, dso, line; /* line: or not known */
};

/* Options of labels_make(). */
struct label_options {
	const bool *keys; /* keys of rows, by enum sp_key */
	bool tree;        /* nodes are wanted */
	bool expand;      /* inlined functions are functions of their own, in rows and trees */
	bool tree_lines;  /* nodes are by source line, too */
	unsigned int threads;
	const struct sp_ctx *ctx; /* may be cancelled: then labels_make() fails */
};

struct labels {
	VEC(struct frame_labels) frames; /* by index in struct names */
	VEC(struct label) items;
	VEC(struct side_labels) sides; /* by frame; empty unless a key needs them */
	struct functions *functions;     /* functions of rows; borrowed; owner of all texts */
	struct functions *nodes;         /* functions of nodes; borrowed */
};

/* Whether what is wanted takes debug information, in modules that have it. */
bool labels_need_sources(const struct label_options *options);

/* Makes labels of all frames of `names`, which must not change meanwhile. */
struct sp_error *labels_make(struct labels *labels, const struct names *names,
			     const struct label_options *options, struct functions *functions,
			     struct functions *nodes) SP_MUST_CHECK;
void labels_deinit(struct labels *labels);

#endif
