/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/file_mapping.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Linux 6.5. All architectures but alpha use this number. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* Linux 5.14. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Size of the largest folio. A fault may map a whole folio, also outside of the window. */
#define FOLIO_MAX ((uint64_t)2 << 20)

void file_mapping_init(struct file_mapping *mapping)
{
	*mapping = (struct file_mapping){.fd = -1, .ending = true};
	pthread_mutex_init(&mapping->lock, NULL);
}

/*
 * Returns whether the file system is local. Leases are reliable only there, because no other machine
 * can write.
 */
static bool is_local(int fd)
{
	struct statfs system;
	if (fstatfs(fd, &system))
		return false;
	switch ((unsigned long)system.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * Takes a lease. enter() checks whether a process waits for it, so no signal is needed. Until F_SETOWN
 * removes the receiver, the signal is SIGURG, which is ignored by default.
 */
static bool take_lease(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) || fcntl(fd, F_SETLEASE, F_RDLCK))
		return false;
	fcntl(fd, F_SETOWN, 0);
	return true;
}

static void give_back(struct file_mapping *mapping)
{
	if (!mapping->bytes)
		return;
	munmap(mapping->bytes, mapping->size);
	mapping->bytes = NULL;
	fcntl(mapping->fd, F_SETLEASE, F_UNLCK);
}

void file_mapping_begin(struct file_mapping *mapping, int fd)
{
	struct stat status;
	pthread_mutex_lock(&mapping->lock);
	if (!mapping->bytes && is_local(fd) && take_lease(fd)) {
		bool known = fstat(fd, &status) == 0 && status.st_size > 0 &&
			     (uint64_t)status.st_size <= SIZE_MAX;
		void *bytes = known ? mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0)
				    : MAP_FAILED;
		if (bytes == MAP_FAILED) {
			fcntl(fd, F_SETLEASE, F_UNLCK);
		} else {
			mapping->fd = fd;
			mapping->bytes = bytes;
			mapping->size = status.st_size;
			mapping->ending = false;
		}
	}
	pthread_mutex_unlock(&mapping->lock);
}

void file_mapping_end(struct file_mapping *mapping)
{
	pthread_mutex_lock(&mapping->lock);
	mapping->ending = true;
	if (!mapping->windows)
		give_back(mapping);
	pthread_mutex_unlock(&mapping->lock);
}

void file_mapping_deinit(struct file_mapping *mapping)
{
	give_back(mapping);
	pthread_mutex_destroy(&mapping->lock);
}

/* Returns whether the page cache has all these bytes. */
static bool is_cached(const struct file_mapping *mapping, uint64_t offset, uint64_t size)
{
	struct { uint64_t offset, size; } range = {offset, size};
	struct { uint64_t cached, dirty, writeback, evicted, recently; } state;
	uint64_t page = sysconf(_SC_PAGESIZE);
	if (syscall(SYS_cachestat, mapping->fd, &range, &state, 0) == 0)
		return state.cached >= (size + page - 1) / page;
	return madvise(mapping->bytes + offset, size, MADV_POPULATE_READ) == 0;
}

/* Counts an open window. Returns false if a process waits for the lease, or there is none. */
static bool enter(struct file_mapping *mapping, uint64_t offset, uint64_t size)
{
	bool entered = false;
	pthread_mutex_lock(&mapping->lock);
	if (mapping->bytes && fcntl(mapping->fd, F_GETLEASE) != F_RDLCK)
		mapping->ending = true;
	if (!mapping->ending && offset <= mapping->size && size <= mapping->size - offset) {
		mapping->windows++;
		entered = true;
	} else if (mapping->ending && !mapping->windows) {
		give_back(mapping);
	}
	pthread_mutex_unlock(&mapping->lock);
	return entered;
}

static void leave(struct file_mapping *mapping)
{
	pthread_mutex_lock(&mapping->lock);
	if (!--mapping->windows && mapping->ending)
		give_back(mapping);
	pthread_mutex_unlock(&mapping->lock);
}

const uint8_t *file_mapping_open(struct file_mapping *mapping, uint64_t offset, uint64_t size)
{
	if (offset % MAPPING_ALIGN || !enter(mapping, offset, size))
		return NULL;
	if (is_cached(mapping, offset, size))
		return mapping->bytes + offset;
	leave(mapping);
	return NULL;
}

void file_mapping_close(struct file_mapping *mapping, uint64_t offset, uint64_t size)
{
	uint64_t begin = offset > FOLIO_MAX ? offset - FOLIO_MAX : 0;
	uint64_t end = mapping->size - offset > size + FOLIO_MAX ? offset + size + FOLIO_MAX :
								    mapping->size;
	madvise(mapping->bytes + begin, end - begin, MADV_DONTNEED);
	leave(mapping);
}
