/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "states/task_lifetimes.h"

#include <stdlib.h>
#include "base/error.h"
#include "record/task_change.h"

void lifetimes_deinit(struct lifetimes *lifetimes)
{
	vec_deinit(&lifetimes->events);
	u64map_deinit(&lifetimes->runs_of);
	vec_deinit(&lifetimes->runs);
	vec_deinit(&lifetimes->lifetimes);
}

static struct lifetime_runs *runs_of(struct lifetimes *lifetimes, uint32_t tid)
{
	bool added;
	if (!vec_reserve(&lifetimes->runs, lifetimes->runs.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&lifetimes->runs_of, tid, lifetimes->runs.count, &added);
	if (!index)
		return NULL;
	if (added)
		*vec_push(&lifetimes->runs) = (struct lifetime_runs){0};
	return &lifetimes->runs.items[*index];
}

/* A task that ends runs until its end, but its event sends no switch record any more. */
static struct sp_error *add_switch(struct lifetimes *lifetimes, uint32_t tid, uint64_t time_ns,
				   bool out)
{
	struct lifetime_runs *runs = runs_of(lifetimes, tid);
	NEED(runs);
	/* Overflow is impossible in valid files; in others it only makes the sum wrong. */
	uint64_t sum = runs->sum_ns;
	runs->sum_ns = out ? sum + time_ns : sum - time_ns;
	runs->open += out ? -1 : 1;
	return NULL;
}

struct sp_error *lifetimes_add(struct lifetimes *lifetimes, const struct sp_record *record)
{
	static const enum lifetime_event_kind kinds[] = {
		[TASK_FORKED] = LIFETIME_BEGINS,
		[TASK_ENDED] = LIFETIME_ENDS,
		[TASK_EXECED] = LIFETIME_EXEC,
	};
	struct task_change change;
	uint64_t time_ns = record->id.time_ns;
	if (!lifetimes->wanted || !time_ns)
		return NULL;
	if (record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		return add_switch(lifetimes, record->id.tid, time_ns,
				  record->misc & PERF_RECORD_MISC_SWITCH_OUT);
	/* perf and sprof synthesise FORK records of tasks that are older than the recording. */
	if (!task_change_of(record, &change) || change.kind == TASK_RENAMED ||
	    change.is_synthesised)
		return NULL;
	if (change.kind == TASK_ENDED)
		TRY(add_switch(lifetimes, change.tid, time_ns, true));
	struct lifetime_event *event = vec_push(&lifetimes->events);
	NEED(event);
	*event = (struct lifetime_event){time_ns, change.pid, change.tid, kinds[change.kind]};
	return NULL;
}

/* Orders by thread and time. */
static int compare_events(const void *a, const void *b)
{
	const struct lifetime_event *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

bool lifetimes_finish(struct lifetimes *lifetimes, uint64_t end_ns)
{
	const struct lifetime_event *events = lifetimes->events.items;
	if (!lifetimes->events.count)
		return true;
	vec_sort(&lifetimes->events, compare_events);
	struct lifetime *lifetime = NULL; /* the last event's; NULL: it has ended */
	for (size_t i = 0; i < lifetimes->events.count; i++) {
		const struct lifetime_event *event = &events[i];
		bool same = lifetime && lifetime->tid == event->tid;
		if (event->kind == LIFETIME_EXEC) {
			if (same)
				lifetime->execs++;
			continue;
		}
		if (same)
			lifetime->end_ns = event->time_ns;
		lifetime = NULL;
		if (event->kind == LIFETIME_ENDS)
			continue;
		if (!(lifetime = vec_push(&lifetimes->lifetimes)))
			return false;
		*lifetime = (struct lifetime){
			.begin_ns = event->time_ns,
			.end_ns = end_ns > event->time_ns ? end_ns : event->time_ns,
			.pid = event->pid,
			.tid = event->tid,
		};
	}
	return true;
}

bool lifetimes_cpu_ns(const struct lifetimes *lifetimes, uint32_t tid, uint64_t *ret)
{
	const uint32_t *index = u64map_find(&lifetimes->runs_of, tid);
	const struct lifetime_runs *runs = index ? &lifetimes->runs.items[*index] : NULL;
	if (!runs || runs->open || runs->sum_ns < 0)
		return false;
	*ret = runs->sum_ns;
	return true;
}
