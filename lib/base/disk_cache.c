/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file has a header of HEADER_SIZE bytes, hashes of blocks, and the content. Numbers have the
 * machine's byte order.
 *
 *	u8[16]   MAGIC
 *	u64      size of the content
 *	u64      hash of the identity and of the hashes
 *	u8[256]  identity, padded with zeros
 *	u64[]    hash of each block of BLOCK bytes
 *	u8[]     content
 *
 * If another user could replace a folder or file between two calls, root could be made to write
 * anywhere. Therefore all parent folders must belong to root or to this user, and no other user may
 * write to them. Consequence: with another user's HOME (sudo -E), root has no cache.
 */
#include "base/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "base/vec.h"

#define MAGIC "sprof cache 1\n\0"
#define HEADER_SIZE (sizeof(MAGIC) + 2 * sizeof(uint64_t) + DISK_CACHE_IDENTITY_MAX)
#define BLOCK ((uint64_t)1 << 14)
#define LANES 4
/* Limit on the size of a folder's files. */
#define FOLDER_MAX ((uint64_t)1 << 28)
#define FILE_MAX (FOLDER_MAX / 4)
/* Age of the mtime from which a use renews it. */
#define RENEW_SECONDS (24 * 3600)

struct disk_entry {
	int fd, folder;
	char *name; /* in the folder */
	uint64_t size;
	off_t begin;      /* file offset of the content */
	uint8_t *bytes;   /* reserved memory, filled block by block */
	uint64_t *hashes; /* one for each block */
	uint8_t *loaded;  /* for each block: it is there */
	bool broken;      /* protected by the lock */
	pthread_mutex_t lock;
};

/* -- Folders --------------------------------------------------------------- */

/* Returns whether only this user and root can change files in a folder. */
static bool is_own(const struct stat *folder)
{
	bool group_writes = folder->st_mode & S_IWGRP && folder->st_gid != 0 && geteuid() == 0;
	return (folder->st_uid == 0 || folder->st_uid == geteuid()) &&
	       !(folder->st_mode & S_IWOTH) && !group_writes;
}

/* Whether a folder is like /tmp: others can add to it, but replace only their own files. */
static bool is_sticky(const struct stat *folder)
{
	return folder->st_uid == 0 && folder->st_mode & S_ISVTX;
}

/*
 * Opens a folder inside `above`, which was checked before, and creates it if `make`. Symbolic links
 * are followed only if no other user can change `above`. Returns -1 and errno; errno is 0 if other
 * users can change the folder.
 */
static int enter(int above, const struct stat *above_status, const char *name, bool make,
		 struct stat *ret)
{
	if (make && mkdirat(above, name, 0700) && errno != EEXIST)
		return -1;
	CLEANUP_CLOSE int fd =
		openat(above, name,
		       O_PATH | O_DIRECTORY | O_CLOEXEC | (is_own(above_status) ? 0 : O_NOFOLLOW));
	if (fd < 0 || fstat(fd, ret))
		return -1;
	errno = 0;
	return is_own(ret) || is_sticky(ret) ? take_fd(&fd) : -1;
}

/* Opens (or creates) a path folder by folder. Returns -1 and errno like enter(). */
static int enter_all(char *path, bool make)
{
	struct stat status = {0}, above;
	int fd = enter(AT_FDCWD, &status, *path == '/' ? "/" : ".", false, &above);
	for (char *name; fd >= 0 && (name = strsep(&path, "/"));) {
		if (!*name)
			continue;
		CLEANUP_CLOSE int before = fd;
		fd = enter(before, &above, name, make, &status);
		above = status;
	}
	return fd;
}

bool disk_cache_is_own(const char *path)
{
	struct stat status;
	CLEANUP_FREE char *copy = strdup(path);
	CLEANUP_CLOSE int fd = copy ? enter_all(copy, false) : -1;
	return fd >= 0 ? !fstat(fd, &status) && is_own(&status) : copy && errno == ENOENT;
}

struct sp_error *disk_cache_folder(struct sp_ctx *ctx, const char *folder, bool make, int *ret)
{
	const char *cache = ctx_cache_path(ctx);
	*ret = -1;
	if (!cache || !*cache)
		return NULL;
	CLEANUP_FREE char *path = format_text("%s/%s", cache, folder);
	NEED(path);
	*ret = enter_all(path, make);
	if (*ret < 0 && !errno)
		ctx_log(ctx, SP_LOG_DEBUG, "%s is not used: other users can change it", cache);
	else if (*ret < 0 && make)
		return error_os(errno, "%s/%s", cache, folder);
	return NULL;
}

/* -- Header ---------------------------------------------------------------- */

/* Hashes in lanes, which do not wait for each other: three times as fast as hash_bytes(). */
static uint64_t hash_block(const uint8_t *bytes, size_t size)
{
	uint64_t lanes[LANES] = {1, 2, 3, 4}, words[LANES];
	size_t whole = size - size % sizeof(words);
	for (size_t at = 0; at < whole; at += sizeof(words)) {
		memcpy(words, bytes + at, sizeof(words));
		for (int i = 0; i < LANES; i++)
			lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15;
	}
	return hash_pair(hash_bytes(lanes, sizeof(lanes)), hash_bytes(bytes + whole, size - whole));
}

static size_t block_count(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK;
}

/* Returns the hash of each block; NULL when out of memory. */
static uint64_t *hash_blocks(const uint8_t *bytes, size_t size)
{
	size_t count = block_count(size);
	uint64_t *hashes = malloc(count * sizeof(*hashes) ?: 1);
	for (size_t i = 0; hashes && i < count; i++) {
		size_t left = size - i * BLOCK;
		hashes[i] = hash_block(bytes + i * BLOCK, left < BLOCK ? left : BLOCK);
	}
	return hashes;
}

/* Header of a file; false if the identity is too long. */
static bool make_header(uint8_t ret[HEADER_SIZE], const struct disk_key *key, uint64_t size,
			const uint64_t *hashes)
{
	size_t length = strlen(key->identity);
	uint8_t *identity = ret + HEADER_SIZE - DISK_CACHE_IDENTITY_MAX;
	if (length > DISK_CACHE_IDENTITY_MAX)
		return false;
	memset(ret, 0, HEADER_SIZE);
	memcpy(identity, key->identity, length);
	uint64_t hash = hash_pair(hash_bytes(identity, DISK_CACHE_IDENTITY_MAX),
				  hash_bytes(hashes, block_count(size) * sizeof(*hashes)));
	memcpy(ret, MAGIC, sizeof(MAGIC));
	memcpy(ret + sizeof(MAGIC), &size, sizeof(size));
	memcpy(ret + sizeof(MAGIC) + sizeof(size), &hash, sizeof(hash));
	return true;
}

/*
 * Opens a file, which must belong to this user or root, and be of the size that its header states.
 * Returns -1 if there is none, else sets *size_ret to the content's size.
 */
static int open_file(int folder, const struct disk_key *key, uint64_t *size_ret)
{
	uint8_t header[HEADER_SIZE];
	struct stat status;
	CLEANUP_CLOSE int fd = -1;
	size_t got, length = strlen(key->identity);
	const uint8_t *magic, *identity;
	uint64_t size, hash;
	if (folder < 0)
		return -1;
	sp_error_free(regular_file_open_at(folder, key->name, REGULAR_FILE_NO_LINK, key->name, &fd,
					   &status));
	if (fd < 0 || (status.st_uid != geteuid() && status.st_uid != 0) ||
	    io_pread(fd, header, sizeof(header), 0, &got))
		return -1;
	struct cursor cursor = cursor_make(header, got, false, NULL, 0);
	if (!cursor_bytes(&cursor, sizeof(MAGIC), &magic) || memcmp(magic, MAGIC, sizeof(MAGIC)) ||
	    !cursor_u64(&cursor, &size) || !cursor_u64(&cursor, &hash) || size > FILE_MAX ||
	    !cursor_bytes(&cursor, DISK_CACHE_IDENTITY_MAX, &identity) ||
	    length > DISK_CACHE_IDENTITY_MAX || memcmp(identity, key->identity, length) ||
	    HEADER_SIZE + block_count(size) * sizeof(hash) + size != (uint64_t)status.st_size)
		return -1;
	*size_ret = size;
	return take_fd(&fd);
}

bool disk_cache_has(int folder, const struct disk_key *key)
{
	uint64_t size;
	CLEANUP_CLOSE int fd = open_file(folder, key, &size);
	return fd >= 0;
}

/* -- Writing --------------------------------------------------------------- */

/* A file of a folder. */
struct cache_file {
	struct timespec used;
	uint64_t size;
	char name[64];
};

static int compare_used(const void *a, const void *b)
{
	const struct cache_file *x = a, *y = b;
	return u64_order(x->used.tv_sec, y->used.tv_sec)
		       ?: u64_order(x->used.tv_nsec, y->used.tv_nsec);
}

/*
 * Removes the files that were not used for longest, until `size` more bytes fit. Errors do no harm.
 */
static void make_room(int folder, uint64_t size)
{
	struct { VEC(struct cache_file); } files = {0};
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t total = size;
	struct stat status;
	if (!dir) {
		cleanup_close(&fd);
		return;
	}
	for (struct dirent *found; (found = readdir(dir));) {
		struct cache_file *file = NULL;
		if (!fstatat(folder, found->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(status.st_mode) && strlen(found->d_name) < sizeof(file->name))
			file = vec_push(&files);
		if (!file)
			continue;
		*file = (struct cache_file){.used = status.st_mtim, .size = status.st_size};
		strcpy(file->name, found->d_name);
		total += file->size;
	}
	closedir(dir);
	if (total > FOLDER_MAX)
		vec_sort(&files, compare_used);
	for (size_t i = 0; i < files.count && total > FOLDER_MAX; i++)
		if (!unlinkat(folder, files.items[i].name, 0))
			total -= files.items[i].size;
	vec_deinit(&files);
}

static int write_file(int fd, const uint8_t header[HEADER_SIZE], const uint64_t *hashes,
		      const void *bytes, size_t size)
{
	int errnum = io_write(fd, header, HEADER_SIZE);
	if (!errnum)
		errnum = io_write(fd, hashes, block_count(size) * sizeof(*hashes));
	return errnum ?: io_write(fd, bytes, size);
}

struct sp_error *disk_cache_add(int folder, const struct disk_key *key, const void *bytes,
				size_t size)
{
	char temporary[64];
	uint8_t header[HEADER_SIZE];
	if (size > FILE_MAX)
		return NULL;
	CLEANUP_FREE uint64_t *hashes = hash_blocks(bytes, size);
	NEED(hashes);
	if (!make_header(header, key, size, hashes))
		return NULL;
	make_room(folder, size);
	snprintf(temporary, sizeof(temporary), "%.40s.%016llx", key->name,
		 (unsigned long long)hash_pair(getpid(), clock_ns(CLOCK_MONOTONIC)));
	CLEANUP_CLOSE int fd =
		openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_os(errno, "cannot write %s to the cache", key->name);
	int errnum = write_file(fd, header, hashes, bytes, size);
	if (!errnum && renameat(folder, temporary, folder, key->name))
		errnum = errno;
	if (!errnum)
		return NULL;
	unlinkat(folder, temporary, 0);
	return error_os(errnum, "cannot write %s to the cache", key->name);
}

/* -- Reading --------------------------------------------------------------- */

void disk_entry_free(struct disk_entry *entry)
{
	if (!entry)
		return;
	if (entry->bytes)
		munmap(entry->bytes, entry->size);
	cleanup_close(&entry->fd);
	cleanup_close(&entry->folder);
	free(entry->name);
	free(entry->hashes);
	free(entry->loaded);
	pthread_mutex_destroy(&entry->lock);
	free(entry);
}

/* Reads the hashes, and compares the header with the one that it should be. */
static bool read_hashes(struct disk_entry *entry, const struct disk_key *key)
{
	uint8_t header[HEADER_SIZE], expected[HEADER_SIZE];
	size_t size = block_count(entry->size) * sizeof(*entry->hashes), got;
	return !io_pread(entry->fd, entry->hashes, size, HEADER_SIZE, &got) && got == size &&
	       !io_pread(entry->fd, header, HEADER_SIZE, 0, &got) && got == HEADER_SIZE &&
	       make_header(expected, key, entry->size, entry->hashes) &&
	       !memcmp(header, expected, HEADER_SIZE);
}

struct sp_error *disk_cache_open(int folder, const struct disk_key *key, struct disk_entry **ret)
{
	uint64_t size;
	*ret = NULL;
	CLEANUP_CLOSE int fd = open_file(folder, key, &size);
	if (fd < 0 || !size)
		return NULL;
	CLEANUP(cleanup_disk_entry_free) struct disk_entry *entry = calloc(1, sizeof(*entry));
	NEED(entry);
	pthread_mutex_init(&entry->lock, NULL);
	entry->fd = take_fd(&fd);
	entry->folder = fcntl(folder, F_DUPFD_CLOEXEC, 3);
	entry->name = strdup(key->name);
	entry->size = size;
	entry->begin = HEADER_SIZE + block_count(size) * sizeof(*entry->hashes);
	entry->hashes = malloc(block_count(size) * sizeof(*entry->hashes));
	entry->loaded = calloc(block_count(size), 1);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	entry->bytes = memory == MAP_FAILED ? NULL : memory;
	NEED(entry->name && entry->hashes && entry->loaded && entry->bytes);
	if (!read_hashes(entry, key))
		return NULL;
	struct stat status;
	int64_t now_s = clock_ns(CLOCK_REALTIME) / 1000000000;
	if (!fstat(entry->fd, &status) && now_s - status.st_mtim.tv_sec > RENEW_SECONDS)
		futimens(entry->fd, NULL);
	*ret = take_ptr(entry);
	return NULL;
}

const uint8_t *disk_entry_bytes(const struct disk_entry *entry)
{
	return entry->bytes;
}

uint64_t disk_entry_size(const struct disk_entry *entry)
{
	return entry->size;
}

static bool is_loaded(const struct disk_entry *entry, size_t block)
{
	return __atomic_load_n(&entry->loaded[block], __ATOMIC_ACQUIRE);
}

/* Reads the missing blocks of [first, end), adjacent ones by one call; call it under the lock. */
static bool load(struct disk_entry *entry, size_t first, size_t end)
{
	while (first < end) {
		size_t last = first, got;
		while (last < end && !is_loaded(entry, last))
			last++;
		uint64_t from = first * BLOCK,
			 to = last * BLOCK < entry->size ? last * BLOCK : entry->size;
		if (last > first && (io_pread(entry->fd, entry->bytes + from, to - from,
					      entry->begin + (off_t)from, &got) ||
				     got < to - from))
			return false;
		for (; first < last; first++, from += BLOCK) {
			uint64_t size = to - from < BLOCK ? to - from : BLOCK;
			if (hash_block(entry->bytes + from, size) != entry->hashes[first])
				return false;
			__atomic_store_n(&entry->loaded[first], 1, __ATOMIC_RELEASE);
		}
		while (first < end && is_loaded(entry, first))
			first++;
	}
	return true;
}

bool disk_entry_need(struct disk_entry *entry, uint64_t offset, uint64_t size)
{
	if (offset > entry->size || size > entry->size - offset)
		return false;
	size_t first = offset / BLOCK, end = block_count(offset + size);
	while (first < end && is_loaded(entry, first))
		first++;
	if (first >= end)
		return true;
	pthread_mutex_lock(&entry->lock);
	if (!entry->broken && !load(entry, first, end)) {
		entry->broken = true;
		unlinkat(entry->folder, entry->name, 0);
	}
	bool ok = !entry->broken;
	pthread_mutex_unlock(&entry->lock);
	return ok;
}
