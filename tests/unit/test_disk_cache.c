/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of the cache: written, read in blocks, found damaged, and removed when they are too many.
 */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/disk_cache.h"
#include "root.h"

/* Three blocks. */
#define SIZE (2 * 16384 + 100)

static const struct disk_key key = {"name", "identity"};

static int open_cache(struct root *root)
{
	char cache[128];
	int folder;
	snprintf(cache, sizeof(cache), "%s/cache", root->path);
	ok_or_fail(sp_ctx_set_cache_path(root->ctx, cache));
	ok_or_fail(disk_cache_folder(root->ctx, "folder", true, &folder));
	ck_assert_int_ge(folder, 0);
	return folder;
}

static uint8_t *make_bytes(void)
{
	uint8_t *bytes = malloc(SIZE);
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 7 >> 3);
	return bytes;
}

static void flip(int folder, off_t at)
{
	uint8_t byte;
	int fd = openat(folder, key.name, O_RDWR);
	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= 0x80;
	ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

TEST(disk_cache_gives_back_what_it_was_given)
{
	ROOT root;
	root_init(&root);
	int folder = open_cache(&root);
	uint8_t *bytes = make_bytes();
	const struct disk_key other = {"name", "identity of another"};
	struct disk_entry *entry = NULL;
	ck_assert(!disk_cache_has(folder, &key));
	ok_or_fail(disk_cache_add(folder, &key, bytes, SIZE));
	ck_assert(disk_cache_has(folder, &key));
	ck_assert(!disk_cache_has(folder, &other));
	ok_or_fail(disk_cache_open(folder, &other, &entry));
	ck_assert(!entry);
	ok_or_fail(disk_cache_open(folder, &key, &entry));
	ck_assert(entry);
	ck_assert_uint_eq(disk_entry_size(entry), SIZE);
	ck_assert(!disk_entry_need(entry, 0, SIZE + 1));
	ck_assert(!disk_entry_need(entry, SIZE + 1, 0));
	ck_assert(disk_entry_need(entry, SIZE - 1, 1));
	ck_assert_uint_eq(disk_entry_bytes(entry)[SIZE - 1], bytes[SIZE - 1]);
	ck_assert(disk_entry_need(entry, 16383, 2));
	ck_assert(disk_entry_need(entry, 0, SIZE));
	ck_assert_mem_eq(disk_entry_bytes(entry), bytes, SIZE);
	disk_entry_free(entry);
	free(bytes);
	close(folder);
}

TEST(disk_cache_finds_each_damaged_block_and_removes_the_file)
{
	ROOT root;
	root_init(&root);
	int folder = open_cache(&root);
	uint8_t *bytes = make_bytes();
	struct stat status;
	/* The content, and before it the header and the hashes. */
	for (int from_end = 0; from_end < SIZE + 24 + 288; from_end += 331) {
		struct disk_entry *entry = NULL;
		ok_or_fail(disk_cache_add(folder, &key, bytes, SIZE));
		ck_assert_int_eq(fstatat(folder, key.name, &status, 0), 0);
		off_t at = status.st_size - 1 - from_end;
		if (at < 0)
			break;
		flip(folder, at);
		ok_or_fail(disk_cache_open(folder, &key, &entry));
		ck_assert_msg(!entry == (from_end >= SIZE), "byte %ld", (long)at);
		if (!entry)
			continue;
		int block = (SIZE - 1 - from_end) / 16384;
		ck_assert(disk_entry_need(entry, block ? 0 : 16384, 1));
		ck_assert(!disk_entry_need(entry, (uint64_t)block * 16384, 1));
		ck_assert(!disk_cache_has(folder, &key));
		disk_entry_free(entry);
	}
	free(bytes);
	close(folder);
}

TEST(disk_cache_removes_the_oldest_files)
{
	ROOT root;
	root_init(&root);
	int folder = open_cache(&root);
	uint8_t *bytes = make_bytes();
	char name[8];
	/* Five files of 60 MB without blocks on the disk: the limit is 256 MB. */
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		int fd = openat(folder, name, O_WRONLY | O_CREAT, 0600);
		const struct timespec times[2] = {{.tv_sec = 1000 - i}, {.tv_sec = 1000 - i}};
		ck_assert_int_eq(ftruncate(fd, 60 << 20), 0);
		ck_assert_int_eq(futimens(fd, times), 0);
		close(fd);
	}
	ok_or_fail(disk_cache_add(folder, &key, bytes, SIZE));
	ck_assert(disk_cache_has(folder, &key));
	ck_assert_int_ne(faccessat(folder, "f4", F_OK, 0), 0);
	ck_assert_int_eq(faccessat(folder, "f3", F_OK, 0), 0);
	ck_assert_int_eq(faccessat(folder, "f0", F_OK, 0), 0);
	free(bytes);
	close(folder);
}
