/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downloads debug files and binaries from the servers in $DEBUGINFOD_URLS. It uses the network
 * without a time limit: call it only if the user asked for it.
 */
#ifndef ELF_DEBUGINFOD_H
#define ELF_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum debuginfod_kind { DEBUGINFOD_DEBUG_FILE, DEBUGINFOD_BINARY };

/* Returns a remedy (a static string) if servers cannot be queried; NULL if they can. */
const char *debuginfod_obstacle(void);

/* Sets *ret to the downloaded file's path in libdebuginfod's cache (malloc'ed); NULL: not found. */
struct sp_error *debuginfod_find(enum debuginfod_kind kind, const uint8_t *build_id, size_t size,
				 char **ret) SP_MUST_CHECK;

#endif
