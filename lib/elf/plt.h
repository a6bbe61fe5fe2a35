/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes symbols for the entries of the procedure linkage table ("strlen@plt"), which are in no
 * symbol table. Each entry's jump is decoded, and its GOT slot is looked up among the relocations.
 * This works for any order and layout of the sections; they differ by linker and its options.
 */
#pragma once

#include "base/arena.h"
#include "elf/symtab.h"

/*
 * Returns the name of the function at a vaddr, or NULL. Used for IFUNC entries: their relocation
 * has the resolver's address and no symbol.
 */
typedef const char *plt_name_fn(void *arg, uint64_t vaddr);

/*
 * Appends a symbol for each PLT entry: "NAME@plt"; "offset_0x…@plt" if the name is not known;
 * ".plt" for code that entries share. The arena owns the names. Supports x86-64, i386, arm64 and
 * 64-bit RISC-V; other files, and damaged entries, get no symbols. Fails only when out of memory.
 */
struct sp_error *plt_read(const struct image *image, plt_name_fn *name_of, void *arg,
			  struct arena *arena, struct elf_symbols *ret) SP_MUST_CHECK;
