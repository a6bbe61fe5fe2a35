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
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "capture/tasks/membership.h"

enum cover_state {
	COVER_NONE,      /* without events, or unknown */
	COVER_OPENED,    /* has events that were opened for it */
	COVER_INHERITED, /* inherited events at its birth */
	COVER_ENDED,
};

struct cover {
	uint32_t tid, pid;
	enum cover_state state;
	bool samples;   /* is wanted for its samples, not only for what it maps */
	bool forked;    /* has made a task since the opening */
	uint64_t birth_ns; /* time of its FORK record; 0: none */
	uint64_t end_ns;   /* end of the opening */
};

struct coverage {
	struct u64map index; /* tid -> index in `covers` */
	VEC(struct cover) covers;
	bool follow; /* forked tasks are wanted if their parent is */
};

/* Zeroed, except for `follow`: empty. */
void coverage_deinit(struct coverage *coverage);

/* Returns the task's entry, or NULL. */
struct cover *coverage_find(const struct coverage *coverage, uint32_t tid);

/* Adds an observed task. A known one does not change. Returns false when out of memory. */
bool coverage_add(struct coverage *coverage, uint32_t pid, uint32_t tid, bool samples);

/*
 * Applies a FORK record. Call it in the order of time, while no events are being opened. Returns
 * false when out of memory.
 */
bool coverage_fork(struct coverage *coverage, const struct task_change *birth);
