/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/pages.h"

#include <stdint.h>

/* Size of a huge page, and the alignment of memory that has them. */
#define HUGE_BYTES ((size_t)2 << 20)

void *pages_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, size, MADV_DONTFORK);
	return memory;
}

void *pages_map_huge(size_t size)
{
	uint8_t *all = pages_map(size + HUGE_BYTES);
	if (!all)
		return NULL;
	size_t before = -(uintptr_t)all & (HUGE_BYTES - 1);
	if (before)
		munmap(all, before);
	munmap(all + before + size, HUGE_BYTES - before);
	(void)madvise(all + before, size, MADV_HUGEPAGE);
	return all + before;
}
