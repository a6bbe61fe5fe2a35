/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/jit_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/io.h"
#include "symbol/resolver.h"

/* A file that was read, or refused: then it has neither map nor dump, but perhaps a reason. */
struct jit_file {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec time; /* its last change: a JIT compiler may still write it */
	const struct held_map *held; /* how it was read, as in struct jit_file_place */
	bool ended, is_map;
	struct perfmap *map;
	struct jitdump *dump;
	struct diagnosis why;
};

struct jit_files {
	pthread_mutex_t lock;
	uint64_t memory, left;
	const struct held_maps *held; /* files that a recorder holds; NULL: none */
	struct index_set index_of;
	VEC(struct jit_file) list;
};

const struct held_maps *jit_files_held(const struct jit_files *files)
{
	return files->held;
}

struct sp_error *jit_files_new(uint64_t memory, const struct held_maps *held,
			       struct jit_files **ret)
{
	struct jit_files *files = calloc(1, sizeof(*files));
	NEED(files);
	pthread_mutex_init(&files->lock, NULL);
	files->held = held;
	files->left = files->memory = memory ?: JIT_FILES_MEMORY;
	*ret = files;
	return NULL;
}

void jit_files_free(struct jit_files *files)
{
	if (!files)
		return;
	vec_each (item, &files->list) {
		perfmap_free(item->map);
		jitdump_free(item->dump);
		diagnosis_clear(&item->why);
	}
	vec_deinit(&files->list);
	index_set_deinit(&files->index_of);
	pthread_mutex_destroy(&files->lock);
	free(files);
}

/* Returns the file, which is added if it is new; NULL when out of memory. */
static struct jit_file *find(struct jit_files *files, const struct jit_file_place *place,
			     bool is_map, const struct stat *status, bool *added_ret)
{
	const struct jit_file wanted = {
		.device = status->st_dev, .inode = status->st_ino, .size = status->st_size,
		.time = status->st_mtim, .held = place->held, .ended = place->ended,
		.is_map = is_map,
	};
	uint64_t hash = hash_pair(status->st_dev, status->st_ino);
	*added_ret = false;
	if (!index_set_reserve(&files->index_of))
		return NULL;
	struct index_probe probe = index_set_probe(&files->index_of, hash);
	for (uint32_t i; index_set_next(&files->index_of, &probe, &i);) {
		struct jit_file *file = &files->list.items[i];
		if (file->device == wanted.device && file->inode == wanted.inode &&
		    file->size == wanted.size && file->time.tv_sec == wanted.time.tv_sec &&
		    file->time.tv_nsec == wanted.time.tv_nsec && file->held == wanted.held &&
		    file->ended == wanted.ended && file->is_map == wanted.is_map)
			return file;
	}
	struct jit_file *file = vec_push(&files->list);
	if (!file)
		return NULL;
	*file = wanted;
	index_set_add(&files->index_of, &probe, files->list.count - 1);
	*added_ret = true;
	return file;
}

static void charge(struct jit_files *files, uint64_t memory)
{
	files->left -= memory < files->left ? memory : files->left;
}

/* Reads a whole map, which may grow meanwhile. Runtimes write no holes. */
static struct sp_error *read_map(struct jit_files *files, const struct jit_file_place *place,
				 const struct stat *status, struct jit_file *file)
{
	size_t capacity = (size_t)status->st_size + 4096, size = 0;
	if (io_allocated_bytes(place->fd, status) < (uint64_t)status->st_size / 2) {
		diagnosis_set(&file->why, RESOLVER_DAMAGED_FILE, NULL,
			      "%s is a sparse file, not a perf map", place->path);
		return NULL;
	}
	if ((uint64_t)status->st_size > files->left)
		return error_new(SP_ERROR_LIMIT, "%s is too large", place->path);
	CLEANUP_FREE char *text = malloc(capacity + 1);
	NEED(text);
	int errnum = io_pread(place->fd, text, capacity, 0, &size);
	if (errnum)
		return error_os(errnum, "%s", place->path);
	const struct held_map *held = place->held;
	const struct perfmap_text from = {
		.text = take_ptr(text),
		.size = size,
		.memory = files->left,
		.whole = place->ended,
		.marks = held ? held->marks.items : NULL,
		.mark_count = held ? held->marks.count : 0,
		.inherited = held && held->inherited,
		.from_ns = held ? held->from_ns : 0,
	};
	TRY(perfmap_take(&from, &file->map));
	/* Each process may have a link to one file: text without functions is not free, either. */
	uint64_t memory = perfmap_memory(file->map), least = size / 8;
	charge(files, memory > least ? memory : least);
	return NULL;
}

static struct sp_error *read_dump(struct jit_files *files, const struct jit_file_place *place,
				  struct jit_file *file)
{
	CLEANUP(cleanup_jitdump_free) struct jitdump *dump = NULL;
	TRY(jitdump_read(place->fd, place->path, files->left, &dump));
	dump->held_fd = place->is_held ? place->fd : -1;
	dump->stored = place->stored;
	dump->key = place->key;
	if (place->root && *place->root && !(dump->root = strdup(place->root)))
		return error_no_memory();
	charge(files, jitdump_memory(dump));
	file->dump = take_ptr(dump);
	return NULL;
}

/* Finds a file, or reads it. *diagnosis gets the reason if it was refused. */
static struct sp_error *find_or_read(struct jit_files *files, const struct jit_file_place *place,
				     bool is_map, struct diagnosis *diagnosis, struct jit_file *ret)
{
	struct stat status;
	bool added;
	if (fstat(place->fd, &status))
		return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE,
				      error_os(errno, "%s", place->path));
	struct jit_file *file = find(files, place, is_map, &status, &added);
	NEED(file);
	struct sp_error *error = NULL;
	if (added)
		error = is_map ? read_map(files, place, &status, file)
			       : read_dump(files, place, file);
	if (error && sp_error_code(error) == SP_ERROR_LIMIT) {
		diagnosis_set(&file->why, RESOLVER_TOO_LARGE, "give fewer processes: --pid PID",
			      "%s: %.1f MB, and perf maps and jitdumps may take %llu MB of memory "
			      "in all",
			      place->path, (double)status.st_size / 1e6,
			      (unsigned long long)(files->memory >> 20));
		sp_error_free(take_ptr(error));
	}
	TRY(diagnosis_take(&file->why, RESOLVER_DAMAGED_FILE, error));
	if (file->why.text)
		diagnosis_set(diagnosis, file->why.problem, file->why.remedy, "%s", file->why.text);
	*ret = *file;
	return NULL;
}

static struct sp_error *open_file(struct jit_files *files, const struct jit_file_place *place,
				  bool is_map, struct diagnosis *diagnosis, struct jit_file *ret)
{
	*ret = (struct jit_file){0};
	pthread_mutex_lock(&files->lock);
	struct sp_error *error = find_or_read(files, place, is_map, diagnosis, ret);
	pthread_mutex_unlock(&files->lock);
	return error;
}

struct sp_error *jit_files_perfmap(struct jit_files *files, const struct jit_file_place *place,
				   struct diagnosis *diagnosis, const struct perfmap **ret)
{
	struct jit_file file;
	TRY(open_file(files, place, true, diagnosis, &file));
	*ret = file.map;
	return NULL;
}

struct sp_error *jit_files_jitdump(struct jit_files *files, const struct jit_file_place *place,
				   struct diagnosis *diagnosis, const struct jitdump **ret)
{
	struct jit_file file;
	TRY(open_file(files, place, false, diagnosis, &file));
	*ret = file.dump;
	return NULL;
}
