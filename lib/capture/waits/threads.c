/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/threads.h"

#include <stdlib.h>
#include "base/bytes.h"

/* Time from EXIT to the last switch, at most. */
#define ENDED_NS UINT64_C(1000000000)

void waiting_threads_deinit(struct waiting_threads *threads)
{
	vec_each (thread, &threads->slots) {
		vec_each (event, &thread->events)
			free(event->record);
		free(thread->held);
		vec_deinit(&thread->events);
	}
	vec_deinit(&threads->slots);
	vec_deinit(&threads->free_slots);
	vec_deinit(&threads->busy);
	vec_deinit(&threads->ended);
	u64map_deinit(&threads->index);
}

void waiting_threads_free_record(struct waiting_threads *threads, uint8_t *record)
{
	if (record)
		threads->bytes -= record_header_of(record).size;
	free(record);
}

void waiting_threads_hold(struct waiting_threads *threads, struct waiting_thread *thread, uint8_t *record)
{
	waiting_threads_free_record(threads, thread->held);
	thread->held = record;
}

static struct sp_error *add_thread(struct waiting_threads *threads, uint32_t tid, uint32_t *index_ret)
{
	uint32_t slot = (uint32_t)threads->slots.count;
	if (threads->free_slots.count)
		slot = *vec_last(&threads->free_slots);
	else if (!vec_reserve(&threads->slots, threads->slots.count + 1))
		return error_no_memory();
	NEED(u64map_put(&threads->index, tid, slot, NULL));
	if (threads->free_slots.count)
		threads->free_slots.count--;
	else
		threads->slots.items[threads->slots.count++] = (struct waiting_thread){0};
	threads->slots.items[slot].tid = tid;
	threads->slots.items[slot].pid = 0;
	threads->slots.items[slot].cpu = UINT32_MAX;
	threads->slots.items[slot].preempted_part = 0;
	threads->slots.items[slot].mark = (double)(hash_u64(tid) >> 32) / 0x1p32;
	threads->slots.items[slot].seen_ns = 0;
	*index_ret = slot;
	return NULL;
}

/* Frees the slot. Many threads may end at once: few free slots keep their lists of events. */
static struct sp_error *remove_thread(struct waiting_threads *threads, uint32_t index)
{
	struct waiting_thread *thread = &threads->slots.items[index];
	NEED(vec_append(&threads->free_slots, index));
	u64map_remove(&threads->index, thread->tid);
	waiting_threads_hold(threads, thread, NULL);
	if (threads->free_slots.count > WAITING_FREE_LISTS)
		vec_deinit(&thread->events);
	thread->tid = 0;
	thread->state = THREAD_UNKNOWN;
	return NULL;
}

struct sp_error *waiting_threads_find(struct waiting_threads *threads, uint32_t tid,
				      struct waiting_thread **ret)
{
	const uint32_t *found = u64map_find(&threads->index, tid);
	uint32_t index = found ? *found : 0;
	struct sp_error *error = NULL;
	*ret = NULL;
	if (!found && threads->index.count >= threads->max)
		return NULL;
	if (!found)
		error = add_thread(threads, tid, &index);
	if (!error)
		*ret = &threads->slots.items[index];
	return error;
}

struct sp_error *waiting_threads_add_event(struct waiting_threads *threads, struct waiting_thread *thread,
					   const struct wait_event *event)
{
	size_t count = thread->events.count;
	NEED(vec_reserve(&threads->busy, threads->busy.count + 1) &&
	     vec_reserve(&thread->events, count + 1));
	if (!count)
		*vec_push(&threads->busy) = (uint32_t)(thread - threads->slots.items);
	else if (event->time_ns < thread->events.items[count - 1].time_ns)
		thread->unsorted = true;
	*vec_push(&thread->events) = *event;
	return NULL;
}

struct sp_error *waiting_threads_add_to_all(struct waiting_threads *threads, const struct wait_event *event)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < threads->slots.count && !error; i++) {
		struct waiting_thread *thread = &threads->slots.items[i];
		if (thread->tid && thread->pid && thread->state != THREAD_ENDED)
			error = waiting_threads_add_event(threads, thread, event);
	}
	return error;
}

int wait_event_order(const void *a, const void *b)
{
	const struct wait_event *x = a, *y = b;
	return u64_order(x->time_ns, y->time_ns) ?: (int)x->kind - (int)y->kind;
}

void waiting_thread_sort(struct waiting_thread *thread)
{
	if (thread->unsorted)
		vec_sort(&thread->events, wait_event_order);
	thread->unsorted = false;
}

struct sp_error *waiting_threads_end(struct waiting_threads *threads, struct waiting_thread *thread,
				     uint64_t time_ns)
{
	NEED(vec_append(&threads->ended, (uint32_t)(thread - threads->slots.items)));
	thread->state = THREAD_ENDED;
	thread->preempted = false;
	thread->lost_ns = 0;
	thread->off_ns = time_ns;
	waiting_threads_hold(threads, thread, NULL);
	return NULL;
}

struct sp_error *waiting_threads_remove_ended(struct waiting_threads *threads, uint64_t safe_ns)
{
	struct sp_error *error = NULL;
	size_t kept = 0;
	for (size_t i = 0; i < threads->ended.count && !error; i++) {
		uint32_t index = threads->ended.items[i];
		const struct waiting_thread *thread = &threads->slots.items[index];
		bool ended = thread->state == THREAD_ENDED;
		bool waiting = thread->events.count || thread->off_ns + ENDED_NS > safe_ns;
		if (ended && waiting)
			threads->ended.items[kept++] = index;
		else if (ended)
			error = remove_thread(threads, index);
	}
	threads->ended.count = kept;
	return error;
}
