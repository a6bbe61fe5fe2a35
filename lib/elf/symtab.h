/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reader of ELF symbol tables: functions, and data objects, because they end the code before them. */
#pragma once

#include "base/cursor.h"
#include "elf/image.h"

struct elf_symbol {
	uint64_t vaddr, size; /* size 0: not known */
	uint64_t section_end; /* end of its section; UINT64_MAX: not known */
	const char *name;     /* borrowed from the string table */
	const char *object;   /* a local symbol's source file (STT_FILE), borrowed; NULL: unknown */
	uint16_t section;     /* section index; in relocatable files, vaddr is relative to the section */
	uint8_t binding;      /* STB_* */
	uint8_t type;         /* STT_* */
};

struct elf_symbols {
	VEC(struct elf_symbol);
};

enum symtab_kind { SYMTAB_FULL, SYMTAB_DYNAMIC }; /* .symtab, .dynsym */

/* Returns whether the image has a .symtab that is not empty. */
bool symtab_exists(const struct image *image);

/* Returns the size of the largest table of symbols or strings; UINT64_MAX: one is compressed. */
uint64_t symtab_bytes(const struct image *image);

/*
 * Iterator over a symbol table. It returns, in table order, functions, data objects, and labels
 * (STT_NOTYPE) of text and data sections. Like perf, it omits undefined, absolute and unnamed
 * symbols, hidden labels, mapping symbols ($x), and symbols of sections that are not loaded.
 */
struct symtab {
	const struct image *image;
	struct image_bytes symbols;
	struct image_bytes strings; /* names point into it */
	struct cursor cursor;
	struct section_facts *sections;
	size_t section_count;
	const char *object; /* the last STT_FILE symbol's name; NULL: none, or empty */
};

/*
 * `runtime` is the file that ran; it may be `image` itself. If `image` is its debug file, sections
 * are looked up in `runtime`, which has complete section headers. Both must outlive the iterator.
 * An absent table counts as empty; an unreadable one is an error.
 */
struct sp_error *symtab_open(const struct image *image, const struct image *runtime,
			     enum symtab_kind kind, struct symtab *ret) SP_MUST_CHECK;

/* Reads the next symbol; false at the end. The symbol's name is valid as long as `strings`. */
bool symtab_next(struct symtab *symtab, struct elf_symbol *ret);

/* Finds a defined symbol's value, also of symbols that symtab_next() omits. */
bool symtab_find(const struct symtab *symtab, const char *name, uint64_t *ret);

/* Frees all but the strings, which move to *strings_ret so that names stay valid; NULL: frees these too. */
void symtab_close(struct symtab *symtab, struct image_bytes *strings_ret);
