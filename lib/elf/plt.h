/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names for the procedure linkage table, whose entries no symbol table has:
 * "strlen@plt". Each entry's jump is decoded, and the slot it goes through is
 * looked up among the relocations: order and layout of the sections, which
 * differ by linker and by its options, do not matter.
 */
#ifndef ELF_PLT_H
#define ELF_PLT_H

#include "base/arena.h"
#include "elf/symtab.h"

/*
 * The name of the function at a vaddr, or NULL: for entries that go to one the
 * file itself chooses at start-up (IFUNC), which have an address and no name.
 */
typedef const char *plt_name_fn(void *arg, uint64_t vaddr);

/*
 * Appends an entry for each slot: "NAME@plt"; "offset_0x…@plt" for one whose
 * name is not known; ".plt" for the code they share. Names belong to the arena.
 * x86-64, i386, arm64 and 64-bit RISC-V; nothing for others. Damage means fewer
 * names. Fails only when out of memory.
 */
struct sp_error *plt_read(const struct image *image, plt_name_fn *name_of, void *arg,
			  struct arena *arena, struct elf_symbols *ret) SP_MUST_CHECK;

#endif
