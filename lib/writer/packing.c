/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/writer_struct.h"

#include <string.h>
#include "base/error.h"
#include "record/command_line.h"
#include "record/types.h"
#include "writer/spans.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

struct sp_error *packing_init(struct packing *packing, int level)
{
	*packing = (struct packing){0};
	return level ? deflater_new(level, &packing->deflater) : NULL;
}

void packing_deinit(struct packing *packing)
{
	deflater_free(packing->deflater);
	vec_deinit(&packing->raw);
	vec_deinit(&packing->packed);
	vec_deinit(&packing->plain);
	*packing = (struct packing){0};
}

struct sp_error *packing_add(struct packing *packing, const struct iovec *spans, int count)
{
	size_t size = spans_size(spans, count);
	NEED(vec_reserve(&packing->raw, packing->raw.count + size));
	spans_copy(spans, packing->raw.items + packing->raw.count, size);
	packing->raw.count += size;
	return NULL;
}

static bool is_command_line(const uint8_t *bytes, size_t size)
{
	uint64_t kind;
	if (record_header_of(bytes).type != SP_RECORD_EVENT_UPDATE ||
	    size < HEADER_SIZE + sizeof(kind))
		return false;
	memcpy(&kind, bytes + HEADER_SIZE, sizeof(kind));
	return kind == COMMAND_LINE_KIND;
}

/*
 * Moves the command lines among the first `size` bytes to `plain`. Returns the number of bytes of
 * the other records, which are then the first; SIZE_MAX when out of memory.
 */
static size_t move_command_lines(struct packing *packing, size_t size)
{
	uint8_t *bytes = packing->raw.items;
	size_t kept = 0, length;
	packing->plain.count = 0;
	for (size_t at = 0; at < size; at += length) {
		length = size - at >= HEADER_SIZE ? record_header_of(bytes + at).size : 0;
		if (length < HEADER_SIZE || length > size - at)
			length = size - at;
		if (length < HEADER_SIZE || !is_command_line(bytes + at, length)) {
			memmove(bytes + kept, bytes + at, length);
			kept += length;
			continue;
		}
		if (!vec_reserve(&packing->plain, packing->plain.count + length))
			return SIZE_MAX;
		memcpy(packing->plain.items + packing->plain.count, bytes + at, length);
		packing->plain.count += length;
	}
	return kept;
}

struct sp_error *packing_next(struct packing *packing, uint64_t *samples_ret)
{
	struct record_buffer *raw = &packing->raw;
	struct iovec span = {raw->items, raw->count};
	size_t size = spans_whole_records(&span, 1, DEFLATE_SIZE);
	if (!size)
		size = raw->count < DEFLATE_SIZE ? raw->count : DEFLATE_SIZE;
	span.iov_len = size;
	*samples_ret = spans_count_samples(&span, 1, 0);
	packing->packed.count = 0;
	size_t kept = move_command_lines(packing, size);
	struct sp_error *error = kept == SIZE_MAX ? error_no_memory() : NULL;
	if (!error && kept)
		error = deflater_put(packing->deflater, raw->items, kept, &packing->packed);
	packing->raw_bytes += size;
	packing->packed_bytes += packing->packed.count + packing->plain.count;
	memmove(raw->items, raw->items + size, raw->count - size);
	raw->count -= size;
	return error;
}

uint64_t packing_drop(struct packing *packing)
{
	struct iovec span = {packing->raw.items, packing->raw.count};
	uint64_t samples = span.iov_len ? spans_count_samples(&span, 1, 0) : 0;
	packing->raw.count = 0;
	return samples;
}

uint32_t packing_ratio(const struct packing *packing)
{
	uint64_t ratio = packing->packed_bytes
				 ? (packing->raw_bytes + packing->packed_bytes / 2) /
					   packing->packed_bytes
				 : 1;
	return ratio > UINT32_MAX ? UINT32_MAX : ratio ? (uint32_t)ratio : 1;
}
