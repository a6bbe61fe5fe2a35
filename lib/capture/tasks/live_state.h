/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of live tasks, as records: with these, a file can begin at any moment of a recording, and
 * each sample in it has its process, name and mappings. Nothing is read from /proc.
 *
 * Side-band runs ahead of the samples. Therefore there are two parts: the state at a moment before
 * all later samples, and the records since then, in order. live_state_expire() advances the moment.
 * Memory is proportional to live tasks and mappings, and to the records since that moment. Mappings
 * have a limit for each process, and one for all. Beyond it, the state has none of the process: it
 * must be read again for each file. If `keeps_newest`, it has none of the oldest.
 */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "capture/ring_bank/metadata_record.h"

struct live_state_mapping {
	uint64_t start, end;
	uint32_t at;   /* offset of its record in `bytes` */
	uint32_t size; /* the record's size; 0: removed */
};

struct live_state_process {
	uint32_t pid;
	struct { VEC(uint32_t); } tids;
	struct { VEC(struct live_state_mapping); } mappings; /* the oldest first */
	struct record_buffer bytes;
	size_t dead;   /* number of removed mappings */
	bool is_large; /* its mappings are too many: none is kept until it executes a program */
};

/* Copies of records, each allocated; NULL: none arrived. */
struct live_state_thread {
	uint32_t pid, tid;
	uint8_t *fork, *comm, *namespaces;
};

/* A KSYMBOL, BPF_EVENT or CGROUP. */
struct live_state_fact {
	uint64_t key;
	uint8_t *record;
};

struct live_state {
	struct record_fields fields;
	bool keeps_newest; /* keeps the newest mappings of large processes, which cannot be read
			    * again */
	struct record_buffer prologue; /* unchanged records of the kernel, the vdso, build-ids */
	struct u64map process_index, thread_index, fact_index;
	/* In no order, without holes. The maps above have the index of each number. */
	struct { VEC(struct live_state_process); } processes;
	struct { VEC(struct live_state_thread); } threads;
	struct { VEC(struct live_state_fact); } facts;
	size_t evict; /* index of the next fact to remove if there are too many */
	struct record_buffer log; /* from `log_begin` on: later records */
	size_t log_begin;
	uint64_t base_ns; /* all older records are in the first part */
	size_t mapping_bytes; /* sum of all processes */
};

/* Zeroed, except for `fields` and `keeps_newest`: empty. */
void live_state_deinit(struct live_state *live_state);

/*
 * Adds whole side-band records, merged by time, or synthesised ones (time 0: from the beginning).
 * Ignores the kernel's other records. Fails only without memory.
 */
struct sp_error *live_state_add(struct live_state *live_state, const uint8_t *bytes,
				size_t size) SP_MUST_CHECK;

/* Advances the moment to `before_ns`: all later samples are newer. */
struct sp_error *live_state_expire(struct live_state *live_state, uint64_t before_ns) SP_MUST_CHECK;

/* Advances the moment until later records have at most `size` bytes. */
struct sp_error *live_state_trim(struct live_state *live_state, size_t size) SP_MUST_CHECK;

/* Call it after a loss of records: all processes except these (sorted) have ended by `time_ns`. */
struct sp_error *live_state_retain(struct live_state *live_state, const uint32_t *pids, size_t count,
				   uint64_t time_ns) SP_MUST_CHECK;

/* Returns the pid of a process with too many mappings, from *index on; 0: there is none. */
uint32_t live_state_next_large(const struct live_state *live_state, size_t *index);

/* Returns the size of the later records. */
static inline size_t live_state_log_size(const struct live_state *live_state)
{
	return live_state->log.count - live_state->log_begin;
}

/* Position of live_state_next(); zeroed: the beginning. */
struct live_state_place {
	size_t step;
};

/*
 * Appends the next part (about one process) to the buffer. After the last part, appends nothing,
 * and *more_ret is false. Times in the first part are 0. The state must not change between the
 * calls.
 */
struct sp_error *live_state_next(const struct live_state *live_state, struct live_state_place *place,
				 struct record_buffer *buffer, bool *more_ret) SP_MUST_CHECK;
