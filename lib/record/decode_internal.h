/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by decode.c and decode_sample.c. */
#ifndef RECORD_DECODE_INTERNAL_H
#define RECORD_DECODE_INTERNAL_H

#include "base/cursor.h"
#include "base/hash.h"
#include "record/decode.h"
#include "record/types.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Layout of an event's records, computed from its attr once. */
struct plan {
	uint64_t sample_type;  /* known bits only */
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t user_mask, interrupt_mask;
	uint8_t trailer_words; /* words of the sample_id; 0 without sample_id_all */
	int8_t sample_id_at;   /* words from a SAMPLE's header to its id; -1: it has none */
	int8_t trailer_id_at;  /* words from a record's end back to its id; -1: it has none */
};

/* Distinct places of an id, of all events; one in all but odd files. */
struct id_places {
	int8_t at[16];
	uint8_t count;
};

struct decoder {
	struct record_layout layout;
	struct plan *plans;
	bool uniform; /* all plans are equal: an unknown event's records can be read too */
	bool has_build_ids; /* an event asked for them in MMAP2 */
	struct u64map ids;
	struct id_places sample_places, trailer_places;
	uint64_t last_id; /* the look-up before, as ids come in runs */
	uint32_t last_event;
	uint8_t *scratch; /* 8-aligned; what one record needs */
	size_t scratch_used;
	size_t excess;
};

/*
 * Scratch enough for one record: an aligned copy of it, and what its arrays
 * become (counters take 24 bytes where the record may spend 8).
 */
#define SCRATCH_SIZE ((size_t)5 * 65536)

void *scratch_take(struct decoder *decoder, size_t size);

/*
 * `count` u64 at the cursor, in host order and aligned: where they lie if they
 * are so already, else copied to the scratch. False if they do not fit.
 */
bool read_words(struct decoder *decoder, struct cursor *cursor, uint64_t count,
		const uint64_t **ret);

/* READ's values and PERF_SAMPLE_READ. */
bool read_counters(struct decoder *decoder, struct cursor *cursor, uint64_t read_format,
		   struct sp_counters *ret);

/*
 * All fields of a SAMPLE; the cursor stands behind the header. NULL, or the name
 * of the field that does not fit, with the cursor standing before it.
 */
const char *decode_sample(struct decoder *decoder, const struct plan *plan, struct cursor *cursor,
			  struct sp_sample *sample);

/* A string that ends within the record; the cursor moves behind its NUL. */
static inline bool read_string(struct cursor *cursor, const char **ret)
{
	size_t left = cursor_left(cursor);
	const uint8_t *nul = left ? memchr(cursor->pos, 0, left) : NULL;
	return nul && cursor_string(cursor, (size_t)(nul - cursor->pos) + 1, ret);
}

/* A record of perf's own (64 and up); the cursor stands behind the header. */
struct sp_error *decode_user_record(struct decoder *decoder, struct cursor *cursor,
				    struct sp_record *record) SP_MUST_CHECK;

#endif
