/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process has copies of its mappings' records in one buffer. A fork copies the buffer: sharing it
 * would need more code to stay correct. Records get their pid and tid when they are written.
 */
#include "capture/tasks/live_state.h"

#include <string.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "record/types.h"

/* Offsets in the records, as in perf_event_open(2). */
enum {
	BODY_PID = 8,
	BODY_TID = 12,
	TASK_TIME = 24,
	KSYMBOL_FLAGS = 22,
	BPF_TYPE = 8,
	BPF_ID = 12,
	FACT_KEY = 8,
	FACT_END = 16, /* least size of CGROUP, BPF_EVENT and NAMESPACES records */
	KSYMBOL_END = 24,
};

/*
 * Limits of mappings, of a process and of all: the kernel reports no munmap(2), and forked
 * processes share no copies. The first mappings are the program and its libraries.
 */
#define MAPPINGS_MAX 16384
#define MAPPINGS_FIRST 1024
#define MAPPING_BYTES_MAX ((size_t)64 << 20)

/* The kernel reports new control groups, but not removed ones. */
#define FACTS_MAX 65536

/* Number of facts in one part of live_state_next(). */
#define PART_BYTES 65536
#define PART_FACTS 256

static uint8_t *copy_of(const uint8_t *record)
{
	uint16_t size = record ? record_header_of(record).size : 0;
	uint8_t *copy = size ? malloc(size) : NULL;
	if (copy)
		memcpy(copy, record, size);
	return copy;
}

/* -- Tables ---------------------------------------------------------------- */

/* Rows have no holes: the last row replaces a removed one. */
static void renumber(struct u64map *index, uint64_t gone, uint64_t moved)
{
	*u64map_find(index, moved) = *u64map_find(index, gone);
	u64map_remove(index, gone);
}

static struct live_state_process *find_process(const struct live_state *live_state, uint32_t pid)
{
	const uint32_t *index = u64map_find(&live_state->process_index, pid);
	return index ? &live_state->processes.items[*index] : NULL;
}

static struct live_state_thread *find_thread(const struct live_state *live_state, uint32_t tid)
{
	const uint32_t *index = u64map_find(&live_state->thread_index, tid);
	return index ? &live_state->threads.items[*index] : NULL;
}

/* Finds the process, or adds it. NULL when out of memory. */
static struct live_state_process *put_process(struct live_state *live_state, uint32_t pid)
{
	struct live_state_process *process =
		u64map_item(&live_state->process_index, pid, &live_state->processes);
	if (process)
		process->pid = pid;
	return process;
}

static struct live_state_thread *put_thread(struct live_state *live_state, uint32_t tid)
{
	struct live_state_thread *thread =
		u64map_item(&live_state->thread_index, tid, &live_state->threads);
	if (thread)
		thread->tid = tid;
	return thread;
}

static void clear_mappings(struct live_state *live_state, struct live_state_process *process)
{
	live_state->mapping_bytes -= process->bytes.count;
	process->mappings.count = process->bytes.count = process->dead = 0;
	process->is_large = false;
}

/* Drops all mappings of a process that has too many. */
static void drop_mappings(struct live_state *live_state, struct live_state_process *process)
{
	clear_mappings(live_state, process);
	vec_deinit(&process->mappings);
	vec_deinit(&process->bytes);
	process->is_large = true;
}

static bool has_room(const struct live_state *live_state, size_t bytes)
{
	return live_state->mapping_bytes + bytes <= MAPPING_BYTES_MAX;
}

static void process_deinit(struct live_state *live_state, struct live_state_process *process)
{
	live_state->mapping_bytes -= process->bytes.count;
	vec_deinit(&process->tids);
	vec_deinit(&process->mappings);
	vec_deinit(&process->bytes);
}

static void thread_deinit(struct live_state_thread *thread)
{
	free(thread->fork);
	free(thread->comm);
	free(thread->namespaces);
}

/* Removes a thread, and with its last thread the process. */
static void leave(struct live_state *live_state, uint32_t pid, uint32_t tid)
{
	struct live_state_process *process = find_process(live_state, pid);
	if (!process)
		return;
	for (size_t i = 0; i < process->tids.count; i++)
		if (process->tids.items[i] == tid) {
			process->tids.items[i] = process->tids.items[--process->tids.count];
			break;
		}
	if (process->tids.count)
		return;
	process_deinit(live_state, process);
	*process = live_state->processes.items[--live_state->processes.count];
	renumber(&live_state->process_index, pid, process->pid);
}

static void remove_thread(struct live_state *live_state, uint32_t tid)
{
	struct live_state_thread *thread = find_thread(live_state, tid);
	if (!thread)
		return;
	leave(live_state, thread->pid, tid);
	thread_deinit(thread);
	*thread = live_state->threads.items[--live_state->threads.count];
	renumber(&live_state->thread_index, tid, thread->tid);
}

/*
 * Returns the thread of that process; a new, empty one if it is unknown or was of another process.
 * NULL when out of memory.
 */
static struct live_state_thread *enter(struct live_state *live_state, uint32_t pid, uint32_t tid)
{
	struct live_state_thread *thread = find_thread(live_state, tid);
	if (thread && thread->pid == pid)
		return thread;
	if (thread)
		remove_thread(live_state, tid);
	struct live_state_process *process = put_process(live_state, pid);
	if (!process || !vec_reserve(&process->tids, process->tids.count + 1))
		return NULL;
	thread = put_thread(live_state, tid);
	if (!thread)
		return NULL;
	thread->pid = pid;
	*vec_push(&process->tids) = tid;
	return thread;
}

void live_state_deinit(struct live_state *live_state)
{
	vec_each (process, &live_state->processes)
		process_deinit(live_state, process);
	vec_each (thread, &live_state->threads)
		thread_deinit(thread);
	vec_each (fact, &live_state->facts)
		free(fact->record);
	vec_deinit(&live_state->processes);
	vec_deinit(&live_state->threads);
	vec_deinit(&live_state->facts);
	vec_deinit(&live_state->prologue);
	vec_deinit(&live_state->log);
	u64map_deinit(&live_state->process_index);
	u64map_deinit(&live_state->thread_index);
	u64map_deinit(&live_state->fact_index);
}

/* -- Changes by records ------------------------------------------------------ */

/* Sets a record's task, in its body and its trailer. */
static void set_task(const struct live_state *live_state, uint8_t *record, uint32_t pid, uint32_t tid)
{
	size_t trailer = record_header_of(record).size - live_state->fields.trailer_tid;
	bytes_set_u32(record + BODY_PID, pid);
	bytes_set_u32(record + BODY_TID, tid);
	bytes_set_u32(record + trailer, pid);
	bytes_set_u32(record + trailer + 4, tid);
}

/* Copies the parent's COMM or NAMESPACES record; NULL: the parent has none. */
static bool inherit(const struct live_state *live_state, uint8_t **slot, const uint8_t *parents,
		    uint32_t pid, uint32_t tid)
{
	free(*slot);
	*slot = copy_of(parents);
	if (*slot)
		set_task(live_state, *slot, pid, tid);
	return *slot || !parents;
}

static bool replace(uint8_t **slot, const uint8_t *record)
{
	free(*slot);
	return (*slot = copy_of(record));
}

static bool on_fork(struct live_state *live_state, const struct metadata_record *record)
{
	const struct task_change *change = &record->change;
	uint32_t pid = change->pid, tid = change->tid;
	/* An older task has this number: its EXIT is missing. */
	remove_thread(live_state, tid);
	struct live_state_thread *thread = enter(live_state, pid, tid);
	if (!thread)
		return false;
	const struct live_state_thread *parent = find_thread(live_state, change->parent_tid);
	if (!replace(&thread->fork, record->bytes) ||
	    (parent && (!inherit(live_state, &thread->comm, parent->comm, pid, tid) ||
			!inherit(live_state, &thread->namespaces, parent->namespaces, pid, tid))))
		return false;
	struct live_state_process *child = find_process(live_state, pid);
	const struct live_state_process *from = find_process(live_state, change->parent_pid);
	if (!change->is_process)
		return true;
	/* Synthesised mappings follow the FORK record. */
	if (!from || change->is_synthesised) {
		clear_mappings(live_state, child);
		return true;
	}
	clear_mappings(live_state, child);
	if (from->is_large || !has_room(live_state, from->bytes.count)) {
		drop_mappings(live_state, child);
		return true;
	}
	if (!vec_reserve(&child->mappings, from->mappings.count) ||
	    !record_buffer_append(&child->bytes, from->bytes.items, from->bytes.count))
		return false;
	if (from->mappings.count)
		memcpy(child->mappings.items, from->mappings.items,
		       from->mappings.count * sizeof(*from->mappings.items));
	child->mappings.count = from->mappings.count;
	child->dead = from->dead;
	live_state->mapping_bytes += child->bytes.count;
	return true;
}

/*
 * Applies an exec: removes all mappings, and all threads except one, which now has the process's
 * number.
 */
static void begin_program(struct live_state *live_state, struct live_state_process *process, uint32_t tid)
{
	clear_mappings(live_state, process);
	while (process->tids.count > 1) {
		bool first = process->tids.items[0] == tid;
		remove_thread(live_state, process->tids.items[first]);
	}
}

static bool on_comm(struct live_state *live_state, const struct metadata_record *record)
{
	uint32_t pid = record->change.pid, tid = record->change.tid;
	if (!enter(live_state, pid, tid))
		return false;
	if (record->change.kind == TASK_EXECED)
		begin_program(live_state, find_process(live_state, pid), tid);
	return replace(&find_thread(live_state, tid)->comm, record->bytes);
}

/* Frees the bytes of removed mappings. */
static void compact(struct live_state *live_state, struct live_state_process *process)
{
	size_t used = 0, bytes = 0;
	vec_each (item, &process->mappings) {
		struct live_state_mapping mapping = *item;
		if (!mapping.size)
			continue;
		memmove(process->bytes.items + bytes, process->bytes.items + mapping.at, mapping.size);
		mapping.at = bytes;
		bytes += mapping.size;
		process->mappings.items[used++] = mapping;
	}
	live_state->mapping_bytes -= process->bytes.count - bytes;
	process->mappings.count = used;
	process->bytes.count = bytes;
	process->dead = 0;
}

/* Removes the oldest mappings, except the first ones. */
static void remove_oldest(struct live_state *live_state, struct live_state_process *process)
{
	for (size_t i = MAPPINGS_FIRST; i < MAPPINGS_MAX / 4; i++) {
		process->dead += process->mappings.items[i].size != 0;
		process->mappings.items[i].size = 0;
	}
	/* Compacts at once: the oldest mappings must stay at the front. */
	compact(live_state, process);
}

static bool on_mapping(struct live_state *live_state, const struct metadata_record *record,
		       const struct metadata_mapping *mapped)
{
	uint32_t pid = mapped->pid;
	const struct perf_event_header header = record->header;
	if (pid == UINT32_MAX || (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					 PERF_RECORD_MISC_KERNEL)
		return record_buffer_append(&live_state->prologue, record->bytes, header.size);
	struct live_state_process *process = find_process(live_state, pid);
	if (!process && (!enter(live_state, pid, pid) || !(process = find_process(live_state, pid))))
		return false;
	if (process->is_large)
		return true;
	uint64_t start = mapped->start, size = mapped->size;
	uint64_t end = size < UINT64_MAX - start ? start + size : UINT64_MAX;
	/* Removes mappings that the new one covers. Others keep their uncovered part. */
	vec_each (mapping, &process->mappings) {
		if (!mapping->size || mapping->start < start || mapping->end > end)
			continue;
		mapping->size = 0;
		process->dead++;
	}
	if (process->dead > 16 && process->dead > process->mappings.count / 2)
		compact(live_state, process);
	bool full = process->mappings.count - process->dead >= MAPPINGS_MAX;
	if (full && live_state->keeps_newest)
		remove_oldest(live_state, process);
	else if (full || !has_room(live_state, header.size)) {
		drop_mappings(live_state, process);
		return true;
	}
	if (!vec_append(&process->mappings,
			(struct live_state_mapping){start, end, (uint32_t)process->bytes.count,
						    header.size}))
		return false;
	live_state->mapping_bytes += header.size;
	return record_buffer_append(&process->bytes, record->bytes, header.size);
}

static void remove_fact(struct live_state *live_state, uint64_t key)
{
	const uint32_t *known = u64map_find(&live_state->fact_index, key);
	if (!known)
		return;
	struct live_state_fact *fact = &live_state->facts.items[*known];
	free(fact->record);
	*fact = live_state->facts.items[--live_state->facts.count];
	renumber(&live_state->fact_index, key, fact->key);
}

static bool add_fact(struct live_state *live_state, uint64_t key, const uint8_t *record)
{
	const uint32_t *known = u64map_find(&live_state->fact_index, key);
	if (known)
		return replace(&live_state->facts.items[*known].record, record);
	/* The last fact is the newest, and stays. */
	if (live_state->facts.count >= FACTS_MAX)
		remove_fact(live_state, live_state->facts.items[live_state->evict++ % (FACTS_MAX - 1)].key);
	uint32_t index = live_state->facts.count;
	CLEANUP_FREE uint8_t *copy = copy_of(record);
	if (!copy || !vec_reserve(&live_state->facts, index + 1) ||
	    !u64map_put(&live_state->fact_index, key, index, NULL))
		return false;
	*vec_push(&live_state->facts) = (struct live_state_fact){.key = key, .record = take_ptr(copy)};
	return true;
}

static bool on_fact(struct live_state *live_state, const uint8_t *record, uint32_t type)
{
	uint64_t key = hash_pair(type, type == PERF_RECORD_BPF_EVENT ? bytes_u32(record + BPF_ID)
								     : bytes_u64(record + FACT_KEY));
	uint16_t flags;
	memcpy(&flags, record + (type == PERF_RECORD_BPF_EVENT ? BPF_TYPE : KSYMBOL_FLAGS),
	       sizeof(flags));
	bool gone = type == PERF_RECORD_KSYMBOL ? flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
		    : type == PERF_RECORD_BPF_EVENT ? flags == PERF_BPF_EVENT_PROG_UNLOAD : false;
	if (!gone)
		return add_fact(live_state, key, record);
	remove_fact(live_state, key);
	return true;
}

static bool on_record(struct live_state *live_state, const struct metadata_record *record)
{
	const uint8_t *bytes = record->bytes;
	struct metadata_mapping mapping;
	switch (record->change.kind) {
	case TASK_FORKED:
		return on_fork(live_state, record);
	case TASK_ENDED:
		remove_thread(live_state, record->change.tid);
		return true;
	case TASK_EXECED:
	case TASK_RENAMED:
		return on_comm(live_state, record);
	default:
		break;
	}
	if (metadata_mapping(record, &mapping))
		return on_mapping(live_state, record, &mapping);
	if (record->header.type != PERF_RECORD_NAMESPACES)
		return on_fact(live_state, bytes, record->header.type);
	struct live_state_thread *thread =
		enter(live_state, bytes_u32(bytes + BODY_PID), bytes_u32(bytes + BODY_TID));
	return thread && replace(&thread->namespaces, bytes);
}

/* Returns whether a record is part of the state, and has all of its fixed fields. */
static bool is_of_state(const struct metadata_record *record)
{
	struct metadata_mapping mapping;
	switch (record->header.type) {
	case PERF_RECORD_KSYMBOL:
		return record->body >= KSYMBOL_END;
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_BPF_EVENT:
		return record->body >= FACT_END;
	default:
		return record->change.kind != TASK_SAME || metadata_mapping(record, &mapping);
	}
}

struct sp_error *live_state_add(struct live_state *live_state, const uint8_t *bytes, size_t size)
{
	bool good = true;
	const struct record_fields *fields = &live_state->fields;
	struct record_buffer *prologue = &live_state->prologue, *log = &live_state->log;
	struct metadata_record record;
	for (size_t at = 0; good && metadata_next(bytes, size, &at, fields, &record);) {
		/* The recorder's own records are part of each file's begin. */
		if (record.header.type >= RECORD_USER_TYPES)
			good = record_buffer_append(prologue, record.bytes, record.header.size);
		else if (!is_of_state(&record))
			continue;
		else if (record.time_ns <= live_state->base_ns &&
			 live_state->log_begin == log->count)
			good = on_record(live_state, &record);
		else
			good = record_buffer_append(log, record.bytes, record.header.size);
	}
	return good ? NULL : error_no_memory();
}

struct sp_error *live_state_expire(struct live_state *live_state, uint64_t before_ns)
{
	struct record_buffer *log = &live_state->log;
	struct metadata_record record;
	bool good = true;
	for (size_t at = live_state->log_begin;
	     good && metadata_next(log->items, log->count, &at, &live_state->fields, &record) &&
	     record.time_ns <= before_ns; live_state->log_begin = at)
		good = on_record(live_state, &record);
	if (before_ns > live_state->base_ns)
		live_state->base_ns = before_ns;
	if (live_state->log_begin > log->count / 2) {
		memmove(log->items, log->items + live_state->log_begin, log->count - live_state->log_begin);
		log->count -= live_state->log_begin;
		live_state->log_begin = 0;
	}
	return good ? NULL : error_no_memory();
}

struct sp_error *live_state_trim(struct live_state *live_state, size_t size)
{
	uint64_t before_ns = 0;
	if (live_state_log_size(live_state) <= size)
		return NULL;
	/* Removes half at once: small steps would move the rest each time. */
	const struct record_buffer *log = &live_state->log;
	size_t at = live_state->log_begin, end = log->count - size / 2;
	struct metadata_record record;
	while (at < end && metadata_next(log->items, log->count, &at, &live_state->fields, &record))
		before_ns = record.time_ns > before_ns ? record.time_ns : before_ns;
	return live_state_expire(live_state, before_ns);
}

/* -- After losses ---------------------------------------------------------- */

/* Adds an EXIT record, made from the thread's FORK record. */
static bool add_exit(struct live_state *live_state, const struct live_state_thread *thread, uint64_t time_ns)
{
	CLEANUP_FREE uint8_t *record = copy_of(thread->fork);
	if (!record)
		return false;
	struct perf_event_header header = record_header_of(record);
	header.type = PERF_RECORD_EXIT;
	header.misc = 0;
	memcpy(record, &header, sizeof(header));
	bytes_set_u64(record + TASK_TIME, time_ns);
	bytes_set_u64(record + header.size - live_state->fields.trailer_time, time_ns);
	return record_buffer_append(&live_state->log, record, header.size);
}

struct sp_error *live_state_retain(struct live_state *live_state, const uint32_t *pids, size_t count,
				   uint64_t time_ns)
{
	bool good = true;
	/* Backwards, because the last row replaces a removed one. */
	for (size_t i = live_state->threads.count; i-- > 0 && good;) {
		const struct live_state_thread *thread = &live_state->threads.items[i];
		if (count && bsearch(&thread->pid, pids, count, sizeof(*pids), u32_compare))
			continue;
		/* Readers know no start of this thread, so they need no end. */
		if (thread->fork)
			good = add_exit(live_state, thread, time_ns);
		else
			remove_thread(live_state, thread->tid);
	}
	return good ? NULL : error_no_memory();
}

uint32_t live_state_next_large(const struct live_state *live_state, size_t *index)
{
	while (*index < live_state->processes.count) {
		const struct live_state_process *process = &live_state->processes.items[(*index)++];
		if (process->is_large)
			return process->pid;
	}
	return 0;
}

/* -- Writing --------------------------------------------------------------- */

/* Sets the times of a record of the first part to 0, and bits of its `misc`. */
static void set_first(const struct live_state *live_state, uint8_t *record, uint16_t set, uint16_t clear)
{
	struct perf_event_header header = record_header_of(record);
	header.misc = (header.misc | set) & ~clear;
	memcpy(record, &header, sizeof(header));
	bytes_set_u64(record + header.size - live_state->fields.trailer_time, 0);
	if (task_change_is_life(header.type))
		bytes_set_u64(record + TASK_TIME, 0);
}

static bool put_first(const struct live_state *live_state, struct record_buffer *buffer,
		      const uint8_t *record, uint16_t set, uint16_t clear)
{
	size_t at = buffer->count;
	if (!record)
		return true;
	if (!record_buffer_append(buffer, record, record_header_of(record).size))
		return false;
	set_first(live_state, buffer->items + at, set, clear);
	return true;
}

static bool put_task(const struct live_state *live_state, struct record_buffer *buffer, uint32_t tid)
{
	const struct live_state_thread *thread = find_thread(live_state, tid);
	return !thread ||
	       (put_first(live_state, buffer, thread->fork, PERF_RECORD_MISC_FORK_EXEC, 0) &&
		put_first(live_state, buffer, thread->namespaces, 0, 0) &&
		put_first(live_state, buffer, thread->comm, 0, PERF_RECORD_MISC_COMM_EXEC));
}

/* Writes the leader first: its FORK makes the process. */
static bool put_whole_process(const struct live_state *live_state, struct record_buffer *buffer,
			      const struct live_state_process *process)
{
	bool good = put_task(live_state, buffer, process->pid);
	for (size_t i = 0; i < process->tids.count && good; i++)
		if (process->tids.items[i] != process->pid)
			good = put_task(live_state, buffer, process->tids.items[i]);
	for (size_t i = 0; i < process->mappings.count && good; i++) {
		const struct live_state_mapping *mapping = &process->mappings.items[i];
		size_t at = buffer->count;
		if (!mapping->size)
			continue;
		good = put_first(live_state, buffer, process->bytes.items + mapping->at, 0, 0);
		if (good)
			set_task(live_state, buffer->items + at, process->pid, process->pid);
	}
	return good;
}

static bool put_facts(const struct live_state *live_state, size_t part, struct record_buffer *buffer)
{
	size_t end = (part + 1) * PART_FACTS;
	bool good = true;
	for (size_t i = part * PART_FACTS; i < end && i < live_state->facts.count && good; i++)
		good = put_first(live_state, buffer, live_state->facts.items[i].record, 0, 0);
	return good;
}

/* Steps: first records, facts, processes, and later records. */
struct sp_error *live_state_next(const struct live_state *live_state, struct live_state_place *place,
				 struct record_buffer *buffer, bool *more_ret)
{
	size_t facts = 1 + (live_state->facts.count + PART_FACTS - 1) / PART_FACTS;
	size_t processes = facts + live_state->processes.count, step = place->step++;
	bool good = true;
	*more_ret = step <= processes;
	if (step > processes)
		return NULL;
	if (!step)
		good = record_buffer_append(buffer, live_state->prologue.items,
					    live_state->prologue.count);
	else if (step < facts)
		good = put_facts(live_state, step - 1, buffer);
	else if (step < processes)
		good = put_whole_process(live_state, buffer, &live_state->processes.items[step - facts]);
	else if (live_state->log.count) /* an empty log has no items to point into */
		good = record_buffer_append(buffer, live_state->log.items + live_state->log_begin,
			      live_state_log_size(live_state));
	return good ? NULL : error_no_memory();
}
