/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of a unit that hold addresses which are asked for, and what was inlined
 * into them there. Entries are passed over in one sweep; only those of functions that
 * hold an address are looked into.
 */
#ifndef DWARF_WALK_H
#define DWARF_WALK_H

#include "dwarf/line.h"
#include "dwarf/unit.h"

struct dwarf_frame;

/* A function, or one that was inlined into `parent`. */
struct node {
	struct node *parent; /* NULL: this is a function of its own */
	const struct node *root;
	struct dwarf_file *file; /* file of the entry that names it */
	uint64_t entry;          /* its offset */
	uint64_t start;          /* begin of its code */
	uint64_t call_file;      /* call site, in the line table's numbers; UINT64_MAX: unknown */
	uint32_t call_line;
	bool named;
	const char *name; /* the reader's; NULL: it has none. Once it is `named` */
	struct dwarf_frame *recent; /* its frame that was made last; NULL: none was */
	uint64_t recent_file;       /* the file of that, as the line table counts */
	struct dwarf_frame *caller; /* `parent` where this was called; NULL: not made yet */
};

/*
 * Sets nodes[i] to the innermost one that covers queries[i] (by ascending vaddr), or NULL. They
 * are in the reader's arena for that.
 */
struct sp_error *walk_unit(struct reader *reader, const struct unit *unit,
			   const struct line_query *queries, size_t count,
			   struct node **nodes) SP_MUST_CHECK;

#endif
