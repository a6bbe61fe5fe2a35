/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/coverage.h"

/* Limit of a fork's time between inheriting the events and its record. */
#define LONGEST_FORK_NS 1000000000

void coverage_deinit(struct coverage *coverage)
{
	u64map_deinit(&coverage->index);
	vec_deinit(&coverage->covers);
}

struct cover *coverage_find(const struct coverage *coverage, uint32_t tid)
{
	uint32_t *index = u64map_find(&coverage->index, tid);
	return index ? &coverage->covers.items[*index] : NULL;
}

bool coverage_add(struct coverage *coverage, uint32_t pid, uint32_t tid, bool samples)
{
	struct cover *cover = u64map_item(&coverage->index, tid, &coverage->covers);
	if (cover && cover->tid != tid)
		*cover = (struct cover){.tid = tid, .pid = pid, .samples = samples};
	return cover;
}

/* Returns whether a task that `parent` forked at that time has certainly inherited its events. */
static bool surely_inherits(struct cover *parent, uint64_t time_ns)
{
	if (parent->state == COVER_INHERITED)
		return true;
	if (parent->state != COVER_OPENED || time_ns <= parent->end_ns)
		return false;
	bool first = !parent->forked;
	parent->forked = true;
	return !first || time_ns - parent->end_ns > LONGEST_FORK_NS;
}

/*
 * Limit of the time between two records of one birth. Two births of one number are farther apart.
 */
#define SAME_BIRTH_NS 1000000

/* Returns whether the entry is of an earlier task of that number. */
static bool is_older(const struct cover *cover, uint64_t birth_ns)
{
	return cover->state == COVER_ENDED || (cover->birth_ns && birth_ns > cover->birth_ns) ||
	       (cover->state == COVER_OPENED && birth_ns > cover->end_ns);
}

bool coverage_fork(struct coverage *coverage, const struct task_change *birth)
{
	struct cover *parent = coverage_find(coverage, birth->parent_tid);
	struct cover *child = coverage_find(coverage, birth->tid);
	if (!parent || !coverage->follow)
		return true; /* the parent is unknown */
	if (child && child->birth_ns && birth->time_ns - child->birth_ns < SAME_BIRTH_NS)
		return true;
	bool samples = parent->samples, inherits = surely_inherits(parent, birth->time_ns);
	if (child && is_older(child, birth->time_ns))
		*child = (struct cover){.tid = birth->tid};
	if (!coverage_add(coverage, birth->pid, birth->tid, samples))
		return false;
	child = coverage_find(coverage, birth->tid);
	child->pid = birth->pid;
	child->birth_ns = birth->time_ns;
	child->samples |= samples;
	if (child->state == COVER_NONE && inherits)
		child->state = COVER_INHERITED;
	return true;
}
