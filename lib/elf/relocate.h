/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "elf/image.h"

/* Load address of a section that is not loaded. References to it become an invalid address. */
#define RELOCATE_NOWHERE UINT64_MAX

/*
 * Copies a relocatable file (a kernel module) into memory, with its debug sections unpacked and
 * relocated, so that they can be read like a linked file's. References to section i are relocated
 * to addresses[i], and those to debug sections to 0. The file of `image` must be open; libelf may
 * unpack sections in `image`, too. SP_ERROR_UNSUPPORTED for machines other than x86-64 and arm64,
 * SP_ERROR_FORMAT if relocations are damaged.
 */
struct sp_error *relocate_debug(struct image *image, const uint64_t *addresses, size_t count,
				struct image **ret) SP_MUST_CHECK;
