/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pass reads the held records, then the new ones, by time. A process's held records are newer
 * than its written ones: while some are held, its new ones are held, too.
 */
#include "capture/tasks/metadata_hold.h"

#include <string.h>
#include "base/bytes.h"

void metadata_hold_deinit(struct metadata_hold *hold)
{
	vec_deinit(&hold->needs);
	vec_deinit(&hold->held);
	u64map_deinit(&hold->pending);
	u64map_deinit(&hold->deferred);
}

/* Returns whether a record may be held, and what it replaces in its process. */
static bool may_be_held(const struct metadata_record *record, uint32_t *pid_ret, uint64_t *key_ret)
{
	struct metadata_mapping mapping;
	*pid_ret = record->change.pid;
	*key_ret = hash_pair(1, record->change.tid);
	if (!metadata_mapping(record, &mapping))
		return record->change.kind == TASK_RENAMED;
	*pid_ret = mapping.pid;
	*key_ret = hash_pair(mapping.start, mapping.size);
	return mapping.pid != UINT32_MAX &&
	       (record->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
}

static bool next(const struct metadata_hold *hold, const struct record_buffer *records, size_t *at,
		 struct metadata_record *ret)
{
	return metadata_next(records->items, records->count, at, &hold->fields, ret);
}

static void add_room(struct metadata_hold *hold, uint64_t monotonic_ns)
{
	uint64_t passed_ms = (monotonic_ns - hold->time_ns) / 1000000;
	if (!hold->time_ns) {
		hold->room = HOLD_BURST;
		hold->time_ns = monotonic_ns;
		return;
	}
	hold->time_ns += passed_ms * 1000000;
	/* An hour fills it, and does not overflow. */
	passed_ms = passed_ms < 3600000 ? passed_ms : 3600000;
	hold->room += (int64_t)(passed_ms * hold->rate / 1000);
	hold->room = hold->room < HOLD_BURST ? hold->room : HOLD_BURST;
}

bool metadata_hold_is_needed(struct metadata_hold *hold, const struct record_buffer *records,
			     uint64_t monotonic_ns)
{
	add_room(hold, monotonic_ns);
	hold->needs.count = hold->next = 0;
	if (hold->pending.count || hold->deferred.count)
		return true;
	if (hold->rate && (int64_t)records->count > hold->room)
		return true;
	hold->room -= hold->rate ? (int64_t)records->count : 0;
	return false;
}

bool metadata_hold_add_need(struct metadata_hold *hold, uint32_t pid, uint32_t tid,
			    uint64_t time_ns)
{
	return vec_append(&hold->needs, (struct hold_need){pid, tid, time_ns});
}

static int by_pid_and_time(const void *a, const void *b)
{
	const struct hold_need *x = a, *y = b;
	return u64_order(x->pid, y->pid) ?: u64_order(x->time_ns, y->time_ns);
}

/* Returns whether a process needs its records in [from_ns, until_ns). */
static bool has_need(const struct metadata_hold *hold, uint32_t pid, uint64_t from_ns,
		     uint64_t until_ns)
{
	size_t low = 0, high = hold->needs.count;
	const struct hold_need from = {.pid = pid, .time_ns = from_ns};
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_pid_and_time(&hold->needs.items[middle], &from) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < hold->needs.count && hold->needs.items[low].pid == pid &&
	       hold->needs.items[low].time_ns < until_ns;
}

/* A process that begins anew: by an exec, or a fork that reuses the number. */
struct reset {
	size_t at; /* place of the record in `all` */
	uint64_t time_ns;
};

struct hold_pass {
	struct record_buffer all; /* held records, then new ones */
	size_t held_end;
	struct u64map reset_of; /* pid -> index in resets */
	struct {
		VEC(struct reset);
	} resets;
	struct u64map last_of; /* hash of what a record sets -> its place in `all` */
};

static bool add_reset(struct hold_pass *pass, uint32_t pid, size_t at, uint64_t time_ns)
{
	struct reset *reset = u64map_item(&pass->reset_of, pid, &pass->resets);
	if (reset)
		*reset = (struct reset){at, time_ns};
	return reset;
}

/*
 * Notes forks, which need the parent's records, and processes that begin anew, which are
 * deferred no longer. Returns false when out of memory.
 */
static bool note_changes(struct metadata_hold *hold, struct hold_pass *pass)
{
	struct metadata_record record;
	const struct task_change *change = &record.change;
	bool good = true;
	for (size_t at = pass->held_end, begin = at;
	     good && next(hold, &pass->all, &at, &record); begin = at) {
		bool begins = change->kind == TASK_EXECED ||
			      (change->kind == TASK_FORKED && change->is_process);
		if (change->kind == TASK_FORKED)
			good = metadata_hold_add_need(hold, change->parent_pid, change->parent_tid,
						      change->time_ns);
		if (begins || (change->kind == TASK_ENDED && change->is_process))
			u64map_remove(&hold->deferred, change->pid);
		if (good && begins)
			good = add_reset(pass, change->pid, begin, change->time_ns);
	}
	return good;
}

/* Sets the record's type to 0, so that place() skips it, and counts it as dropped. */
static void drop(struct metadata_hold *hold, uint8_t *record)
{
	struct perf_event_header header = record_header_of(record);
	header.type = 0;
	memcpy(record, &header, sizeof(header));
	hold->counts.dropped++;
}

/* Drops records that a later one replaces before the process needs them. */
static bool drop_replaced(struct metadata_hold *hold, struct hold_pass *pass)
{
	struct metadata_record record, before;
	uint32_t pid;
	uint64_t key;
	for (size_t at = 0, begin = 0; next(hold, &pass->all, &at, &record); begin = at) {
		if (!may_be_held(&record, &pid, &key))
			continue;
		bool added;
		uint32_t *last = u64map_put(&pass->last_of, hash_pair(key, pid), begin, &added);
		if (!last)
			return false;
		size_t before_at = *last;
		if (!added && next(hold, &pass->all, &before_at, &before) &&
		    !has_need(hold, pid, before.time_ns, record.time_ns))
			drop(hold, pass->all.items + *last);
		*last = begin;
	}
	return true;
}

void metadata_hold_charge(struct metadata_hold *hold, size_t bytes)
{
	if (hold->rate)
		hold->room -= (int64_t)bytes;
}

/* Writes a record, holds it, or drops it. */
static bool place(struct metadata_hold *hold, const struct hold_pass *pass,
		  const struct metadata_record *decoded, struct record_buffer *records,
		  uint64_t from_ns)
{
	size_t at = decoded->bytes - pass->all.items;
	uint8_t *record = pass->all.items + at;
	uint16_t size = decoded->header.size;
	uint32_t pid;
	uint64_t key, time_ns = decoded->time_ns, until_ns = UINT64_MAX;
	if (!decoded->header.type)
		return true;
	if (!may_be_held(decoded, &pid, &key))
		return record_buffer_append(records, record, size);
	const uint32_t *index = u64map_find(&pass->reset_of, pid);
	const struct reset *reset = index ? &pass->resets.items[*index] : NULL;
	if (reset && at < reset->at)
		until_ns = reset->time_ns;
	bool needed = has_need(hold, pid, time_ns, until_ns);
	if (!needed && until_ns != UINT64_MAX) {
		drop(hold, record);
		return true;
	}
	bool waits = u64map_find(&hold->pending, pid) || u64map_find(&hold->deferred, pid);
	if (hold->rate && (needed ? hold->room < -HOLD_BURST : waits || hold->room < 0))
		return record_buffer_append(&hold->held, record, size) &&
		       u64map_put(&hold->pending, pid, 1, NULL);
	if (at < pass->held_end && time_ns < from_ns)
		bytes_set_u64(record + size - hold->fields.trailer_time, from_ns);
	metadata_hold_charge(hold, size);
	return record_buffer_append(records, record, size);
}

bool metadata_hold_defer(struct metadata_hold *hold, uint32_t pid)
{
	bool added;
	if (!u64map_put(&hold->deferred, pid, 1, &added))
		return false;
	hold->counts.deferred += added;
	return true;
}

/* Drops the oldest records if too many are held. */
static bool limit_held(struct metadata_hold *hold)
{
	struct metadata_record record;
	uint32_t pid;
	uint64_t key;
	size_t at = 0;
	if (hold->held.count <= HOLD_BYTES_MAX)
		return true;
	while (hold->held.count - at > HOLD_BYTES_MAX / 2 &&
	       next(hold, &hold->held, &at, &record)) {
		may_be_held(&record, &pid, &key);
		if (!metadata_hold_defer(hold, pid))
			return false;
		hold->counts.dropped++;
	}
	hold->held.count -= at;
	memmove(hold->held.items, hold->held.items + at, hold->held.count);
	return true;
}

bool metadata_hold_filter(struct metadata_hold *hold, struct record_buffer *records,
			  uint64_t from_ns)
{
	struct hold_pass pass = {.all = hold->held, .held_end = hold->held.count};
	hold->held = (struct record_buffer){0};
	u64map_deinit(&hold->pending);
	bool good = record_buffer_append(&pass.all, records->items, records->count);
	records->count = 0;
	good = good && note_changes(hold, &pass);
	if (good)
		vec_sort(&hold->needs, by_pid_and_time);
	if (good && hold->rate)
		good = drop_replaced(hold, &pass);
	struct metadata_record record;
	for (size_t at = 0; good && next(hold, &pass.all, &at, &record);)
		good = place(hold, &pass, &record, records, from_ns);
	vec_deinit(&pass.all);
	vec_deinit(&pass.resets);
	u64map_deinit(&pass.reset_of);
	u64map_deinit(&pass.last_of);
	return good && limit_held(hold);
}

bool metadata_hold_next(struct metadata_hold *hold, uint32_t *pid_ret,
			struct task_list *threads_ret)
{
	const struct hold_need *needs = hold->needs.items;
	while (hold->next < hold->needs.count && hold->room >= -HOLD_BURST) {
		uint32_t pid = needs[hold->next].pid;
		bool wanted = u64map_remove(&hold->deferred, pid);
		threads_ret->count = 0;
		for (; hold->next < hold->needs.count && needs[hold->next].pid == pid; hold->next++)
			if (wanted && vec_reserve(threads_ret, threads_ret->count + 2))
				threads_ret->items[threads_ret->count++] = needs[hold->next].tid;
		if (!wanted || !threads_ret->count)
			continue;
		/* The leader comes first: its FORK record begins the process. */
		threads_ret->count = u32_sort_unique(threads_ret->items, threads_ret->count);
		if (!task_list_has(threads_ret, pid))
			threads_ret->items[threads_ret->count++] = pid;
		vec_each (item, threads_ret)
			if (*item == pid)
				*item = threads_ret->items[0];
		threads_ret->items[0] = pid;
		hold->counts.read++;
		*pid_ret = pid;
		return true;
	}
	return false;
}

void metadata_hold_finish(struct metadata_hold *hold)
{
	struct metadata_record record;
	for (size_t at = 0; next(hold, &hold->held, &at, &record);)
		hold->counts.dropped++;
	hold->held.count = 0;
}
