/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"

#define BUFFER_SIZE ((size_t)1 << 20)

/* Creates a file and removes its name, for file systems without O_TMPFILE (NFS, old overlays). */
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

struct sp_error *temp_file_init(struct temp_file *temp)
{
	const char *directory = getenv("TMPDIR");
	if (!directory || !*directory)
		directory = "/tmp";
	*temp = (struct temp_file){.fd = -1, .directory = directory};
	temp->buffer = malloc(BUFFER_SIZE);
	NEED(temp->buffer);
	temp->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (temp->fd < 0)
		temp->fd = open_and_unlink(directory);
	if (temp->fd < 0)
		return error_set_remedy(error_os(errno, "cannot create a temporary file in %s",
						 directory),
					"set TMPDIR to a writable directory");
	return NULL;
}

static struct sp_error *flush(struct temp_file *temp)
{
	int errnum = io_write(temp->fd, temp->buffer, temp->used);
	temp->used = 0;
	if (!errnum)
		return NULL;
	return error_set_remedy(error_os(errnum, "cannot write the temporary copy in %s",
					 temp->directory),
				"set TMPDIR to a directory with space for the uncompressed records");
}

struct sp_error *temp_file_append(struct temp_file *temp, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	while (size) {
		size_t room = BUFFER_SIZE - temp->used, part = size < room ? size : room;
		memcpy(temp->buffer + temp->used, from, part);
		temp->used += part;
		temp->size += part;
		from += part;
		size -= part;
		if (temp->used == BUFFER_SIZE)
			TRY(flush(temp));
	}
	return NULL;
}

struct sp_error *temp_file_finish(struct temp_file *temp, int *fd_ret)
{
	TRY(flush(temp));
	*fd_ret = take_fd(&temp->fd);
	return NULL;
}

void temp_file_deinit(struct temp_file *temp)
{
	if (temp->fd >= 0)
		close(temp->fd);
	free(temp->buffer);
	*temp = (struct temp_file)TEMP_FILE_NONE;
}
