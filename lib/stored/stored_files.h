/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stored files: mapped ELF files without their debug information (except .debug_frame), for
 * unwinding and instructions. The names of their code are stored apart
 * (stored/stored_names.h). A chunk's data, in LEB128:
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
