/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the recorder, in whole pages. */
#pragma once

#include <stddef.h>

/* Size of a huge page, and the alignment of memory that has them. */
#define PAGES_HUGE_BYTES ((size_t)2 << 20)

/*
 * Maps `size` bytes of zeros, used only as far as they are written. Children do not get them: a
 * page that a child shares is copied when it is written. Returns NULL if there is no memory.
 * munmap() frees it.
 */
void *pages_map(size_t size);

/* The same with huge pages where the kernel has them. `size`: a multiple of PAGES_HUGE_BYTES. */
void *pages_map_huge(size_t size);
