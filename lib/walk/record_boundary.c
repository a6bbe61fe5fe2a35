/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "walk/record_boundary.h"

/*
 * Returns whether a size that is no multiple of 8 is normal for the record. TRACING_DATA has 12
 * bytes. perf pads the file name in a BUILD_ID record to 64 bytes, after 36 bytes of other fields.
 * Old lists of CPUs are not padded.
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

bool headers_are_plausible(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap)
{
	for (int i = 0; i < RESYNC_HEADERS; i++) {
		size_t left = end - pos;
		if (!left)
			return i && at_end;
		if (left < HEADER_SIZE)
			return false;
		struct header header = header_at(pos, swap);
		if (!header_is_plausible(&header) || header.size > left)
			return false;
		/*
		 * Data follows these records instead of a header. Their sizes are few, so they can
		 * be checked.
		 */
		if (header.type == SP_RECORD_AUXTRACE)
			return header.size == 48;
		if (header.type == SP_RECORD_HEADER_TRACING_DATA)
			return header.size >= 12 && header.size <= TRACING_DATA_MAX;
		pos += header.size;
	}
	return true;
}
