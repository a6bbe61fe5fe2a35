/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/writer_struct.h"

#include <string.h>
#include "base/error.h"
#include "writer/spans.h"

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

struct sp_error *packing_next(struct packing *packing, uint64_t *samples_ret)
{
	struct record_buffer *raw = &packing->raw;
	struct iovec span = {raw->items, raw->count};
	size_t size = (size_t)spans_whole_records(&span, 1, DEFLATE_SIZE);
	if (!size)
		size = raw->count < DEFLATE_SIZE ? raw->count : DEFLATE_SIZE;
	span.iov_len = size;
	*samples_ret = spans_count_records(&span, 1, 0, PERF_RECORD_SAMPLE);
	packing->packed.count = 0;
	struct sp_error *error = deflater_put(packing->deflater, raw->items, size,
					      &packing->packed);
	packing->raw_bytes += size;
	packing->packed_bytes += packing->packed.count;
	memmove(raw->items, raw->items + size, raw->count - size);
	raw->count -= size;
	return error;
}

uint64_t packing_drop(struct packing *packing)
{
	struct iovec span = {packing->raw.items, packing->raw.count};
	uint64_t samples = span.iov_len ? spans_count_records(&span, 1, 0, PERF_RECORD_SAMPLE) : 0;
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
