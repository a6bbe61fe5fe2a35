/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that are expensive to make again, in CACHE/FOLDER/NAME. Each is written once, atomically,
 * and read in blocks; a block is checked when it is first needed. Another user can neither read nor
 * replace one. Beyond a total size, a folder's files that were not used for longest are removed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/error.h"

/* Longest identity. */
#define DISK_CACHE_IDENTITY_MAX 256

/* Names a file. A file of that name with another identity is not used. */
struct disk_key {
	const char *name;     /* without a slash */
	const char *identity; /* text without a newline */
};

/*
 * Opens the folder `folder` of the cache; the caller closes *ret. *ret is -1, without an error, if
 * there is no cache, or if other users can change it; also, unless `make`, if the folder is
 * missing.
 */
struct sp_error *disk_cache_folder(struct sp_ctx *ctx, const char *folder, bool make,
				   int *ret) SP_MUST_CHECK;

/*
 * Returns whether no other user but root can change a folder or one above it; also if it is
 * missing.
 */
bool disk_cache_is_own(const char *path);

/* Returns whether a folder (-1: none) has the file. Only its header is checked. */
bool disk_cache_has(int folder, const struct disk_key *key);

/*
 * Writes a file, in place of one of the same name. Files larger than a quarter of the limit are not
 * kept.
 */
struct sp_error *disk_cache_add(int folder, const struct disk_key *key, const void *bytes,
				size_t size) SP_MUST_CHECK;

/* An open file of the cache. */
struct disk_entry;

/*
 * Opens a file. *ret is NULL if there is none, if it is damaged, or if it belongs to another user
 * (not root). Fails when out of memory.
 */
struct sp_error *disk_cache_open(int folder, const struct disk_key *key,
				 struct disk_entry **ret) SP_MUST_CHECK;
void disk_entry_free(struct disk_entry *entry);

DEFINE_CLEANUP(struct disk_entry *, disk_entry_free)

/*
 * Returns the content's place in memory. Its bytes are there when disk_entry_need() has returned
 * true.
 */
const uint8_t *disk_entry_bytes(const struct disk_entry *entry);
uint64_t disk_entry_size(const struct disk_entry *entry);

/*
 * Reads and checks the bytes [offset, offset + size). False if they reach past the end, or if they
 * are damaged; the file is removed then, and further blocks are not read. Thread-safe.
 */
bool disk_entry_need(struct disk_entry *entry, uint64_t offset, uint64_t size);
