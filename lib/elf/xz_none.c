/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stub for a build without liblzma. */
#include "elf/xz.h"

struct sp_error *xz_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			   uint8_t **ret, size_t *size_ret)
{
	(void)bytes, (void)size, (void)limit, (void)ret, (void)size_ret;
	return error_new(
		SP_ERROR_UNSUPPORTED,
		"%s: its symbols are xz-compressed (.gnu_debugdata), and this build has no liblzma",
		path);
}
