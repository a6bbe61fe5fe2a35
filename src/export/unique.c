/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/unique.h"

#include <stdlib.h>
#include <string.h>
#include "list.h"
#include "memory.h"

#define SLOTS_MIN 64

/* FNV-1a's initial value and factor. */
#define HASH_BEGIN 0xcbf29ce484222325u
#define HASH_FACTOR 0x100000001b3u

/* A row to add; the other member is NULL. */
struct key {
	const uint64_t *row;
	const char *text;
};

void unique_deinit(struct unique *table)
{
	free(table->numbers);
	free(table->slots);
}

static uint64_t hash(const struct unique *table, const struct key *key)
{
	uint64_t hash = HASH_BEGIN;
	for (const char *at = key->text; at && *at; at++)
		hash = (hash ^ (unsigned char)*at) * HASH_FACTOR;
	for (size_t i = 0; i < table->columns; i++) {
		hash = (hash ^ key->row[i]) * HASH_FACTOR;
		hash ^= hash >> 29; /* high bits reach the slot's number */
	}
	return hash ^ hash >> 32;
}

static struct key key_of(const struct unique *table, size_t index)
{
	if (table->columns)
		return (struct key){.row = table->numbers + index * table->columns};
	return (struct key){.text = table->texts[index]};
}

static bool is_equal(const struct unique *table, size_t index, const struct key *key)
{
	struct key other = key_of(table, index);
	if (table->columns)
		return !memcmp(other.row, key->row, table->columns * sizeof(*key->row));
	return !strcmp(other.text, key->text);
}

/* Returns the slot of the equal row, or the empty slot for a new one. */
static uint32_t *find_slot(const struct unique *table, const struct key *key)
{
	size_t mask = table->slot_count - 1, at = hash(table, key) & mask;
	while (table->slots[at] && !is_equal(table, table->slots[at] - 1, key))
		at = (at + 1) & mask;
	return &table->slots[at];
}

/* Makes room for one more row, with at least a third of the slots empty. */
static void reserve(struct unique *table)
{
	size_t width = table->columns ? table->columns : 1, need = (table->count + 1) * width;
	if (need > table->capacity)
		list_grow(&table->numbers, &table->capacity, need, sizeof(*table->numbers));
	if (table->slot_count && table->count + 1 <= table->slot_count / 3 * 2)
		return;
	table->slot_count = table->slot_count ? 2 * table->slot_count : SLOTS_MIN;
	free(table->slots);
	table->slots = xcalloc(table->slot_count, sizeof(*table->slots));
	for (size_t i = 0; i < table->count; i++) {
		struct key key = key_of(table, i);
		*find_slot(table, &key) = (uint32_t)i + 1;
	}
}

static uint32_t add(struct unique *table, const struct key *key)
{
	/* Indexes have 32 bits: a table of that size has no memory, either. */
	if (table->count >= UNIQUE_NONE - 1)
		memory_end();
	reserve(table);
	uint32_t *slot = find_slot(table, key);
	if (*slot)
		return *slot - 1;
	if (table->columns)
		memcpy(table->numbers + table->count * table->columns, key->row,
		       table->columns * sizeof(*key->row));
	else
		table->texts[table->count] = key->text;
	*slot = (uint32_t)++table->count;
	return *slot - 1;
}

uint32_t unique_add(struct unique *table, const uint64_t *row)
{
	return add(table, &(struct key){.row = row});
}

uint32_t unique_add_text(struct unique *table, const char *text)
{
	return add(table, &(struct key){.text = text});
}
