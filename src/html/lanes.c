/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/lanes.h"

#include <assert.h>
#include <stdlib.h>

void lanes_deinit(struct lanes *lanes)
{
	free(lanes->shares.items);
}

static uint64_t time_in(const struct sp_thread_times *times, enum lane_state state)
{
	const uint64_t all[] = {times->running_ns, times->runnable_ns, times->blocked_ns, times->unknown_ns};
	return all[state];
}

bool lanes_add(struct lanes *lanes, uint32_t thread, const struct sp_thread_times *times, size_t bins,
	       uint64_t bin_ns)
{
	assert(lanes->count < LANES_MAX && bin_ns);
	if (!list_reserve(&lanes->shares, lanes->shares.count + bins * LANE_STATES))
		return false;
	for (enum lane_state state = 0; state < LANE_STATES; state++) {
		for (size_t i = 0; i < bins; i++) {
			double share = (double)time_in(&times[i], state) / (double)bin_ns;
			*list_push(&lanes->shares) = (uint8_t)((share < 1 ? share : 1) * LANE_UNITS + 0.5);
		}
	}
	lanes->threads[lanes->count++] = thread;
	return true;
}
