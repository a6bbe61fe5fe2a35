/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds names of (module, offset). The first source (in the order of the table in resolver.c) that
 * opens serves a module: ELF symbol tables (the file, its debug file by build-id or .gnu_debuglink,
 * .gnu_debugdata), perf maps and jitdumps of JIT code, kernel files and kallsyms, and the recording's
 * own symbols. Names that the recording stores replace them if they are better. Files other than the
 * recorded ones are refused with a reason (binary/identity.h). It starts no subprocess, and uses the
 * network only after sp_ctx_set_debuginfod().
 */
#pragma once

#include <sprof/ctx.h>
#include "machine/ip_maps.h"

struct namesake_query;
struct namesakes;
struct resolver;

/* The recording's own symbols: payloads of simpleperf's features, in their byte order. */
struct recorded_symbols {
	struct sp_bytes file, file2; /* features 128 and 132 */
	bool swap;
};

/* Borrowed until resolver_free(). */
struct resolver_options {
	struct recorded_symbols recorded;
	const char *symfs, *vmlinux, *kallsyms; /* see struct sp_files */
	const char *osrelease;                  /* the recorded kernel's; NULL: unknown */
	const char *hostname, *arch;            /* the recorded machine's; NULL: unknown */
	const struct module *kernel;            /* the recorded kernel; NULL: unknown */
	const uint8_t *kernel_build_id;         /* the recorded kernel's */
	size_t kernel_build_id_size;            /* 0: unknown */
	uint64_t until_ns;                      /* end of the recording, in ns since 1970; 0: unknown */
	/*
	 * Keeps names for the next resolver, and stores them if kept_names_set_store() was called.
	 */
	struct sp_names *names; /* NULL: none are kept */
	struct stored *stored;  /* names and files in the recording; NULL: none */
	struct jit_files *jit;  /* perf maps and jitdumps; NULL: the resolver has its own */
	/*
	 * Number of modules with debug information that stays open between calls of
	 * resolver_sources(). Each has at least one file descriptor, and its inflated sections in
	 * memory.
	 */
	unsigned int open_lines_max;
};

/* With options->names, modules must outlive the resolver. */
struct sp_error *resolver_new(struct sp_ctx *ctx, const struct resolver_options *options,
			      struct resolver **ret) SP_MUST_CHECK;
void resolver_free(struct resolver *resolver);

/*
 * A function; belongs to the resolver. There is one object for each (module, start). Code without a
 * symbol has its range of call frame information instead, named by its vaddr: "fn@0x1234".
 */
struct symbol {
	const char *name;     /* in perf's form: demangled, without parameters (`c++filt -p -i`) */
	const char *raw_name; /* spelled as in the symbol table */
	uint64_t start, size; /* in the module's own offsets */
	const char *object;   /* a local symbol's source file (STT_FILE); NULL: unknown */
	bool from_cfi;        /* a range of CFI without a symbol */
};

static inline bool symbol_is_named(const struct symbol *symbol)
{
	return symbol && !symbol->from_cfi;
}

/*
 * Returns the location of an address. For a caller's return address it is the byte before, which is in
 * the call. Addresses of interpreted (DEX) callers are those of the calls already.
 */
struct location resolver_locate(const struct resolver *resolver, const struct machine *machine,
				const struct code_address *address);

/*
 * Returns the symbol at a location; NULL if no function is known, for the reason that
 * resolver_problem() returns. Resolve each distinct location once. Threads may call it at the same
 * time for different modules, but not for one.
 */
const struct symbol *resolver_find(struct resolver *resolver, const struct location *location);

/*
 * Returns the code around a location that has no symbol and no call frame information, up to the
 * nearest code that has some: "0x1000-0x3000", with ELF addresses. NULL: unknown. Call it after
 * resolver_find() returned NULL, in the same thread.
 */
const struct symbol *resolver_find_gap(struct resolver *resolver, const struct location *location);

/*
 * Converts a location to the vaddr that nm, gdb and addr2line use. False if it has no ELF file, or the
 * file is missing. Thread-safe as resolver_find().
 */
bool resolver_vaddr(struct resolver *resolver, const struct location *location, uint64_t *ret);

/*
 * Returns whether memory was short for a name: a NULL result then does not mean that there is no
 * symbol.
 */
bool resolver_no_memory(const struct resolver *resolver);

/*
 * Finds a caller's symbol; `location` is the byte before the return address. The kernel's thunks for
 * indirect jumps return to the start of a function: the result is that function, not padding before it.
 */
const struct symbol *resolver_find_caller(struct resolver *resolver,
					  const struct location *location);

/*
 * Reads `size` bytes of a module's code from its file, beginning at location->offset + distance. False
 * if the file is missing or too short. Thread-safe as resolver_find().
 */
bool resolver_read_code(struct resolver *resolver, const struct location *location,
			int64_t distance, size_t size, uint8_t *ret, uint16_t *machine_ret);

/* Returns whether every user may read the file of a location's code, or the recording has it. */
bool resolver_code_is_public(struct resolver *resolver, const struct location *location);

#define SOURCE_NO_START UINT64_MAX

/* A function at an address, perhaps inlined, and its place in the source. Belongs to the resolver. */
struct source_frame {
	const char *name;     /* demangled as in struct symbol; NULL: the debug information has no name */
	const char *raw_name; /* spelled as in the debug information */
	const char *file;     /* the compiler's path, made absolute; NULL: unknown */
	const struct source_frame *caller; /* the function that it is inlined into; NULL: it is not inlined */
	uint64_t start;       /* offset of the function's code; or SOURCE_NO_START */
	uint32_t line;        /* line of the address, or of the inner call; 0: unknown or generated */
	uint32_t declared;    /* line of its declaration without a linkage name; 0: unknown */
	uint32_t number;      /* index among the frames of one resolver_sources() call */
};

/*
 * Result: the innermost function at each requested offset. NULL: the debug information has none, but a
 * symbol may exist. If only the line is known (assembler), the frame has no name. Offsets in the same
 * inlined call share its frames.
 */
struct source_frames {
	const struct source_frame **items; /* the caller's array */
	bool lines; /* set by the caller: frames that differ only in their line are distinct */
	size_t distinct; /* all frames have numbers below this */
};

/*
 * Returns whether resolver_sources() may find anything for the module. Reads only enough to detect
 * debug information. Thread-safe as resolver_find().
 */
bool resolver_has_sources(struct resolver *resolver, const struct module *module, uint32_t pid);

/*
 * Request for one module's functions and lines. All offsets are passed in one call, because only the
 * debug information of these offsets is read.
 */
struct source_query {
	const struct module *module;
	uint32_t pid;            /* process that has the module mapped, as in struct location */
	const uint64_t *offsets; /* ascending and distinct; of a caller, ip - 1 */
	size_t count;
	unsigned int threads;    /* number of threads to use at most */
};

/*
 * Finds functions and lines. Thread-safe as resolver_find(). Without usable debug information it
 * succeeds, all results are NULL, and resolver_sources_problem() returns the cause. Fails only when out
 * of memory.
 */
struct sp_error *resolver_sources(struct resolver *resolver, const struct source_query *query,
				  struct source_frames *ret) SP_MUST_CHECK;

/*
 * Lists the functions of a module that have the names of the query, with or without samples
 * (symbol/module_namesakes.h). If several have one raw name and one source file, their files get
 * folders, if the debug information has them. Thread-safe as resolver_find(). Fails only when out
 * of memory.
 */
struct sp_error *resolver_list_namesakes(struct resolver *resolver,
					 struct namesake_query *query,
					 struct namesakes *ret) SP_MUST_CHECK;

/* Returns the owner of perf maps and jitdumps. */
struct jit_files *resolver_jit_files(const struct resolver *resolver);

/* Returns whether a module's names are those that the recording stores, after resolver_find(). */
bool resolver_is_stored(const struct resolver *resolver, const struct module *module);

/* Returns whether a module's file is not stored because of its size, and was not found here. */
bool resolver_left_out(const struct resolver *resolver, const struct module *module);

/* Causes of missing names in a module. */
enum resolver_problem {
	RESOLVER_OK,
	RESOLVER_MISSING_FILE,
	RESOLVER_WRONG_FILE,
	RESOLVER_DAMAGED_FILE,
	RESOLVER_NO_SYMBOLS,    /* stripped, and no debug file found */
	RESOLVER_KERNEL_HIDDEN, /* kptr_restrict */
	RESOLVER_KERNEL_OTHER,  /* the available kernel is not the recorded one */
	RESOLVER_NO_PERF_MAP,
	RESOLVER_UNPROVEN, /* has names, but its file is not proven to be the recorded one */
	RESOLVER_TOO_LARGE,
};

/*
 * Returns the cause of missing names, after resolver_find() was called for the module. *text_ret is one
 * sentence, owned by the resolver. Thread-safe as resolver_find().
 */
enum resolver_problem resolver_problem(const struct resolver *resolver, const struct module *module,
				       const char **text_ret, const char **remedy_ret);

/* Returns the remedy for files without debug information; a static string. */
const char *resolver_debug_remedy(const struct resolver *resolver);

/*
 * Returns the cause of missing source lines, after resolver_sources(): RESOLVER_NO_SYMBOLS without
 * debug information, RESOLVER_DAMAGED_FILE if some is unreadable. RESOLVER_OK for modules that cannot
 * have any, or if resolver_problem() already has the cause.
 */
enum resolver_problem resolver_sources_problem(const struct resolver *resolver,
					       const struct module *module, const char **text_ret,
					       const char **remedy_ret);
