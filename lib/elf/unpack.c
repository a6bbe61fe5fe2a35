/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/unpack.h"

#include <stdlib.h>
#include <zlib.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#include "base/cleanup.h"

#ifdef HAVE_LZMA
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
				 status);
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
#else
struct sp_error *xz_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			   uint8_t **ret, size_t *size_ret)
{
	(void)bytes, (void)size, (void)limit, (void)ret, (void)size_ret;
	return error_new(
		SP_ERROR_UNSUPPORTED,
		"%s: its symbols are xz-compressed (.gnu_debugdata), and this build has no liblzma",
		path);
}
#endif

/* Highest ratio of deflate (RFC 1951): 258 bytes for two bits. A higher claim is damage. */
#define ZLIB_GROWTH_MAX 1032

struct sp_error *zlib_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				   const char *path, uint8_t **ret)
{
	if (size_unpacked / ZLIB_GROWTH_MAX > size)
		return error_new(SP_ERROR_FORMAT, "%s: zlib data of %zu bytes cannot become %zu",
				 path, size, size_unpacked);
	CLEANUP_FREE uint8_t *output = malloc(size_unpacked ? size_unpacked : 1);
	NEED(output);
	uLongf got = size_unpacked;
	int status = uncompress(output, &got, bytes, size);
	if (status == Z_MEM_ERROR)
		return error_no_memory();
	if (status != Z_OK || got != size_unpacked)
		return error_new(SP_ERROR_FORMAT, "%s: damaged zlib data", path);
	*ret = take_ptr(output);
	return NULL;
}

#ifdef HAVE_ZSTD
/* Highest ratio of zstd (RFC 8878): an RLE block of 4 bytes for 128 KiB. More is damage. */
#define ZSTD_GROWTH_MAX (((size_t)128 << 10) / 4)

struct sp_error *zst_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				  const char *path, uint8_t **ret)
{
	if (size_unpacked / ZSTD_GROWTH_MAX > size)
		return error_new(SP_ERROR_FORMAT, "%s: zstd data of %zu bytes cannot become %zu",
				 path, size, size_unpacked);
	CLEANUP_FREE uint8_t *output = malloc(size_unpacked ? size_unpacked : 1);
	NEED(output);
	size_t got = ZSTD_decompress(output, size_unpacked, bytes, size);
	if (ZSTD_isError(got) || got != size_unpacked)
		return error_new(SP_ERROR_FORMAT, "%s: damaged zstd data: %s", path,
				 ZSTD_isError(got) ? ZSTD_getErrorName(got) : "too short");
	*ret = take_ptr(output);
	return NULL;
}

struct sp_error *zst_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			    uint8_t **ret, size_t *size_ret)
{
	unsigned long long wanted = ZSTD_getFrameContentSize(bytes, size);
	if (wanted == ZSTD_CONTENTSIZE_ERROR || wanted == ZSTD_CONTENTSIZE_UNKNOWN)
		return error_new(SP_ERROR_FORMAT, "%s: damaged zstd data, or of unknown size",
				 path);
	if (wanted > limit)
		return error_new(SP_ERROR_FORMAT, "%s: zstd data unpacks to more than %zu bytes",
				 path, limit);
	TRY(zst_unpack_sized(bytes, size, wanted, path, ret));
	*size_ret = wanted;
	return NULL;
}
#else
struct sp_error *zst_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			    uint8_t **ret, size_t *size_ret)
{
	(void)bytes, (void)size, (void)limit, (void)ret, (void)size_ret;
	return error_new(SP_ERROR_UNSUPPORTED, "%s is compressed, and this build has no libzstd",
			 path);
}

struct sp_error *zst_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				  const char *path, uint8_t **ret)
{
	(void)bytes, (void)size, (void)size_unpacked, (void)ret;
	return error_new(SP_ERROR_UNSUPPORTED, "%s: this build cannot read zstd", path);
}
#endif
