/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the file that a module was mapped from. With --symfs, it is only searched below that directory.
 * Else the places are, in order: its path; its path in the process's root directory if the process
 * still runs (/proc/PID/root, tried first if this is another mount namespace or chroot; /proc/PID/exe
 * and map_files, for deleted files); files that the recorder holds; perf's build-id cache;
 * debuginfod servers, if allowed. The vdso has no file: see vdso.h.
 *
 * The file must be the recorded one:
 * - by build-id, if one was recorded;
 * - else, with --symfs, every file is accepted, because the user chose it;
 * - else, for files of a running process, by inode, because its pid may have been reused;
 * - and by all other evidence (binary/identity.h). A usable but unproven file has the diagnosis
 *   BINARY_UNPROVEN.
 */
#pragma once

#include <sprof/ctx.h>
#include "base/diagnosis.h"
#include "binary/identity.h"
#include "elf/debugfile.h"
#include "elf/image.h"
#include "machine/module.h"
#include "stored/stored.h"

/*
 * Files that a recorder opened to unwind stacks, held so that they have names when the recording
 * ends, even if they were deleted, or their container is gone. An open file would keep a
 * container's file system busy, so those of other roots are copied to memory.
 */

struct held_files;

struct sp_error *held_files_new(struct held_files **ret) SP_MUST_CHECK;

/* NULL is allowed. */
void held_files_free(struct held_files *held);

/*
 * Prepares a forked process; its only thread calls it. Closes all other descriptors above standard
 * error but the `count` of `fds`, and frees the lock, which another thread may have had. `held`
 * may be NULL.
 */
void held_files_after_fork(struct held_files *held, const int *fds, size_t count);

/* Places and rules of the search for files; constant after its creation, and shared by threads. */
struct binary_env {
	struct sp_ctx *ctx;
	char *symfs;          /* NULL or "": the files of this machine */
	char *build_id_cache; /* perf's: ~/.debug; NULL: HOME is not set */
	struct provenance provenance; /* facts of the recording */
	struct proxies *proxies;      /* open files; borrowed; NULL: they are opened here */
	struct held_files *held;      /* files that the recorder holds; borrowed; NULL: none */
	struct stored *stored;        /* files and names in the recording; borrowed; NULL: none */
};

/* `symfs` (may be NULL) is copied. */
struct sp_error *binary_env_init(struct binary_env *env, struct sp_ctx *ctx, const char *symfs,
				 const struct provenance *provenance) SP_MUST_CHECK;
void binary_env_deinit(struct binary_env *env);

/* Returns the directories of debug files; borrows from the env. */
struct debugfile_places binary_places(const struct binary_env *env);

/* Problems in a diagnosis. */
enum binary_problem {
	BINARY_OK,
	BINARY_MISSING,
	BINARY_WRONG, /* not the recorded file */
	BINARY_UNPROVEN, /* a file was found, but may not be the recorded one */
	BINARY_DAMAGED,
	BINARY_OTHER_KERNEL, /* the vdso of a kernel other than the recorded one */
};

/*
 * Opens the file of a MODULE_FILE or MODULE_VDSO. *ret is NULL if no file was found, or none is the
 * recorded one; *diagnosis (empty before) then has the reason. It is also set if the file is not proven
 * to be the recorded one. `pid` is a process that had it mapped (0: the module's own). Fails only when
 * out of memory.
 */
struct sp_error *binary_open(const struct binary_env *env, const struct module *module,
			     uint32_t pid, struct diagnosis *diagnosis,
			     struct image **ret) SP_MUST_CHECK;

/*
 * Opens the debug information that was found in the recorded file's place: binary_open() accepts
 * no file that lacks code. NULL: there is none, or it is not proven to be the recorded file's.
 */
struct sp_error *binary_open_debug_only(const struct binary_env *env, const struct module *module,
					uint32_t pid, struct image **ret) SP_MUST_CHECK;

/* Opens a separate debug file of a module's `image` that `wanted` accepts, or returns NULL. */
struct sp_error *binary_find_debug(const struct binary_env *env, const struct module *module,
				   const struct image *image, debugfile_wanted_fn *wanted,
				   struct image **ret) SP_MUST_CHECK;

/*
 * Variants of these two for callbacks, as those of an unwinder: `env` is a struct binary_env, and the
 * reason of a missing file is logged. A file that was found is held, if env->held is set. In place of a
 * missing one, they use the one in the recording, which has no debug information.
 */
struct sp_error *binary_open_code(void *env, const struct module *module, uint32_t pid,
				  struct image **ret) SP_MUST_CHECK;
struct sp_error *binary_open_debug(void *env, const struct module *module,
				   const struct image *image, debugfile_wanted_fn *wanted,
				   struct image **ret) SP_MUST_CHECK;

/* Returns the key of a module's stored names and file; borrows its path. */
struct stored_key binary_stored_key(const struct module *module);

/* Returns the module's recorded path without " (deleted)"; malloc'ed, or NULL. */
char *binary_recorded_path(const struct module *module);
