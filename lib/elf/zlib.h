/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ELF_ZLIB_H
#define ELF_ZLIB_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/*
 * Works like zst_unpack_sized() for a zlib stream. libelf could do this, but only one section of a
 * file at a time.
 */
struct sp_error *zlib_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				   const char *path, uint8_t **ret) SP_MUST_CHECK;

#endif
