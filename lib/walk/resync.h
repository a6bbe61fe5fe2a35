/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Record boundaries in unknown bytes: plausible headers in a row, each at the previous record's
 * end.
 */
#ifndef WALK_RESYNC_H
#define WALK_RESYNC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "record/types.h"

/* Number of headers in a row that must be plausible. */
#define RESYNC_HEADERS 4

/* No type with a name is higher, except simpleperf's. */
#define RESYNC_TYPE_LAST 127

#define HEADER_SIZE 8

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

/* Whether a known writer writes records of this type with such sizes. */
bool header_is_plausible(const struct header *header);

/* The same as records_begin(), without its quick check of the type. */
bool headers_are_plausible(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap);

/*
 * Whether RESYNC_HEADERS plausible headers begin at `pos`, or fewer up to `end` if `at_end`: the
 * data ends there. At least HEADER_SIZE bytes must be readable. The first bytes already exclude
 * nearly all wrong places.
 */
static inline bool records_begin(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap)
{
	struct header first = header_at(pos, swap);
	if (__builtin_expect(first.type - 1 >= RESYNC_TYPE_LAST && !header_is_simpleperf(&first), 1))
		return false;
	return headers_are_plausible(pos, end, at_end, swap);
}

#endif
