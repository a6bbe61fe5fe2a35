/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of kernel modules: .ko, .ko.xz, .ko.zst, with or without debug information. Their sections have
 * no addresses. The kernel loads executable sections in the file's order, each aligned as it requires,
 * and without .init sections.
 */
#pragma once

#include "elf/symtab.h"
#include "symbol/source.h"
#include "symbol/symbol_table.h"

/* A file of the kernel or of a module, with its symbols. */
struct kernel_file {
	struct image *image;
	struct image_bytes strings;
	struct symbol_table table;
	uint64_t shift; /* recorded addresses minus the table's */
};

/* Callbacks for struct source: close, which accepts NULL and half-built files, and find. */
void kernel_file_close(void *opened);
bool kernel_file_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		      struct found *ret);

DEFINE_CLEANUP(struct kernel_file *, kernel_file_close)

/* Ends the reading of the table, which `error` may have ended. */
struct sp_error *kernel_file_seal(struct kernel_file *file, struct symtab *symtab,
				  struct sp_error *error) SP_MUST_CHECK;

/* Opens a file like image_open_in(), and unpacks it if its name ends in .xz or .zst. */
struct sp_error *ko_open_file(const char *root, const char *path, struct image **ret) SP_MUST_CHECK;

/*
 * Finds a module's file for which wanted() is true: an installed debug file, the module itself, or a file
 * from a debuginfod server. NULL if there is none. Fails only when out of memory.
 */
struct sp_error *ko_find(const struct source_env *env, const struct module *module,
			 debugfile_wanted_fn *wanted, struct image **ret) SP_MUST_CHECK;

/*
 * Returns each code section's distance from the module's start; UINT64_MAX for other sections. The
 * caller frees it. NULL when out of memory.
 */
uint64_t *ko_lay_out(const struct image *image, size_t *count_ret);

/* Check of a file's symbols against the recorded kernel's. */
struct ko_check {
	/* Returns whether a symbol of that name begins at a recorded address. NULL: no check. */
	bool (*is_symbol)(const void *arg, uint64_t address, const char *name);
	const void *arg;
};

/* Callbacks for struct source, shared by the sources of kernel modules. */
bool ko_has_lines(const struct source_env *env, const struct module *module);
struct sp_error *ko_open_lines(const struct source_env *env, const struct module *module,
			       const struct ko_check *check, struct diagnosis *diagnosis,
			       struct dwarf **ret, struct placement *placement_ret) SP_MUST_CHECK;
