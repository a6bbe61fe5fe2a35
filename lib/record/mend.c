/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/mend.h"

#include <linux/perf_event.h>
#include <string.h>

/* Of KSYMBOL's name and BPF_EVENT's end; of TEXT_POKE's two u16 of lengths and its bytes. */
enum { KSYMBOL_NAME = 24, BPF_EVENT_END = 24, TEXT_POKE_LENGTHS = 16, TEXT_POKE_BYTES = 20 };

bool record_size_is_doubtful(uint32_t type)
{
	return type == PERF_RECORD_KSYMBOL || type == PERF_RECORD_BPF_EVENT ||
	       type == PERF_RECORD_TEXT_POKE;
}

static size_t fields_end(uint32_t type, const uint8_t *bytes, size_t size)
{
	uint16_t lengths[2];
	const uint8_t *nul;
	switch (type) {
	case PERF_RECORD_KSYMBOL:
		nul = size > KSYMBOL_NAME ? memchr(bytes + KSYMBOL_NAME, 0, size - KSYMBOL_NAME)
					  : NULL;
		return nul ? (size_t)(nul - bytes) + 1 : 0;
	case PERF_RECORD_BPF_EVENT:
		return BPF_EVENT_END;
	case PERF_RECORD_TEXT_POKE:
		if (size < TEXT_POKE_BYTES)
			return 0;
		memcpy(lengths, bytes + TEXT_POKE_LENGTHS, sizeof(lengths));
		return TEXT_POKE_BYTES + (size_t)lengths[0] + lengths[1];
	default:
		return 0;
	}
}

size_t record_fields_end(const uint8_t *bytes, size_t size)
{
	struct perf_event_header header;
	if (size < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	size_t end = (fields_end(header.type, bytes, size) + 7) & ~(size_t)7;
	return end <= size ? end : 0;
}
