/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/group.h"

void groups_deinit(struct groups *groups)
{
	vec_deinit(groups);
	u64map_deinit(&groups->index_of);
}

static bool same_group(const struct group *a, const struct group *b)
{
	return a->event == b->event && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->cpu == b->cpu && a->detail == b->detail &&
	       a->replicate == b->replicate && a->stratum.slice == b->stratum.slice &&
	       a->stratum.number == b->stratum.number && a->syscall == b->syscall &&
	       a->kernel_chain == b->kernel_chain && a->waker == b->waker &&
	       a->process_pid == b->process_pid && a->process_ns == b->process_ns;
}

uint32_t groups_add(struct groups *groups, const struct group *group)
{
	bool added;
	uint64_t hash = hash_pair((uintptr_t)group->comm,
				  (uint32_t)group->event << 8 | group->replicate);
	hash = hash_pair(hash, (uint64_t)(uint32_t)group->pid << 32 | (uint32_t)group->tid);
	hash = hash_pair(hash, (uint64_t)group->detail << 32 | (uint32_t)group->cpu);
	hash ^= hash_u64((uint64_t)group->stratum.slice << 32 | group->stratum.number);
	hash ^= hash_pair((uintptr_t)group->waker,
			  (uint64_t)group->syscall << 32 | group->kernel_chain);
	hash ^= hash_pair(group->process_ns, group->process_pid);
	if (!vec_reserve(groups, groups->count + 1))
		return UINT32_MAX;
	for (;; hash++) { /* after a hash collision, try the next key */
		const uint32_t *index = u64map_put(&groups->index_of, hash,
						   (uint32_t)groups->count, &added);
		if (!index)
			return UINT32_MAX;
		if (added)
			*vec_push(groups) = *group;
		if (same_group(&groups->items[*index], group))
			return *index;
	}
}
