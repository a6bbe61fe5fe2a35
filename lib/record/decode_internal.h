/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by the files of the decoder, decode*.c. */
#pragma once

#include <assert.h>
#include <string.h>
#include "base/cursor.h"
#include "base/hash.h"
#include "record/decode.h"
#include "record/types.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Layout of an event's records, computed once from its attr. */
struct plan {
	uint64_t sample_type;  /* known bits of attr.sample_type */
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t user_mask, interrupt_mask;
	uint8_t trailer_words; /* words of the sample_id; 0 without sample_id_all */
	int8_t sample_id_at;   /* words from a SAMPLE's header to its id; -1: it has none */
	int8_t trailer_id_at;  /* words from a record's end back to its id; -1: it has none */
	bool is_raw_wait;      /* result of event_is_raw_wait() */
};

/* The distinct places where records of some event have an id. Nearly all recordings have one place. */
struct id_places {
	int8_t at[16];
	uint8_t count;
};

struct decoder {
	struct record_layout layout;
	struct plan *plans;
	bool uniform; /* all plans are equal, so that records of unknown events can be decoded */
	bool has_build_ids; /* an event requested build-ids in MMAP2 records */
	struct u64map ids;
	struct id_places sample_places, trailer_places;
	uint64_t last_id; /* result of the last search, because equal ids often follow each other */
	uint32_t last_event;
	uint8_t *scratch; /* buffer for the contents of one record, aligned to 8 */
	size_t scratch_used;
	size_t excess;
};

/*
 * Size of the buffer for one record: an aligned copy, and the arrays made from it (a counter takes 24
 * bytes for 8 in the record).
 */
#define SCRATCH_SIZE ((size_t)5 * 65536)

/* Returns `size` bytes of the buffer, valid until the next record. */
static inline void *scratch_take(struct decoder *decoder, size_t size)
{
	size_t at = decoder->scratch_used;
	assert(size <= SCRATCH_SIZE - at);
	decoder->scratch_used = at + ((size + 7) & ~(size_t)7);
	return decoder->scratch + at;
}

/*
 * Reads `count` u64 at the cursor, in host order and aligned. *ret points into the record if possible,
 * else to a copy. Returns false if they do not fit.
 */
static inline bool read_words(struct decoder *decoder, struct cursor *cursor, uint64_t count,
			      const uint64_t **ret)
{
	const uint8_t *bytes;
	if (count > cursor_left(cursor) / 8 || !cursor_bytes(cursor, count * 8, &bytes))
		return false;
	if (likely(!cursor->swap && !((uintptr_t)bytes & 7))) {
		*ret = (const uint64_t *)bytes;
		return true;
	}
	uint64_t *words = scratch_take(decoder, count * 8);
	memcpy(words, bytes, count * 8);
	for (uint64_t i = 0; cursor->swap && i < count; i++)
		words[i] = __builtin_bswap64(words[i]);
	*ret = words;
	return true;
}

/* Reads the values of a READ record or of PERF_SAMPLE_READ. */
bool read_counters(struct decoder *decoder, struct cursor *cursor, uint64_t read_format,
		   struct sp_counters *ret);

/*
 * Decodes all fields of a SAMPLE. On entry the cursor is after the header. Returns NULL, or the name of
 * the field that does not fit, with the cursor before it.
 */
const char *decode_sample(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
			  struct sp_sample *sample);

/* Decodes a record of perf's own types (64 and above). On entry the cursor is after the header. */
struct sp_error *decode_user_record(struct decoder *decoder, struct cursor *cursor,
				    struct sp_record *record) SP_MUST_CHECK;
