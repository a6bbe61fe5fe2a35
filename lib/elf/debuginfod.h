/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Debug files and binaries from the servers that $DEBUGINFOD_URLS names. Whoever calls this
 * was asked to: it may use the network, and take as long as that takes.
 */
#ifndef ELF_DEBUGINFOD_H
#define ELF_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum debuginfod_kind { DEBUGINFOD_DEBUG_FILE, DEBUGINFOD_BINARY };

/* Returns a remedy if servers cannot be asked; NULL if they can. Static. */
const char *debuginfod_obstacle(void);

/* The path of what was found and is now in that library's own cache (malloc'ed), or NULL. */
struct sp_error *debuginfod_find(enum debuginfod_kind kind, const uint8_t *build_id, size_t size,
				 char **ret) SP_MUST_CHECK;

#endif
