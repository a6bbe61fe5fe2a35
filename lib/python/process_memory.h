/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of a traced process, read page by page. Each page is read at most once between two resets, and
 * the number of pages is bounded, so that a structure with cycles or wild pointers costs little.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_PAGE 4096
#define PYTHON_PAGES_MAX 192
#define PYTHON_PAGE_SLOTS 512

/* Reads `size` bytes at `address`; false if they are not all readable. Never crosses a page. */
typedef bool python_read_fn(void *arg, uint64_t address, void *ret, size_t size);

struct python_memory {
	python_read_fn *read;
	void *arg;
	bool damaged;   /* since the reset, a read failed or a list had no end */
	uint32_t count; /* pages that were read since the reset, readable or not */
	uint8_t index_of[PYTHON_PAGE_SLOTS]; /* by hash of the address: index + 1; 0: free */
	struct {
		uint64_t address;
		bool readable;
	} pages[PYTHON_PAGES_MAX];
	uint8_t bytes[PYTHON_PAGES_MAX][PYTHON_PAGE];
};

void python_memory_reset(struct python_memory *memory);

/* Reads bytes; false if they are unreadable, or too many pages were read. */
bool python_memory_get(struct python_memory *memory, uint64_t address, void *ret, size_t size);

static inline bool python_memory_word(struct python_memory *memory, uint64_t address, uint64_t *ret)
{
	return python_memory_get(memory, address, ret, sizeof(*ret));
}
