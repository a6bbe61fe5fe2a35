/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downloads debug files and binaries from the servers in $DEBUGINFOD_URLS. It uses the network
 * without a time limit: call it only if the user asked for it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/ctx.h"
#include "base/error.h"

enum debuginfod_kind { DEBUGINFOD_DEBUG_FILE, DEBUGINFOD_BINARY };

/* Returns whether $DEBUGINFOD_URLS names servers, and this build can query them. */
bool debuginfod_has_servers(void);

/*
 * Returns the remedy (a static string) for a file without debug symbols. It names the
 * distribution's server (/etc/os-release) if none is set, and why allowed queries failed.
 */
const char *debuginfod_remedy(const struct sp_ctx *ctx);

/*
 * Sets *ret to the downloaded file's path in libdebuginfod's cache (malloc'ed); NULL: not found.
 * Notes the cause of a failure in `ctx`.
 */
struct sp_error *debuginfod_find(struct sp_ctx *ctx, enum debuginfod_kind kind,
				 const uint8_t *build_id, size_t size, char **ret) SP_MUST_CHECK;
