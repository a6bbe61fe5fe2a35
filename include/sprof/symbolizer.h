/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbolizes addresses without a recording: functions, inlined functions, source files and lines of
 * addresses in an ELF file, in a running process, or in the running kernel.
 *
 *	sp_symbolizer_new(ctx, NULL, &symbolizer);
 *	sp_symbolizer_add_process(symbolizer, pid, &space);
 *	sp_space_symbolize(space, ips, count, &symbols);
 *	for (size_t depth = 0; depth < sp_symbols_frame_count(symbols, 0); depth++)
 *		puts(sp_symbols_frame(symbols, 0, depth)->function);
 *	sp_symbols_free(symbols);
 *	sp_space_free(space);
 *	sp_symbolizer_free(symbolizer);
 *
 * Lifetimes: a symbolizer outlives its spaces, a space outlives its results. Any thread may call any
 * function at the same time, except that an object that is being freed must not be in use. Calls for
 * the same file wait for each other; a batch uses several threads.
 *
 * A symbolizer caches symbols and all lines that it found, until it is freed. A file is identified by
 * path, inode and build-id: a rebuilt file that is added again is another one.
 */
#ifndef SPROF_SYMBOLIZER_H
#define SPROF_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/ctx.h>
#include <sprof/filter.h>
#include <sprof/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Zeroed members and NULL are the defaults. The context has the directories of debug files
 * (sp_ctx_set_debug_path()), and permits downloads (sp_ctx_set_debuginfod()).
 */
struct sp_symbolizer_options {
	size_t size;            /* sizeof of this struct */
	const struct sp_files *files; /* symfs: root of all files; vmlinux, kallsyms; others are ignored */
	enum sp_choice inlines; /* SP_OFF: one frame for each address, the function of the symbol table */
	enum sp_choice lines;   /* SP_OFF: no source files; without inlines, too: no debug information */
	unsigned int threads;   /* largest number of threads of one call; 0: as many as processors */
};

struct sp_symbolizer;

/* Makes a symbolizer. The options are copied; NULL: the defaults. Fails only when out of memory. */
SP_API struct sp_error *sp_symbolizer_new(struct sp_ctx *ctx,
					  const struct sp_symbolizer_options *options,
					  struct sp_symbolizer **ret) SP_MUST_CHECK;
SP_API void sp_symbolizer_free(struct sp_symbolizer *symbolizer);

/* Meaning of a file's addresses. */
enum sp_file_address {
	SP_FILE_VADDR,  /* virtual addresses of the ELF file, as nm, gdb and addr2line use them */
	SP_FILE_OFFSET, /* offsets in the file, as /proc/PID/maps and perf script use them */
};

/* Addresses that have one meaning: an ELF file's, a process's or the kernel's. */
struct sp_space;

/*
 * Adds an executable, a shared library or a static program. A separate debug file is found by itself, by
 * build-id or .gnu_debuglink: do not give that one, it has no code. With symfs, the path is below
 * symfs. Fails if the file cannot be opened or is no linked ELF file.
 */
SP_API struct sp_error *sp_symbolizer_add_file(struct sp_symbolizer *symbolizer, const char *path,
					       enum sp_file_address meaning,
					       struct sp_space **ret) SP_MUST_CHECK;

/*
 * Adds a running process: its addresses are those of its memory. The space has the mappings, perf map and
 * jitdump of this moment; add the process again for later ones. It may be used after the process has
 * ended, but files that exist only in the process (deleted, in a container) are then missing unless
 * they were used before. Addresses from 2^63 on are the kernel's.
 *
 * Fails with SP_ERROR_NOT_FOUND if there is no such process, it has ended, or it is a kernel thread;
 * with SP_ERROR_PERMISSION if its mappings may not be read.
 */
SP_API struct sp_error *sp_symbolizer_add_process(struct sp_symbolizer *symbolizer, uint32_t pid,
						  struct sp_space **ret) SP_MUST_CHECK;

/*
 * Adds the running kernel and its modules, by kallsyms. Lines need sp_files.vmlinux, or debug information
 * of the modules. BPF programs have no names.
 */
SP_API struct sp_error *sp_symbolizer_add_kernel(struct sp_symbolizer *symbolizer,
						 struct sp_space **ret) SP_MUST_CHECK;
SP_API void sp_space_free(struct sp_space *space);

/* Symbolized addresses of one call. */
struct sp_symbols;

/*
 * Symbolizes `count` addresses, in any order and with repetitions. Pass all addresses at once: debug
 * information is read once for each call. For a return address of a stack, pass the address minus 1,
 * which is in the call. Missing names are no failure: sp_symbols_problem() has the cause. Fails when out of
 * memory, and with SP_ERROR_CANCELLED after sp_ctx_cancel().
 */
SP_API struct sp_error *sp_space_symbolize(struct sp_space *space, const uint64_t *addresses,
					   size_t count, struct sp_symbols **ret) SP_MUST_CHECK;
SP_API void sp_symbols_free(struct sp_symbols *symbols);

/* Returns the number of addresses; indexes below are less than that, in the order of the request. */
SP_API size_t sp_symbols_count(const struct sp_symbols *symbols);

/* Start of a function that is unknown. */
#define SP_NO_START UINT64_MAX

/* A function at an address. Texts belong to the space. */
struct sp_symbol_frame {
	const char *function; /* demangled, without parameters, as in reports; NULL: unknown */
	const char *raw_name; /* spelled as in the symbol table or debug information; NULL: unknown */
	const char *file;     /* absolute path of the source; NULL: unknown */
	uint64_t start;       /* begin of its code, in the meaning of the request; or SP_NO_START */
	uint32_t line;        /* line of the address, or of the call of the inner function; 0: unknown */
	bool is_inlined;      /* into the next frame's function */
	bool is_range;        /* no symbol: `function` is "fn@0x" and the vaddr of a range of .eh_frame */
};

/* Returns the number of frames at an address: the inlined functions and their function; 0: unknown. */
SP_API size_t sp_symbols_frame_count(const struct sp_symbols *symbols, size_t index);

/* Returns a frame, innermost first; belongs to the result. NULL beyond the last one. */
SP_API const struct sp_symbol_frame *sp_symbols_frame(const struct sp_symbols *symbols, size_t index,
						      size_t depth);

/*
 * Returns the path of the file that has the address, or "[vdso]", "[kernel.kallsyms]" or "//anon" (JIT
 * code); NULL if nothing executable is there. *vaddr_ret (unless NULL) is the file's vaddr, as nm, gdb
 * and addr2line use it, or UINT64_MAX.
 */
SP_API const char *sp_symbols_file(const struct sp_symbols *symbols, size_t index,
				   uint64_t *vaddr_ret);

/*
 * Returns the cause of a missing function or line in one sentence, or of doubt whether the file is the
 * right one; NULL: none is known, as between functions. *remedy_ret (unless NULL) is a remedy or NULL; it
 * names options of sprof(1): --symfs is sp_files.symfs, --debuginfod is sp_ctx_set_debuginfod(). Texts
 * belong to the result.
 */
SP_API const char *sp_symbols_problem(const struct sp_symbols *symbols, size_t index,
				      const char **remedy_ret);

#ifdef __cplusplus
}
#endif
#endif
