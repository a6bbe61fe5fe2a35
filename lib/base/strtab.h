/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interned strings: equal text is one pointer, so comparing names is comparing
 * pointers. A string lives as long as its table. Not thread-safe.
 */
#ifndef BASE_STRTAB_H
#define BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

struct strtab {
	struct arena arena;
	struct strtab_entry *entries;
	size_t count, capacity;
};

/* A zeroed struct strtab is empty and ready. */
void strtab_deinit(struct strtab *table);

/* The one copy of this text; NULL when out of memory. */
const char *strtab_add(struct strtab *table, const char *text);
const char *strtab_add_sized(struct strtab *table, const char *text, size_t size);

/* The same, for who knows hash_bytes() of it already. */
const char *strtab_add_hashed(struct strtab *table, uint64_t hash, const char *text, size_t size);

#endif
