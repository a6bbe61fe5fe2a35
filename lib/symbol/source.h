/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interface of symbol sources. A source is a const struct at the end of its file, listed in
 * resolver.c; stored names are asked besides. The first source that opens for a module serves
 * it.
 */
#pragma once

#include "base/diagnosis.h"
#include "binary/binary.h"
#include "dwarf/dwarf.h"
#include "symbol/resolver.h"

/* Inputs of all sources; made by resolver_new(), constant after that. */
struct source_env {
	struct sp_ctx *ctx;
	struct resolver_options options; /* strings and build-id are copies */
	struct binary_env binary;        /* rules to find files */
	struct kernel_tables *kernel;    /* shared by all kernel modules */
	struct jit_files *jit;           /* perf maps and jitdumps */
	struct recorded_index *recorded; /* symbols in the recording; NULL: none */
};

/* A symbol that a source found. */
struct found {
	uint64_t key;         /* identifies the symbol in its module */
	const char *raw_name; /* valid until the source is closed */
	uint64_t start, size; /* in the module's own offsets */
	const char *object;   /* source file of a local symbol, valid as raw_name; NULL: unknown */
	bool mangled;         /* raw_name may be mangled */
	bool stretched;       /* its size is unknown and was set to reach the next symbol */
	bool from_cfi;        /* a range without a name, from find_range; the key is its vaddr, or raw_name
			       * is its name as shown */
	bool is_gap;          /* the same, from find_gap */
};

struct namesake_keys;

/* A symbol of a list. */
struct listed_symbol {
	struct found found;
	uint64_t offset; /* a place in the function, in the module's own offsets */
};

struct listed_symbols {
	VEC(struct listed_symbol);
};

/*
 * Conversion between a module's offsets and the vaddrs of its debug information: by the segments of the
 * mapped file, or else by a constant distance.
 */
struct placement {
	const struct image *runtime; /* the mapped file, owned by the source; NULL: use `shift` */
	uint64_t shift;              /* offset minus vaddr */
};

struct source {
	const char *name;
	bool by_content; /* its state depends only on the file's content, so that it may be kept */
	/*
	 * Opens the module's symbols. *ret is passed to find and close. It stays NULL if the source has
	 * no symbols; *diagnosis then has the reason if this source was expected to have some. Fails
	 * only when out of memory.
	 */
	struct sp_error *(*open)(const struct source_env *env, const struct module *module,
				 uint32_t pid, struct diagnosis *diagnosis, void **ret);
	bool (*find)(void *opened, const struct location *location, struct diagnosis *diagnosis,
		     struct found *ret);
	/*
	 * Lists the symbols that have one of the keys (symbol/module_namesakes.h). Returns false
	 * when out of memory. NULL: the source has no list.
	 */
	bool (*list)(void *opened, const struct namesake_keys *keys,
		     struct listed_symbols *ret);
	/* NULL: `opened` is the module itself or belongs to the env, and needs no close. */
	void (*close)(void *opened);
	/*
	 * Converts an offset to the ELF vaddr; false if no segment has it. NULL: the source has no
	 * vaddrs.
	 */
	bool (*vaddr)(void *opened, uint64_t offset, uint64_t *ret);
	/*
	 * Finds the range of call frame information for code without a symbol. *ret has size 0
	 * if there is none, and the start of the nearest one below, or 0. NULL: the source has no
	 * ranges. Fails only when out of memory.
	 */
	struct sp_error *(*find_range)(void *opened, const struct source_env *env,
				       const struct location *location, struct found *ret);
	/*
	 * Finds the code around an address that has neither a symbol nor call frame information.
	 * Call it after find_range. False: there is none. NULL: never.
	 */
	bool (*find_gap)(void *opened, const struct location *location, struct found *ret);
	/* Whether open_lines would find debug information; NULL: never. */
	bool (*has_lines)(void *opened, const struct source_env *env, const struct module *module);
	/*
	 * Opens the module's debug information, which the caller owns. *ret is NULL if there is none;
	 * *diagnosis then has the reason. *placement_ret converts its vaddrs. NULL: the source has no
	 * lines. Fails only when out of memory.
	 */
	struct sp_error *(*open_lines)(void *opened, const struct source_env *env,
				       const struct module *module, struct diagnosis *diagnosis,
				       struct dwarf **ret, struct placement *placement_ret);
	/*
	 * Finds frames without DWARF, as resolver_sources() does; used if there is no open_lines, or if it
	 * finds none. Items are NULL before the call. Numbers begin at ret->distinct, which grows.
	 * Frames belong to the arena. Fails only when out of memory.
	 */
	struct sp_error *(*frames)(void *opened, const uint64_t *offsets, size_t count,
				   struct arena *arena, struct source_frames *ret);
	/*
	 * Reads bytes of the code at `offset`, beginning at `from`; bytes after the code's end are
	 * zeros. NULL: the code is in the module's file.
	 */
	bool (*read_code)(void *opened, uint64_t offset, uint64_t from, size_t size, uint8_t *ret,
			  uint16_t *machine_ret);
};

/* Returns the remedy for a module's ELF file without symbols or debug information. */
const char *source_debug_remedy(const struct source_env *env, const struct module *module);

extern const struct source source_bpf, source_elf, source_jitdump, source_kallsyms, source_ko,
	source_perfmap, source_python, source_recorded, source_vmlinux_found, source_vmlinux_given;
