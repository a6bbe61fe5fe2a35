/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ELF_ZST_H
#define ELF_ZST_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* Works like xz_unpack() for a zstd frame that states its size. */
struct sp_error *zst_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			    uint8_t **ret, size_t *size_ret) SP_MUST_CHECK;

/* Unpacks frames that together have exactly `size_unpacked` bytes, a size that the caller knows. */
struct sp_error *zst_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				  const char *path, uint8_t **ret) SP_MUST_CHECK;

#endif
