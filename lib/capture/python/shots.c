/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/shots.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

struct python_shot {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t frame_count, group_count;
	bool exact, truncated;
	struct python_frame frames[]; /* then groups */
};

void python_shots_init(struct python_shots *shots)
{
	*shots = (struct python_shots){0};
	pthread_mutex_init(&shots->lock, NULL);
}

void python_shots_deinit(struct python_shots *shots)
{
	for (size_t i = 0; i < PYTHON_SHOTS_MAX; i++)
		free(shots->places[i]);
	pthread_mutex_destroy(&shots->lock);
}

static struct python_shot **place_of(struct python_shots *shots, uint32_t tid, uint64_t time_ns)
{
	return &shots->places[hash_pair(tid, time_ns) % PYTHON_SHOTS_MAX];
}

void python_shots_add(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
		      const struct python_stack *stack, bool exact)
{
	size_t frame_bytes = stack->frame_count * sizeof(*stack->frames);
	size_t group_bytes = stack->group_count * sizeof(*stack->groups);
	struct python_shot *shot = malloc(sizeof(*shot) + frame_bytes + group_bytes);
	if (!shot)
		return;
	*shot = (struct python_shot){
		.time_ns = time_ns, .tid = tid, .frame_count = stack->frame_count,
		.group_count = stack->group_count, .exact = exact, .truncated = stack->truncated,
	};
	memcpy(shot->frames, stack->frames, frame_bytes);
	memcpy(shot->frames + stack->frame_count, stack->groups, group_bytes);
	pthread_mutex_lock(&shots->lock);
	struct python_shot **place = place_of(shots, tid, time_ns);
	struct python_shot *before = *place;
	*place = shot;
	pthread_mutex_unlock(&shots->lock);
	free(before);
}

bool python_shots_take(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
		       struct python_stack *ret, bool *exact_ret)
{
	pthread_mutex_lock(&shots->lock);
	struct python_shot **place = place_of(shots, tid, time_ns), *shot = *place;
	bool found = shot && shot->tid == tid && shot->time_ns == time_ns;
	if (found)
		*place = NULL;
	pthread_mutex_unlock(&shots->lock);
	if (!found)
		return false;
	ret->frame_count = shot->frame_count;
	ret->group_count = shot->group_count;
	ret->truncated = shot->truncated;
	*exact_ret = shot->exact;
	memcpy(ret->frames, shot->frames, shot->frame_count * sizeof(*ret->frames));
	memcpy(ret->groups, shot->frames + shot->frame_count,
	       shot->group_count * sizeof(*ret->groups));
	free(shot);
	return true;
}
