/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "walk/chain.h"

#include <stddef.h>

#define HEADER_SIZE 8

/* simpleperf puts the payload inside the record, which then is longer than this. */
#define TRACING_DATA_MAX 16

/*
 * Of a size that only compressed records have: bytes of something else, taken for a header.
 * TRACING_DATA has 12 bytes, perf pads what is behind 36 bytes of a BUILD_ID to 64, and lists of
 * CPUs once were not padded.
 */
static bool is_odd(const struct header *header)
{
	switch (header->type) {
	case SP_RECORD_COMPRESSED:
	case SP_RECORD_COMPRESSED2:
		return false;
	case SP_RECORD_HEADER_TRACING_DATA:
	case SP_RECORD_HEADER_BUILD_ID:
		return header->size & 3;
	case SP_RECORD_CPU_MAP:
		return header->size & 1;
	default:
		return header->size & 7;
	}
}

bool header_is_plausible(const struct header *header)
{
	bool kernel = header->type && header->type <= RECORD_CALLCHAIN_DEFERRED;
	bool user = header->type >= RECORD_USER_TYPES && sp_record_type_name(header->type);
	return (kernel || user || header_is_simpleperf(header)) && header->size >= HEADER_SIZE &&
	       !is_odd(header);
}

bool chain_goes_on(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap)
{
	for (int i = 0; i < CHAIN; i++) {
		size_t left = (size_t)(end - pos);
		if (!left)
			return i && at_end;
		if (left < HEADER_SIZE)
			return false;
		struct header header = header_at(pos, swap);
		if (!header_is_plausible(&header) || header.size > left)
			return false;
		/* What follows is data, so the chain ends; these have few sizes. */
		if (header.type == SP_RECORD_AUXTRACE)
			return header.size == 48;
		if (header.type == SP_RECORD_HEADER_TRACING_DATA)
			return header.size >= 12 && header.size <= TRACING_DATA_MAX;
		pos += header.size;
	}
	return true;
}
