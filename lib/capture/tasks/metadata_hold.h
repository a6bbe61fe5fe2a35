/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holds back names and mappings of processes without samples, if there are too many for a
 * recording. Any user can rename a thread, or map files, a million times a second. Only COMM
 * records that are no exec, and MMAP and MMAP2 records of user space, are held. They are returned
 * when their process has a later sample, or forks. A record that another replaces without a sample
 * in between is dropped. If too many are held, the oldest are dropped.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "capture/ring_bank/metadata_record.h"
#include "proc/proc_tasks.h"

/* Limit of held bytes. */
#define HOLD_BYTES_MAX ((size_t)16 << 20)

/* Bytes per second that are written whether or not processes have samples. */
#define HOLD_RATE ((uint64_t)1 << 20)

/* Bytes above the rate that are written at once; twice that for processes with samples. */
#define HOLD_BURST ((int64_t)8 << 20)

/* A task needs its process's older records: it has a sample, or forks. */
struct hold_need {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct hold_counts {
	uint64_t dropped;  /* records */
	uint64_t deferred; /* processes to read when they have a sample */
	uint64_t read;	   /* processes of these that were read */
};

/* Zeroed, except for `fields` and `rate`: empty. */
struct metadata_hold {
	struct record_fields fields;
	uint64_t rate;	  /* bytes a second; 0: no limit, nothing is held */
	int64_t room;	  /* bytes that may be written now; below 0: only with a sample */
	uint64_t time_ns; /* monotonic time of `room`; 0: unknown */
	struct {
		VEC(struct hold_need);
	} needs;		   /* this round's; sorted by the filter */
	size_t next;		   /* position of metadata_hold_next() in `needs` */
	struct record_buffer held; /* whole records, oldest first */
	struct u64map pending;	   /* pids with records in `held` */
	struct u64map deferred;	   /* pids to be read when they have a sample */
	struct hold_counts counts;
};

void metadata_hold_deinit(struct metadata_hold *hold);

/* Returns whether this round's records need the filter. If not, they are written as they are. */
bool metadata_hold_is_needed(struct metadata_hold *hold, const struct record_buffer *records,
			     uint64_t monotonic_ns);

/* Adds the task of a sample, which needs its records. Returns false when out of memory. */
bool metadata_hold_add_need(struct metadata_hold *hold, uint32_t pid, uint32_t tid,
			    uint64_t time_ns);

/*
 * Replaces the round's records by those to be written now. Records of earlier rounds get at least
 * the time `from_ns`: readers expect none that is older than the last round. Returns false when out
 * of memory.
 */
bool metadata_hold_filter(struct metadata_hold *hold, struct record_buffer *records,
			  uint64_t from_ns);

/*
 * Defers reading a process until it has a sample, because it has too many mappings. Returns false
 * when out of memory.
 */
bool metadata_hold_defer(struct metadata_hold *hold, uint32_t pid);

/*
 * Returns the next process to read now, with its leader and its tasks that have samples; false
 * after the last one, or when enough was written. The caller passes the bytes to
 * metadata_hold_charge(). Threads are left out when out of memory.
 */
bool metadata_hold_next(struct metadata_hold *hold, uint32_t *pid_ret,
			struct task_list *threads_ret);
void metadata_hold_charge(struct metadata_hold *hold, size_t bytes);

/* Drops what is still held at the end: no sample needs it. */
void metadata_hold_finish(struct metadata_hold *hold);
