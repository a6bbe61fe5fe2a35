/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/doubt.h"

void doubts_deinit(struct doubts *doubts)
{
	u64map_deinit(&doubts->events);
	u64map_deinit(&doubts->tasks);
	vec_deinit(&doubts->streams);
	vec_deinit(&doubts->ended);
}

bool doubts_add_id(struct doubts *doubts, uint64_t id, uint32_t event)
{
	return u64map_put(&doubts->events, id, event, NULL);
}

bool doubts_add_task(struct doubts *doubts, uint32_t tid)
{
	return u64map_put(&doubts->tasks, tid, 0, NULL);
}

bool doubts_fork(struct doubts *doubts, uint32_t parent_tid, uint32_t tid)
{
	return !doubts_has(doubts, parent_tid) || doubts_add_task(doubts, tid);
}

bool doubts_exit(struct doubts *doubts, uint32_t tid)
{
	if (!doubts_has(doubts, tid))
		return true;
	uint32_t *slot = vec_push(&doubts->ended);
	if (slot)
		*slot = tid;
	return slot;
}

void doubts_forget_ended(struct doubts *doubts)
{
	for (size_t i = 0; i < doubts->ended.count; i++) {
		uint32_t *first = u64map_find(&doubts->tasks, doubts->ended.items[i]);
		uint32_t next = first ? *first : 0;
		while (next) {
			struct doubt_stream *stream = &doubts->streams.items[next - 1];
			uint32_t freed = next;
			next = stream->next;
			stream->next = doubts->free_list;
			doubts->free_list = freed;
		}
		u64map_remove(&doubts->tasks, doubts->ended.items[i]);
	}
	doubts->ended.count = 0;
}

/* A stream before the task's others; its index + 1, or 0 when out of memory. */
static uint32_t add_stream(struct doubts *doubts, uint32_t *first, struct doubt_stream stream)
{
	uint32_t added = doubts->free_list;
	stream.next = *first;
	if (added) {
		doubts->free_list = doubts->streams.items[added - 1].next;
		doubts->streams.items[added - 1] = stream;
	} else {
		struct doubt_stream *slot = vec_push(&doubts->streams);
		if (!slot)
			return 0;
		*slot = stream;
		added = (uint32_t)doubts->streams.count;
	}
	*first = added;
	return added;
}

bool doubts_sample(struct doubts *doubts, uint32_t tid, uint32_t cpu, uint64_t id,
		   uint64_t period, bool *keep_ret)
{
	uint32_t *event = u64map_find(&doubts->events, id);
	uint32_t *first = u64map_find(&doubts->tasks, tid);
	*keep_ret = true;
	if (!event || !first)
		return true;
	uint64_t kept = 0; /* the most that any stream of this place has come to */
	uint32_t own = 0;
	for (uint32_t next = *first; next; next = doubts->streams.items[next - 1].next) {
		struct doubt_stream *stream = &doubts->streams.items[next - 1];
		if (stream->event != *event || stream->cpu != cpu)
			continue;
		if (stream->id == id)
			own = next;
		if (stream->weight > kept)
			kept = stream->weight;
	}
	if (!own)
		own = add_stream(doubts, first,
				 (struct doubt_stream){.event = *event, .cpu = cpu, .id = id});
	if (!own)
		return false;
	struct doubt_stream *stream = &doubts->streams.items[own - 1];
	stream->weight += period;
	*keep_ret = stream->weight > kept;
	return true;
}
