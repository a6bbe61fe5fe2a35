/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ELF_XZ_H
#define ELF_XZ_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/*
 * Unpacks an xz stream; the caller frees *ret. SP_ERROR_FORMAT if it is damaged or unpacks to more
 * than `limit` bytes, SP_ERROR_UNSUPPORTED in a build without liblzma. `path` is for messages.
 */
struct sp_error *xz_unpack(const void *bytes, size_t size, size_t limit, const char *path,
			   uint8_t **ret, size_t *size_ret) SP_MUST_CHECK;

#endif
