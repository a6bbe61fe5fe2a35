/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwind information of modules' files. The first thread that needs a module reads it; it is constant
 * afterwards. Rare parts (.debug_frame, PLTs, instructions) are read when they are needed.
 */
#ifndef UNWIND_UNWIND_INFO_H
#define UNWIND_UNWIND_INFO_H

#include "elf/call_frames.h"
#include "unwind/arch.h"
#include "unwind/unwind.h"

struct code;
struct frame_sizes;

/* Files of all modules. Thread-safe. */
struct codes;

/* `arch` is the architecture of the recording's 64-bit programs. NULL when out of memory. */
struct codes *codes_new(struct sp_ctx *ctx, const char *arch, const struct unwind_files *files);
void codes_free(struct codes *codes);

/* Returns the code of a module, which `codes` owns; NULL when out of memory. */
const struct code *codes_get(struct codes *codes, const struct module *module, uint32_t pid);

/*
 * Returns whether `codes` keeps more than a recorder that runs for long should keep. Any thread may
 * call it.
 */
bool codes_are_many(const struct codes *codes);

/*
 * Drops the files that codes_get() has not returned since the last call, or all if the rest is too
 * large, or `all`: modules may be numbered anew then. Returns their number. Earlier results of
 * codes_get() are invalid afterwards.
 */
size_t codes_forget(struct codes *codes, bool all);

/* Returns the text of unwinder_problem(). */
const char *codes_problem(struct codes *codes, const struct module *module);

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
bool code_find(const struct code *code, const struct unwind_arch *arch, uint64_t vaddr,
	       struct cfi_entry *ret);

/* Returns the frame sizes of a Go program; NULL: the file is none. */
const struct frame_sizes *code_go(const struct code *code);

/* Returns the program's entry point (ELF's e_entry). */
uint64_t code_entry(const struct code *code);

/* Reads `size` bytes of instructions from the file. Returns false if they cannot be read. */
bool code_text(const struct code *code, uint64_t vaddr, size_t size, uint8_t *ret);

/* Returns whether this is a function of C libraries that ends a program or a thread. */
bool code_is_exit_name(const char *name);

/* Returns whether exit() or pthread_exit() begins at `vaddr`, by the symbol tables. */
bool code_is_exit(const struct code *code, uint64_t vaddr);

/*
 * Gets the start of the nearest named function before `vaddr`. The code at `vaddr` may belong to
 * another function.
 */
bool code_function(const struct code *code, uint64_t vaddr, uint64_t *start_ret);

/* Finds the PLT section that contains `vaddr`, and gets its first address. */
bool code_plt(const struct code *code, uint64_t vaddr, uint64_t *start_ret);

/*
 * Gets the return addresses of direct calls to `target` in the module's file (x86-64, arm64), and
 * returns their number; 0 if there are more than CODE_CALLS_MAX. The file is searched once.
 */
#define CODE_CALLS_MAX 16
size_t code_calls(const struct code *code, uint64_t target, uint64_t ret[CODE_CALLS_MAX]);

/* Returns the module's ELF image for other engines (with its file closed), or NULL. */
const struct image *code_image(const struct code *code);
const struct cfi_table *code_eh_frame(const struct code *code);

#endif
