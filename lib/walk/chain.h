/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where records seem to begin: at a chain of plausible headers, each where the record before
 * ends.
 */
#ifndef WALK_CHAIN_H
#define WALK_CHAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "record/types.h"

/* So many headers in a row must be plausible. */
#define CHAIN 4

/* No type with a name is higher, but for simpleperf's. */
#define CHAIN_TYPES_LAST 127

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

/* Whether a header may be one: of a type that somebody writes, and a size that these have. */
bool header_is_plausible(const struct header *header);

/* As chain_begins(), where the first header is not known to be of no type. */
bool chain_goes_on(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap);

/*
 * Whether CHAIN plausible headers begin at `pos`, or fewer up to `end` where that is the very end
 * of the data. Nearly all places that are none are known by their first bytes, of which there must
 * be those of a header.
 */
static inline bool chain_begins(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap)
{
	struct header first = header_at(pos, swap);
	if (__builtin_expect(first.type - 1 >= CHAIN_TYPES_LAST && !header_is_simpleperf(&first), 1))
		return false;
	return chain_goes_on(pos, end, at_end, swap);
}

#endif
