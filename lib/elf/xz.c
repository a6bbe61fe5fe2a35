/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/xz.h"

#include <lzma.h>
#include <stdlib.h>
#include "base/cleanup.h"

/* Memory limit of the decoder: enough for every preset of xz. Only a hostile file needs more. */
#define XZ_MEMORY_LIMIT ((uint64_t)256 << 20)

static struct sp_error *unpack(lzma_stream *stream, size_t limit, const char *path, uint8_t **ret,
			       size_t *size_ret)
{
	CLEANUP_FREE uint8_t *output = NULL;
	size_t capacity = 4 * stream->avail_in + 4096, used = 0;
	lzma_ret status = LZMA_OK;
	while (status == LZMA_OK) {
		if (capacity > limit)
			capacity = limit;
		uint8_t *larger = used < capacity ? realloc(output, capacity) : NULL;
		if (!larger)
			return used >= limit
				       ? error_new(SP_ERROR_FORMAT,
						   "%s: xz data unpacks to more than %zu bytes",
						   path, limit)
				       : error_no_memory();
		output = larger;
		stream->next_out = output + used;
		stream->avail_out = capacity - used;
		status = lzma_code(stream, LZMA_FINISH);
		used = capacity - stream->avail_out;
		capacity *= 2;
	}
	if (status != LZMA_STREAM_END)
		return error_new(SP_ERROR_FORMAT, "%s: damaged xz data (liblzma status %d)", path,
				 (int)status);
	*ret = take_ptr(output);
	*size_ret = used;
	return NULL;
}

struct sp_error *xz_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			   uint8_t **ret, size_t *size_ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, XZ_MEMORY_LIMIT, LZMA_CONCATENATED) != LZMA_OK)
		return error_no_memory();
	stream.next_in = bytes;
	stream.avail_in = size;
	struct sp_error *error = unpack(&stream, limit, path, ret, size_ret);
	lzma_end(&stream);
	return error;
}
