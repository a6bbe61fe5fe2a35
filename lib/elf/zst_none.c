/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stubs for a build without libzstd. */
#include "elf/zst.h"

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
