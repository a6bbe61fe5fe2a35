/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring behind a ring. What the kernel writes into is locked memory, of which a user may have
 * little; so whoever drains moves the records on, into a larger ring of plain memory, and gives
 * the kernel its room back at once. The reader has all the time that the larger ring takes to
 * fill. A record that finds no room there stays where it is.
 *
 * One at a time moves; the reader of `out` is another thread, which never waits.
 */
#ifndef RING_RELAY_H
#define RING_RELAY_H

#include "ring/ring.h"

struct relay {
	struct ring *source; /* borrowed; touched by relay_move() alone */
	struct ring out;     /* for the reader: ring_head(), ring_release(), … */
	struct perf_event_mmap_page *page; /* control page of `out` */
	uint64_t head;       /* head of `out` */
	size_t prepared;     /* bytes from the beginning whose pages are there; the reader's */
	bool was_full;       /* atomic: the source had no room for a record of `record_max` */
	bool is_full;        /* atomic: the last move left records in the source */
};

/*
 * `size`: of the larger ring, a power of two and at least twice that of the source, so that
 * all of that finds room as soon as the reader has taken what there was. Its memory is used
 * only as far as it fills.
 */
struct sp_error *relay_init(struct relay *relay, struct ring *source, size_t size) SP_MUST_CHECK;
void relay_deinit(struct relay *relay);

/*
 * Sees to it that there are pages for the next so many bytes, so that whoever moves need not wait
 * for them. The reader's.
 */
void relay_prepare(struct relay *relay, size_t ahead);

/*
 * Moves whole records from `source` to `out` while there is room. A record may have been lost if
 * the source has less room than `record_max`. Returns the number of bytes that wait for the reader.
 */
uint64_t relay_move(struct relay *relay, size_t record_max);

/* Whether the source was full at some time; from any thread. */
static inline bool relay_was_full(const struct relay *relay)
{
	return __atomic_load_n(&relay->was_full, __ATOMIC_RELAXED);
}

/* Whether the last move left records in the source, because `out` had no room; from any thread. */
static inline bool relay_is_full(const struct relay *relay)
{
	return __atomic_load_n(&relay->is_full, __ATOMIC_RELAXED);
}

#endif
