/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/double_sampling.h"

void double_sampling_deinit(struct double_sampling *double_sampling)
{
	u64map_deinit(&double_sampling->events);
	u64map_deinit(&double_sampling->tasks);
	vec_deinit(&double_sampling->streams);
	vec_deinit(&double_sampling->ended);
}

bool double_sampling_add_id(struct double_sampling *double_sampling, uint64_t id, uint32_t event)
{
	return u64map_put(&double_sampling->events, id, event, NULL);
}

bool double_sampling_add_task(struct double_sampling *double_sampling, uint32_t tid)
{
	return u64map_put(&double_sampling->tasks, tid, 0, NULL);
}

bool double_sampling_fork(struct double_sampling *double_sampling, uint32_t parent_tid, uint32_t tid)
{
	return !double_sampling_has(double_sampling, parent_tid) ||
	       double_sampling_add_task(double_sampling, tid);
}

bool double_sampling_exit(struct double_sampling *double_sampling, uint32_t tid)
{
	if (!double_sampling_has(double_sampling, tid))
		return true;
	return vec_append(&double_sampling->ended, tid);
}

void double_sampling_remove_ended(struct double_sampling *double_sampling)
{
	vec_each (item, &double_sampling->ended) {
		uint32_t *first = u64map_find(&double_sampling->tasks, *item);
		uint32_t next = first ? *first : 0;
		while (next) {
			struct double_sample_stream *stream = &double_sampling->streams.items[next - 1];
			uint32_t freed = next;
			next = stream->next;
			stream->next = double_sampling->free_list;
			double_sampling->free_list = freed;
		}
		u64map_remove(&double_sampling->tasks, *item);
	}
	double_sampling->ended.count = 0;
}

/* Adds a stream before the task's others. Returns its index + 1; 0 when out of memory. */
static uint32_t add_stream(struct double_sampling *double_sampling, uint32_t *first,
			   struct double_sample_stream stream)
{
	uint32_t added = double_sampling->free_list;
	stream.next = *first;
	if (added) {
		double_sampling->free_list = double_sampling->streams.items[added - 1].next;
		double_sampling->streams.items[added - 1] = stream;
	} else {
		if (!vec_append(&double_sampling->streams, stream))
			return 0;
		added = double_sampling->streams.count;
	}
	*first = added;
	return added;
}

bool double_sampling_sample(struct double_sampling *double_sampling, uint32_t tid, uint32_t cpu, uint64_t id,
		   uint64_t period, bool *keep_ret)
{
	uint32_t *event = u64map_find(&double_sampling->events, id);
	uint32_t *first = u64map_find(&double_sampling->tasks, tid);
	*keep_ret = true;
	if (!event || !first)
		return true;
	uint64_t kept = 0; /* the greatest weight of any stream at this place */
	uint32_t own = 0;
	for (uint32_t next = *first; next; next = double_sampling->streams.items[next - 1].next) {
		struct double_sample_stream *stream = &double_sampling->streams.items[next - 1];
		if (stream->event != *event || stream->cpu != cpu)
			continue;
		if (stream->id == id)
			own = next;
		if (stream->weight > kept)
			kept = stream->weight;
	}
	if (!own)
		own = add_stream(double_sampling, first,
				 (struct double_sample_stream){.event = *event, .cpu = cpu, .id = id});
	if (!own)
		return false;
	struct double_sample_stream *stream = &double_sampling->streams.items[own - 1];
	stream->weight += period;
	*keep_ret = stream->weight > kept;
	return true;
}
