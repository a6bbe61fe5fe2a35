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
	uint64_t hash = hash_pair((uintptr_t)group->comm,
				  (uint32_t)group->event << 8 | group->replicate);
	hash = hash_pair(hash, key_of_pair(group->pid, group->tid));
	hash = hash_pair(hash, key_of_pair(group->detail, group->cpu));
	hash ^= hash_u64(key_of_pair(group->stratum.slice, group->stratum.number));
	hash ^= hash_pair((uintptr_t)group->waker,
			  key_of_pair(group->syscall, group->kernel_chain));
	hash ^= hash_pair(group->process_ns, group->process_pid);
	for (;; hash++) { /* after a hash collision, try the next key */
		const size_t before = groups->count;
		struct group *item = u64map_item(&groups->index_of, hash, groups);
		if (!item) {
			groups->failed = true;
			return 0;
		}
		if (groups->count > before)
			*item = *group;
		if (same_group(item, group))
			return item - groups->items;
	}
}
