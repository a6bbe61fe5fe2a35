/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arena: many small objects of one lifetime, freed together. Not thread-safe. */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_block *blocks; /* list; the current one is first */
	size_t used, size;          /* bytes of the current block */
	size_t total;               /* bytes of all blocks */
};

/* A zeroed struct arena is empty and ready. */
void arena_deinit(struct arena *arena);

/* Returns zeroed memory, aligned to 16 bytes; NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t size);

/* Copies `size` bytes and adds a NUL; NULL when out of memory. */
char *arena_copy_string(struct arena *arena, const char *text, size_t size);

/* Copies a string; NULL when out of memory, and for NULL. */
char *arena_strdup(struct arena *arena, const char *text);
