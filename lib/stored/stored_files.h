/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stored files: mapped ELF files without their debug information (except .debug_frame), for unwinding and
 * instructions. The names of their code are stored apart (stored/stored_names.h). A chunk's data,
 * in LEB128:
 *
 *	size of the file
 *	number of runs; for each +offset (from the end of the run before) and size
 *	the bytes of all runs
 *
 * The n-th such chunk of a recording is file n; its module states the number.
 */
#pragma once

#include "base/error.h"
#include "elf/image.h"
#include "record/encode.h"
#include "stored/chunks.h"
#include "stored/stored_names.h"

/*
 * Appends a chunk with a file to `names`, and sets the module's file number. Leaves out files that
 * cannot be read; and, with their size in the module, files larger than 1 GiB without debug
 * information, or than names->file_limit with all others. Fails when out of memory.
 */
struct sp_error *stored_file_add(struct stored_names *names, struct stored_module *module,
				 const struct image *image) SP_MUST_CHECK;

/* Appends any file of `size` bytes whole, in the same way; it may have 64 MiB. */
struct sp_error *stored_file_add_whole(struct stored_names *names, struct stored_module *module,
				       int fd, uint64_t size) SP_MUST_CHECK;

/* Decodes a chunk's data to a file in memory; the caller closes *fd_ret. */
struct sp_error *stored_file_decode(const uint8_t *data, size_t size, const char *path,
				    int *fd_ret) SP_MUST_CHECK;

/* Names and files of an open recording. */
struct stored;

/* Opens the stored names; *ret is NULL if there are none. SP_ERROR_FORMAT if they are damaged. */
struct sp_error *stored_open(int fd, uint64_t file_size, const char *path,
			     struct stored **ret) SP_MUST_CHECK;

/* NULL is allowed. */
void stored_free(struct stored *stored);

/* Returns all stored names. */
const struct stored_names *stored_names_of(const struct stored *stored);

/* Returns a module's stored names; NULL: the recording has none. */
const struct stored_module *stored_find(const struct stored *stored, const struct stored_key *key);

/*
 * Opens a module's stored file of any kind; *ret is -1 if there is none, or if it is damaged, and the
 * caller's else. Thread-safe. Fails when out of memory.
 */
struct sp_error *stored_open_fd(struct stored *stored, const struct stored_key *key,
				int *ret) SP_MUST_CHECK;

/*
 * Opens a module's stored ELF file; *ret is NULL if there is none, or if it is damaged. The file must have
 * the key's build-id, if that has one. Thread-safe. Fails when out of memory.
 */
struct sp_error *stored_open_file(struct stored *stored, const struct stored_key *key,
				  struct image **ret) SP_MUST_CHECK;
