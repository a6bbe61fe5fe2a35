/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raises the priority of a thread that drains. If it gets no CPU in time, samples are lost: at 8 KB
 * each, they fill a ring within milliseconds, and on a busy machine other threads run for that
 * long.
 */
#pragma once

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
 * Applies to the calling thread. `realtime`: priority of SCHED_FIFO, before all other threads;
 * SP_ERROR_PERMISSION if that is not permitted. With 0, requests short slices and, if permitted, a
 * lower nice value, and never fails.
 */
struct sp_error *thread_priority_begin(struct thread_priority *thread_priority,
				       uint32_t realtime) SP_MUST_CHECK;

/* Restores the priority. Call it in the same thread. */
void thread_priority_end(struct thread_priority *thread_priority);
