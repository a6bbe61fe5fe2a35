/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unlinked temporary file, in $TMPDIR or /tmp, for what cannot be read twice
 * where it comes from. Nobody else can open it, and it is gone with its last fd.
 */
#ifndef READER_SPOOL_H
#define READER_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct spool {
	int fd;        /* -1: none */
	uint64_t size; /* of all that was appended */
	uint8_t *buffer;
	size_t used;   /* of the buffer, not yet written */
	const char *directory;
};

/* A spool that can be given to spool_deinit(). */
#define SPOOL_NONE {.fd = -1}

struct sp_error *spool_init(struct spool *spool) SP_MUST_CHECK;

/* Fails with SP_ERROR_LIMIT, saying where there is no room. */
struct sp_error *spool_append(struct spool *spool, const void *bytes, size_t size) SP_MUST_CHECK;

/* Writes what is buffered and gives the fd to the caller. */
struct sp_error *spool_finish(struct spool *spool, int *fd_ret) SP_MUST_CHECK;

void spool_deinit(struct spool *spool);

#endif
