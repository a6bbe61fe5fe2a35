/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/deflate.h"

#include "base/error.h"

struct sp_error *deflater_new(int level, struct deflater **ret)
{
	(void)level;
	(void)ret;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "cannot compress: this build has no zstd"),
				"build sprof with libzstd, or record without -z");
}

void deflater_free(struct deflater *deflater)
{
	(void)deflater;
}

struct sp_error *deflater_put(struct deflater *deflater, const void *bytes, size_t size,
			      struct record_buffer *records)
{
	(void)deflater;
	(void)bytes;
	(void)size;
	(void)records;
	return error_new(SP_ERROR_UNSUPPORTED, "this build has no zstd");
}
