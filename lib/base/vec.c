/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

bool vec_grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size)
{
	size_t grown = *capacity < 8 ? 8 : *capacity, bytes;
	void *items;
	while (grown < need) {
		if (grown > SIZE_MAX / 2)
			return false;
		grown *= 2;
	}
	if (__builtin_mul_overflow(grown, item_size, &bytes))
		return false;
	memcpy(&items, items_pointer, sizeof(items));
	items = realloc(items, bytes);
	if (!items)
		return false;
	memcpy(items_pointer, &items, sizeof(items));
	*capacity = grown;
	return true;
}

int u64_compare(const void *a, const void *b)
{
	return u64_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

int u32_compare(const void *a, const void *b)
{
	return u64_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

size_t u32_sort_unique(uint32_t *items, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(items, count, sizeof(*items), u32_compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || items[kept - 1] != items[i])
			items[kept++] = items[i];
	return kept;
}
