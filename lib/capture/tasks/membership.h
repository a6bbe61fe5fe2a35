/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The followed tasks, and the times since when: samples of CPU-wide events are filtered by them.
 * Side-band records are added in the order of their times, ahead of the samples; any time that has
 * not expired can be looked up.
 *
 * By process, a number stands for a thread group: new threads belong by
 * themselves. By thread, each is followed alone. A child belongs if the thread
 * (or process) that forked it did at that moment: a reused number belongs to the new task
 * from the fork on.
 */
#ifndef CAPTURE_TASKS_MEMBERSHIP_H
#define CAPTURE_TASKS_MEMBERSHIP_H

#include <stdbool.h>
#include "base/hash.h"
#include "base/vec.h"
#include "record/task_change.h"

enum membership_by { MEMBERSHIP_BY_PROCESS, MEMBERSHIP_BY_THREAD };

/* From `from_ns` on, up to what is newer, a number is a member or not. */
struct membership_span {
	uint64_t from_ns;
	uint32_t older; /* index + 1 in `spans`; 0: never a member before */
	bool in;
};

struct membership_end {
	uint64_t time_ns;
	uint32_t number;
};

struct membership {
	enum membership_by by;
	bool follow;         /* children too, */
	bool threads_only;   /* but of these, no processes */
	struct u64map newest; /* number -> index in `spans` */
	VEC(struct membership_span) spans;
	uint32_t free_list;  /* index + 1, linked by `older` */
	size_t chained;      /* spans that have an older one */
	struct u64map live;  /* tid -> pid, of members that have not ended */
	/* Ids of ended tasks, oldest first, from `ended_begin` on. */
	struct { VEC(struct membership_end); } ended;
	size_t ended_begin;
	struct u64map threads; /* by process: pid -> how many of `live` are its */
};

/* Zeroed but for `by` and `follow`, it is ready. */
void membership_deinit(struct membership *membership);

/* All these return false when out of memory. */

/* A task that is followed from the beginning, or from a moment on. */
bool membership_add(struct membership *membership, uint32_t pid, uint32_t tid, uint64_t from_ns);
void membership_exit(struct membership *membership, uint32_t tid);

/*
 * A fork; an end; or an exec: only one thread is left, and it has the process's number now. After
 * the time of an end is expired, nothing is known of a number that no task has: what is kept does
 * not grow with the number of tasks.
 */
bool membership_on_change(struct membership *membership, const struct task_change *change);

/* Whether it was followed at that time. */
bool membership_has(const struct membership *membership, uint32_t pid, uint32_t tid,
		    uint64_t time_ns);

/*
 * The same, with the times between which the answer holds for this number:
 * [*since_ret, *until_ret). For asking about many samples of one task.
 */
bool membership_find(const struct membership *membership, uint32_t pid, uint32_t tid,
		     uint64_t time_ns, uint64_t *since_ret, uint64_t *until_ret);

/* Frees spans that ended before that time. */
void membership_expire(struct membership *membership, uint64_t before_ns);

#endif
