/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The modules of a machine: what a mapping's name says it is, each kept once. */
#ifndef MACHINE_MODULES_H
#define MACHINE_MODULES_H

#include <sprof/record.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "machine/mapping.h"
#include "machine/module.h"
#include "record/content.h"

/* A file that the recording holds. */
struct kept_file {
	const char *name; /* interned in `strings` */
	const uint8_t *bytes;
	size_t size;
};

/* A file without a build-id. */
struct known_content {
	const char *path; /* interned in `strings` */
	uint64_t size, hash, ino;
	uint32_t maj, min;
};

struct modules {
	struct arena arena;
	struct strtab strings;
	VEC(struct module *) list; /* by index */
	struct index_set index_of;
	VEC(struct sp_build_id) build_ids; /* HEADER_BUILD_ID, until modules_seal(); size 0: */
	struct u64map build_id_of;         /* ambiguous. By name (its address in `strings`) */
	VEC(struct kept_file) kept; /* until modules_seal(); their bytes are the arena's */
	VEC(struct known_content) contents; /* until modules_seal() */
	struct u64map content_of; /* hash of path, device and inode -> index */
	bool is_64bit; /* value for new modules, and for all once sealed */
};

/* A zeroed struct modules is empty. */
void modules_deinit(struct modules *modules);

/* For MMAP and MMAP2 of user space. NULL when out of memory. */
struct module *modules_add_user(struct modules *modules, const struct sp_mmap *mmap,
				bool executable);

/*
 * Adds the module of the JIT code of a process that mapped its jitdump as a mark. *ret is NULL if
 * `mmap` is not of such a file. False when out of memory.
 */
bool modules_add_jit(struct modules *modules, const struct sp_mmap *mmap, struct module **ret);

/* Whether code that a jitdump tells of may be in such a module's memory. */
bool modules_may_be_jit(const struct module *module);

/* A module of user space that is plain memory: an ip in it stands for itself. */
bool modules_is_memory(const struct module *module);

/* For MMAP and MMAP2 of the kernel or (`guest`) of a guest's kernel. NULL when out of memory. */
struct module *modules_add_kernel(struct modules *modules, const struct sp_mmap *mmap, bool guest);

/* Whether what an MMAP or MMAP2 of user space maps can be run. */
bool modules_is_code(const struct sp_record *record);

/* Returns the mapping of a module that was added for `mmap` (or for a KSYMBOL of that range). */
struct mapping modules_mapping(const struct module *module, const struct sp_mmap *mmap);

/* For KSYMBOL. NULL when out of memory. */
struct module *modules_add_code(struct modules *modules, const struct sp_ksymbol *ksymbol);

/* A build-id for all modules of that name which come without. False when out of memory. */
bool modules_add_build_id(struct modules *modules, const struct sp_build_id *build_id,
			  uint16_t misc);

/* A file that comes with the recording, for all modules of that path. Copied. */
bool modules_add_kept(struct modules *modules, const char *name, struct sp_bytes bytes);

/* The content of a file that was mapped. False when out of memory. */
bool modules_add_content(struct modules *modules, const struct file_content *content);

/* Gives out build-ids, contents and kept files: modules are immutable from here on. */
void modules_seal(struct modules *modules);

#endif
