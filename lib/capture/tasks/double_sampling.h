/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that may be sampled twice. A thread made while its process is being
 * attached to may have inherited its parent's events or not, depending on where
 * within clone(2) the events were opened, and nothing tells. So it is given
 * events of its own, and may be sampled twice, as may its descendants, which inherit
 * whatever it has.
 *
 * On one CPU, all events of one kind that a thread carries watch the same run
 * time, each with its own phase; one inherited has watched from birth on. So
 * the samples of the one that is ahead are the truth, and the others repeat
 * them: a sample is kept if it takes the sum of its own event's periods beyond
 * what has been kept so far. Whichever events there are, nothing is missed, and
 * no more than one period for each thread and CPU is counted twice.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

/* One event that has sampled a task on a CPU. */
struct double_sample_stream {
	uint32_t event, cpu;
	uint64_t id;
	uint64_t weight;
	uint32_t next; /* index + 1 of the task's next stream, or of the next free one */
};

struct double_sampling {
	struct u64map events; /* id -> kind of its event */
	struct u64map tasks;  /* tid that may be sampled twice -> index + 1 of its first stream */
	VEC(struct double_sample_stream) streams;
	uint32_t free_list;
	VEC(uint32_t) ended; /* tids */
};

/* Zeroed: no such threads. */
void double_sampling_deinit(struct double_sampling *double_sampling);

/*
 * Sets the event of an id. Call it for each id that may sample such a task. Like the next three, it
 * returns false when out of memory.
 */
bool double_sampling_add_id(struct double_sampling *double_sampling, uint64_t id, uint32_t event);
bool double_sampling_add_task(struct double_sampling *double_sampling, uint32_t tid);
bool double_sampling_fork(struct double_sampling *double_sampling, uint32_t parent_tid, uint32_t tid);
bool double_sampling_exit(struct double_sampling *double_sampling, uint32_t tid);

/* Removes ended tasks. Call it when all of their samples have been filtered. */
void double_sampling_remove_ended(struct double_sampling *double_sampling);

static inline bool double_sampling_has(const struct double_sampling *double_sampling, uint32_t tid)
{
	return double_sampling->tasks.count && u64map_find(&double_sampling->tasks, tid);
}

/* *keep_ret: whether a sample of such a task counts. Returns false when out of memory. */
bool double_sampling_sample(struct double_sampling *double_sampling, uint32_t tid, uint32_t cpu,
			    uint64_t id, uint64_t period, bool *keep_ret);
