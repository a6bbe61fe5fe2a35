/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/zlib.h"

#include <stdlib.h>
#include <zlib.h>
#include "base/cleanup.h"

/* Highest ratio of deflate (RFC 1951): 258 bytes for two bits. A stream that claims more is damaged. */
#define GROWTH_MAX 1032

struct sp_error *zlib_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				   const char *path, uint8_t **ret)
{
	if (size_unpacked / GROWTH_MAX > size)
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
