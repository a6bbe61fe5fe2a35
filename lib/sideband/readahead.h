/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readahead of pass one. Only the record before gives a record's begin, so pass one reads a file
 * from its start. Other threads read ahead from later offsets at which records seem to begin. If
 * the reader from the start arrives at such an offset, it uses the readahead's records; otherwise
 * they are discarded.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "states/seen_threads.h"

/* Approximate distance of offsets at which pass two may begin to read. */
#define SPLIT_SIZE ((uint64_t)1 << 20)

struct splits {
	VEC(uint64_t); /* offsets of records */
	uint64_t next; /* the next offset to add is at or after this one */
	struct sp_ctx *ctx; /* counts SPLIT_SIZE bytes as done for each; NULL: no context does */
};

/*
 * Adds `offset`, where a record begins, if it is far enough from the last one; false when out of
 * memory.
 */
bool splits_pass(struct splits *splits, uint64_t offset);

/* Records of [begin, end), up to the first damage. */
struct readahead {
	uint64_t begin, end;         /* begin == end: none */
	uint64_t sample_count, deferred_count;
	VEC(struct raw_record) records; /* wanted records; their bytes belong to the arena */
	struct splits splits;
	struct seen_threads seen; /* if seen_threads_offset() is not 0 */
	struct arena arena;
};

/* Selection of a readahead. */
struct readahead_options {
	bool (*wanted)(uint32_t type); /* types that are kept; of other samples, only the begin is read */
	size_t seen_offset;            /* value of seen_threads_offset(); 0: no threads are kept */
	bool swap;
};

void readahead_deinit(struct readahead *readahead);

/*
 * Reads [extent.begin, extent.end), from the first place at which records seem to begin. Keeps the
 * wanted records, up to some MB, and then stops.
 */
void readahead_run(struct readahead *readahead, struct sp_reader *reader, struct reader_extent extent,
		   const struct readahead_options *options);
