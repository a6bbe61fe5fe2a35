/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Go runtime's record of a module, which has the addresses that its function table is relative to. */
#pragma once

#include "elf/image.h"

struct pclntab;

struct moduledata {
	uint64_t text;  /* runtime.text; 0: not found */
	uint64_t trees; /* go:func.* */
};

/*
 * Finds the record of Go 1.18 and later: in the data, or by the relocations of an externally linked
 * PIE, which has zero pointers in the file. *ret is unchanged if it is not found. Fails only if the
 * file cannot be read, or when out of memory.
 */
struct sp_error *moduledata_find(const struct image *image, const struct pclntab *table,
				 struct moduledata *ret) SP_MUST_CHECK;
