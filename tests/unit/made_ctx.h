/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UNIT_MADE_CTX_H
#define UNIT_MADE_CTX_H

#include <sprof/ctx.h>
#include "test.h"

/* One for all, below which there is nothing. */
static inline struct sp_ctx *made_ctx(void)
{
	static struct sp_ctx *ctx;
	if (!ctx) {
		ok_or_fail(sp_ctx_new(&ctx));
		ok_or_fail(sp_ctx_set_root(ctx, "/nonexistent"));
	}
	return ctx;
}

#endif
