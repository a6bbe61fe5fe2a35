/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions (and data, which bound them) that an ELF file's tables name. */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include "base/cursor.h"
#include "elf/image.h"

struct elf_symbol {
	uint64_t vaddr, size; /* size 0: the file does not say */
	const char *name;     /* borrowed */
	uint16_t section;     /* its index; vaddr counts from there in relocatable files */
	uint8_t binding;      /* STB_* */
	uint8_t type;         /* STT_* */
};

struct elf_symbols {
	VEC(struct elf_symbol);
};

enum symtab_kind { SYMTAB_FULL, SYMTAB_DYNAMIC }; /* .symtab, .dynsym */

/* Whether the image has a .symtab, with content. */
bool symtab_exists(const struct image *image);

/*
 * Walks a table. What it yields, in table order: functions, data objects, and
 * labels of text and data sections. Left out, as in perf: undefined, absolute and
 * unnamed symbols, hidden labels, mapping symbols ($x), and symbols of sections
 * that are not loaded.
 */
struct symtab {
	const struct image *image;
	struct image_bytes symbols;
	struct image_bytes strings; /* names point into it */
	struct cursor cursor;
	struct section_facts *sections;
	size_t section_count;
};

/*
 * `runtime` is the file that ran, whose section headers are whole where `image`
 * is its debug file; it may be `image` itself. Both must outlive the walk. A
 * table that is absent yields nothing; one that cannot be read is an error.
 */
struct sp_error *symtab_open(const struct image *image, const struct image *runtime,
			     enum symtab_kind kind, struct symtab *ret) SP_MUST_CHECK;

/* False at the end. Its name is valid as long as `strings`. */
bool symtab_next(struct symtab *symtab, struct elf_symbol *ret);

/* Frees all but the strings, which are handed over: the names outlive the walk. */
void symtab_close(struct symtab *symtab, struct image_bytes *strings_ret);

#endif
