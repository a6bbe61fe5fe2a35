/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/row.h"

#include <stdlib.h>
#include <string.h>

#define SETS_MIN ((size_t)1 << 8)
#define SETS_MAX ((size_t)1 << 16) /* Limit of the cache's size: 4 MB. */
#define LINE 64

void row_store_deinit(struct row_store *store)
{
	vec_deinit(&store->items);
	u64map_deinit(&store->by_content);
}

uint32_t row_store_add(struct row_store *store, const struct row *row)
{
	uint64_t hash = hash_bytes(row, sizeof(*row));
	const uint32_t *known = u64map_find(&store->by_content, hash);
	if (known && !memcmp(&store->items.items[*known], row, sizeof(*row)))
		return *known;
	struct row *added = store->items.count < ROWS_MAX ? vec_push(&store->items) : NULL;
	if (!added)
		return UINT32_MAX;
	*added = *row;
	uint32_t index = store->items.count - 1;
	/* On failure, the row may be stored twice, which does no harm. */
	u64map_put(&store->by_content, hash, index, NULL);
	return index;
}

void row_cache_deinit(struct row_cache *cache)
{
	free(cache->refs);
	*cache = (struct row_cache){0};
}

void row_cache_clear(struct row_cache *cache)
{
	if (cache->refs)
		memset(cache->refs, 0, cache->set_count * LINE);
	cache->added = 0;
}

/* The newest reference of a set is first; the oldest is replaced. */
static void put(struct row_ref *set, const struct row_ref *ref)
{
	for (size_t i = SET_SIZE - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = *ref;
}

static bool resize(struct row_cache *cache, size_t set_count)
{
	struct row_cache larger = {
		.refs = aligned_alloc(LINE, set_count * LINE),
		.set_count = set_count,
	};
	if (!larger.refs)
		return false;
	memset(larger.refs, 0, set_count * LINE);
	for (size_t i = SET_SIZE * cache->set_count; i-- > 0;) {
		const struct row_ref *old = &cache->refs[i];
		if (old->row != 0)
			put(row_cache_set(&larger, old->space, old->key), old);
	}
	free(cache->refs);
	*cache = larger;
	return true;
}

bool row_cache_add(struct row_cache *cache, uint32_t space, uint64_t key, uint32_t row)
{
	bool full = cache->added >= 2 * cache->set_count;
	if (full && cache->set_count < SETS_MAX &&
	    !resize(cache, cache->set_count ? 2 * cache->set_count : SETS_MIN) &&
	    cache->set_count == 0)
		return false;
	cache->added++;
	struct row_ref ref = {.key = key, .space = space, .row = row + 1};
	put(row_cache_set(cache, space, key), &ref);
	return true;
}

static bool same_rule(const struct cfi_rule *a, const struct cfi_rule *b)
{
	return a->kind == b->kind && a->column == b->column && a->size == b->size &&
	       a->offset == b->offset;
}

static bool same_row(const struct cfi_row *a, const struct cfi_row *b)
{
	if (a->return_column != b->return_column || a->is_signal != b->is_signal ||
	    a->is_go != b->is_go || !same_rule(&a->cfa, &b->cfa))
		return false;
	for (size_t i = 0; i < ARCH_COLUMNS; i++)
		if (!same_rule(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

uint32_t full_rows_add(struct full_rows *rows, const struct cfi_row *row)
{
	/* Searches from the newest on: real programs have some dozens, so no hash is needed. */
	for (size_t i = rows->items.count; i-- > 0;)
		if (same_row(&rows->items.items[i], row))
			return i;
	if (rows->items.count == FULL_ROWS_MAX)
		return UINT32_MAX;
	if (!vec_append(&rows->items, *row))
		return UINT32_MAX;
	return rows->items.count - 1;
}

static int slot_of(const struct unwind_arch *arch, unsigned int column)
{
	for (int i = 0; i < arch->slot_count; i++)
		if (arch->slots[i] == column)
			return i;
	return -1;
}

static bool pack_rule(const struct unwind_arch *arch, unsigned int column,
		      const struct cfi_rule *rule, struct row *ret)
{
	int slot = slot_of(arch, column);
	bool preserved = slot >= 0 && arch->preserved >> column & 1;
	switch (rule->kind) {
	case RULE_NONE:
		return true;
	case RULE_SAME:
		return preserved;
	case RULE_UNDEFINED:
		return slot < 0;
	case RULE_IS: /* the stack pointer is always the CFA */
		return column == arch->sp && rule->offset == 0;
	case RULE_AT:
		if (slot < 0 || rule->offset % arch->word != 0 ||
		    rule->offset / arch->word != (int8_t)(rule->offset / arch->word))
			return false;
		ret->saved |= (uint16_t)(1 << slot);
		ret->at[slot] = rule->offset / arch->word;
		return true;
	default:
		return false;
	}
}

bool row_pack(const struct unwind_arch *arch, const struct cfi_row *full, struct row *ret)
{
	if (arch->word != 8 || full->is_signal || full->cfa.kind != RULE_IS ||
	    full->return_column != arch->ra || full->cfa.offset != (int32_t)full->cfa.offset)
		return false;
	struct row row = {
		.kind = full->is_go ? ROW_GO : ROW_SIMPLE,
		.cfa_column = full->cfa.column,
		.cfa_offset = full->cfa.offset,
	};
	for (unsigned int column = 0; column < arch->columns; column++)
		if (!pack_rule(arch, column, &full->rules[column], &row))
			return false;
	/* On x86, the compact form needs the place of the return address. */
	if (arch->calls_push && !(row.saved & 1))
		return false;
	*ret = row;
	return true;
}
