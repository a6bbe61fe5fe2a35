/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the first block and of the largest. Each is twice the last: many arenas stay small. */
#define BLOCK_SIZE_MIN ((size_t)4 << 10)
#define BLOCK_SIZE ((size_t)64 << 10)
#define ALIGNMENT ((size_t)16)

struct arena_block {
	struct arena_block *next;
	alignas(16) unsigned char bytes[];
};

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->blocks;
	while (block) {
		struct arena_block *next = block->next;
		free(block);
		block = next;
	}
	*arena = (struct arena){0};
}

/* Allocates zeroed, aligned memory: on some 32-bit machines calloc() aligns to 8 only. */
static void *calloc_aligned(size_t size)
{
	if (alignof(max_align_t) >= ALIGNMENT)
		return calloc(1, size);
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	void *memory = aligned_alloc(ALIGNMENT, size);
	if (memory)
		memset(memory, 0, size);
	return memory;
}

static struct arena_block *block_new(size_t size)
{
	struct arena_block *block = NULL;
	if (size <= SIZE_MAX - sizeof(*block) - ALIGNMENT)
		block = calloc_aligned(sizeof(*block) + size);
	return block;
}

static size_t next_size(const struct arena *arena)
{
	size_t size = arena->blocks ? 2 * arena->size : BLOCK_SIZE_MIN;
	return size < BLOCK_SIZE ? size : BLOCK_SIZE;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT)
		return NULL;
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (!arena->blocks || size > arena->size - arena->used) {
		/* A large object gets its own block, inserted after the current one. */
		bool own = size > BLOCK_SIZE / 4 && arena->blocks;
		size_t block_size = next_size(arena);
		if (own || size > block_size)
			block_size = size;
		struct arena_block *block = block_new(block_size);
		if (!block)
			return NULL;
		arena->total += block_size;
		if (own) {
			block->next = arena->blocks->next;
			arena->blocks->next = block;
			return block->bytes;
		}
		block->next = arena->blocks;
		arena->blocks = block;
		arena->size = block_size;
		arena->used = 0;
	}
	void *object = arena->blocks->bytes + arena->used;
	arena->used += size;
	return object;
}

char *arena_copy_string(struct arena *arena, const char *text, size_t size)
{
	char *copy = size == SIZE_MAX ? NULL : arena_alloc(arena, size + 1);
	if (copy && size)
		memcpy(copy, text, size);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return text ? arena_copy_string(arena, text, strlen(text)) : NULL;
}
