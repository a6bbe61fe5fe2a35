/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/readahead.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "file/reader_struct.h"
#include "record/types.h"
#include "walk/walker.h"

#define KEPT_MAX ((size_t)16 << 20)

bool splits_pass(struct splits *splits, uint64_t offset)
{
	if (offset < splits->next)
		return true;
	uint64_t *split = vec_push(splits);
	if (!split)
		return false;
	*split = offset;
	splits->next = offset + SPLIT_SIZE;
	ctx_add_done(splits->ctx, SPLIT_SIZE);
	return true;
}

void readahead_deinit(struct readahead *readahead)
{
	vec_deinit(&readahead->records);
	vec_deinit(&readahead->splits);
	seen_threads_deinit(&readahead->seen);
	arena_deinit(&readahead->arena);
}

/* Copies a record's bytes to the arena. Returns false when out of memory. */
static bool copy_record(struct readahead *readahead, const struct raw_record *raw)
{
	uint8_t *bytes = arena_alloc(&readahead->arena, raw->size);
	struct raw_record *kept = bytes ? vec_push(&readahead->records) : NULL;
	if (!kept)
		return false;
	memcpy(bytes, raw->bytes, raw->size);
	*kept = *raw;
	kept->bytes = bytes;
	return true;
}

/* Adds a record. Returns false if the readahead ends there. */
static bool add_record(struct readahead *readahead, const struct raw_record *raw,
		       const struct readahead_options *options, size_t *kept)
{
	bool is_wanted = options->wanted(raw->type);
	*kept += is_wanted ? raw->size : 0;
	if (*kept > KEPT_MAX || !splits_pass(&readahead->splits, raw->offset) ||
	    (is_wanted && !copy_record(readahead, raw)))
		return false;
	if (options->seen_offset && raw->type == PERF_RECORD_SAMPLE &&
	    !seen_threads_add(&readahead->seen, raw, options->seen_offset, options->swap))
		return false;
	readahead->sample_count += raw->type == PERF_RECORD_SAMPLE;
	readahead->deferred_count += raw->type == RECORD_CALLCHAIN_DEFERRED;
	return true;
}

void readahead_run(struct readahead *readahead, struct sp_reader *reader, struct reader_extent extent,
		   const struct readahead_options *options)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	struct sp_error *error = walker_new(reader, extent, &walker);
	size_t kept = 0;
	readahead->splits.ctx = reader->ctx;
	if (!error) {
		if (!options->wanted(PERF_RECORD_SAMPLE))
			walker_skip_samples(walker);
		error = walker_seek(walker);
		readahead->begin = readahead->end = walker_offset(walker);
	}
	while (!error) {
		struct raw_record raw;
		error = walker_next(walker, &raw);
		if (error || !raw.bytes || !add_record(readahead, &raw, options, &kept))
			break;
		readahead->end = walker_offset(walker);
	}
	/* The damage is found again by the thread that uses this part, and listed then. */
	sp_error_free(error);
}
