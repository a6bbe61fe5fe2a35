/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"

#define BUFFER_SIZE ((size_t)1 << 20)

/* Where O_TMPFILE is not supported (NFS, old overlays): a name for a moment. */
static int open_and_unlink(const char *directory)
{
	CLEANUP_FREE char *name = format_text("%s/sprof-XXXXXX", directory);
	if (!name) {
		errno = ENOMEM;
		return -1;
	}
	int fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

struct sp_error *spool_init(struct spool *spool)
{
	const char *directory = getenv("TMPDIR");
	if (!directory || !*directory)
		directory = "/tmp";
	*spool = (struct spool){.fd = -1, .directory = directory};
	spool->buffer = malloc(BUFFER_SIZE);
	if (!spool->buffer)
		return error_no_memory();
	spool->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (spool->fd < 0)
		spool->fd = open_and_unlink(directory);
	if (spool->fd < 0)
		return error_set_remedy(error_os(errno, "cannot create a temporary file in %s",
						 directory),
					"set TMPDIR to a writable directory");
	return NULL;
}

static struct sp_error *flush(struct spool *spool)
{
	int errnum = io_write(spool->fd, spool->buffer, spool->used, NULL);
	spool->used = 0;
	if (!errnum)
		return NULL;
	return error_set_remedy(error_os(errnum, "cannot write the temporary copy in %s",
					 spool->directory),
				"set TMPDIR to a directory with space for the uncompressed records");
}

struct sp_error *spool_append(struct spool *spool, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	while (size) {
		size_t room = BUFFER_SIZE - spool->used, part = size < room ? size : room;
		memcpy(spool->buffer + spool->used, from, part);
		spool->used += part;
		spool->size += part;
		from += part;
		size -= part;
		if (spool->used == BUFFER_SIZE) {
			struct sp_error *error = flush(spool);
			if (error)
				return error;
		}
	}
	return NULL;
}

struct sp_error *spool_finish(struct spool *spool, int *fd_ret)
{
	struct sp_error *error = flush(spool);
	if (error)
		return error;
	*fd_ret = take_fd(&spool->fd);
	return NULL;
}

void spool_deinit(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->buffer);
	*spool = (struct spool)SPOOL_NONE;
}
