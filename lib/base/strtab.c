/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/strtab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

struct strtab_entry {
	uint64_t hash;
	const char *text; /* NULL: the slot is empty */
	size_t size;
};

void strtab_deinit(struct strtab *table)
{
	arena_deinit(&table->arena);
	free(table->entries);
	*table = (struct strtab){0};
}

size_t strtab_bytes(const struct strtab *table)
{
	return table->arena.total + table->capacity * sizeof(*table->entries);
}

static struct strtab_entry *probe(const struct strtab *table, uint64_t hash, const char *text,
				  size_t size)
{
	size_t mask = table->capacity - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct strtab_entry *entry = &table->entries[i];
		if (!entry->text || (entry->hash == hash && entry->size == size &&
				     memcmp(entry->text, text, size) == 0))
			return entry;
	}
}

static bool grow(struct strtab *table)
{
	struct strtab grown = *table;
	grown.capacity = table->capacity ? table->capacity * 2 : 64;
	grown.entries = calloc(grown.capacity, sizeof(*grown.entries));
	if (!grown.entries)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		const struct strtab_entry *old = &table->entries[i];
		if (old->text)
			*probe(&grown, old->hash, old->text, old->size) = *old;
	}
	free(table->entries);
	*table = grown;
	return true;
}

const char *strtab_find(const struct strtab *table, const char *text)
{
	size_t size = strlen(text);
	return table->capacity ? probe(table, hash_bytes(text, size), text, size)->text : NULL;
}

const char *strtab_add(struct strtab *table, const char *text)
{
	return strtab_add_sized(table, text, strlen(text));
}

const char *strtab_add_sized(struct strtab *table, const char *text, size_t size)
{
	return strtab_add_hashed(table, hash_bytes(text, size), text, size);
}

const char *strtab_add_hashed(struct strtab *table, uint64_t hash, const char *text, size_t size)
{
	if ((table->count + 1) * 4 > table->capacity * 3 && !grow(table))
		return NULL;
	struct strtab_entry *entry = probe(table, hash, text, size);
	if (!entry->text) {
		const char *copy = arena_copy_string(&table->arena, text, size);
		if (!copy)
			return NULL;
		*entry = (struct strtab_entry){.hash = hash, .text = copy, .size = size};
		table->count++;
	}
	return entry->text;
}
