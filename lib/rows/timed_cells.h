/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cells of a timeline in modes of time. Samples say where time was spent, and the states of their
 * thread when: the times of a slice's cells in one state, in the order of their samples, fill the
 * times at which the thread was in this state. The recording is divided into parts; in each, a
 * thread's cells then sum to its states, if all its samples pass the filters.
 *
 * Otherwise a cell keeps to the part of its sample as far as the others need no time there. Time
 * without samples is spread over its state. Time for which the state has no room, because damaged
 * records contradict the intervals, fills other states.
 */
#pragma once

#include "profile/cells.h"
#include "times/times.h"

/* Most parts of a recording. */
#define TIMED_PARTS_MAX 700

struct timed_cell {
	struct sp_cell cell; /* at the time of its sample, from which on a wait lasts */
	uint32_t slice;      /* SLICE_NONE: of a thread without known states */
	enum time_state state;
	bool rest;           /* time without samples */
};

/* A zeroed struct is empty. */
struct timed_cells {
	VEC(struct timed_cell);
};

/* Returns the width of a recording's parts as a power of 2; they begin at its multiples. */
unsigned int timed_cells_shift(uint64_t first_ns, uint64_t last_ns);

/*
 * Adds the cells of a recording from `first_ns` to `last_ns` to `to`, at their times less
 * `base_ns`. Each cell lies in one part, and has the time of its sample if that is there. Changes
 * `from`. False when out of memory.
 */
bool timed_cells_place(struct timed_cells *from, const struct times *times, uint64_t first_ns,
		       uint64_t last_ns, uint64_t base_ns, struct cells *to);
