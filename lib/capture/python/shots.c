/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/shots.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

struct python_shot {
	uint64_t time_ns, reader_ns;
	uint32_t tid;
	uint32_t frame_count, group_count;
	bool exact, truncated;
	size_t bytes; /* with frames and groups */
	struct python_frame frames[]; /* then groups */
};

void python_shots_init(struct python_shots *shots)
{
	*shots = (struct python_shots){0};
	pthread_mutex_init(&shots->lock, NULL);
}

static void drop_all(struct python_shots *shots)
{
	for (size_t i = 0; i < PYTHON_SHOTS_MAX; i++) {
		free(shots->places[i]);
		shots->places[i] = NULL;
	}
	shots->bytes = 0;
}

void python_shots_deinit(struct python_shots *shots)
{
	drop_all(shots);
	pthread_mutex_destroy(&shots->lock);
}

/* Number of places for a sample's stack, from its hash on. */
#define PLACES 8

static struct python_shot **place_of(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
				     size_t i)
{
	return &shots->places[(hash_pair(tid, time_ns) + i) % PYTHON_SHOTS_MAX];
}

/* Returns a free place, or that of the oldest stack. */
static struct python_shot **place_for(struct python_shots *shots, uint32_t tid, uint64_t time_ns)
{
	struct python_shot **ret = place_of(shots, tid, time_ns, 0);
	for (size_t i = 1; *ret && i < PLACES; i++) {
		struct python_shot **place = place_of(shots, tid, time_ns, i);
		if (!*place || (*place)->time_ns < (*ret)->time_ns)
			ret = place;
	}
	return ret;
}

/* Returns the place of a stack; NULL if it is not there. */
static struct python_shot **find(struct python_shots *shots, uint32_t tid, uint64_t time_ns)
{
	for (size_t i = 0; i < PLACES; i++) {
		struct python_shot **place = place_of(shots, tid, time_ns, i), *shot = *place;
		if (shot && shot->tid == tid && shot->time_ns == time_ns)
			return place;
	}
	return NULL;
}

void python_shots_add(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
		      const struct python_stack *stack, bool exact, uint64_t reader_ns)
{
	size_t frame_bytes = stack->frame_count * sizeof(*stack->frames);
	size_t group_bytes = stack->group_count * sizeof(*stack->groups);
	size_t bytes = sizeof(struct python_shot) + frame_bytes + group_bytes;
	struct python_shot *shot = malloc(bytes);
	if (!shot)
		return;
	*shot = (struct python_shot){
		.time_ns = time_ns, .reader_ns = reader_ns, .tid = tid,
		.frame_count = stack->frame_count, .group_count = stack->group_count,
		.exact = exact, .truncated = stack->truncated, .bytes = bytes,
	};
	memcpy(shot->frames, stack->frames, frame_bytes);
	memcpy(shot->frames + stack->frame_count, stack->groups, group_bytes);
	pthread_mutex_lock(&shots->lock);
	if (shots->bytes + bytes > PYTHON_SHOTS_BYTES)
		drop_all(shots);
	struct python_shot **place = place_for(shots, tid, time_ns);
	struct python_shot *before = *place;
	shots->bytes += bytes - (before ? before->bytes : 0);
	*place = shot;
	pthread_mutex_unlock(&shots->lock);
	free(before);
}

uint64_t python_shots_reader_ns(struct python_shots *shots, uint32_t tid, uint64_t time_ns)
{
	pthread_mutex_lock(&shots->lock);
	struct python_shot **place = find(shots, tid, time_ns);
	uint64_t reader_ns = place ? (*place)->reader_ns : 0;
	pthread_mutex_unlock(&shots->lock);
	return reader_ns;
}

bool python_shots_take(struct python_shots *shots, uint32_t tid, uint64_t time_ns,
		       struct python_stack *ret, bool *exact_ret)
{
	pthread_mutex_lock(&shots->lock);
	struct python_shot **place = find(shots, tid, time_ns), *shot = place ? *place : NULL;
	if (shot) {
		*place = NULL;
		shots->bytes -= shot->bytes;
	}
	pthread_mutex_unlock(&shots->lock);
	if (!shot)
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
