/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slices: the parts of lifetimes that are counted apart. Windows divide the recording's time: at
 * the ranges of --time, and at the steps of key `time` within these. A slice is what a lifetime has
 * of a window. This module alone decides which part of an interval lies in a range.
 *
 * All windows of a lifetime follow each other, so that its slices do, too. Each lifetime has at
 * least one. Without ranges and steps, the number of a slice is that of its lifetime. Times are in
 * the recording's clock, in ns.
 */
#pragma once

#include "base/vec.h"
#include "profile/analysis_options.h"
#include "states/task_states.h"

/* The thread's states are not known. */
#define LIFETIME_NONE UINT32_MAX
#define SLICE_NONE UINT32_MAX

struct time_window {
	uint64_t begin_ns, end_ns;
	bool shown; /* in a range of --time */
};

struct slice {
	uint32_t number, lifetime, window;
	uint64_t begin_ns, end_ns; /* when the lifetime is in the window */
	bool shown;
};

/* A zeroed struct may be deinitialised. Immutable after slices_make(). */
struct slices {
	VEC(struct time_window) windows; /* ascend, and leave out no time */
	const struct task_states *states; /* borrowed */
	uint32_t *lifetimes; /* by slice */
	uint32_t *first;     /* by lifetime, and one more: its first slice */
	size_t count, lifetime_count;
};

void slices_deinit(struct slices *slices);

/* Makes the slices of all lifetimes. Fails if they are too many; the message has a remedy. */
struct sp_error *slices_make(struct slices *slices, const struct task_states *states,
			     const struct analysis_options *options) SP_MUST_CHECK;

/* Returns the step of key `time` that includes a time; DETAIL_NONE: the time is 0, unknown. */
uint64_t slices_step(const struct sp_analysis_rows *rows, uint64_t time_ns);

struct slice slices_get(const struct slices *slices, uint32_t number);

/* Returns the slice that includes a time, or the lifetime's nearest one. */
uint32_t slices_at(const struct slices *slices, uint32_t lifetime, uint64_t time_ns);

/* Returns the slice's time that is nearest to a time. */
uint64_t slices_clamp(const struct slices *slices, uint32_t number, uint64_t time_ns);

/*
 * Gets the part of an interval from *at_ns to `end_ns` that lies in the first slice, and advances
 * *at_ns to its end. What is outside of the lifetime belongs to the nearest slice. Returns false at
 * the interval's end.
 */
bool slices_next(const struct slices *slices, uint32_t lifetime, uint64_t *at_ns, uint64_t end_ns,
		 struct slice *ret);

/*
 * Gets the sums of a slice. Only a whole lifetime is split by schedstat: in a part of it, blocked
 * time includes the time from waking to running unless wake-ups were recorded.
 */
void slices_totals(const struct slices *slices, uint32_t number, struct task_totals *ret);
