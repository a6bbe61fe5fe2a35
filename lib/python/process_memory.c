/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "python/process_memory.h"

#include <string.h>
#include "base/hash.h"

void python_memory_reset(struct python_memory *memory)
{
	memory->count = 0;
	memory->damaged = false;
	memset(memory->index_of, 0, sizeof(memory->index_of));
}

/* Returns the page's bytes, or NULL. */
static const uint8_t *find_page(struct python_memory *memory, uint64_t address)
{
	uint32_t slot = hash_u64(address) % PYTHON_PAGE_SLOTS;
	for (; memory->index_of[slot]; slot = (slot + 1) % PYTHON_PAGE_SLOTS) {
		uint32_t i = memory->index_of[slot] - 1u;
		if (memory->pages[i].address == address)
			return memory->pages[i].readable ? memory->bytes[i] : NULL;
	}
	if (memory->count == PYTHON_PAGES_MAX)
		return NULL;
	uint32_t i = memory->count++;
	memory->index_of[slot] = memory->count;
	memory->pages[i].address = address;
	memory->pages[i].readable = memory->read(memory->arg, address, memory->bytes[i], PYTHON_PAGE);
	return memory->pages[i].readable ? memory->bytes[i] : NULL;
}

static bool get(struct python_memory *memory, uint64_t address, void *ret, size_t size)
{
	uint8_t *to = ret;
	uint64_t end;
	if (__builtin_add_overflow(address, size, &end))
		return false;
	while (address < end) {
		uint64_t at = address % PYTHON_PAGE;
		size_t part = PYTHON_PAGE - at;
		if (part > end - address)
			part = end - address;
		const uint8_t *page = find_page(memory, address - at);
		if (!page)
			return false;
		memcpy(to, page + at, part);
		to += part;
		address += part;
	}
	return true;
}

bool python_memory_get(struct python_memory *memory, uint64_t address, void *ret, size_t size)
{
	bool good = get(memory, address, ret, size);
	memory->damaged |= !good;
	return good;
}
