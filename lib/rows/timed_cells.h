/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cells of a timeline in modes of time. A sample states the code and the amount of time, but not
 * when a thread spent it: the thread's states have the times. The cells of a slice (times/slices.h)
 * in one state fill the times at which the thread was in this state, in the order of samples.
 *
 * The recording is divided into parts of equal width. In each part, a thread's cells sum to the
 * times of its states, if all its samples pass the filters. Otherwise states have more time than
 * cells need. Cells then begin in the parts of their samples, if later cells have enough time.
 *
 * Time without samples is spread evenly over its state. Damaged records can contradict the states:
 * time that does not fit into its state fills other states.
 */
#pragma once

#include "profile/cells.h"
#include "times/times.h"

/* Largest number of parts of a recording. */
#define TIMED_PARTS_MAX 700

struct timed_cell {
	struct sp_cell cell; /* its time is the sample's; waits begin there */
	uint32_t slice;      /* SLICE_NONE: the thread's states are not known */
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
 * Adds the cells of a recording, which lasts from `first_ns` to `last_ns`, to `to`. A cell of
 * several parts becomes one cell for each. Its time is the sample's in the sample's part, and the
 * begin of the part in others; `base_ns` is subtracted. Overwrites `from`. Returns false when out
 * of memory.
 */
bool timed_cells_place(struct timed_cells *from, const struct times *times, uint64_t first_ns,
		       uint64_t last_ns, uint64_t base_ns, struct cells *to);
