/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where records begin is known by those before alone, so pass one has to go through a file
 * from its start. But a thread may go ahead from a place farther behind where records seem
 * to begin. Whoever comes from the start, and finds that a record begins just there, knows
 * that all that was seen from there on is true; if none does, it is forgotten.
 */
#ifndef SIDEBAND_READAHEAD_H
#define SIDEBAND_READAHEAD_H

#include "base/arena.h"
#include "base/vec.h"
#include "file/reader_io.h"

/* About so far apart are the places where pass two may begin to read. */
#define SPLIT_SIZE ((uint64_t)1 << 20)

struct splits {
	VEC(uint64_t); /* offsets of records */
	uint64_t next; /* from here on there should be one */
};

/* Out of memory: false. */
bool splits_pass(struct splits *splits, uint64_t offset);

/* What was seen of [begin, end), until the first damage, if there is any. */
struct readahead {
	uint64_t begin, end;         /* the same: nothing */
	uint64_t sample_count, deferred_count;
	VEC(struct raw_record) records; /* that are wanted; their bytes are in the arena */
	struct splits splits;
	struct arena arena;
};

void readahead_deinit(struct readahead *readahead);

/*
 * Goes through [extent.begin, extent.end), from the first place on where records seem to begin;
 * those that `wanted` says are kept, up to some MB: the scout ends before more.
 */
void readahead_run(struct readahead *readahead, struct sp_reader *reader, struct reader_extent extent,
	       bool (*wanted)(uint32_t type));

#endif
