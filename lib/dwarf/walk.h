/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the functions of a unit that contain the queried addresses, and the functions inlined into
 * them there. One or two sweeps skip through the entries; only functions that contain an address
 * are searched for inlined functions.
 */
#pragma once

#include "dwarf/line.h"
#include "dwarf/unit.h"

/* A function, or one that was inlined into `parent`. */
struct function_node {
	struct function_node *parent; /* NULL: this is a function of its own */
	const struct function_node *root;
	struct dwarf_file *file; /* file of the entry with the function's name */
	uint64_t entry;          /* offset of that entry */
	uint64_t start;          /* begin of its code */
	uint64_t call_file;      /* call site, in the line table's numbers; UINT64_MAX: unknown */
	uint32_t call_line;
	bool named;       /* `name` is set */
	struct entry_name name; /* owned by the reader */
	struct dwarf_frame *recent; /* frame of this node that was made last; NULL: none yet */
	uint64_t recent_file;       /* file of `recent`, in the line table's numbers */
	struct dwarf_frame *caller; /* frame of `parent` at the call site; NULL: not made yet */
};

/*
 * Sets nodes[i] to the innermost node that covers queries[i] (by ascending vaddr), or NULL. Nodes are
 * allocated in reader->nodes.
 */
struct sp_error *walk_unit(struct dwarf_reader *reader, const struct unit *unit,
			   const struct line_query *queries, size_t count,
			   struct function_node **nodes) SP_MUST_CHECK;
