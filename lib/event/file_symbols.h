/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Program symbols by name, for probes and breakpoints. */
#ifndef EVENT_FILE_SYMBOLS_H
#define EVENT_FILE_SYMBOLS_H

#include "elf/image.h"

struct file_symbol {
	uint64_t vaddr, size; /* size 0: the file does not state it */
	bool is_code;
};

/*
 * Finds a function by name in .symtab or .dynsym; with `data` also a variable. Global symbols have
 * precedence over others of the same name. Fails with SP_ERROR_NOT_FOUND, with similar names.
 */
struct sp_error *file_symbol_find(const struct image *image, const char *name, size_t size,
				  bool data, struct file_symbol *ret) SP_MUST_CHECK;

#endif
