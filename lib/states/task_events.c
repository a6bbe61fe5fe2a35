/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events are distributed to their threads by counting, then the runs of each thread are merged. Recordings
 * are nearly sorted by time, so most threads have one run.
 */
#include "states/task_events.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"

void task_events_deinit(struct task_events *events)
{
	vec_deinit(&events->items);
	vec_deinit(&events->schedstats);
	vec_deinit(&events->threads);
	u64map_deinit(&events->thread_of);
}

struct task_thread *task_events_thread(struct task_events *events, uint32_t tid, uint32_t pid)
{
	bool added;
	if (!vec_reserve(&events->threads, events->threads.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&events->thread_of, tid, events->threads.count, &added);
	if (!index)
		return NULL;
	if (added)
		*vec_push(&events->threads) = (struct task_thread){.tid = tid};
	struct task_thread *thread = &events->threads.items[*index];
	if (pid)
		thread->pid = pid;
	return thread;
}

bool task_events_add(struct task_events *events, struct task_thread *thread, unsigned int kind,
		     uint64_t time_ns, uint32_t cpu)
{
	struct task_event *event = vec_push(&events->items);
	if (!event)
		return false;
	*event = (struct task_event){
		.time_ns = time_ns,
		.thread = thread - events->threads.items,
		.cpu = cpu < TASK_CPU_UNKNOWN ? cpu : TASK_CPU_UNKNOWN,
		.kind = kind & 0xff,
	};
	return true;
}

bool task_events_add_schedstat(struct task_events *events, const struct task_thread *thread,
			       const struct task_schedstat *stat)
{
	struct task_schedstat *added = vec_push(&events->schedstats);
	if (!added)
		return false;
	*added = *stat;
	added->thread = thread - events->threads.items;
	return true;
}

/* Returns the number of items from `at` on that ascend. */
static size_t run_length(const struct task_event *items, size_t at, size_t count)
{
	size_t end = at + 1;
	while (end < count && items[end - 1].time_ns <= items[end].time_ns)
		end++;
	return end - at;
}

static void merge_runs(const struct task_event *a, size_t a_count, const struct task_event *b,
		       size_t b_count, struct task_event *ret)
{
	while (a_count && b_count) {
		if (a->time_ns <= b->time_ns) {
			*ret++ = *a++;
			a_count--;
		} else {
			*ret++ = *b++;
			b_count--;
		}
	}
	memcpy(ret, a, a_count * sizeof(*a));
	memcpy(ret + a_count, b, b_count * sizeof(*b));
}

/* Merges neighbouring runs until one is left. Each round halves their number. */
static void sort_thread(struct task_event *items, size_t count, struct task_event *scratch)
{
	while (count && run_length(items, 0, count) < count) {
		for (size_t at = 0; at < count;) {
			size_t a = run_length(items, at, count);
			size_t b = at + a < count ? run_length(items, at + a, count) : 0;
			merge_runs(items + at, a, items + at + a, b, scratch + at);
			at += a + b;
		}
		memcpy(items, scratch, count * sizeof(*items));
	}
}

static int compare_schedstats(const void *a, const void *b)
{
	const struct task_schedstat *x = a, *y = b;
	return u64_order(x->thread, y->thread) ?: u64_order(x->time_ns, y->time_ns);
}

static void sort_schedstats(struct task_events *events)
{
	struct task_schedstat *items = events->schedstats.items;
	size_t count = events->schedstats.count;
	if (count)
		qsort(items, count, sizeof(*items), compare_schedstats);
	for (size_t i = 0; i < count; i++) {
		struct task_thread *thread = &events->threads.items[items[i].thread];
		if (!thread->stat_count++)
			thread->first_stat = i;
	}
}

bool task_events_sort(struct task_events *events)
{
	size_t count = events->items.count, at = 0;
	struct task_thread *threads = events->threads.items;
	CLEANUP_FREE struct task_event *sorted = calloc(count + 1, sizeof(*sorted));
	if (!sorted)
		return false;
	for (size_t i = 0; i < count; i++)
		threads[events->items.items[i].thread].count++;
	for (size_t i = 0; i < events->threads.count; i++) {
		threads[i].first = at;
		at += threads[i].count;
		threads[i].count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct task_thread *thread = &threads[events->items.items[i].thread];
		sorted[thread->first + thread->count++] = events->items.items[i];
	}
	for (size_t i = 0; i < events->threads.count; i++)
		sort_thread(sorted + threads[i].first, threads[i].count, events->items.items);
	sort_schedstats(events);
	free(events->items.items);
	events->items.items = take_ptr(sorted);
	events->items.capacity = count + 1;
	return true;
}
