/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interned strings: equal strings are one pointer, so names are compared by pointer. A string lives as
 * long as its table. Not thread-safe.
 */
#pragma once

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

/* Returns the memory of the table and its strings. */
size_t strtab_bytes(const struct strtab *table);

/* Returns the table's copy of the string; NULL when out of memory. */
const char *strtab_add(struct strtab *table, const char *text);
const char *strtab_add_sized(struct strtab *table, const char *text, size_t size);

/* Returns the table's copy of the string; NULL if it has none. */
const char *strtab_find(const struct strtab *table, const char *text);

/* Like strtab_add(), for callers that have already computed hash_bytes() of the text. */
const char *strtab_add_hashed(struct strtab *table, uint64_t hash, const char *text, size_t size);
