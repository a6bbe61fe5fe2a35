/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks with events, while a running process is attached to task by task. New tasks inherit events,
 * so a task is covered because its events were opened, or from birth on. For a task created while
 * its parent's events were being opened, that is unknown: it is uncovered until its own events are
 * opened, and may then be sampled twice (double_sampling.h).
 *
 * A task's forks come one after the other. A fork with a FORK record older than the opening
 * inherited nothing. The first one after the opening may have begun before it; all further ones
 * inherit, as do all forks of a task that was covered from birth.
 */
#ifndef CAPTURE_TASKS_COVERAGE_H
#define CAPTURE_TASKS_COVERAGE_H

#include "base/hash.h"
#include "base/vec.h"
#include "capture/tasks/membership.h"

enum cover_state {
	COVER_NONE,      /* has, or may have, no events */
	COVER_OPENED,    /* has events of its own */
	COVER_INHERITED, /* from birth on */
	COVER_ENDED,
};

struct cover {
	uint32_t tid, pid;
	enum cover_state state;
	bool samples;   /* is wanted for its samples, not only for what it maps */
	bool forked;    /* has made a task since the opening */
	uint64_t birth_ns; /* by its FORK record; 0: none was seen */
	uint64_t end_ns;   /* end of the opening */
};

struct coverage {
	struct u64map index; /* tid -> index in `covers` */
	VEC(struct cover) covers;
	bool follow; /* forked tasks are wanted if their parent is */
};

/* Zeroed but for `follow`, it is ready. */
void coverage_deinit(struct coverage *coverage);

/* The task's entry, or NULL. */
struct cover *coverage_find(const struct coverage *coverage, uint32_t tid);

/* A task that was seen; nothing changes if it is known. False when out of memory. */
bool coverage_add(struct coverage *coverage, uint32_t pid, uint32_t tid, bool samples);

/*
 * A FORK record; call it in the order of time, when nothing is being opened. False when
 * out of memory.
 */
bool coverage_fork(struct coverage *coverage, const struct task_change *birth);

#endif
