/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/zst.h"

#include <stdlib.h>
#include <zstd.h>
#include "base/cleanup.h"

/* Highest ratio of zstd (RFC 8878): an RLE block of 4 bytes for 128 KiB. More is damage. */
#define GROWTH_MAX (((size_t)128 << 10) / 4)

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
	CLEANUP_FREE uint8_t *output = malloc(wanted ? (size_t)wanted : 1);
	NEED(output);
	size_t got = ZSTD_decompress(output, (size_t)wanted, bytes, size);
	if (ZSTD_isError(got))
		return error_new(SP_ERROR_FORMAT, "%s: damaged zstd data: %s", path,
				 ZSTD_getErrorName(got));
	*ret = take_ptr(output);
	*size_ret = got;
	return NULL;
}

struct sp_error *zst_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				  const char *path, uint8_t **ret)
{
	if (size_unpacked / GROWTH_MAX > size)
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
