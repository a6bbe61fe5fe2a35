/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ELF_RELOCATE_H
#define ELF_RELOCATE_H

#include "elf/image.h"

/* Load address of a section that is not loaded. References to it resolve to no place. */
#define RELOCATE_NOWHERE UINT64_MAX

/*
 * A copy, in memory, of a relocatable file (a kernel module), whose debug information can be
 * read as that of a linked one: its sections are unpacked, and what they say of section i is
 * that it lies at addresses[i] (debug sections: at 0). `image` must have its file, and may have
 * its compressed sections unpacked by this. SP_ERROR_UNSUPPORTED for machines other than
 * x86-64 and arm64, SP_ERROR_FORMAT where relocations are damaged.
 */
struct sp_error *relocate_debug(struct image *image, const uint64_t *addresses, size_t count,
				struct image **ret) SP_MUST_CHECK;

#endif
