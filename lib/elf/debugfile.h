/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds separate debug files: by build-id, by .gnu_debuglink, and inside .gnu_debugdata. A file
 * is used only if it belongs to the binary: their build-ids must be equal or, if one of them has
 * no build-id, the file's CRC must be that of .gnu_debuglink.
 */
#pragma once

#include "elf/image.h"

/* Folders to search. */
struct debugfile_places {
	const char *symfs;      /* directory put before every path (--symfs); NULL or "": none */
	const char *debug_path; /* colon-separated, as "/usr/lib/debug" */
	const char *cache;      /* perf's build-id cache, as "/root/.debug"; NULL: none */
	bool debuginfod;        /* query debuginfod servers if these folders lack the file */
	struct sp_ctx *ctx;     /* context that can cancel the search; NULL: none */
	struct proxies *proxies;  /* open files (base/guarded_file.h); NULL: none */
};

/* Whether a candidate has the sections that the caller needs. */
typedef bool debugfile_wanted_fn(const struct image *image);

/*
 * Finds the first file that belongs to `runtime` and for which wanted() is true; NULL if there is
 * none. `path` is the binary's path on the recorded machine, without symfs. Files that do not
 * belong to it or are damaged are skipped. Fails only when out of memory.
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

/* Downloads the binary itself from debuginfod servers if places->debuginfod; NULL if not found. */
struct sp_error *debugfile_binary(const struct debugfile_places *places, const uint8_t *build_id,
				  size_t size, struct image **ret) SP_MUST_CHECK;

/*
 * Opens the ELF image inside .gnu_debugdata (xz), with the functions that a stripped binary's
 * symbol table lacks. NULL if there is none; SP_ERROR_FORMAT if it is damaged,
 * SP_ERROR_UNSUPPORTED if this build cannot read xz.
 */
struct sp_error *debugfile_embedded(const struct image *runtime, struct image **ret) SP_MUST_CHECK;

/*
 * Finds the file into which DWZ moved the debug information that `image` shares with other files
 * (.gnu_debugaltlink, .debug_sup), by path or build-id. NULL if there is no such link or file.
 */
struct sp_error *debugfile_alt(const struct debugfile_places *places, const struct image *image,
			       struct image **ret) SP_MUST_CHECK;
