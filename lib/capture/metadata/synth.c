/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "binary/vdso.h"
#include "capture/metadata/synth_internal.h"
#include "base/cleanup.h"
#include "proc/maps.h"
#include "record/kept.h"
#include "record/types.h"

/* A process may have this part of the mappings that may still be read. */
#define PROCESS_PART 25

/* Executable mappings after which the rest are counted before they are read. */
#define COUNT_AFTER 500

/* Number of mappings that are counted in the time that one is read. */
#define COUNT_COST 10

/* Limit of processes that are known to be large. */
#define LARGE_MAX 65536

struct sp_error *synth_new(struct sp_ctx *ctx, const struct perf_event_attr *attr, uint64_t id,
			   struct record_buffer *buffer, struct synth **ret)
{
	struct synth *synth = malloc(sizeof(*synth));
	NEED(synth);
	*synth = (struct synth){.ctx = ctx, .attr = *attr, .id = id, .buffer = buffer};
	*ret = synth;
	return NULL;
}

void synth_set_time(struct synth *synth, uint64_t time_ns)
{
	synth->time_ns = time_ns;
}

void synth_set_new_time(struct synth *synth, uint64_t ticks, uint64_t time_ns)
{
	synth->new_ticks = ticks;
	synth->new_ns = time_ns;
}

void synth_set_limit(struct synth *synth, size_t mappings)
{
	synth->is_limited = mappings != SIZE_MAX;
	synth->left = mappings;
}

struct task_list *synth_deferred(struct synth *synth)
{
	return &synth->deferred;
}

void synth_free(struct synth *synth)
{
	if (!synth)
		return;
	task_list_deinit(&synth->deferred);
	u64map_deinit(&synth->large);
	free(synth);
}

struct sp_error *synth_put_ksymbol(struct synth *synth, uint64_t start, uint64_t size,
				   const char *name)
{
	struct sp_record record = {
		.type = PERF_RECORD_KSYMBOL,
		.ksymbol = {
			.start = start,
			.size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
			.type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			.name = name,
		},
	};
	return synth_put(synth, &record, 0, 0);
}

static struct sp_error *put_fork(struct synth *synth, uint32_t pid, const struct task_stat *stat)
{
	bool leader = stat->tid == pid;
	struct sp_record fork = {
		.type = PERF_RECORD_FORK,
		.misc = PERF_RECORD_MISC_FORK_EXEC,
		.task = {
			.pid = pid,
			.tid = stat->tid,
			.ppid = leader ? stat->ppid : pid,
			.ptid = leader ? stat->ppid : pid,
		},
	};
	return synth_put(synth, &fork, pid, stat->tid);
}

static struct sp_error *put_thread(struct synth *synth, uint32_t pid, const struct task_stat *stat)
{
	struct sp_record comm = {
		.type = PERF_RECORD_COMM,
		.comm = {.pid = pid, .tid = stat->tid, .comm = stat->comm},
	};
	bool leader = stat->tid == pid;
	TRY(leader && synth->keeps_mappings ? NULL : put_fork(synth, pid, stat));
	TRY(synth_namespaces(synth, pid, stat->tid));
	TRY(synth_put(synth, &comm, pid, stat->tid));

	/* The kernel records the ends of tasks that began later. */
	struct sp_record record = {
		.type = PERF_RECORD_EXIT,
		.task = {.pid = pid, .tid = stat->tid, .ppid = stat->ppid, .ptid = stat->ppid},
	};
	if (!task_stat_is_ended(stat) || (synth->is_new && synth->time_ns < synth->new_ns))
		return NULL;
	return synth_put(synth, &record, pid, stat->tid);
}

static struct sp_error *put_threads(struct synth *synth, uint32_t pid,
				    const struct task_stat *threads, size_t count)
{
	synth->is_new = count && threads[0].start_ticks >= synth->new_ticks;
	for (size_t i = 0; i < count; i++)
		TRY(put_thread(synth, pid, &threads[i]));
	return NULL;
}

/* Returns whether the error means that a task has ended; then frees it. */
static bool is_gone(struct sp_error **error)
{
	if (!*error || sp_error_code(*error) != SP_ERROR_NOT_FOUND)
		return false;
	sp_error_free(take_ptr(*error));
	return true;
}

struct sp_error *synth_threads(struct synth *synth, uint32_t pid, const struct task_list *threads)
{
	CLEANUP_FREE struct task_stat *stats = NULL;
	size_t count = 0;
	struct sp_error *error = tasks_stat_all(synth->ctx, pid, threads, &stats, &count);
	if (is_gone(&error))
		return NULL;
	return error ? error : put_threads(synth, pid, stats, count);
}

static struct sp_error *put_mapping(struct synth *synth, uint32_t pid,
				    const struct maps_entry *entry)
{
	CLEANUP_FREE char *room = NULL;
	struct sp_record record = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER |
			(entry->prot & PROT_EXEC ? 0 : PERF_RECORD_MISC_MMAP_DATA),
	};
	TRY(maps_entry_mmap(entry, pid, &record.mmap, &room));
	synth->mapping_count++;
	return synth_put(synth, &record, pid, pid);
}

/*
 * [vsyscall] is mapped at one address for all processes. Neither the kernel's records nor its
 * queries have it, only /proc/PID/maps.
 */
static bool is_everywhere(const struct maps_entry *entry)
{
	return strcmp(entry->path, "[vsyscall]") == 0;
}

/*
 * Finds out whether a process has too many mappings. Counting them is fast: build-ids, which the
 * kernel reads from the files, take nine tenths of the time.
 */
static struct sp_error *count_mappings(struct synth *synth, uint32_t pid, uint32_t tid)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry;
	size_t count = 0;
	TRY(maps_open_first(synth->ctx, pid, tid, MAPS_ALL, synth->process_left + 1, &maps));
	TRY(maps_next(maps, &entry));
	for (; entry; count++)
		TRY(maps_next(maps, &entry));
	synth->has_too_many = count > synth->process_left;
	synth->left -= count / COUNT_COST < synth->left ? count / COUNT_COST : synth->left;
	return NULL;
}

/*
 * Writes the executable mappings; or, of all that were read, the data mappings. Stops when they are
 * too many. *count_ret: the number that was read.
 */
static struct sp_error *put_mappings(struct synth *synth, uint32_t pid, struct maps *maps,
				     bool data, size_t *count_ret)
{
	for (*count_ret = 0; *count_ret <= synth->process_left; ++*count_ret) {
		const struct maps_entry *entry;
		TRY(maps_next(maps, &entry));
		if (!entry)
			return NULL;
		bool wanted = data ? !(entry->prot & PROT_EXEC) && entry->prot & PROT_READ
				   : !is_everywhere(entry);
		synth->has_memory_code |= !data && synth_is_memory(entry->path);
		if (wanted)
			TRY(put_mapping(synth, pid, entry));
	}
	synth->has_too_many = true;
	return NULL;
}

/* Reads the maps file of the process, or of one of its threads (not 0). */
static struct sp_error *read_mappings(struct synth *synth, uint32_t pid, uint32_t tid)
{
	CLEANUP(cleanup_maps_free) struct maps *first = NULL, *rest = NULL, *all = NULL;
	const size_t limit = synth->is_limited ? COUNT_AFTER : SIZE_MAX;
	const size_t begin = synth->buffer->count, before = synth->mapping_count;
	size_t count;
	synth->has_memory_code = false;
	TRY(maps_open_first(synth->ctx, pid, tid, MAPS_EXECUTABLE, limit, &first));
	TRY(put_mappings(synth, pid, first, false, &count));
	if (count == limit && !synth->has_too_many)
		TRY(count_mappings(synth, pid, tid));
	if (count == limit && !synth->has_too_many) {
		synth->buffer->count = begin;
		synth->mapping_count = before;
		TRY(maps_open(synth->ctx, pid, tid, MAPS_EXECUTABLE, &rest));
		TRY(put_mappings(synth, pid, rest, false, &count));
	}
	if (synth->has_memory_code && !synth->has_too_many)
		TRY(synth_moved(synth, pid, tid ?: pid, synth->process_left, &count));
	if (!synth->attr.mmap_data || synth->has_too_many)
		return NULL;
	/* Separate queries: one for executable mappings alone returns their build-ids. */
	TRY(maps_open(synth->ctx, pid, tid, MAPS_ALL, &all));
	return put_mappings(synth, pid, all, true, &count);
}

/* Reads the mappings through the threads that the process has now. */
static struct sp_error *put_mappings_of_threads(struct synth *synth, uint32_t pid)
{
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	size_t before = synth->mapping_count;
	struct sp_error *error = tasks_list(synth->ctx, pid, &threads);
	for (size_t i = 0; i < threads.count && !error && synth->mapping_count == before; i++) {
		error = threads.items[i] == pid ? NULL : read_mappings(synth, pid, threads.items[i]);
		is_gone(&error);
	}
	return error;
}

/* Leaves a process with too many mappings for later. */
static struct sp_error *defer(struct synth *synth, uint32_t pid)
{
	uint32_t *slot = vec_push(&synth->deferred);
	if (synth->large.count >= LARGE_MAX && !u64map_find(&synth->large, pid))
		u64map_deinit(&synth->large);
	NEED(slot && u64map_put(&synth->large, pid, 1, NULL));
	*slot = pid;
	return NULL;
}

/* Writes the mappings. *complete_ret: false if they may not be read. */
static struct sp_error *put_process_mappings(struct synth *synth, uint32_t pid, bool *complete_ret)
{
	size_t before = synth->mapping_count, begin = synth->buffer->count;
	synth->process_left = synth->is_limited ? synth->left / PROCESS_PART : SIZE_MAX;
	synth->has_too_many = false;
	if (synth->is_limited && u64map_find(&synth->large, pid))
		return defer(synth, pid);
	struct sp_error *error = read_mappings(synth, pid, 0);
	if (error && sp_error_code(error) == SP_ERROR_PERMISSION) {
		*complete_ret = false;
		sp_error_free(error);
		return NULL;
	}
	is_gone(&error);
	/* The leader may have ended while its threads go on. */
	if (!error && synth->mapping_count == before && !synth->has_too_many)
		error = put_mappings_of_threads(synth, pid);
	is_gone(&error);
	size_t count = synth->mapping_count - before;
	synth->left -= count < synth->left ? count : synth->left;
	if (error || !synth->has_too_many)
		return error;
	synth->buffer->count = begin;
	synth->mapping_count = before;
	return defer(synth, pid);
}

struct sp_error *synth_process_known(struct synth *synth, uint32_t pid,
				     const struct task_stat *threads, size_t count,
				     bool *complete_ret)
{
	*complete_ret = true;
	if (!count)
		return NULL;
	struct sp_error *error = put_threads(synth, pid, threads, count);
	if (error || threads[0].flags & TASK_STAT_KTHREAD)
		return error;
	return put_process_mappings(synth, pid, complete_ret);
}

struct sp_error *synth_process(struct synth *synth, uint32_t pid, const struct task_list *threads,
			       bool *complete_ret)
{
	CLEANUP_FREE struct task_stat *stats = NULL;
	size_t count = 0;
	*complete_ret = true;
	struct sp_error *error = tasks_stat_all(synth->ctx, pid, threads, &stats, &count);
	if (is_gone(&error))
		return NULL;
	return error ? error : synth_process_known(synth, pid, stats, count, complete_ret);
}

struct sp_error *synth_process_again(struct synth *synth, uint32_t pid, const struct task_list *threads)
{
	size_t begin = synth->buffer->count;
	bool complete;
	synth->mapping_count = 0;
	struct sp_error *error = synth_process(synth, pid, threads, &complete);
	if (error || synth->mapping_count)
		return error;
	synth->buffer->count = begin;
	synth->keeps_mappings = true;
	error = synth_threads(synth, pid, threads);
	synth->keeps_mappings = false;
	return error;
}

struct sp_error *synth_processes(struct synth *synth, const struct task_list *processes, size_t *unreadable)
{
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < processes->count && !error; i++) {
		bool complete = true;
		error = tasks_list(synth->ctx, processes->items[i], &threads);
		if (is_gone(&error))
			continue;
		/* The mount option hidepid=1 lists the processes of others, and hides the rest. */
		if (error && sp_error_code(error) == SP_ERROR_PERMISSION) {
			sp_error_free(take_ptr(error));
			++*unreadable;
			continue;
		}
		if (!error)
			error = synth_process(synth, processes->items[i], &threads, &complete);
		*unreadable += !complete;
	}
	return error;
}

#define NAME "[vdso]"

static struct sp_error *put_build_id(struct synth *synth, const struct image *image)
{
	struct sp_record record = {
		.type = SP_RECORD_HEADER_BUILD_ID,
		.misc = PERF_RECORD_MISC_USER | RECORD_MISC_BUILD_ID_SIZE,
		.build_id = {.pid = UINT32_MAX, .build_id_size = image->build_id_size,
			     .filename = NAME},
	};
	if (!image->build_id_size)
		return NULL;
	memcpy(record.build_id.build_id, image->build_id, image->build_id_size);
	return synth_put(synth, &record, 0, 0);
}

struct sp_error *synth_vdso(struct synth *synth)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = vdso_own(&image);
	if (error || !image)
		return error;
	error = put_build_id(synth, image);
	if (!error)
		error = record_encode_kept(synth->buffer, NAME, image->memory, image->size);
	/* No mapping is that large. */
	if (error && sp_error_code(error) == SP_ERROR_LIMIT)
		sp_error_free(take_ptr(error));
	return error;
}
