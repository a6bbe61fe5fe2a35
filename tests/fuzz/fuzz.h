/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions shared by fuzz targets. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A file of the bytes, open, and a path that leads to it. */
static inline int fuzz_file(const uint8_t *bytes, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	assert(fd >= 0);
	while (size) {
		ssize_t written = write(fd, bytes, size);
		assert(written > 0);
		bytes += written;
		size -= (size_t)written;
	}
	lseek(fd, 0, SEEK_SET);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

#endif
