/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code of a module, for unwinding: call frame information, instructions and function addresses
 * of its file. Parts are read on the first demand and are constant afterwards. Thread-safe.
 */
#pragma once

#include <stdatomic.h>
#include "elf/call_frames.h"
#include "unwind/arch.h"
#include "unwind/unwind.h"

/* Limit of files that stay open for their instructions. In other modules, none are read. */
#define CODE_OPEN_MAX 64

/* State that the code of all modules shares. */
struct code_shared {
	struct sp_ctx *ctx;
	struct unwind_files files;
	uint16_t machine[2]; /* EM_* of 64-bit and 32-bit programs */
	atomic_size_t open_count, file_count, bytes; /* sums over all modules */
};

static inline bool code_shared_is_full(const struct code_shared *shared)
{
	return shared->files.bytes_max &&
	       atomic_load_explicit(&shared->bytes, memory_order_relaxed) >=
		       shared->files.bytes_max;
}

/* Reads nothing yet. `pid` is a process that maps the module. Returns NULL when out of memory. */
struct code *code_new(struct code_shared *shared, const struct module *module, uint32_t pid);
void code_free(struct code *code);

/* Reads the file's .eh_frame and Go table, unless that was done. All functions below need it. */
void code_need_eh_frame(const struct code *code);

/* Returns the number of allocated bytes. */
size_t code_bytes(const struct code *code);

/* Returns whether the file is open for its instructions. */
bool code_is_open(const struct code *code);

/* Returns the first error of reading the file, which `code` owns; NULL: none. */
const char *code_problem(struct code *code);

/*
 * Gets the address of a byte of the file when it is loaded. Returns false if no code is there, or if it
 * is unknown.
 */
bool code_vaddr(const struct code *code, uint64_t file_offset, uint64_t *ret);

/*
 * Returns whether the module's file is missing, or is of another architecture, so that nothing is known
 * about its code.
 */
bool code_is_blind(const struct code *code);

/* Finds the entry for the code at `vaddr`: in .eh_frame, else in .debug_frame. */
bool code_find_cfi(const struct code *code, const struct unwind_arch *arch, uint64_t vaddr,
	       struct cfi_entry *ret);

/* Returns the frame sizes of a Go program; NULL: the file is none. */
const struct frame_sizes *code_go_frames(const struct code *code);

/* Returns the program's entry point (ELF's e_entry). */
uint64_t code_entry(const struct code *code);

/* Reads `size` bytes of instructions from the file. Returns false if they cannot be read. */
bool code_read(const struct code *code, uint64_t vaddr, size_t size, uint8_t *ret);

/* Returns whether this is a function of C libraries that ends a program or a thread. */
bool code_is_exit_name(const char *name);

/* Returns whether exit() or pthread_exit() begins at `vaddr`, by the symbol tables. */
bool code_is_exit(const struct code *code, uint64_t vaddr);

/*
 * Gets the start of the nearest named function before `vaddr`. The code at `vaddr` may belong to
 * another function.
 */
bool code_function_start(const struct code *code, uint64_t vaddr, uint64_t *start_ret);

/* Finds the PLT section that contains `vaddr`, and gets its first address. */
bool code_plt_start(const struct code *code, uint64_t vaddr, uint64_t *start_ret);

/*
 * Gets the return addresses of direct calls to `target` in the module's file (x86-64, arm64), and
 * returns their number; 0 if there are more than CODE_CALLS_MAX. The file is searched once.
 */
#define CODE_CALLS_MAX 16
size_t code_calls(const struct code *code, uint64_t target, uint64_t ret[CODE_CALLS_MAX]);

/* Returns the ELF image for other engines (its file is closed); NULL if code_is_blind(). */
const struct image *code_image(const struct code *code);
const struct cfi_table *code_eh_frame(const struct code *code);
