/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A larger ring in plain memory, between a kernel's ring buffer and its reader. The kernel's
 * ring buffer is locked memory, which is limited for users. A drain thread moves its records
 * into the relay, and so frees the kernel's buffer at once. The reader has the time that the
 * relay takes to fill. A record that does not fit in the relay stays in the kernel's buffer.
 *
 * One thread at a time moves: the drain thread, or the reader of `out`.
 */
#pragma once

#include "ring/ring.h"

struct relay {
	struct ring *source; /* borrowed; only relay_move() uses it */
	struct ring out;     /* for the reader: ring_head(), ring_release(), … */
	struct perf_event_mmap_page *page; /* control page of `out` */
	uint64_t head;       /* head of `out` */
	size_t prepared;     /* prefaulted bytes from the beginning; only the reader changes it */
	bool was_full;       /* atomic: the source had no room for a record of `record_max` */
	bool is_full;        /* atomic: the last move left records in the source */
};

/*
 * Makes a relay. `size`: of the larger ring, a power of two and at least twice the source's, so
 * that the whole source fits when the reader has read all. Its memory is used only as far as it
 * fills.
 */
struct sp_error *relay_init(struct relay *relay, struct ring *source, size_t size) SP_MUST_CHECK;
void relay_deinit(struct relay *relay);

/*
 * Prefaults the pages of the next `ahead` bytes, so that the mover takes no page faults. Only the
 * reader calls it.
 */
void relay_prepare(struct relay *relay, size_t ahead);

/*
 * Moves whole records from `source` to `out` while there is room. If the source has less room than
 * `record_max`, a record may have been lost. Returns the number of bytes that wait for the reader.
 */
uint64_t relay_move(struct relay *relay, size_t record_max);

/* Returns whether the source was full at some time; from any thread. */
static inline bool relay_was_full(const struct relay *relay)
{
	return __atomic_load_n(&relay->was_full, __ATOMIC_RELAXED);
}

/*
 * Returns whether the last move left records in the source because `out` had no room; from any
 * thread.
 */
static inline bool relay_is_full(const struct relay *relay)
{
	return __atomic_load_n(&relay->is_full, __ATOMIC_RELAXED);
}
