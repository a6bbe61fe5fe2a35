/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stubs for a build without debuginfod. */
#include "elf/debuginfod.h"

#include <stddef.h>

bool debuginfod_has_servers(void)
{
	return false;
}

const char *debuginfod_remedy(const struct sp_ctx *ctx)
{
	return ctx_debuginfod(ctx) ? "build sprof with ./configure --with-debuginfod"
				   : "install its debug symbols";
}

struct sp_error *debuginfod_find(struct sp_ctx *ctx, enum debuginfod_kind kind,
				 const uint8_t *build_id, size_t size, char **ret)
{
	(void)ctx, (void)kind, (void)build_id, (void)size;
	*ret = NULL;
	return NULL;
}
