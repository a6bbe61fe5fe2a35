/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacks compressed symbols and sections; `path` is for messages. The caller frees *ret. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/*
 * Unpacks an xz stream; the caller frees *ret. SP_ERROR_FORMAT if it is damaged or unpacks to more
 * than `limit` bytes, SP_ERROR_UNSUPPORTED in a build without liblzma. `path` is for messages.
 */
struct sp_error *xz_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			   uint8_t **ret, size_t *size_ret) SP_MUST_CHECK;

/* Works like xz_unpack() for a zstd frame that states its size. */
struct sp_error *zst_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			    uint8_t **ret, size_t *size_ret) SP_MUST_CHECK;

/* Unpacks frames that together have exactly `size_unpacked` bytes, a size that the caller knows. */
struct sp_error *zst_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				  const char *path, uint8_t **ret) SP_MUST_CHECK;

/*
 * Works like zst_unpack_sized() for a zlib stream. libelf could do this, but only one section of a
 * file at a time.
 */
struct sp_error *zlib_unpack_sized(const void *bytes, size_t size, size_t size_unpacked,
				   const char *path, uint8_t **ret) SP_MUST_CHECK;
