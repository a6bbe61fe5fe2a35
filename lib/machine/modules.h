/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The modules of a machine, each stored once, found by the names and facts of mapping records. */
#pragma once

#include <sprof/record.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "machine/mapping.h"
#include "machine/module.h"
#include "record/content.h"
#include "record/python_record.h"

/* A vdso that the recording contains. */
struct kept_file {
	const char *name; /* interned in `strings` */
	const uint8_t *bytes;
	size_t size;
};

/* Size and hash of a file without a build-id. */
struct known_content {
	const char *path; /* interned in `strings` */
	uint64_t size, hash, ino;
	uint32_t maj, min;
};

struct modules {
	struct arena arena;
	struct strtab strings;
	VEC(struct module *) list; /* modules by index */
	struct index_set index_of;
	VEC(struct sp_build_id) build_ids; /* recorded build-ids, until modules_seal(); size 0: ambiguous */
	struct u64map build_id_of;         /* name's address in `strings` -> index in build_ids */
	VEC(struct kept_file) kept; /* vdsos, until modules_seal(); the arena owns their bytes */
	VEC(struct known_content) contents; /* contents of files, until modules_seal() */
	struct u64map content_of; /* hash of path, device and inode -> index in contents */
	struct module *python; /* module of all Python code; NULL: none was added */
	VEC(struct python_function) functions; /* its functions, by address after modules_seal() */
	bool is_64bit; /* value for new modules; modules_seal() sets it for all */
};

/* A zeroed struct modules is empty. */
void modules_deinit(struct modules *modules);

/*
 * Returns the module of a MMAP or MMAP2 record of user space. `executable`: the memory has code; it
 * is named as JIT code if it has neither file nor name. NULL when out of memory.
 */
struct module *modules_add_user(struct modules *modules, const struct sp_mmap *mmap,
				bool executable);

/* Returns whether a path is "/tmp/perf-PID.map"; perf inject -B names memory without a file so. */
bool modules_is_perf_map(const char *path);

/* Returns whether a path ends in "jit-PID.dump". */
bool modules_is_jitdump(const char *path);

/*
 * Returns the module of code in a process's perf map. The recorder noted the file's sizes with
 * times, so that its code has times, too. NULL when out of memory.
 */
const struct module *modules_add_perf_map(struct modules *modules, uint32_t pid);

/*
 * Adds the module of a process's JIT code, if `mmap` is the mapping of a jitdump; else *ret is NULL.
 * Returns false when out of memory.
 */
bool modules_add_jit(struct modules *modules, const struct sp_mmap *mmap, struct module **ret);

/* Returns whether code of a jitdump may be in such a module's memory. */
bool modules_may_be_jit(const struct module *module);

/* Returns whether the module is memory without a file, where an ip is its own offset. */
bool modules_is_memory(const struct module *module);

/*
 * Returns the module of a MMAP or MMAP2 record of the kernel, or of a guest's kernel (`guest`). NULL
 * when out of memory.
 */
struct module *modules_add_kernel(struct modules *modules, const struct sp_mmap *mmap, bool guest);

/*
 * Returns whether the pid of a record stands for all processes outside the recorder's PID
 * namespace. The kernel gives them 0, or -1 after their end, so that nothing distinguishes them.
 */
static inline bool modules_is_outside(uint32_t pid)
{
	return pid == 0 || pid == UINT32_MAX;
}

/* Returns whether a MMAP or MMAP2 record of user space maps executable memory. */
bool modules_is_code(const struct sp_record *record);

/* Returns the mapping of a module that was added for `mmap` (or for a KSYMBOL of that range). */
struct mapping modules_mapping(const struct module *module, const struct sp_mmap *mmap);

/* Returns the module of a KSYMBOL record. NULL when out of memory. */
struct module *modules_add_code(struct modules *modules, const struct sp_ksymbol *ksymbol);

/* Returns a copy of another table's user module, with its own strings. NULL when out of memory. */
struct module *modules_copy(struct modules *modules, const struct module *module);

/* Marks shared (PHP) or named (V8) memory of a process with a runtime as code of its JIT. */
void modules_set_generated(struct module *module);

/* Returns the memory of the modules and their strings. */
size_t modules_bytes(const struct modules *modules);

/* Adds a build-id for all modules of that name without one. Returns false when out of memory. */
bool modules_add_build_id(struct modules *modules, const struct sp_build_id *build_id,
			  uint16_t misc);

/*
 * Adds a copy of a vdso that the recording contains, for the vdso's modules of that name. The first
 * of a name is kept, and at most 8 in all; others are ignored. Returns false when out of memory.
 */
bool modules_add_kept(struct modules *modules, const char *name, struct sp_bytes bytes);

/* Adds the size and hash of a mapped file. Returns false when out of memory. */
bool modules_add_content(struct modules *modules, const struct file_content *content);

/* Adds a Python function; names are copied. Returns false when out of memory. */
bool modules_add_python(struct modules *modules, const struct python_function *function);

/* Assigns build-ids, contents and embedded files to the modules, which are constant afterwards. */
void modules_seal(struct modules *modules);
