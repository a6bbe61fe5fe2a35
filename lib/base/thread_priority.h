/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A drain that is not given a CPU in time loses samples: 8 KB each fill a ring within
 * milliseconds, and a busy machine lets others run for as long. So the thread that
 * drains asks to be run sooner, for the little that it does.
 */
#ifndef BASE_THREAD_PRIORITY_H
#define BASE_THREAD_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

/* How a thread was scheduled before. Zeroed: nothing was changed. */
struct thread_priority {
	bool changed;
	uint32_t policy;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns;
};

/*
 * For the calling thread. By `realtime` (SCHED_FIFO of that priority, 0: not) it runs before
 * all that is not real-time: SP_ERROR_PERMISSION where that is not allowed. Else it asks for
 * short slices and, as far as it may, a lower nice value, and never fails.
 */
struct sp_error *thread_priority_begin(struct thread_priority *thread_priority,
				       uint32_t realtime) SP_MUST_CHECK;

/* Restores the priority. Call it in the same thread. */
void thread_priority_end(struct thread_priority *thread_priority);

#endif
