/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "binary/held_files.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/io.h"
#include "base/vec.h"

/* Limits of files that are held: for each CPU, and whatever the limit of open files. */
#define CPU_FILES 48
#define FILES_MAX 1024

/* Bytes of copies in all. */
#define COPIES_MAX ((uint64_t)64 << 20)

struct held_file {
	char *path; /* the module's */
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint32_t maj, min;
	uint64_t ino;
	int fd;
};

struct held_files {
	pthread_mutex_t lock;
	size_t files_max;
	uint64_t copied; /* bytes of copies so far */
	VEC(struct held_file);
};

struct sp_error *held_files_new(struct held_files **ret)
{
	struct rlimit limit;
	struct held_files *held = calloc(1, sizeof(*held));
	NEED(held);
	pthread_mutex_init(&held->lock, NULL);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	held->files_max = cpus > 0 ? CPU_FILES * (size_t)cpus : CPU_FILES;
	held->files_max = held->files_max < FILES_MAX ? held->files_max : FILES_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 8 < held->files_max)
		held->files_max = (size_t)limit.rlim_cur / 8;
	*ret = held;
	return NULL;
}

void held_files_free(struct held_files *held)
{
	if (!held)
		return;
	for (size_t i = 0; i < held->count; i++) {
		close(held->items[i].fd);
		free(held->items[i].path);
	}
	vec_deinit(held);
	pthread_mutex_destroy(&held->lock);
	free(held);
}

/*
 * Returns whether a held file is the module's. The recorder may not know a build-id that is found when the
 * recording ends; then its inode decides.
 */
static bool is_of(const struct held_file *file, const struct module *module)
{
	bool same = file->build_id_size && module->build_id_size ?
			    bytes_equal(file->build_id, file->build_id_size, module->build_id,
					module->build_id_size) :
			    file->ino == module->ino && file->maj == module->maj &&
				    file->min == module->min;
	return same && !strcmp(file->path, module->path);
}

static const struct held_file *find(const struct held_files *held, const struct module *module)
{
	for (size_t i = 0; i < held->count; i++)
		if (is_of(&held->items[i], module))
			return &held->items[i];
	return NULL;
}

/* Copies a file to memory. Returns its descriptor, or -1. */
static int copy_file(const struct image *image)
{
	CLEANUP_CLOSE int fd = memfd_create("sprof-held", MFD_CLOEXEC);
	off_t offset = 0;
	while (fd >= 0 && (uint64_t)offset < image->size)
		if (sendfile(fd, image->fd, &offset, image->size - (uint64_t)offset) <= 0)
			return -1;
	return take_fd(&fd);
}

/* Returns a descriptor that is open as long as the file is held; -1: a limit is reached, or an error. */
static int hold(struct held_files *held, const struct image *image)
{
	bool is_here = !image->root || !*image->root;
	if (is_here && !image->is_copy)
		return fcntl(image->fd, F_DUPFD_CLOEXEC, 3);
	if (image->allocated < image->size || held->copied + image->size > COPIES_MAX)
		return -1;
	int fd = image->is_copy ? fcntl(image->fd, F_DUPFD_CLOEXEC, 3) : copy_file(image);
	if (fd >= 0)
		held->copied += image->size;
	return fd;
}

static void add(struct held_files *held, const struct module *module, const struct image *image)
{
	char *path = strdup(module->path);
	int fd = path ? hold(held, image) : -1;
	if (fd < 0 || !vec_reserve(held, held->count + 1)) {
		if (fd >= 0)
			close(fd);
		free(path);
		return;
	}
	struct held_file file = {
		.path = path,
		.build_id_size = module->build_id_size,
		.maj = module->maj,
		.min = module->min,
		.ino = module->ino,
		.fd = fd,
	};
	memcpy(file.build_id, module->build_id, module->build_id_size);
	/* A process that is forked at any moment must find complete files only. */
	held->items[held->count] = file;
	__atomic_store_n(&held->count, held->count + 1, __ATOMIC_RELEASE);
}

void held_files_add(struct held_files *held, const struct module *module,
		    const struct image *image)
{
	if (image->fd < 0)
		return;
	pthread_mutex_lock(&held->lock);
	if (held->count < held->files_max && !find(held, module))
		add(held, module, image);
	pthread_mutex_unlock(&held->lock);
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void held_files_after_fork(struct held_files *held, const int *fds, size_t count)
{
	size_t held_count = held ? held->count : 0, all = held_count + count;
	CLEANUP_FREE int *kept = calloc(all + 1, sizeof(*kept));
	if (held)
		pthread_mutex_init(&held->lock, NULL);
	for (size_t i = 0; i < all && kept; i++)
		kept[i] = i < count ? fds[i] : held->items[i - count].fd;
	if (kept)
		qsort(kept, all, sizeof(*kept), compare_fds);
	int next = STDERR_FILENO + 1;
	for (size_t i = 0; i < all && kept; i++) {
		io_close_range(next, kept[i] - 1);
		next = kept[i] + 1;
	}
	io_close_range(next, INT_MAX);
}

struct sp_error *held_files_open(struct held_files *held, const struct module *module,
				 struct image **ret)
{
	char path[32] = "";
	*ret = NULL;
	pthread_mutex_lock(&held->lock);
	const struct held_file *file = find(held, module);
	if (file)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	pthread_mutex_unlock(&held->lock);
	return *path ? image_open(path, ret) : NULL;
}
