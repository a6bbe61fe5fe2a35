/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"

bool list_try_grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size)
{
	size_t grown = *capacity < 8 ? 8 : *capacity;
	void *items;
	while (grown < need && grown <= SIZE_MAX / 2)
		grown *= 2;
	if (grown < need)
		return false;
	memcpy(&items, items_pointer, sizeof(items));
	items = reallocarray(items, grown, item_size);
	if (!items)
		return false;
	memcpy(items_pointer, &items, sizeof(items));
	*capacity = grown;
	return true;
}

void list_grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size)
{
	if (!list_try_grow(items_pointer, capacity, need, item_size))
		memory_end();
}
