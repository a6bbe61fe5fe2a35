/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The seam between the resolver and those who know names. A source is a const
 * struct at the end of its file, listed in resolver.c; the first that can be
 * opened for a module serves it.
 */
#ifndef SYMBOL_SOURCE_H
#define SYMBOL_SOURCE_H

#include "base/diagnosis.h"
#include "binary/binary.h"
#include "dwarf/dwarf.h"
#include "symbol/resolver.h"

/* Environment of each source; made by resolver_new(), constant after it. */
struct source_env {
	struct sp_ctx *ctx;
	struct resolver_options options; /* strings and build-id are copies */
	struct binary_env binary;        /* paths of files */
	struct kernel_names *kernel;     /* shared by all kernel modules */
	struct recorded_index *recorded; /* NULL: the recording has no symbols */
};

/* A name that was found. */
struct found {
	uint64_t key;         /* the same for the same symbol, in one module */
	const char *raw_name; /* valid until the source is closed */
	uint64_t start, size; /* in the module's own offsets */
	bool mangled;         /* raw_name may be a mangled one */
	bool stretched;       /* unknown size: the symbol extends to the next one */
	bool from_cfi;        /* by find_range: no name; the key is its vaddr */
};

/*
 * How a module's offsets and the vaddrs of its debug information go together: by the
 * segments of what ran, which is the source's; or, without that, by a distance.
 */
struct placement {
	const struct image *runtime; /* NULL: none */
	uint64_t shift;              /* offset minus vaddr */
};

struct source {
	const char *name;
	/*
	 * Looks for names of the module. *ret is what find and close get; it stays NULL
	 * where the source has nothing, and *diagnosis then says why, if the source
	 * is the one that should have had. Fails only when out of memory.
	 */
	struct sp_error *(*open)(const struct source_env *env, const struct module *module,
				 uint32_t pid, struct diagnosis *diagnosis, void **ret);
	bool (*find)(void *opened, const struct location *location, struct diagnosis *diagnosis,
		     struct found *ret);
	void (*close)(void *opened);
	/* The ELF address of an offset, false where no segment has it; NULL: none are known. */
	bool (*vaddr)(void *opened, uint64_t offset, uint64_t *ret);
	/*
	 * Finds the range of call frame information for code without a symbol. *ret has size 0
	 * if there is none. NULL: the source has no ranges. Fails only when out of memory.
	 */
	struct sp_error *(*find_range)(void *opened, const struct source_env *env,
				       const struct location *location, struct found *ret);
	/* Whether open_lines would find any; NULL: never. */
	bool (*has_lines)(void *opened, const struct source_env *env, const struct module *module);
	/*
	 * NULL: it knows no lines. Opens the module's debug information, which becomes the
	 * caller's; NULL in *ret where there is none, and *diagnosis then says why. *placement_ret
	 * says where that is. Fails only when out of memory.
	 */
	struct sp_error *(*open_lines)(void *opened, const struct source_env *env,
				       const struct module *module, struct diagnosis *diagnosis,
				       struct dwarf **ret, struct placement *placement_ret);
	/*
	 * Instead of open_lines, where there is no DWARF: as resolver_sources(), whose items are
	 * NULL before. Frames are the arena's. Fails only when out of memory.
	 */
	struct sp_error *(*frames)(void *opened, const uint64_t *offsets, size_t count,
				   struct arena *arena, struct source_frames *ret);
	/*
	 * NULL: code is in the module's file. Bytes of the code that is at `offset`, from `from`
	 * on, and zeros behind its end.
	 */
	bool (*read_code)(void *opened, uint64_t offset, uint64_t from, size_t size, uint8_t *ret,
			  uint16_t *machine_ret);
};

extern const struct source source_code, source_elf, source_jitdump, source_kallsyms, source_ko,
	source_perfmap, source_recorded, source_vmlinux_found, source_vmlinux_given;

#endif
