/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * States of threads in a leaf's samples. In modes other than SP_MODE_CPU, a leaf's time is split by state:
 * an on-CPU sample also stands for the time in which its thread waited for a CPU.
 */
#ifndef ROWS_LEAF_STATES_H
#define ROWS_LEAF_STATES_H

#include "profile/state_sums.h"
#include "rows/resolve_chains.h"

/* Words for SP_KEY_STATE: an enum time_state, or STATE_WAIT plus a reason (wait_reason.h). */
#define STATE_ALL_WAIT TIME_STATES /* latency mode: no thread of the process could run */
#define STATE_WAIT 16

/* A part of a leaf: its samples in one state. */
struct leaf_part {
	uint64_t samples, weight; /* samples: 0 if they count in another part of the leaf */
	struct state_sums times;
	uint64_t state; /* word; DETAIL_NONE in SP_MODE_WAKERS */
	enum time_state time;
	const char *text; /* name of the tree's outermost node; NULL: none */
};

/*
 * Splits a leaf by state. Returns the number of parts. Each has time; a leaf that filters reject has none.
 * SP_MODE_WAKERS: one part for a leaf with samples, named by their waker.
 */
size_t leaf_parts(const struct resolved *resolved, uint32_t leaf, struct leaf_part ret[TIME_STATES]);

/* Returns a state's text ("[on CPU]"), a constant. */
const char *leaf_state_text(uint64_t state);

/* Returns what a thread in this state waits for, a constant: "futex", "-" (nothing); NULL: unknown. */
const char *leaf_state_waits_for(uint64_t state);

/*
 * Makes the table for the reasons of waits: for each frame its reason, or FRAME_USER. The caller frees it;
 * NULL when out of memory.
 */
uint8_t *leaf_states_frames(const struct names *names);

/* Value of that table for frames outside of the kernel: the frames before decide. */
#define FRAME_USER UINT8_MAX

#endif
