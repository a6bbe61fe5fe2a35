/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Program symbols by name, for probes, breakpoints and address filters. */
#pragma once

#include "elf/image.h"

struct file_symbol {
	uint64_t vaddr, size; /* size 0: the file does not state it */
	bool is_code;
};

/*
 * Finds a function in .symtab or .dynsym by its name of `size` bytes; with `data` also a variable.
 * Global symbols have precedence over others of the same name. Fails with SP_ERROR_NOT_FOUND; the
 * remedy is a similar name, or an `nm` command that lists the names.
 */
struct sp_error *file_symbol_find(const struct image *image, const char *name, size_t size,
				  bool data, struct file_symbol *ret) SP_MUST_CHECK;
