/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes a struct sp_record to bytes in host order. The recorder makes records with it, and so do
 * tests.
 */
#pragma once

#include <sprof/record.h>
#include <string.h>
#include "base/vec.h"

/* Encoded records, one after the other, each a multiple of 8 bytes. A zeroed buffer is empty. */
struct record_buffer {
	VEC(uint8_t);
};

/* Appends bytes. Returns false when out of memory. */
static inline bool record_buffer_append(struct record_buffer *buffer, const void *bytes,
					size_t size)
{
	if (!vec_reserve(buffer, buffer->count + size))
		return false;
	if (size)
		memcpy(buffer->items + buffer->count, bytes, size);
	buffer->count += size;
	return true;
}

/* Returns the header of an encoded record, which need not be aligned. */
static inline struct perf_event_header record_header_of(const uint8_t *record)
{
	struct perf_event_header header;
	memcpy(&header, record, sizeof(header));
	return header;
}

/*
 * Appends `record` (type, misc, its fields of the union, and id). `attr` says
 * what the sample_id behind it (or a SAMPLE) holds; NULL, or without
 * sample_id_all: none. Records 64 and up never have one.
 *
 * Types: all that struct sp_record has a field for, SWITCH, and the empty
 * FINISHED_ROUND and FINISHED_INIT. Of misc, MMAP2's MMAP_BUILD_ID bit is set
 * where build_id_size is not 0 and cleared where it is. A SAMPLE holds what
 * attr->sample_type says, whatever its `present`; its RAW, stack and AUX bytes
 * are padded as the kernel pads them (the padding counts as bytes).
 *
 * Fails, with the buffer as it was, with SP_ERROR_LIMIT when the record would
 * not fit its u16 size, SP_ERROR_INVALID when registers do not fit the attr's
 * mask, SP_ERROR_UNSUPPORTED for other types.
 */
struct sp_error *record_encode(struct record_buffer *buffer, const struct sp_record *record,
			       const struct perf_event_attr *attr) SP_MUST_CHECK;

/* The largest size of a record: a u16 that is a multiple of 8. */
#define RECORD_SIZE_MAX ((size_t)65528)

/*
 * The smallest size of perf_event_attr that holds all that is set in both, of those a reader may
 * know (112, 120, 128, …): older readers refuse a size larger than their own.
 */
uint32_t attr_size_needed(const struct perf_event_attr *attr, const struct sp_attr_tail *tail);
