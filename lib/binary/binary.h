/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that a module was mapped from, found again. Looked at, in order:
 * with --symfs the path below it and nothing else of the host; else the path as
 * it is, the process's own view of it while it lives (/proc/PID/root, which comes first
 * where it is another mount namespace or chroot; /proc/PID/exe and map_files, for deleted
 * files), and perf's build-id cache. The vdso has no file: see vdso.h.
 *
 * What is found must be what was recorded:
 * - by build-id where one was recorded;
 * - else, with --symfs, every file is accepted: the user vouches for it;
 * - else, for files reached through a living process, by inode, since a pid may
 *   be another process by now;
 * - and by all other evidence (binary/identity.h). A file that is usable but doubtful has the
 *   diagnosis BINARY_UNPROVEN.
 */
#ifndef BINARY_BINARY_H
#define BINARY_BINARY_H

#include <sprof/ctx.h>
#include "base/diagnosis.h"
#include "binary/identity.h"
#include "elf/debugfile.h"
#include "elf/image.h"
#include "machine/module.h"

/* Places and rules of the search for files; constant once made, and shared by threads. */
struct binary_env {
	struct sp_ctx *ctx;
	char *symfs;          /* NULL or "": the files of this machine */
	char *build_id_cache; /* perf's: ~/.debug; NULL: there is no HOME */
	struct provenance provenance; /* facts of the recording */
};

/* `symfs` (may be NULL) is copied. */
struct sp_error *binary_env_init(struct binary_env *env, struct sp_ctx *ctx, const char *symfs,
				 const struct provenance *provenance) SP_MUST_CHECK;
void binary_env_deinit(struct binary_env *env);

/* Returns the folders of debug files; borrows from the env. */
struct debugfile_places binary_places(const struct binary_env *env);

/* Why there is no file: what a diagnosis says. */
enum binary_problem {
	BINARY_OK,
	BINARY_MISSING,
	BINARY_WRONG, /* another file than the recorded one */
	BINARY_UNPROVEN, /* a file was found, but may not be the recorded one */
	BINARY_DAMAGED,
	BINARY_OTHER_KERNEL, /* the vdso of another kernel */
};

/*
 * Opens the file of a MODULE_FILE or MODULE_VDSO. NULL if no file was found, or none is the
 * recorded one: *diagnosis (empty before) then has the reason. It also has one for a file that is
 * not proven to be the recorded one. `pid` is a process that had it mapped (0: the module's own).
 * Fails only when out of memory.
 */
struct sp_error *binary_open(const struct binary_env *env, const struct module *module,
			     uint32_t pid, struct diagnosis *diagnosis,
			     struct image **ret) SP_MUST_CHECK;

/* A separate debug file of a module's `image` for which `wanted`, or NULL. */
struct sp_error *binary_find_debug(const struct binary_env *env, const struct module *module,
				   const struct image *image, debugfile_wanted_fn *wanted,
				   struct image **ret) SP_MUST_CHECK;

/*
 * The same two with `env` (a struct binary_env) for who only asks, as an unwinder does: why
 * there is no file is logged, and no error.
 */
struct sp_error *binary_open_code(void *env, const struct module *module, uint32_t pid,
				  struct image **ret) SP_MUST_CHECK;
struct sp_error *binary_open_debug(void *env, const struct module *module,
				   const struct image *image, debugfile_wanted_fn *wanted,
				   struct image **ret) SP_MUST_CHECK;

/* Its path on the recorded machine, without " (deleted)"; malloc'ed, or NULL. */
char *binary_recorded_path(const struct module *module);

#endif
