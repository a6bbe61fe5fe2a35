/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/diagnosis.h"
#include "stored/stored_files.h"

#define FILE_DAMAGED (-2)

struct stored {
	struct stored_names names;
	char *path;
	int fd;               /* the recording; -1: it has no files */
	struct stored_chunks chunks; /* chunks of files */
	int *files;           /* by chunk: file in memory; -1: not decoded yet; FILE_DAMAGED */
	pthread_mutex_t lock; /* guards `files` */
};

void stored_free(struct stored *stored)
{
	if (!stored)
		return;
	for (size_t i = 0; i < stored->chunks.count && stored->files; i++)
		cleanup_close(&stored->files[i]);
	free(stored->files);
	cleanup_close(&stored->fd);
	chunks_deinit(&stored->chunks);
	stored_names_deinit(&stored->names);
	free(stored->path);
	pthread_mutex_destroy(&stored->lock);
	free(stored);
}

DEFINE_CLEANUP(struct stored *, stored_free)

/* Keeps the chunks of files, and a descriptor to read them. */
static struct sp_error *open_stored_files(struct stored *stored, int fd)
{
	size_t count = 0;
	vec_each (chunk, &stored->chunks)
		if (chunk->type == CHUNK_FILE)
			stored->chunks.items[count++] = *chunk;
	stored->chunks.count = count;
	if (!count)
		return NULL;
	stored->files = malloc(count * sizeof(*stored->files));
	NEED(stored->files);
	for (size_t i = 0; i < count; i++)
		stored->files[i] = -1;
	stored->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return stored->fd < 0 ? error_os(errno, "cannot open %s", stored->path) : NULL;
}

static struct sp_error *read_names(struct stored *stored, int fd)
{
	vec_each (chunk, &stored->chunks) {
		uint8_t *data;
		if (chunk->type != CHUNK_NAMES)
			continue;
		struct sp_error *error = chunk_read(fd, stored->path, chunk, &data);
		return error
			       ?: stored_names_decode(data, chunk->size, stored->path,
						      &stored->names);
	}
	return NULL;
}

struct sp_error *stored_open(int fd, uint64_t file_size, const char *path, struct stored **ret)
{
	CLEANUP(chunks_deinit) struct stored_chunks chunks = {0};
	*ret = NULL;
	struct sp_error *error = chunks_list(fd, file_size, path, &chunks);
	if (error || !chunks.count)
		return error;
	CLEANUP(cleanup_stored_free) struct stored *stored = calloc(1, sizeof(*stored));
	NEED(stored);
	pthread_mutex_init(&stored->lock, NULL);
	stored->fd = -1;
	stored->chunks = chunks;
	chunks = (struct stored_chunks){0};
	stored->path = strdup(path);
	NEED(stored->path);
	error = read_names(stored, fd);
	if (!error)
		error = open_stored_files(stored, fd);
	if (!error)
		*ret = take_ptr(stored);
	return error;
}

const struct stored_names *stored_names_of(const struct stored *stored)
{
	return &stored->names;
}

const struct stored_module *stored_find(const struct stored *stored, const struct stored_key *key)
{
	return stored ? stored_names_find(&stored->names, key) : NULL;
}

/* Decodes a file on first use. *ret is -1 if it is damaged. */
static struct sp_error *decode(struct stored *stored, size_t index, int *ret)
{
	*ret = stored->files[index];
	if (*ret != -1)
		return NULL;
	const struct stored_chunk *chunk = &stored->chunks.items[index];
	CLEANUP_FREE uint8_t *data = NULL;
	struct sp_error *error = chunk_read(stored->fd, stored->path, chunk, &data);
	if (!error)
		error = stored_file_decode(data, chunk->size, stored->path, ret);
	stored->files[index] = *ret >= 0 ? *ret : FILE_DAMAGED;
	return error_if_no_memory(error);
}

/* Finds the file of a module; *ret belongs to `stored`, and is -1 if there is none. */
static struct sp_error *find_file(struct stored *stored, const struct stored_key *key, int *ret)
{
	const struct stored_module *module = stored_find(stored, key);
	*ret = -1;
	if (!module || !module->file || module->file > stored->chunks.count)
		return NULL;
	pthread_mutex_lock(&stored->lock);
	struct sp_error *error = decode(stored, module->file - 1, ret);
	pthread_mutex_unlock(&stored->lock);
	return error;
}

struct sp_error *stored_open_fd(struct stored *stored, const struct stored_key *key, int *ret)
{
	int fd;
	struct sp_error *error = find_file(stored, key, &fd);
	*ret = !error && fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	return error;
}

struct sp_error *stored_open_file(struct stored *stored, const struct stored_key *key,
				  struct image **ret)
{
	char path[32];
	int fd;
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	*ret = NULL;
	struct sp_error *error = find_file(stored, key, &fd);
	if (error || fd < 0)
		return error;
	/* The path is valid as long as `stored`. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = image_open(path, &image);
	if (error)
		return error_if_no_memory(error);
	if (!key->build_id_size || image_has_build_id(image, key->build_id, key->build_id_size))
		*ret = take_ptr(image);
	return NULL;
}
