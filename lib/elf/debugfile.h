/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Separate debug files: by build-id, by .gnu_debuglink, and the small one that
 * .gnu_debugdata holds. None is taken that does not belong to its binary: a
 * build-id must be equal, and where one of the two has none, the link's CRC.
 */
#ifndef ELF_DEBUGFILE_H
#define ELF_DEBUGFILE_H

#include "elf/image.h"

/* Folders to search. */
struct debugfile_places {
	const char *symfs;      /* the root of every path; NULL or "": none */
	const char *debug_path; /* colon-separated, as "/usr/lib/debug" */
	const char *cache;      /* perf's build-id cache, as "/root/.debug"; NULL: none */
	bool debuginfod;        /* ask servers for what is in none of them */
	const struct sp_ctx *ctx; /* may be cancelled; NULL: cannot */
};

typedef bool debugfile_wanted_fn(const struct image *image);

/*
 * The first file that belongs to `runtime` and has what is wanted, or NULL.
 * `path` is where the binary was on the recorded machine, without symfs. Files
 * that do not fit or are damaged are passed over. Fails only when out of memory.
 */
struct sp_error *debugfile_find(const struct debugfile_places *places, const struct image *runtime,
				const char *path, debugfile_wanted_fn *wanted,
				struct image **ret) SP_MUST_CHECK;

/*
 * Finds a file by build-id alone: a copy of the binary in perf's cache (`name` is "elf" or "vdso"),
 * or a debug file. NULL if there is none.
 */
struct sp_error *debugfile_cached(const struct debugfile_places *places, const uint8_t *build_id,
				  size_t size, const char *name, struct image **ret) SP_MUST_CHECK;
struct sp_error *debugfile_by_build_id(const struct debugfile_places *places,
				       const uint8_t *build_id, size_t size,
				       debugfile_wanted_fn *wanted,
				       struct image **ret) SP_MUST_CHECK;

/* The binary itself, from a server, where places say so; NULL where there is none. */
struct sp_error *debugfile_binary(const struct debugfile_places *places, const uint8_t *build_id,
				  size_t size, struct image **ret) SP_MUST_CHECK;

/*
 * The image inside .gnu_debugdata (xz): the functions a stripped binary's own
 * table lacks. NULL where there is none; SP_ERROR_FORMAT where it is damaged,
 * SP_ERROR_UNSUPPORTED where this build cannot read xz.
 */
struct sp_error *debugfile_embedded(const struct image *runtime, struct image **ret) SP_MUST_CHECK;

/*
 * The file that DWZ moved to what `image` has in common with others (.gnu_debugaltlink,
 * .debug_sup): by its path, or its build-id. NULL where there is none, or it is not found.
 */
struct sp_error *debugfile_alt(const struct debugfile_places *places, const struct image *image,
			       struct image **ret) SP_MUST_CHECK;

#endif
