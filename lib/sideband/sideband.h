/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pass one: all records but samples, which are hopped over. It builds the
 * machine, counts what was lost, and notes where pass two may begin to read.
 */
#ifndef SIDEBAND_SIDEBAND_H
#define SIDEBAND_SIDEBAND_H

#include <sprof/private/losses.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "machine/machine.h"
#include "sideband/readahead.h"
#include "sideband/task_lifetimes.h"

/* READ of a task that ended: how much it counted. */
struct task_count {
	uint64_t value, time_ns;
	uint32_t pid, tid;
	uint16_t event;
};

struct note {
	const char *text;
	uint64_t time_ns;
	uint64_t stack_bytes;        /* by note_stack_bytes() */
	bool of_pages;               /* by note_is_of_pages() */
	uint64_t lost_all, lost_own; /* by note_lost_own(); 0, 0: none */
};

/* The cgroup namespace that a thread was in from then on. */
struct cgroup_namespace {
	uint32_t tid;
	uint64_t time_ns;
	uint64_t dev, ino;
	uint32_t first; /* index of the first equal one */
};

struct sideband {
	const struct record_layout *layout; /* borrowed */
	struct machine *machine;            /* borrowed */
	struct sp_losses *losses;      /* losses and throttling */
	VEC(struct task_count) task_counts;
	struct lifetimes lifetimes;          /* not yet finished */
	VEC(struct note) notes;
	size_t recorded_notes;       /* the first of them, which the recorder made */
	VEC(const char *) cgroups;   /* paths; of one id, the last one told of */
	struct u64map cgroup_of;     /* id -> index in cgroups */
	VEC(struct cgroup_namespace) namespaces; /* once all are read: by thread and time */
	struct splits splits;        /* the first record's and the end among them */
	uint64_t sample_count, deferred_count; /* deferred: call chains */
	struct sp_time_conv ticks;   /* how these become times; mult 0: not known */
	bool by_offset;              /* records have no times: their places in the file stand in */
	const char *clock_note;        /* note on the clock; NULL: none */
	struct arena arena;
};

struct sp_error *sideband_init(struct sideband *sideband, const struct sp_reader *reader,
			       struct machine *machine) SP_MUST_CHECK;
void sideband_deinit(struct sideband *sideband);

/* Adds a note, shown like the recorder's. Copied. */
struct sp_error *sideband_note(struct sideband *sideband, const char *text) SP_MUST_CHECK;

/* Adds the note on the recording's clock, if there is one. */
struct sp_error *sideband_note_clock(struct sideband *sideband) SP_MUST_CHECK;

/* The path of a cgroup; NULL: the recording does not say. */
const char *sideband_cgroup(const struct sideband *sideband, uint64_t id);

/* The cgroup namespace of a thread, by the first such in `namespaces`; SIZE_MAX: not known. */
size_t sideband_namespace(const struct sideband *sideband, uint32_t tid, uint64_t time_ns);

/* Reads the whole recording, by so many threads; damage goes to the reader. */
struct sp_error *sideband_read(struct sideband *sideband, struct sp_reader *reader,
			       unsigned int threads) SP_MUST_CHECK;

#endif
