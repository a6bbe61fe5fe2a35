/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2: a frame for each ip of the counted chains. */
#ifndef AGGREGATE_RESOLVE_CHAINS_H
#define AGGREGATE_RESOLVE_CHAINS_H

#include "aggregate/counted.h"

/* Frames of words that are not calls: marks have WORD_NONE, missing calls (CHAIN_GAP) have WORD_GAP. */
#define WORD_NONE UINT32_MAX
#define WORD_GAP (UINT32_MAX - 1)

/* State after the words from the root to a node. */
struct node_state {
	uint32_t view, group;
	uint32_t depth;      /* number of calls */
	bool begun;          /* there is a call, and `first` is set */
	uint32_t first;      /* answer (names.h) for the outermost call */
	uint16_t cpumode;
	bool exact;          /* the next address is an executed instruction */
	uint8_t end;         /* how the chain ended: enum sp_misc_end */
};

/* Resolved chains of a struct counted. A zeroed struct may be deinitialised. */
struct resolved {
	struct counted *counted;   /* borrowed */
	uint32_t *order;           /* nodes of the chains, each after its parent */
	uint32_t *frames;          /* by word of the chains; WORD_NONE for marks, WORD_GAP for gaps */
	struct node_state *states; /* index: node of the chains */
};

/*
 * Resolves all addresses of the chains, and counts how stacks ended. No samples may be counted after
 * that. *resolved is zeroed before, and must be deinitialised after a failure, too.
 */
struct sp_error *chains_resolve(struct counted *counted, struct resolved *resolved) SP_MUST_CHECK;
void resolved_deinit(struct resolved *resolved);

/* Returns how stacks with this leaf ended. */
enum sp_stack_end resolved_stack_end(const struct resolved *resolved, const struct leaf *leaf);

#endif
