/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"

static uint64_t load(const uint64_t *number)
{
	return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static void store(uint64_t *number, uint64_t value)
{
	__atomic_store_n(number, value, __ATOMIC_RELAXED);
}

static int sync_fd(struct durability *durability, int fd, int (*sync)(int))
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int errnum = 0;
	while (sync(fd) < 0) {
		errnum = errno;
		if (errnum != EINTR)
			break;
		errnum = 0;
	}
	uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	store(&durability->syncs, durability->syncs + 1);
	store(&durability->spent_ns, durability->spent_ns + took_ns);
	if (took_ns > durability->longest_ns)
		store(&durability->longest_ns, took_ns);
	return errnum;
}

int durable_sync_file(struct durability *durability, int fd)
{
	return durability ? sync_fd(durability, fd, fdatasync) : 0;
}

int durable_sync_name(struct durability *durability, const char *path)
{
	if (!durability)
		return 0;
	CLEANUP_FREE char *copy = strdup(path);
	if (!copy)
		return ENOMEM;
	CLEANUP_CLOSE int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? errno : sync_fd(durability, fd, fsync);
}

struct durability durability_read(const struct durability *durability)
{
	return (struct durability){
		.syncs = load(&durability->syncs),
		.spent_ns = load(&durability->spent_ns),
		.longest_ns = load(&durability->longest_ns),
	};
}
