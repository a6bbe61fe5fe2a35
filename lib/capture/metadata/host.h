/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts about the machine and the recorder, for the file's header. */
#pragma once

#include <time.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "writer/writer.h"

/*
 * Reads the facts. Unknown ones stay NULL or 0. Strings and arrays are the arena's. `cmdline` is
 * copied without its secrets (record/secrets.h).
 */
struct sp_error *host_info(const struct sp_ctx *ctx, const char *const *cmdline, clockid_t clock,
			   struct arena *arena, struct writer_info *ret) SP_MUST_CHECK;

/* Returns the machine's memory in KiB; 0: unknown. */
uint64_t host_memory_kb(const struct sp_ctx *ctx);
