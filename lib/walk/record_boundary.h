/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds record boundaries in unknown bytes: several plausible headers in a row, each at the end of
 * the previous record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "record/types.h"

/* Number of headers in a row that must be plausible. */
#define RESYNC_HEADERS 4

/* Highest type of a record with a name; only simpleperf has higher ones. */
#define RESYNC_TYPE_LAST 127

#define HEADER_SIZE 8

/*
 * Upper limit of a TRACING_DATA record's size. simpleperf writes the payload into the record, which
 * is then larger.
 */
#define TRACING_DATA_MAX 16

struct header {
	uint32_t type;
	uint16_t misc, size;
};

static inline struct header header_at(const uint8_t *bytes, bool swap)
{
	struct header header;
	memcpy(&header.type, bytes, 4);
	memcpy(&header.misc, bytes + 4, 2);
	memcpy(&header.size, bytes + 6, 2);
	if (swap) {
		header.type = __builtin_bswap32(header.type);
		header.misc = __builtin_bswap16(header.misc);
		header.size = __builtin_bswap16(header.size);
	}
	return header;
}

static inline bool header_is_simpleperf(const struct header *header)
{
	return header->type >= RECORD_SIMPLEPERF_FIRST && header->type <= RECORD_SIMPLEPERF_LAST;
}

/* Returns whether recorders write records of this type with such a size. */
bool header_is_plausible(const struct header *header);

/* Like records_begin(), without its quick check of the type. */
bool headers_are_plausible(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap);

/*
 * Returns whether RESYNC_HEADERS plausible headers begin at `pos`. With `at_end`, the data ends at
 * `end`, and fewer suffice up to there. At least HEADER_SIZE bytes must be readable. The first
 * bytes alone exclude nearly all wrong places.
 */
static inline bool records_begin(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap)
{
	struct header first = header_at(pos, swap);
	if (__builtin_expect(first.type - 1 >= RESYNC_TYPE_LAST && !header_is_simpleperf(&first),
			     1))
		return false;
	return headers_are_plausible(pos, end, at_end, swap);
}
