/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/vec.h"

/* Number of descriptors that are closed one by one, before Linux 5.9. */
#define CLOSE_MAX 65536

/* Reads at *offset, or at the file position if `offset` is NULL. */
static int read_from(int fd, void *buffer, size_t size, const off_t *offset, size_t *done_ret)
{
	size_t done = 0;
	int errnum = 0;
	while (done < size) {
		char *to = (char *)buffer + done;
		ssize_t got = offset ? pread(fd, to, size - done, *offset + (off_t)done)
				     : read(fd, to, size - done);
		if (got == 0)
			break;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			errnum = errno;
			break;
		}
		done += (size_t)got;
	}
	if (done_ret)
		*done_ret = done;
	return errnum;
}

int io_read(int fd, void *buffer, size_t size, size_t *done_ret)
{
	return read_from(fd, buffer, size, NULL, done_ret);
}

int io_pread(int fd, void *buffer, size_t size, off_t offset, size_t *done_ret)
{
	return read_from(fd, buffer, size, &offset, done_ret);
}

int io_pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = pwrite(fd, (const char *)buffer + done, size - done,
				     offset + (off_t)done);
		if (put < 0 && errno != EINTR)
			return errno;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

int io_write(int fd, const void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = write(fd, (const char *)buffer + done, size - done);
		if (put == 0)
			return EIO;
		if (put < 0 && errno != EINTR)
			return errno;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/*
 * Sums up data by SEEK_DATA and SEEK_HOLE, because compressing and network file systems report too few
 * blocks. File systems without holes report that all is data.
 */
uint64_t io_allocated_bytes(int fd, const struct stat *status)
{
	uint64_t size = status->st_size, allocated = 0;
	if ((uint64_t)status->st_blocks >= size / 512)
		return size;
	off_t before = lseek(fd, 0, SEEK_CUR), data = 0, hole = 0;
	while (hole < status->st_size && (data = lseek(fd, hole, SEEK_DATA)) >= 0 &&
	       (hole = lseek(fd, data, SEEK_HOLE)) > data)
		allocated += (uint64_t)(hole - data);
	/* ENXIO: no data follows. Other errors: the file system does not support SEEK_DATA. */
	if (data < 0 && errno != ENXIO)
		allocated = size;
	lseek(fd, before, SEEK_SET);
	return allocated < size ? allocated : size;
}

int io_read_file(const char *path, char **text_ret, size_t *size_ret)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	size_t size = 0, capacity = 0;
	CLEANUP_FREE char *text = NULL;
	for (;;) {
		size_t got;
		if (!vec_grow(&text, &capacity, size + 16384 + 1, 1))
			return ENOMEM;
		int errnum = io_read(fd, text + size, capacity - size - 1, &got);
		if (errnum)
			return errnum;
		size += got;
		if (size < capacity - 1)
			break;
	}
	text[size] = 0;
	*text_ret = take_ptr(text);
	if (size_ret)
		*size_ret = size;
	return 0;
}

void io_close_range(int first, int last)
{
	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	for (int fd = first; fd <= last && fd < CLOSE_MAX; fd++)
		close(fd);
}
