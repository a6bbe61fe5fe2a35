/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the recorder, in whole pages. */
#pragma once

#include <stddef.h>
#include <sys/mman.h>

/* Since Linux 5.14. Without it, who writes first takes the page faults. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Maps `size` bytes of zeros, used only as far as they are written. Children do not get them: a
 * page that a child shares is copied when it is written. Returns NULL if there is no memory.
 * munmap() frees it.
 */
void *pages_map(size_t size);

/* The same with huge pages where the kernel has them. `size`: a multiple of 2 MiB. */
void *pages_map_huge(size_t size);
