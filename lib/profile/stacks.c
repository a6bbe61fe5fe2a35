/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/stacks.h"

#include "profile/interval.h"

void stacks_deinit(struct stacks *stacks)
{
	vec_deinit(stacks);
	u64map_deinit(&stacks->children);
}

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t id)
{
	bool added;
	if (stacks->count == STACK_NONE || !vec_reserve(stacks, stacks->count + 1))
		return STACK_NONE;
	const uint32_t *index = u64map_put(&stacks->children, (uint64_t)parent << 32 | id,
					   (uint32_t)stacks->count, &added);
	if (!index)
		return STACK_NONE;
	if (added)
		*vec_push(stacks) = (struct stack_node){.parent = parent, .id = id};
	return *index;
}

void stacks_add(struct stacks *stacks, uint32_t node, uint64_t samples, uint64_t weight)
{
	struct stack_node *at = &stacks->items[node];
	at->samples = weight_add(at->samples, samples);
	at->weight = weight_add(at->weight, weight);
}
