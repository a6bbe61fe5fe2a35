/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols of programs by name, for probes and breakpoints. */
#ifndef EVENT_SYMBOLS_H
#define EVENT_SYMBOLS_H

#include "elf/image.h"

struct file_symbol {
	uint64_t vaddr, size; /* size 0: the file does not say */
	bool is_code;
};

/*
 * The symbol of that name in .symtab or .dynsym: a function, and with `data` also an object.
 * Where several have the name, a global one is taken before others. SP_ERROR_NOT_FOUND, with names
 * that are near, where there is none.
 */
struct sp_error *file_symbol_find(const struct image *image, const char *name, size_t size,
				  bool data, struct file_symbol *ret) SP_MUST_CHECK;

#endif
