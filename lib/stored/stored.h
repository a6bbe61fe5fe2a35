/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names and files that are stored in a recording, by module. */
#pragma once

#include "elf/image.h"
#include "stored/stored_names.h"

/* The stored names and files of an open recording. */
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
 * Opens a module's stored file of any kind; *ret is -1 if there is none, or if it is damaged,
 * and the caller's else. Thread-safe. Fails when out of memory.
 */
struct sp_error *stored_open_fd(struct stored *stored, const struct stored_key *key,
				int *ret) SP_MUST_CHECK;

/*
 * Opens a module's stored ELF file; *ret is NULL if there is none, or if it is damaged. The file
 * must have the key's build-id, if that has one. Thread-safe. Fails when out of memory.
 */
struct sp_error *stored_open_file(struct stored *stored, const struct stored_key *key,
				  struct image **ret) SP_MUST_CHECK;
