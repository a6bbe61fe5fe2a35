/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares of the states of the busiest threads in each bin of a page, for the lanes of its strip. LANES_MAX
 * and the number of bins limit the size.
 */
#ifndef HTML_LANES_H
#define HTML_LANES_H

#include <sprof/sprof.h>
#include "list.h"

/* Most threads with a lane; strip.js has the same limit. */
#define LANES_MAX 30

/* A whole bin in one state. */
#define LANE_UNITS 127

enum lane_state { LANE_RUNNING, LANE_RUNNABLE, LANE_BLOCKED, LANE_UNKNOWN, LANE_STATES };

/* A zeroed struct is empty. */
struct lanes {
	uint32_t threads[LANES_MAX]; /* numbers of the caller's */
	size_t count;
	LIST(uint8_t) shares; /* by lane, state and bin, in LANE_UNITS; a thread that did not exist has 0 */
};

void lanes_deinit(struct lanes *lanes);

/*
 * Adds a lane by the thread's times in each bin. There must be fewer than LANES_MAX. Returns false when out
 * of memory.
 */
bool lanes_add(struct lanes *lanes, uint32_t thread, const struct sp_thread_times *times, size_t bins,
	       uint64_t bin_ns);

#endif
