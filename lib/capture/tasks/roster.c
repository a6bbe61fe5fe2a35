/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process keeps copies of its mappings' records, one behind the other; a fork copies them all,
 * which costs less than sharing them would in what has to be kept right. Whose they are is
 * put into them when they are written.
 */
#include "capture/tasks/roster.h"

#include <string.h>
#include "base/cleanup.h"
#include "record/types.h"

/* Layout of the records, as perf_event_open(2) has them. */
enum {
	BODY_PID = 8,
	BODY_TID = 12,
	COMM_TEXT = 16,
	TASK_PPID = 12,
	TASK_TID = 16,
	TASK_PTID = 20,
	TASK_TIME = 24,
	TASK_END = 32,
	MMAP_START = 16,
	MMAP_SIZE = 24,
	MMAP_END = 40,
	KSYMBOL_FLAGS = 22,
	BPF_TYPE = 8,
	BPF_ID = 12,
	BPF_END = 16,
	FACT_KEY = 8,
};

/*
 * That mappings were removed is not told. So where there are more than this, the oldest but for
 * the first ones (the program and its libraries) are taken for gone.
 */
#define MAPPINGS_MAX 16384
#define MAPPINGS_FIRST 1024

/* Control groups come and go, and only their coming is told. */
#define FACTS_MAX 65536

/* A part of the log, or of the facts, that is written at a time. */
#define PART_BYTES 65536
#define PART_FACTS 256

static uint32_t get_u32(const uint8_t *record, size_t at)
{
	uint32_t value;
	memcpy(&value, record + at, sizeof(value));
	return value;
}

static uint64_t get_u64(const uint8_t *record, size_t at)
{
	uint64_t value;
	memcpy(&value, record + at, sizeof(value));
	return value;
}

static void set_u32(uint8_t *record, size_t at, uint32_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static void set_u64(uint8_t *record, size_t at, uint64_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static struct perf_event_header header_of(const uint8_t *record)
{
	struct perf_event_header header;
	memcpy(&header, record, sizeof(header));
	return header;
}

static uint8_t *copy_of(const uint8_t *record)
{
	uint16_t size = record ? header_of(record).size : 0;
	uint8_t *copy = size ? malloc(size) : NULL;
	if (copy)
		memcpy(copy, record, size);
	return copy;
}

static bool append(struct record_buffer *buffer, const uint8_t *bytes, size_t size)
{
	if (!vec_reserve(buffer, buffer->count + size))
		return false;
	if (size)
		memcpy(buffer->items + buffer->count, bytes, size);
	buffer->count += size;
	return true;
}

/* -- Tables ---------------------------------------------------------------- */

/* Rows have no holes: where one is gone, the last one has moved to its place. */
static void renumber(struct u64map *index, uint64_t gone, uint64_t moved)
{
	*u64map_find(index, moved) = *u64map_find(index, gone);
	u64map_remove(index, gone);
}

static struct roster_process *find_process(const struct roster *roster, uint32_t pid)
{
	const uint32_t *index = u64map_find(&roster->process_index, pid);
	return index ? &roster->processes.items[*index] : NULL;
}

static struct roster_thread *find_thread(const struct roster *roster, uint32_t tid)
{
	const uint32_t *index = u64map_find(&roster->thread_index, tid);
	return index ? &roster->threads.items[*index] : NULL;
}

/* Made, where it is not there; NULL when out of memory. */
static struct roster_process *put_process(struct roster *roster, uint32_t pid)
{
	struct roster_process *process = find_process(roster, pid);
	if (process)
		return process;
	uint32_t index = (uint32_t)roster->processes.count;
	if (!vec_reserve(&roster->processes, index + 1) ||
	    !u64map_put(&roster->process_index, pid, index, NULL))
		return NULL;
	process = vec_push(&roster->processes);
	*process = (struct roster_process){.pid = pid};
	return process;
}

static struct roster_thread *put_thread(struct roster *roster, uint32_t tid)
{
	struct roster_thread *thread = find_thread(roster, tid);
	if (thread)
		return thread;
	uint32_t index = (uint32_t)roster->threads.count;
	if (!vec_reserve(&roster->threads, index + 1) ||
	    !u64map_put(&roster->thread_index, tid, index, NULL))
		return NULL;
	thread = vec_push(&roster->threads);
	*thread = (struct roster_thread){.tid = tid};
	return thread;
}

static void clear_mappings(struct roster_process *process)
{
	process->mappings.count = process->bytes.count = process->dead = 0;
}

static void process_deinit(struct roster_process *process)
{
	vec_deinit(&process->tids);
	vec_deinit(&process->mappings);
	vec_deinit(&process->bytes);
}

static void thread_deinit(struct roster_thread *thread)
{
	free(thread->fork);
	free(thread->comm);
	free(thread->namespaces);
}

/* The process goes with its last thread. */
static void leave(struct roster *roster, uint32_t pid, uint32_t tid)
{
	struct roster_process *process = find_process(roster, pid);
	if (!process)
		return;
	for (size_t i = 0; i < process->tids.count; i++)
		if (process->tids.items[i] == tid) {
			process->tids.items[i] = process->tids.items[--process->tids.count];
			break;
		}
	if (process->tids.count)
		return;
	process_deinit(process);
	*process = roster->processes.items[--roster->processes.count];
	renumber(&roster->process_index, pid, process->pid);
}

static void remove_thread(struct roster *roster, uint32_t tid)
{
	struct roster_thread *thread = find_thread(roster, tid);
	if (!thread)
		return;
	leave(roster, thread->pid, tid);
	thread_deinit(thread);
	*thread = roster->threads.items[--roster->threads.count];
	renumber(&roster->thread_index, tid, thread->tid);
}

/* A thread of that process, whosever it was; NULL when out of memory. */
static struct roster_thread *enter(struct roster *roster, uint32_t pid, uint32_t tid)
{
	struct roster_thread *thread = find_thread(roster, tid);
	if (thread && thread->pid == pid)
		return thread;
	if (thread)
		remove_thread(roster, tid);
	struct roster_process *process = put_process(roster, pid);
	if (!process || !vec_reserve(&process->tids, process->tids.count + 1))
		return NULL;
	thread = put_thread(roster, tid);
	if (!thread)
		return NULL;
	thread->pid = pid;
	*vec_push(&process->tids) = tid;
	return thread;
}

void roster_deinit(struct roster *roster)
{
	for (size_t i = 0; i < roster->processes.count; i++)
		process_deinit(&roster->processes.items[i]);
	for (size_t i = 0; i < roster->threads.count; i++)
		thread_deinit(&roster->threads.items[i]);
	for (size_t i = 0; i < roster->facts.count; i++)
		free(roster->facts.items[i].record);
	vec_deinit(&roster->processes);
	vec_deinit(&roster->threads);
	vec_deinit(&roster->facts);
	vec_deinit(&roster->prologue);
	vec_deinit(&roster->log);
	u64map_deinit(&roster->process_index);
	u64map_deinit(&roster->thread_index);
	u64map_deinit(&roster->fact_index);
}

/* -- What records do ------------------------------------------------------- */

/* Whose a record is, in its body and behind it. */
static void set_task(const struct roster *roster, uint8_t *record, uint32_t pid, uint32_t tid)
{
	size_t trailer = header_of(record).size - roster->fields.trailer_tid;
	set_u32(record, BODY_PID, pid);
	set_u32(record, BODY_TID, tid);
	set_u32(record, trailer, pid);
	set_u32(record, trailer + 4, tid);
}

/* A name, or namespaces, as the parent has them; NULL is no news. */
static bool inherit(const struct roster *roster, uint8_t **slot, const uint8_t *parents,
		    uint32_t pid, uint32_t tid)
{
	free(*slot);
	*slot = copy_of(parents);
	if (*slot)
		set_task(roster, *slot, pid, tid);
	return *slot || !parents;
}

static bool replace(uint8_t **slot, const uint8_t *record)
{
	free(*slot);
	return (*slot = copy_of(record));
}

static bool copy_mappings(struct roster_process *to, const struct roster_process *from)
{
	clear_mappings(to);
	if (!vec_reserve(&to->mappings, from->mappings.count) ||
	    !append(&to->bytes, from->bytes.items, from->bytes.count))
		return false;
	if (from->mappings.count)
		memcpy(to->mappings.items, from->mappings.items,
		       from->mappings.count * sizeof(*from->mappings.items));
	to->mappings.count = from->mappings.count;
	to->dead = from->dead;
	return true;
}

static bool see_fork(struct roster *roster, const uint8_t *record)
{
	uint32_t pid = get_u32(record, BODY_PID), ppid = get_u32(record, TASK_PPID);
	uint32_t tid = get_u32(record, TASK_TID), ptid = get_u32(record, TASK_PTID);
	/* A task of that number whose end was not told. */
	remove_thread(roster, tid);
	struct roster_thread *thread = enter(roster, pid, tid);
	if (!thread)
		return false;
	const struct roster_thread *parent = find_thread(roster, ptid);
	if (!replace(&thread->fork, record) ||
	    (parent && (!inherit(roster, &thread->comm, parent->comm, pid, tid) ||
			!inherit(roster, &thread->namespaces, parent->namespaces, pid, tid))))
		return false;
	struct roster_process *child = find_process(roster, pid);
	const struct roster_process *from = find_process(roster, ppid);
	if (pid == ppid)
		return true;
	/* Of what was synthesised, mappings follow. */
	if (!from || header_of(record).misc & PERF_RECORD_MISC_FORK_EXEC) {
		clear_mappings(child);
		return true;
	}
	return copy_mappings(child, from);
}

/* Of an exec: nothing stays mapped, and of the threads one, which has the process's number now. */
static void begin_program(struct roster *roster, struct roster_process *process, uint32_t tid)
{
	clear_mappings(process);
	while (process->tids.count > 1) {
		bool first = process->tids.items[0] == tid;
		remove_thread(roster, process->tids.items[first]);
	}
}

static bool see_comm(struct roster *roster, const uint8_t *record)
{
	uint32_t pid = get_u32(record, BODY_PID);
	uint32_t tid = get_u32(record, BODY_TID);
	struct roster_thread *thread = enter(roster, pid, tid);
	if (!thread)
		return false;
	if (header_of(record).misc & PERF_RECORD_MISC_COMM_EXEC)
		begin_program(roster, find_process(roster, pid), tid);
	return replace(&find_thread(roster, tid)->comm, record);
}

/* Gives back what mappings that are gone hold. */
static void compact(struct roster_process *process)
{
	size_t used = 0, bytes = 0;
	for (size_t i = 0; i < process->mappings.count; i++) {
		struct roster_mapping mapping = process->mappings.items[i];
		if (!mapping.size)
			continue;
		memmove(process->bytes.items + bytes, process->bytes.items + mapping.at, mapping.size);
		mapping.at = (uint32_t)bytes;
		bytes += mapping.size;
		process->mappings.items[used++] = mapping;
	}
	process->mappings.count = used;
	process->bytes.count = bytes;
	process->dead = 0;
}

/* What is wholly covered by the new one is gone; what is in part, is still what is beside it. */
static void remove_covered(struct roster_process *process, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < process->mappings.count; i++) {
		struct roster_mapping *mapping = &process->mappings.items[i];
		if (!mapping->size || mapping->start < start || mapping->end > end)
			continue;
		mapping->size = 0;
		process->dead++;
	}
	bool full = process->mappings.count - process->dead >= MAPPINGS_MAX;
	for (size_t i = MAPPINGS_FIRST; full && i < MAPPINGS_MAX / 4; i++) {
		process->dead += process->mappings.items[i].size != 0;
		process->mappings.items[i].size = 0;
	}
	/* Of the full one at once: what is the oldest next time is at the same place. */
	if (full || (process->dead > 16 && process->dead > process->mappings.count / 2))
		compact(process);
}

static bool see_mapping(struct roster *roster, const uint8_t *record)
{
	uint32_t pid = get_u32(record, BODY_PID);
	const struct perf_event_header header = header_of(record);
	if (pid == UINT32_MAX || (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					 PERF_RECORD_MISC_KERNEL)
		return append(&roster->prologue, record, header.size);
	struct roster_process *process = find_process(roster, pid);
	if (!process && (!enter(roster, pid, pid) || !(process = find_process(roster, pid))))
		return false;
	uint64_t start = get_u64(record, MMAP_START), size = get_u64(record, MMAP_SIZE);
	uint64_t end = size < UINT64_MAX - start ? start + size : UINT64_MAX;
	remove_covered(process, start, end);
	struct roster_mapping *mapping = vec_push(&process->mappings);
	if (!mapping)
		return false;
	*mapping = (struct roster_mapping){start, end, (uint32_t)process->bytes.count, header.size};
	return append(&process->bytes, record, header.size);
}

static void remove_fact(struct roster *roster, uint64_t key)
{
	const uint32_t *known = u64map_find(&roster->fact_index, key);
	if (!known)
		return;
	struct roster_fact *fact = &roster->facts.items[*known];
	free(fact->record);
	*fact = roster->facts.items[--roster->facts.count];
	renumber(&roster->fact_index, key, fact->key);
}

static bool add_fact(struct roster *roster, uint64_t key, const uint8_t *record)
{
	const uint32_t *known = u64map_find(&roster->fact_index, key);
	if (known)
		return replace(&roster->facts.items[*known].record, record);
	/* The last one came last. */
	if (roster->facts.count >= FACTS_MAX)
		remove_fact(roster, roster->facts.items[roster->evict++ % (FACTS_MAX - 1)].key);
	uint32_t index = (uint32_t)roster->facts.count;
	CLEANUP_FREE uint8_t *copy = copy_of(record);
	if (!copy || !vec_reserve(&roster->facts, index + 1) ||
	    !u64map_put(&roster->fact_index, key, index, NULL))
		return false;
	*vec_push(&roster->facts) = (struct roster_fact){.key = key, .record = take_ptr(copy)};
	return true;
}

static bool see_fact(struct roster *roster, const uint8_t *record)
{
	uint32_t type = header_of(record).type;
	uint64_t key = hash_pair(type, type == PERF_RECORD_BPF_EVENT ? get_u32(record, BPF_ID)
								     : get_u64(record, FACT_KEY));
	uint16_t flags;
	memcpy(&flags, record + (type == PERF_RECORD_BPF_EVENT ? BPF_TYPE : KSYMBOL_FLAGS),
	       sizeof(flags));
	bool gone = type == PERF_RECORD_KSYMBOL ? flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
		    : type == PERF_RECORD_BPF_EVENT ? flags == PERF_BPF_EVENT_PROG_UNLOAD : false;
	if (!gone)
		return add_fact(roster, key, record);
	remove_fact(roster, key);
	return true;
}

static bool see(struct roster *roster, const uint8_t *record)
{
	switch (header_of(record).type) {
	case PERF_RECORD_FORK:
		return see_fork(roster, record);
	case PERF_RECORD_EXIT:
		remove_thread(roster, get_u32(record, TASK_TID));
		return true;
	case PERF_RECORD_COMM:
		return see_comm(roster, record);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return see_mapping(roster, record);
	case PERF_RECORD_NAMESPACES: {
		struct roster_thread *thread = enter(roster, get_u32(record, BODY_PID),
						     get_u32(record, BODY_TID));
		return thread && replace(&thread->namespaces, record);
	}
	default:
		return see_fact(roster, record);
	}
}

/* How large a record that says who lives must be without what is behind it; 0: it does not. */
static size_t least_size(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return TASK_END;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return MMAP_END;
	case PERF_RECORD_KSYMBOL:
		return KSYMBOL_FLAGS + 2;
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_CGROUP:
		return COMM_TEXT;
	case PERF_RECORD_BPF_EVENT:
		return BPF_END;
	default:
		return 0;
	}
}

static uint64_t time_of(const struct roster *roster, const uint8_t *record)
{
	return get_u64(record, header_of(record).size - roster->fields.trailer_time);
}

/* Records of ours are as much of each file's beginning. */
#define FIRST_OWN_TYPE 64

struct sp_error *roster_add(struct roster *roster, const uint8_t *bytes, size_t size)
{
	bool good = true;
	for (size_t at = 0; good && at + sizeof(struct perf_event_header) <= size;) {
		const uint8_t *record = bytes + at;
		struct perf_event_header header = header_of(record);
		if (header.size < sizeof(header) || header.size > size - at)
			break;
		at += header.size;
		size_t least = least_size(header.type);
		if (header.type >= FIRST_OWN_TYPE)
			good = append(&roster->prologue, record, header.size);
		else if (!least || header.size < least + roster->fields.trailer_tid)
			continue;
		else if (time_of(roster, record) <= roster->base_ns &&
			 roster->log_begin == roster->log.count)
			good = see(roster, record);
		else
			good = append(&roster->log, record, header.size);
	}
	return good ? NULL : error_no_memory();
}

struct sp_error *roster_forget(struct roster *roster, uint64_t before_ns)
{
	struct record_buffer *log = &roster->log;
	bool good = true;
	while (good && roster->log_begin < log->count) {
		const uint8_t *record = log->items + roster->log_begin;
		if (time_of(roster, record) > before_ns)
			break;
		roster->log_begin += header_of(record).size;
		good = see(roster, record);
	}
	if (before_ns > roster->base_ns)
		roster->base_ns = before_ns;
	if (roster->log_begin > log->count / 2) {
		memmove(log->items, log->items + roster->log_begin, log->count - roster->log_begin);
		log->count -= roster->log_begin;
		roster->log_begin = 0;
	}
	return good ? NULL : error_no_memory();
}

struct sp_error *roster_trim(struct roster *roster, size_t size)
{
	uint64_t before_ns = 0;
	if (roster_log_size(roster) <= size)
		return NULL;
	/* A half at once: taking little by little would move the rest again and again. */
	size_t at = roster->log_begin, end = roster->log.count - size / 2;
	for (; at < end; at += header_of(roster->log.items + at).size) {
		uint64_t time_ns = time_of(roster, roster->log.items + at);
		before_ns = time_ns > before_ns ? time_ns : before_ns;
	}
	return roster_forget(roster, before_ns);
}

/* -- After losses ---------------------------------------------------------- */

/* An EXIT, of what a FORK said. */
static bool add_exit(struct roster *roster, const struct roster_thread *thread, uint64_t time_ns)
{
	CLEANUP_FREE uint8_t *record = copy_of(thread->fork);
	if (!record)
		return false;
	struct perf_event_header header = header_of(record);
	header.type = PERF_RECORD_EXIT;
	header.misc = 0;
	memcpy(record, &header, sizeof(header));
	set_u64(record, TASK_TIME, time_ns);
	set_u64(record, header.size - roster->fields.trailer_time, time_ns);
	return append(&roster->log, record, header.size);
}

struct sp_error *roster_retain(struct roster *roster, const uint32_t *pids, size_t count,
			       uint64_t time_ns)
{
	bool good = true;
	/* Backwards, as what goes is replaced by what is behind it. */
	for (size_t i = roster->threads.count; i-- > 0 && good;) {
		const struct roster_thread *thread = &roster->threads.items[i];
		if (count && bsearch(&thread->pid, pids, count, sizeof(*pids), u32_compare))
			continue;
		/* Nobody told of its beginning: nobody need be told of its end. */
		if (thread->fork)
			good = add_exit(roster, thread, time_ns);
		else
			remove_thread(roster, thread->tid);
	}
	return good ? NULL : error_no_memory();
}

/* -- Writing --------------------------------------------------------------- */

/* As of the beginning. */
static void set_first(const struct roster *roster, uint8_t *record, uint16_t set, uint16_t clear)
{
	struct perf_event_header header = header_of(record);
	header.misc = (uint16_t)((header.misc | set) & ~clear);
	memcpy(record, &header, sizeof(header));
	set_u64(record, header.size - roster->fields.trailer_time, 0);
	if (header.type == PERF_RECORD_FORK)
		set_u64(record, TASK_TIME, 0);
}

static bool put_first(const struct roster *roster, struct record_buffer *buffer,
		      const uint8_t *record, uint16_t set, uint16_t clear)
{
	size_t at = buffer->count;
	if (!record)
		return true;
	if (!append(buffer, record, header_of(record).size))
		return false;
	set_first(roster, buffer->items + at, set, clear);
	return true;
}

static bool put_task(const struct roster *roster, struct record_buffer *buffer, uint32_t tid)
{
	const struct roster_thread *thread = find_thread(roster, tid);
	return !thread ||
	       (put_first(roster, buffer, thread->fork, PERF_RECORD_MISC_FORK_EXEC, 0) &&
		put_first(roster, buffer, thread->namespaces, 0, 0) &&
		put_first(roster, buffer, thread->comm, 0, PERF_RECORD_MISC_COMM_EXEC));
}

/* The leader first: its FORK makes the process. */
static bool put_whole_process(const struct roster *roster, struct record_buffer *buffer,
			      const struct roster_process *process)
{
	bool good = put_task(roster, buffer, process->pid);
	for (size_t i = 0; i < process->tids.count && good; i++)
		if (process->tids.items[i] != process->pid)
			good = put_task(roster, buffer, process->tids.items[i]);
	for (size_t i = 0; i < process->mappings.count && good; i++) {
		const struct roster_mapping *mapping = &process->mappings.items[i];
		size_t at = buffer->count;
		if (!mapping->size)
			continue;
		good = put_first(roster, buffer, process->bytes.items + mapping->at, 0, 0);
		if (good)
			set_task(roster, buffer->items + at, process->pid, process->pid);
	}
	return good;
}

static bool put_facts(const struct roster *roster, size_t part, struct record_buffer *buffer)
{
	size_t end = (part + 1) * PART_FACTS;
	bool good = true;
	for (size_t i = part * PART_FACTS; i < end && i < roster->facts.count && good; i++)
		good = put_first(roster, buffer, roster->facts.items[i].record, 0, 0);
	return good;
}

/* Steps: what it begins with, facts, processes, and what was told since. */
struct sp_error *roster_next(const struct roster *roster, struct roster_place *place,
			     struct record_buffer *buffer, bool *more_ret)
{
	size_t facts = 1 + (roster->facts.count + PART_FACTS - 1) / PART_FACTS;
	size_t processes = facts + roster->processes.count, step = place->step++;
	bool good;
	*more_ret = step <= processes;
	if (step > processes)
		return NULL;
	if (!step)
		good = append(buffer, roster->prologue.items, roster->prologue.count);
	else if (step < facts)
		good = put_facts(roster, step - 1, buffer);
	else if (step < processes)
		good = put_whole_process(roster, buffer, &roster->processes.items[step - facts]);
	else
		good = append(buffer, roster->log.items + roster->log_begin, roster_log_size(roster));
	return good ? NULL : error_no_memory();
}
