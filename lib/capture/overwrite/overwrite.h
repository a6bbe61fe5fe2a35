/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overwrite mode: the kernel overwrites old samples, and the sample rings are read on demand only, in a
 * dump. Metadata has rings of its own. It is drained as in other modes, into the live state, so that a dump
 * can begin with the tasks of its oldest sample. Nothing is written meanwhile.
 *
 * This part reads the rings, and accounts for the time that each covers; the session writes their records.
 * A dump: overwrite_begin_dump(), overwrite_read() for each CPU, overwrite_end_dump(), overwrite_note().
 * All functions are the session's thread's. Times are those of the recording's clock.
 */
#pragma once

#include "capture/notes/notes.h"
#include "capture/ring_bank/record_offsets.h"
#include "capture/tasks/live_state.h"
#include "ring/snapshot.h"

/*
 * Limit of metadata records since the oldest sample. In rings that reach back further, older samples are
 * left out: their tasks are not known any more.
 */
#define OVERWRITE_LOG_BYTES ((size_t)32 << 20)

struct overwrite_options {
	const struct ring *rings;    /* the sample rings, one for each CPU; borrowed */
	size_t count;
	struct record_fields fields; /* offsets in the samples */
	uint64_t shift_ns;           /* added to times of the rings: these are not rewritten yet */
	/* Pauses the kernel's writing to a ring, or ends the pause. */
	void (*pause)(void *arg, size_t cpu_index, bool pause);
	uint64_t (*now)(void *arg);
	void *arg;
};

/* Times of a CPU that a file covers. */
struct overwrite_span {
	uint64_t begin_ns, end_ns;
};

/* Zeroed: the mode is off. */
struct overwrite {
	bool on;
	uint64_t window_ns;   /* older samples are left out; 0: no limit */
	uint64_t dump_ns;     /* start of the current dump; 0: none */
	struct overwrite_options options;
	struct snapshot snapshot;
	struct overwrite_span *spans; /* one for each CPU */
	uint64_t overwritten; /* bytes lacking in the current dump, or in the last one */
};

/*
 * Begins the mode, when rings are mapped. Does nothing without the mode. Fails only when out of
 * memory.
 */
struct sp_error *overwrite_start(struct overwrite *overwrite,
				 const struct overwrite_options *options) SP_MUST_CHECK;
void overwrite_deinit(struct overwrite *overwrite);

/*
 * Advances the live state in time, within its limits. During a dump, the window ends at the begin
 * of the dump.
 */
struct sp_error *overwrite_expire(const struct overwrite *overwrite,
				  struct live_state *live_state) SP_MUST_CHECK;

/*
 * Begins a dump: copies the rings, into at most `most_bytes` of memory. Each ring is paused while
 * it is copied. Rings without a copy stay paused until they are read. Their samples are lost
 * meanwhile, and the kernel counts them.
 */
void overwrite_begin_dump(struct overwrite *overwrite, uint64_t most_bytes);

/* A CPU's records, from the ring's tail to `end`. */
struct overwrite_records {
	struct perf_event_mmap_page page; /* the ring's */
	struct ring ring;                 /* in plain memory */
	uint64_t end;
	uint64_t damaged;                 /* damaged bytes */
};

/*
 * Reads a CPU's records since its last dump, from the first sample that is not older than
 * `from_ns`. Call it once for each CPU. *ret is valid until the next call, and must not be copied.
 */
void overwrite_read(struct overwrite *overwrite, size_t cpu_index, uint64_t from_ns,
		    struct overwrite_records *ret);

/* Resumes the rings that were not read because of a failure. */
void overwrite_end_dump(struct overwrite *overwrite);

/* Notes the shortest and the longest time that the last dump covers of a CPU. */
struct sp_error *overwrite_note(const struct overwrite *overwrite,
				const struct note_records *to) SP_MUST_CHECK;
