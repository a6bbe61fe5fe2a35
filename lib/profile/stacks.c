/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/stacks.h"

#include "profile/interval.h"

void stacks_deinit(struct stacks *stacks)
{
	vec_deinit(stacks);
	u64map_deinit(&stacks->children);
}

static uint64_t child_key(uint32_t parent, uint32_t id)
{
	return (uint64_t)parent << 32 | id;
}

/* The child as the map knows it, made if it is new; STACK_NONE when out of memory. */
static uint32_t mapped_child(struct stacks *stacks, uint32_t parent, uint32_t id)
{
	bool added;
	const uint32_t *index = u64map_put(&stacks->children, child_key(parent, id),
					   (uint32_t)stacks->count, &added);
	if (!index)
		return STACK_NONE;
	if (added)
		*vec_push(stacks) = (struct stack_node){.parent = parent, .id = id,
							.recent = STACK_NONE};
	return *index;
}

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t id)
{
	struct stack_node *from = parent == STACK_NONE ? NULL : &stacks->items[parent];
	if (from && from->recent != STACK_NONE && stacks->items[from->recent].id == id)
		return from->recent;
	if (stacks->count == STACK_NONE || !vec_reserve(stacks, stacks->count + 1))
		return STACK_NONE;
	if (!from)
		return mapped_child(stacks, STACK_NONE, id);
	from = &stacks->items[parent];
	if (from->recent == STACK_NONE) {
		from->recent = (uint32_t)stacks->count;
		*vec_push(stacks) = (struct stack_node){.parent = parent, .id = id,
							.recent = STACK_NONE};
		return from->recent;
	}
	if (!from->forked) {
		uint64_t only = child_key(parent, stacks->items[from->recent].id);
		if (!u64map_put(&stacks->children, only, from->recent, NULL))
			return STACK_NONE;
		from->forked = true;
	}
	uint32_t child = mapped_child(stacks, parent, id);
	if (child != STACK_NONE)
		from->recent = child;
	return child;
}

void stacks_add(struct stacks *stacks, uint32_t node, uint64_t samples, uint64_t weight)
{
	struct stack_node *at = &stacks->items[node];
	at->samples = weight_add(at->samples, samples);
	at->weight = weight_add(at->weight, weight);
}
