/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2: a frame for each ip of the counted chains. */
#ifndef AGGREGATE_RESOLVE_CHAINS_H
#define AGGREGATE_RESOLVE_CHAINS_H

#include "aggregate/counted.h"

/* Frames of words that are no calls: of marks, and of CHAIN_GAP, for omitted calls. */
#define WORD_NONE UINT32_MAX
#define WORD_GAP (UINT32_MAX - 1)

/* State after the words up to a node's end. */
struct node_state {
	uint32_t view, group;
	uint32_t depth;      /* calls */
	bool begun;          /* one of them is a call: `first` is set */
	uint32_t first;      /* answer (names.h) of the outermost call */
	uint16_t cpumode;
	bool exact;          /* the next ip is */
	uint8_t end;         /* enum sp_misc_end */
};

/* The chains of a struct counted, resolved. A zeroed one may be released. */
struct resolved {
	struct counted *counted;   /* borrowed */
	uint32_t *order;           /* the chains' nodes, parents first */
	uint32_t *frames;          /* by word of the chains; WORD_NONE for marks, WORD_GAP for CHAIN_GAP */
	struct node_state *states; /* by node of the chains */
};

/*
 * Resolves all ips of the chains, and counts how the stacks ended. No samples are counted
 * afterwards. *resolved is zeroed; to be released after a failure, too.
 */
struct sp_error *chains_resolve(struct counted *counted, struct resolved *resolved) SP_MUST_CHECK;
void resolved_deinit(struct resolved *resolved);

/* How the stacks of a leaf with chains ended. */
enum sp_stack_end resolved_stack_end(const struct resolved *resolved, const struct leaf *leaf);

#endif
