/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names for (module, offset). Sources are asked in order (the table in resolver.c), and the
 * first that has anything serves a module: ELF symbol tables (the file itself, its debug file by
 * build-id or .gnu_debuglink, .gnu_debugdata), what programs told of their JIT code, the kernel's
 * files and kallsyms, and what the recording itself has. Files that are not the
 * recorded ones are refused (binary/identity.h), with the reason. No subprocess, and no network
 * unless the context says so (sp_ctx_set_debuginfod()).
 */
#ifndef SYMBOL_RESOLVER_H
#define SYMBOL_RESOLVER_H

#include <sprof/ctx.h>
#include "machine/ip_maps.h"

struct resolver;

/* The recording's own symbols: payloads of simpleperf's features, in their byte order. */
struct recorded_symbols {
	struct sp_bytes file, file2; /* 128, 132 */
	bool swap;
};

/* Borrowed until resolver_free(). */
struct resolver_options {
	struct recorded_symbols recorded;
	const char *symfs, *vmlinux, *kallsyms; /* see struct sp_analysis_options */
	const char *osrelease;                  /* the recording's; NULL: unknown */
	const char *hostname, *arch;            /* the same */
	const uint8_t *kernel_build_id;         /* the recording's */
	size_t kernel_build_id_size;            /* 0: unknown */
	uint64_t until_ns;                      /* when it ended, since 1970; 0: unknown */
};

struct sp_error *resolver_new(struct sp_ctx *ctx, const struct resolver_options *options,
			      struct resolver **ret) SP_MUST_CHECK;
void resolver_free(struct resolver *resolver);

/*
 * A function; belongs to the resolver. One object for each (module, start). For code without a symbol
 * it is the range of its call frame information, named by its vaddr: "fn@0x1234".
 */
struct symbol {
	const char *name;     /* in perf's form: demangled, without parameters (`c++filt -p -i`) */
	const char *raw_name; /* spelled as in the symbol table */
	uint64_t start, size; /* in the module's own offsets */
	bool from_cfi;        /* a range of CFI without a symbol */
};

static inline bool symbol_is_named(const struct symbol *symbol)
{
	return symbol && !symbol->from_cfi;
}

/*
 * Location of an address. That of a caller (and its ip) is the byte before the address, in the call.
 * Pcs of interpreted (DEX) callers are the call's already.
 */
struct location resolver_locate(const struct resolver *resolver, const struct machine *machine,
				const struct code_address *address);

/*
 * The symbol at a location; NULL where no function is known. resolver_problem() says why there
 * is no name. Resolve each distinct location once. Calls for different modules may
 * run in different threads at the same time; calls for one module may not.
 */
const struct symbol *resolver_find(struct resolver *resolver, const struct location *location);

/*
 * The ELF address of a location, as nm, gdb and addr2line take it. False if it has no ELF file, or the
 * file is missing. Threads as resolver_find().
 */
bool resolver_vaddr(struct resolver *resolver, const struct location *location, uint64_t *ret);

/* Whether memory was short for a name: then NULL has not meant that there is none. */
bool resolver_no_memory(const struct resolver *resolver);

/*
 * The same of a call, location being one before where it returns to. The kernel's thunks for
 * indirect jumps return to the start of a function: that one is meant, not the padding before it.
 */
const struct symbol *resolver_find_caller(struct resolver *resolver,
					  const struct location *location);

/*
 * Reads `size` bytes of a module's code, from location->offset + distance on, from its file.
 * False where that is not at hand or ends before. As with resolver_find(): different modules
 * may be asked for at the same time.
 */
bool resolver_read_code(struct resolver *resolver, const struct location *location,
			int64_t distance, size_t size, uint8_t *ret, uint16_t *machine_ret);

#define SOURCE_NO_START UINT64_MAX

/* A function at a place in the source; all belongs to the resolver. */
struct source_frame {
	const char *name;     /* demangled, as struct symbol's; NULL: only a symbol may know it */
	const char *raw_name; /* spelled as in the debug information */
	const char *file;     /* path as the compiler was given it, made absolute; NULL: not known */
	const struct source_frame *caller; /* it is inlined into; NULL: none, the symbol's own */
	uint64_t start;       /* offset of the function's code; or SOURCE_NO_START */
	uint32_t line;        /* the code's or the inner frame's call's; 0: not known, or the
			       * compiler's own code */
	uint32_t number;      /* among those of one resolver_sources() */
};

/*
 * The innermost function at each of some offsets; NULL: nothing is known, but perhaps a symbol.
 * Code of which only the line is known (assembler) has a frame without a name. What is around
 * several places is one frame.
 */
struct source_frames {
	const struct source_frame **items; /* the caller's array */
	bool lines; /* set by the caller: they matter; else frames that differ in theirs alone are one */
	size_t distinct; /* numbers of frames are below this */
};

/*
 * Whether resolver_sources() may know anything of the module. No more than is needed to know
 * that there is debug information is read. As with resolver_find(): different modules may be
 * asked for at the same time.
 */
bool resolver_has_sources(struct resolver *resolver, const struct module *module, uint32_t pid);

/* Offsets of a module: all of them at once, because only their debug information is read. */
struct source_query {
	const struct module *module;
	uint32_t pid;            /* process, as in struct location */
	const uint64_t *offsets; /* ascending and distinct; a caller's is that of the call (ip - 1) */
	size_t count;
	unsigned int threads;    /* the most to use */
};

/*
 * Finds functions and lines. Several threads may call this for different modules at the same time, as
 * with resolver_find(). Missing or damaged debug information is no failure: then all are NULL, and
 * resolver_sources_problem() returns the cause. Fails only when out of memory.
 */
struct sp_error *resolver_sources(struct resolver *resolver, const struct source_query *query,
				  struct source_frames *ret) SP_MUST_CHECK;

/* Why a module has no names, or not all. */
enum resolver_problem {
	RESOLVER_OK,
	RESOLVER_MISSING_FILE,
	RESOLVER_WRONG_FILE,
	RESOLVER_DAMAGED_FILE,
	RESOLVER_NO_SYMBOLS,    /* stripped, and no debug file found */
	RESOLVER_KERNEL_HIDDEN, /* kptr_restrict */
	RESOLVER_KERNEL_OTHER,  /* the kernel at hand is not the one recorded */
	RESOLVER_NO_PERF_MAP,
	RESOLVER_UNPROVEN, /* has names, but its file may not be the recorded one */
};

/* Meaningful after a resolver_find() for it. *text_ret: one sentence, the resolver's. */
enum resolver_problem resolver_problem(const struct resolver *resolver, const struct module *module,
				       const char **text_ret, const char **remedy_ret);

/*
 * The same of source lines, after a resolver_sources(): RESOLVER_NO_SYMBOLS where there is no debug
 * information, RESOLVER_DAMAGED_FILE where some of it cannot be read. RESOLVER_OK for modules
 * that cannot have any, or of which resolver_problem() has said why nothing is known.
 */
enum resolver_problem resolver_sources_problem(const struct resolver *resolver,
					       const struct module *module, const char **text_ret,
					       const char **remedy_ret);

#endif
