/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each number has a chain of spans, newest first; all but a few have just one.
 * What was never a member is not stored, and a number that stays unused after its task's end is
 * freed when that time is no longer needed.
 */
#include "capture/tasks/membership.h"

#include <string.h>

static uint32_t number_of(const struct membership *membership, uint32_t pid, uint32_t tid)
{
	return membership->by == MEMBERSHIP_BY_PROCESS ? pid : tid;
}

void membership_deinit(struct membership *membership)
{
	u64map_deinit(&membership->newest);
	u64map_deinit(&membership->live);
	u64map_deinit(&membership->threads);
	vec_deinit(&membership->spans);
	vec_deinit(&membership->ended);
}

static struct membership_span *new_span(struct membership *membership)
{
	if (!membership->free_list)
		return vec_push(&membership->spans);
	struct membership_span *span = &membership->spans.items[membership->free_list - 1];
	membership->free_list = span->older;
	return span;
}

/*
 * Begins a span of `number` at from_ns, unless its newest span says the same. Returns false when
 * out of memory.
 */
static bool begin_span(struct membership *membership, uint32_t number, uint64_t from_ns, bool in)
{
	uint32_t *newest = u64map_find(&membership->newest, number);
	uint32_t older = newest ? *newest + 1 : 0;
	if ((older && membership->spans.items[older - 1].in == in) || (!older && !in))
		return true;
	struct membership_span *span = new_span(membership);
	if (!span)
		return false;
	*span = (struct membership_span){.from_ns = from_ns, .older = older, .in = in};
	uint32_t index = span - membership->spans.items;
	uint32_t *slot = u64map_put(&membership->newest, number, index, NULL);
	if (!slot)
		return false;
	*slot = index;
	membership->chained += older != 0;
	return true;
}

/* Adds a thread to the number of a process's threads, or removes one. Fails only when adding. */
static bool count_thread(struct membership *membership, uint32_t pid, int change)
{
	uint32_t *count = change > 0 ? u64map_put(&membership->threads, pid, 0, NULL)
				     : u64map_find(&membership->threads, pid);
	if (!count)
		return change < 0;
	*count += (uint32_t)change;
	if (!*count)
		u64map_remove(&membership->threads, pid);
	return true;
}

static void remove_live(struct membership *membership, uint32_t tid)
{
	const uint32_t *pid = u64map_find(&membership->live, tid);
	if (!pid)
		return;
	count_thread(membership, *pid, -1);
	u64map_remove(&membership->live, tid);
}

static bool add_live(struct membership *membership, uint32_t pid, uint32_t tid)
{
	remove_live(membership, tid);
	return u64map_put(&membership->live, tid, pid, NULL) && count_thread(membership, pid, 1);
}

bool membership_add(struct membership *membership, uint32_t pid, uint32_t tid, uint64_t from_ns)
{
	return begin_span(membership, number_of(membership, pid, tid), from_ns, true) &&
	       add_live(membership, pid, tid);
}

static bool on_fork(struct membership *membership, const struct task_change *birth)
{
	bool in = membership_has(membership, birth->parent_pid, birth->parent_tid, birth->time_ns) &&
		  !(birth->is_process && membership->threads_only);
	if (birth->is_process || membership->by == MEMBERSHIP_BY_THREAD) {
		uint32_t number = number_of(membership, birth->pid, birth->tid);
		in = in && membership->follow;
		if (!begin_span(membership, number, birth->time_ns, in))
			return false;
	}
	return !in || add_live(membership, birth->pid, birth->tid);
}

/* Returns a living thread of `pid`, except the leader. */
static bool find_other_thread(const struct membership *membership, uint32_t pid, uint32_t *tid_ret)
{
	for (size_t i = 0; i < membership->live.capacity; i++) {
		const struct u64map_entry *entry = &membership->live.entries[i];
		if (entry->used && entry->value == pid && entry->key != pid) {
			*tid_ret = entry->key;
			return true;
		}
	}
	return false;
}

static bool on_exec(struct membership *membership, uint32_t pid, uint64_t time_ns)
{
	/* The leader itself, if it still lives, made the exec: nothing changes. */
	uint32_t tid;
	if (u64map_find(&membership->live, pid) || !find_other_thread(membership, pid, &tid))
		return true;
	remove_live(membership, tid);
	return membership_add(membership, pid, pid, time_ns);
}

/* Returns whether a living task has the number. */
static bool is_used(const struct membership *membership, uint32_t number)
{
	const struct u64map *used = membership->by == MEMBERSHIP_BY_PROCESS ? &membership->threads
									    : &membership->live;
	return u64map_find(used, number);
}

static bool on_exit_of(struct membership *membership, uint32_t tid, uint64_t time_ns)
{
	const uint32_t *pid = u64map_find(&membership->live, tid);
	if (!pid)
		return true;
	uint32_t number = number_of(membership, *pid, tid);
	remove_live(membership, tid);
	if (is_used(membership, number))
		return true;
	return vec_append(&membership->ended, (struct membership_end){time_ns, number});
}

void membership_exit(struct membership *membership, uint32_t tid)
{
	remove_live(membership, tid);
}

bool membership_on_change(struct membership *membership, const struct task_change *change)
{
	switch (change->kind) {
	case TASK_FORKED:
		return on_fork(membership, change);
	case TASK_ENDED:
		return on_exit_of(membership, change->tid, change->time_ns);
	case TASK_EXECED:
		return on_exec(membership, change->pid, change->time_ns);
	default:
		return true;
	}
}

bool membership_find(const struct membership *membership, uint32_t pid, uint32_t tid,
		     uint64_t time_ns, uint64_t *since_ret, uint64_t *until_ret)
{
	*since_ret = 0;
	*until_ret = UINT64_MAX;
	uint32_t *newest = u64map_find(&membership->newest, number_of(membership, pid, tid));
	uint32_t next = newest ? *newest + 1 : 0;
	while (next) {
		const struct membership_span *span = &membership->spans.items[next - 1];
		if (span->from_ns <= time_ns) {
			*since_ret = span->from_ns;
			return span->in;
		}
		*until_ret = span->from_ns;
		next = span->older;
	}
	return false;
}

bool membership_has(const struct membership *membership, uint32_t pid, uint32_t tid,
		    uint64_t time_ns)
{
	uint64_t since_ns, until_ns;
	return membership_find(membership, pid, tid, time_ns, &since_ns, &until_ns);
}

static void free_chain(struct membership *membership, uint32_t first)
{
	while (first) {
		uint32_t next = membership->spans.items[first - 1].older;
		membership->spans.items[first - 1].older = membership->free_list;
		membership->free_list = first;
		first = next;
	}
}

/* Frees a number's spans, unless another task has or had the number since. */
static void give_up(struct membership *membership, const struct membership_end *end)
{
	const uint32_t *newest = u64map_find(&membership->newest, end->number);
	if (!newest || is_used(membership, end->number))
		return;
	const struct membership_span *span = &membership->spans.items[*newest];
	if (span->from_ns > end->time_ns)
		return;
	/* The loop that cuts chains counts `chained` again. */
	free_chain(membership, *newest + 1);
	u64map_remove(&membership->newest, end->number);
}

static void expire_ended(struct membership *membership, uint64_t before_ns)
{
	size_t *begin = &membership->ended_begin, count = membership->ended.count;
	for (; *begin < count && membership->ended.items[*begin].time_ns < before_ns; ++*begin)
		give_up(membership, &membership->ended.items[*begin]);
	if (*begin <= count / 2)
		return;
	memmove(membership->ended.items, membership->ended.items + *begin,
		(count - *begin) * sizeof(*membership->ended.items));
	membership->ended.count = count - *begin;
	*begin = 0;
}

void membership_expire(struct membership *membership, uint64_t before_ns)
{
	expire_ended(membership, before_ns);
	if (!membership->chained)
		return;
	membership->chained = 0;
	for (size_t i = 0; i < membership->newest.capacity; i++) {
		const struct u64map_entry *entry = &membership->newest.entries[i];
		if (!entry->used)
			continue;
		/*
		 * Cuts a chain after the span that holds at `before_ns`: older ones are never
		 * looked up.
		 */
		struct membership_span *span = &membership->spans.items[entry->value];
		for (; span->from_ns > before_ns && span->older; membership->chained++)
			span = &membership->spans.items[span->older - 1];
		free_chain(membership, span->older);
		span->older = 0;
	}
}
