/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lives, as records: with these a file can begin at any moment of a recording, and
 * each sample in it finds its process, its name and its mappings. Nothing is read from /proc.
 *
 * Side-band runs ahead of the samples, so there are two parts: what held at a moment in the past
 * that no sample is older than any more, and the records since then, in order. What
 * moves the moment on is live_state_expire(). Memory is in proportion to what lives, and to
 * the records since that moment.
 */
#ifndef CAPTURE_TASKS_LIVE_STATE_H
#define CAPTURE_TASKS_LIVE_STATE_H

#include "base/error.h"
#include "base/hash.h"
#include "capture/ring_bank/fields.h"
#include "record/encode.h"

struct live_state_mapping {
	uint64_t start, end;
	uint32_t at;   /* of its record, in `bytes` */
	uint32_t size; /* of that; 0: it is not there any more */
};

struct live_state_process {
	uint32_t pid;
	struct { VEC(uint32_t); } tids;
	struct { VEC(struct live_state_mapping); } mappings; /* the oldest first */
	struct record_buffer bytes;
	size_t dead;   /* of the mappings */
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
	struct record_buffer prologue; /* of the kernel, the vdso, build-ids: as it came */
	struct u64map process_index, thread_index, fact_index;
	/* By the index above; in no order, without holes. */
	struct { VEC(struct live_state_process); } processes;
	struct { VEC(struct live_state_thread); } threads;
	struct { VEC(struct live_state_fact); } facts;
	size_t evict; /* the next of the facts to go where there are too many */
	struct record_buffer log; /* from `log_begin` on: later records */
	size_t log_begin;
	uint64_t base_ns; /* all that is older is in the first part */
};

/* Zeroed but for `fields`, it is empty. */
void live_state_deinit(struct live_state *live_state);

/*
 * Takes whole records of the side-band, merged by time, or synthesised (time 0: from the beginning
 * on). What does not say who lives is left out. Fails only for want of memory.
 */
struct sp_error *live_state_add(struct live_state *live_state, const uint8_t *bytes,
				size_t size) SP_MUST_CHECK;

/* No sample older than that will be asked for any more. */
struct sp_error *live_state_expire(struct live_state *live_state, uint64_t before_ns) SP_MUST_CHECK;

/* The same, as far as is needed to have no more than `size` bytes of later records. */
struct sp_error *live_state_trim(struct live_state *live_state, size_t size) SP_MUST_CHECK;

/* After records were lost: all but these processes (sorted) have ended by `time_ns`. */
struct sp_error *live_state_retain(struct live_state *live_state, const uint32_t *pids, size_t count,
				   uint64_t time_ns) SP_MUST_CHECK;

/* Returns the size of the later records. */
static inline size_t live_state_log_size(const struct live_state *live_state)
{
	return live_state->log.count - live_state->log_begin;
}

/* Where live_state_next() goes on; zeroed: at the beginning. */
struct live_state_place {
	size_t step;
};

/*
 * Appends the next part (of the order of one process) to the buffer; *more_ret is false, and
 * nothing is appended, after the last part. Times in the first part are 0. The state must not change
 * meanwhile.
 */
struct sp_error *live_state_next(const struct live_state *live_state, struct live_state_place *place,
				 struct record_buffer *buffer, bool *more_ret) SP_MUST_CHECK;

#endif
