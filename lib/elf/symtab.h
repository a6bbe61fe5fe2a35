/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions (and data, which bound them) that an ELF file's tables name. */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include "elf/image.h"

struct elf_symbol {
	uint64_t vaddr, size; /* size 0: the file does not say */
	const char *name;     /* the image's, or the arena's that was given */
	uint8_t binding;      /* STB_* */
	uint8_t type;         /* STT_* */
};

struct elf_symbols {
	VEC(struct elf_symbol);
};

enum symtab_kind { SYMTAB_FULL, SYMTAB_DYNAMIC }; /* .symtab, .dynsym */

/* Whether the image has that table, with content. */
bool symtab_exists(const struct image *image, enum symtab_kind kind);

/*
 * Appends the table's functions, data objects, and labels of text and data
 * sections, in table order; nothing where there is no table. Left out, as in
 * perf: undefined, absolute and unnamed symbols, hidden labels, mapping symbols
 * ($x), and symbols of sections that are not loaded. `runtime` is the file that
 * ran, whose section headers are whole where `image` is its debug file; it may
 * be `image` itself. Symbols of damaged entries are skipped; a table that cannot
 * be read at all is an error.
 */
struct sp_error *symtab_read(const struct image *image, const struct image *runtime,
			     enum symtab_kind kind, struct elf_symbols *ret) SP_MUST_CHECK;

#endif
