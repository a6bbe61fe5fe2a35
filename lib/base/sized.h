/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Option structs of the public API, whose first member is `size_t size`, the caller's sizeof.
 * Newer versions of the library append members, so programs and libraries of different versions
 * fit together.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stddef.h>
#include <sprof/error.h>

/*
 * Copies `options` to ret[size], and zeroes the members that they lack. NULL: all members are 0.
 * Fails with SP_ERROR_INVALID without a size, and with SP_ERROR_UNSUPPORTED if members beyond
 * `size` are set.
 */
struct sp_error *sized_copy(void *ret, size_t size, const void *options) SP_MUST_CHECK;

#endif
