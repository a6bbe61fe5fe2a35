/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of a traced process, read page by page. Each page is read at most once between two resets, and
 * the number of pages is bounded, so that a structure with cycles or wild pointers costs little.
 */
#ifndef PYTHON_MEMORY_H
#define PYTHON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_PAGE 4096
#define PYTHON_PAGES_MAX 128

/* Reads `size` bytes at `address`; false if they are not all readable. Never crosses a page. */
typedef bool python_read_fn(void *arg, uint64_t address, void *ret, size_t size);

struct python_memory {
	python_read_fn *read;
	void *arg;
	uint32_t count; /* pages that were read since the reset, readable or not */
	struct {
		uint64_t address;
		bool readable;
	} pages[PYTHON_PAGES_MAX];
	uint8_t bytes[PYTHON_PAGES_MAX][PYTHON_PAGE];
};

static inline void python_memory_reset(struct python_memory *memory)
{
	memory->count = 0;
}

/* Reads bytes; false if they are unreadable, or too many pages were read. */
bool python_memory_get(struct python_memory *memory, uint64_t address, void *ret, size_t size);

static inline bool python_memory_word(struct python_memory *memory, uint64_t address, uint64_t *ret)
{
	return python_memory_get(memory, address, ret, sizeof(*ret));
}

#endif
