/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/task_lifetimes.h"

#include <stdlib.h>
#include "base/error.h"

void lives_deinit(struct lives *lives)
{
	vec_deinit(&lives->events);
	u64map_deinit(&lives->runs_of);
	vec_deinit(&lives->runs);
	vec_deinit(&lives->lives);
}

/* Whoever was made before the recording is told of by a FORK that is marked so. */
static bool is_of_meanwhile(const struct sp_record *record)
{
	return record->id.time_ns && !(record->type == PERF_RECORD_FORK &&
				       record->misc & PERF_RECORD_MISC_FORK_EXEC);
}

static struct sp_error *add_task(struct lives *lives, const struct sp_record *record)
{
	const struct sp_task *task = &record->task;
	struct life_event *event = vec_push(&lives->events);
	if (!event)
		return error_no_memory();
	*event = (struct life_event){record->id.time_ns, task->pid, task->tid,
				     record->type == PERF_RECORD_EXIT};
	return NULL;
}

static struct life_runs *runs_of(struct lives *lives, uint32_t tid)
{
	bool added;
	if (!vec_reserve(&lives->runs, lives->runs.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&lives->runs_of, tid, (uint32_t)lives->runs.count, &added);
	if (!index)
		return NULL;
	if (added)
		*vec_push(&lives->runs) = (struct life_runs){0};
	return &lives->runs.items[*index];
}

/* A task that ends runs until then, and its event tells of no switch any more. */
static struct sp_error *add_switch(struct lives *lives, uint32_t tid, uint64_t time_ns, bool out)
{
	struct life_runs *runs = runs_of(lives, tid);
	if (!runs)
		return error_no_memory();
	/* Overflow is impossible in honest files, and nothing but a wrong sum in others. */
	uint64_t sum = (uint64_t)runs->sum_ns;
	runs->sum_ns = (int64_t)(out ? sum + time_ns : sum - time_ns);
	runs->open += out ? -1 : 1;
	return NULL;
}

struct sp_error *lives_add(struct lives *lives, const struct sp_record *record)
{
	uint64_t time_ns = record->id.time_ns;
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	struct sp_error *error = NULL;
	if (!lives->wanted || !is_of_meanwhile(record))
		return NULL;
	switch (record->type) {
	case PERF_RECORD_EXIT:
		error = add_switch(lives, record->task.tid, time_ns, true);
		return error ? error : add_task(lives, record);
	case PERF_RECORD_FORK:
		return add_task(lives, record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return add_switch(lives, record->id.tid, time_ns, out);
	default:
		return NULL;
	}
}

/* By thread and time; of one moment, the end of the earlier one first. */
static int compare_events(const void *a, const void *b)
{
	const struct life_event *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (int)y->ends - (int)x->ends;
}

bool lives_finish(struct lives *lives, uint64_t end_ns)
{
	const struct life_event *events = lives->events.items;
	if (!lives->events.count)
		return true;
	qsort(lives->events.items, lives->events.count, sizeof(*events), compare_events);
	for (size_t i = 0; i < lives->events.count; i++) {
		const struct life_event *begin = &events[i], *next = begin + 1;
		bool has_next = i + 1 < lives->events.count && next->tid == begin->tid;
		if (begin->ends)
			continue;
		struct life *life = vec_push(&lives->lives);
		if (!life)
			return false;
		*life = (struct life){begin->time_ns, has_next ? next->time_ns : end_ns, begin->pid,
				      begin->tid};
		if (life->end_ns < life->begin_ns)
			life->end_ns = life->begin_ns;
	}
	return true;
}

bool lives_cpu_ns(const struct lives *lives, uint32_t tid, uint64_t *ret)
{
	const uint32_t *index = u64map_find(&lives->runs_of, tid);
	const struct life_runs *runs = index ? &lives->runs.items[*index] : NULL;
	if (!runs || runs->open || runs->sum_ns < 0)
		return false;
	*ret = (uint64_t)runs->sum_ns;
	return true;
}
