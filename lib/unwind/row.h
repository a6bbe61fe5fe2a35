/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a frame is left, in 20 bytes: what nearly all code needs fits (CFA = register +
 * offset, registers saved at small multiples of a word from it); what does not is kept
 * beside, whole. Addresses share rows: what is kept for each is a reference of 16 bytes.
 */
#ifndef UNWIND_ROW_H
#define UNWIND_ROW_H

#include "base/hash.h"
#include "base/vec.h"
#include "unwind/cfi_row.h"

enum row_kind {
	ROW_NONE,    /* not made yet */
	ROW_SIMPLE,
	ROW_FULL,    /* `full` has it: expressions, signal frames, far offsets */
	ROW_OUTERMOST, /* nothing called this code: threads begin in it */
	ROW_FRAME_POINTER, /* nothing is known of it but its frame pointer */
	ROW_UNKNOWN, /* nor that: it keeps none */
	ROW_UNMAPPED, /* no module is known there: JIT code, or no code at all */
	ROW_NO_CODE, /* no code is there */
};

struct row {
	union {
		int32_t cfa_offset; /* SIMPLE */
		uint32_t full;      /* FULL: index */
	};
	uint8_t kind, cfa_column;
	uint16_t saved;     /* bit per slot of the architecture */
	int8_t at[ARCH_SLOTS]; /* words from the CFA to where that slot's column is saved */
};

/* Each distinct row once: some hundreds in a large program, which stay in the nearest cache. */
struct row_store {
	VEC(struct row) items;
	struct u64map by_content;
};

#define ROWS_MAX 65536

void row_store_deinit(struct row_store *store);
void row_store_clear(struct row_store *store);

/* Its index; UINT32_MAX: out of memory, or ROWS_MAX is reached. */
uint32_t row_store_add(struct row_store *store, const struct row *row);

/* Reference from an address to its row. Four are a cache line, and a set. */
struct row_ref {
	uint64_t key;
	uint32_t space; /* view, or module */
	uint32_t row;   /* index in the store + 1; 0: empty */
};

_Static_assert(sizeof(struct row_ref) == 16, "four references are a cache line");

#define SET_SIZE 4

/* References found before; grows to a limit, then forgets. A zeroed one is empty. */
struct row_cache {
	struct row_ref *refs;
	size_t set_count; /* 0 or a power of two */
	size_t added;     /* since it last grew */
};

void row_cache_deinit(struct row_cache *cache);
void row_cache_clear(struct row_cache *cache);

/* False when out of memory. */
bool row_cache_add(struct row_cache *cache, uint32_t space, uint64_t key, uint32_t row);

static inline struct row_ref *row_cache_set(const struct row_cache *cache, uint32_t space,
					    uint64_t key)
{
	/* Fibonacci hashing: ips of one function differ in their low bits. */
	uint64_t hash = (key ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15;
	return cache->refs + SET_SIZE * ((hash >> 32) & (cache->set_count - 1));
}

/* An index in the store; UINT32_MAX: not known. */
static inline uint32_t row_cache_find(const struct row_cache *cache, uint32_t space, uint64_t key)
{
	if (cache->set_count == 0)
		return UINT32_MAX;
	const struct row_ref *set = row_cache_set(cache, space, key);
	for (size_t i = 0; i < SET_SIZE; i++)
		if (set[i].key == key && set[i].space == space)
			return set[i].row - 1;
	return UINT32_MAX;
}

/*
 * Rows that did not fit, each kept once. Indexes are valid until full_rows_clear(), which
 * has to go with clearing the caches.
 */
struct full_rows {
	VEC(struct cfi_row) items;
};

#define FULL_ROWS_MAX 4096

/* Its index; UINT32_MAX: out of memory, or FULL_ROWS_MAX is reached. */
uint32_t full_rows_add(struct full_rows *rows, const struct cfi_row *row);

/* Whether the row fits; then *ret is set. */
bool row_pack(const struct unwind_arch *arch, const struct cfi_row *full, struct row *ret);

#endif
