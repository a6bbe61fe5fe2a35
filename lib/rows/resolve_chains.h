/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2 of the analysis: finds a frame for each instruction pointer in the counted chains. */
#pragma once

#include "samples/counted.h"

/*
 * Values of `frames` for words that are not calls: WORD_NONE for marks and for unmapped addresses that
 * the kernel's frame pointer walk read beyond the outermost call; WORD_GAP where calls are missing
 * (CHAIN_GAP).
 */
#define WORD_NONE UINT32_MAX
#define WORD_GAP (UINT32_MAX - 1)

/* State after all words from the root to the end of a node. */
struct node_state {
	uint32_t view, group;
	uint32_t depth;      /* number of calls */
	bool begun;          /* the outermost call was found, and `first` is set */
	uint32_t first;      /* answer (names.h) for the outermost call */
	uint16_t cpumode;
	bool exact;          /* the next address is an executed instruction */
	uint8_t end;         /* how the chain ended: enum sp_misc_end */
};

/* Resolved chains of a worker. A zeroed struct may be deinitialised. */
struct resolved {
	struct counted *counted;   /* borrowed */
	uint32_t *order;           /* nodes of the chains, each after its parent */
	uint32_t *frames;          /* index: word of the chains; value: frame, WORD_NONE or WORD_GAP */
	struct node_state *states; /* index: node of the chains */
};

/*
 * Resolves all addresses of the chains, and counts how the stacks ended. No samples may be counted
 * afterwards. *resolved must be zeroed before, and deinitialised after a failure, too.
 */
struct sp_error *chains_resolve(struct counted *counted, struct resolved *resolved) SP_MUST_CHECK;
void resolved_deinit(struct resolved *resolved);

/* Return a leaf's event, the answer (names.h) for its outermost call, and how its stacks ended. */
uint16_t resolved_event(const struct resolved *resolved, const struct leaf *leaf);
uint32_t resolved_outermost(const struct resolved *resolved, const struct leaf *leaf);
enum sp_stack_end resolved_stack_end(const struct resolved *resolved, const struct leaf *leaf);
