/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Followed tasks and their times, by which samples of CPU-wide events are filtered. Side-band
 * records are added in the order of their times, ahead of the samples. Any time that has not
 * expired can be looked up. By process, a number is a thread group's, and new threads belong to it.
 * By thread, each thread is followed alone. A child is followed if the thread (or process) that
 * forked it was followed at that moment: a reused number is the new task's from the fork on.
 */
#pragma once

#include <stdbool.h>
#include "base/hash.h"
#include "base/vec.h"
#include "record/task_change.h"

enum membership_by { MEMBERSHIP_BY_PROCESS, MEMBERSHIP_BY_THREAD };

/* A number is a member, or not, from `from_ns` until the next newer span. */
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
	bool follow;         /* children are followed, */
	bool threads_only;   /* but only threads, not processes */
	struct u64map newest; /* number -> index in `spans` */
	VEC(struct membership_span) spans;
	uint32_t free_list;  /* index + 1, linked by `older` */
	size_t chained;      /* number of spans that have an older one */
	struct u64map live;  /* tid -> pid, of members that have not ended */
	/* Ids of ended tasks, oldest first, from `ended_begin` on. */
	struct { VEC(struct membership_end); } ended;
	size_t ended_begin;
	struct u64map threads; /* by process: pid -> number of its tasks in `live` */
};

/* Zeroed, except for `by` and `follow`: empty. */
void membership_deinit(struct membership *membership);

/* Follows a task from the beginning, or from a time on. Returns false when out of memory. */
bool membership_add(struct membership *membership, uint32_t pid, uint32_t tid, uint64_t from_ns);
void membership_exit(struct membership *membership, uint32_t tid);

/*
 * Applies a fork, an end, or an exec, after which one thread is left, with the process's number.
 * When the time of an end has expired, and no task has the number, nothing about it is stored:
 * memory does not grow with the number of tasks. Returns false when out of memory.
 */
bool membership_on_change(struct membership *membership, const struct task_change *change);

/* Returns whether the task was followed at that time. */
bool membership_has(const struct membership *membership, uint32_t pid, uint32_t tid,
		    uint64_t time_ns);

/*
 * Returns the same, and the times between which the result holds for this number: [*since_ret,
 * *until_ret). For many samples of one task.
 */
bool membership_find(const struct membership *membership, uint32_t pid, uint32_t tid,
		     uint64_t time_ns, uint64_t *since_ret, uint64_t *until_ret);

/* Frees spans that ended before that time. */
void membership_expire(struct membership *membership, uint64_t before_ns);
