/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwind information of modules' files. One thread reads that of a module at the first request; it
 * is constant from then on. Rare parts (.debug_frame, PLTs, instructions) are read on demand.
 */
#ifndef UNWIND_CODE_H
#define UNWIND_CODE_H

#include "elf/call_frames.h"
#include "unwind/arch.h"
#include "unwind/unwind.h"

struct code;

/* Files of all modules; for any thread. */
struct codes;

/* The arch is that of the recording's 64-bit programs. NULL when out of memory. */
struct codes *codes_new(struct sp_ctx *ctx, const char *arch, const struct unwind_files *files);
void codes_free(struct codes *codes);

/* The module's; NULL when out of memory. Belongs to `codes`. */
const struct code *codes_get(struct codes *codes, const struct module *module, uint32_t pid);

/* Whether more is kept of files than a recording without an end should keep. Any thread. */
bool codes_are_many(const struct codes *codes);

/*
 * Drops the files that codes_get() was not called for since the last drop, or all if the others are too
 * many. Returns their count. Earlier results of codes_get() are invalid afterwards.
 */
size_t codes_forget(struct codes *codes);

/* Same as unwinder_problem(). */
const char *codes_problem(struct codes *codes, const struct module *module);

/*
 * Returns the address of a byte of the file when loaded; false if there is no code, or it is
 * unknown.
 */
bool code_vaddr(const struct code *code, uint64_t file_offset, uint64_t *ret);

/* The module's file is not at hand, or not one of this architecture: nothing is known of it. */
bool code_is_blind(const struct code *code);

/* The entry of the code at vaddr: .eh_frame's, else .debug_frame's (the second look). */
bool code_find(const struct code *code, const struct unwind_arch *arch, uint64_t vaddr,
	       struct cfi_entry *ret);

/* Returns the program's entry point (ELF's e_entry). */
uint64_t code_entry(const struct code *code);

/* Reads `size` bytes of instructions, from the file; false where they are not at hand. */
bool code_text(const struct code *code, uint64_t vaddr, size_t size, uint8_t *ret);

/* True for functions of C libraries that end a program or a thread. */
bool code_is_exit_name(const char *name);

/* Whether exit() or pthread_exit() begins at vaddr, by the symbol tables. */
bool code_is_exit(const struct code *code, uint64_t vaddr);

/* The start of the named function that is next before vaddr; what it lies in may be another. */
bool code_function(const struct code *code, uint64_t vaddr, uint64_t *start_ret);

/* The PLT section at vaddr: its first address. */
bool code_plt(const struct code *code, uint64_t vaddr, uint64_t *start_ret);

/* For other engines: the module's image (file released), or NULL; its sections by vaddr. */
const struct image *code_image(const struct code *code);
const struct cfi_table *code_eh_frame(const struct code *code);

#endif
