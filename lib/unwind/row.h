/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A row of call frame information in 20 bytes: nearly all rows fit (CFA = register + offset, registers
 * saved at small multiples of a word from it). Other rows are stored in full elsewhere. Equal rows are
 * stored once; an address needs a reference of 16 bytes.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "unwind/cfi_row.h"

enum row_kind {
	ROW_NONE,    /* not computed yet */
	ROW_SIMPLE,
	ROW_GO,      /* the same, of a Go function */
	ROW_FULL,    /* index `full` has the row: expressions, signal frames, large offsets */
	ROW_OUTERMOST, /* code that nothing called: threads begin in it */
	ROW_SWITCH, /* code that changed stacks: its callers are on another stack */
	ROW_FRAME_POINTER, /* no information but a frame pointer */
	ROW_UNKNOWN, /* no information, and the code keeps no frame pointer */
	ROW_UNMAPPED, /* no module is known there: JIT code, or no code */
	ROW_NO_CODE, /* no code is there */
};

struct row {
	union {
		int32_t cfa_offset; /* for ROW_SIMPLE and ROW_GO */
		uint32_t full;      /* index, for ROW_FULL */
	};
	uint8_t kind, cfa_column;
	uint16_t saved;     /* bit per slot of the architecture: the register is saved */
	int8_t at[ARCH_SLOTS]; /* distance from the CFA to the saved register, in words, by slot */
};

/*
 * Stores each distinct row once. A large program has some hundreds, which fit the CPU's first
 * cache.
 */
struct row_store {
	VEC(struct row) items;
	struct u64map by_content;
};

#define ROWS_MAX 65536

void row_store_deinit(struct row_store *store);

/* Returns the index of a row, added if new; UINT32_MAX: out of memory, or ROWS_MAX is reached. */
uint32_t row_store_add(struct row_store *store, const struct row *row);

/* Reference from an address to its row. Four references are a cache line, and a set of the cache. */
struct row_ref {
	uint64_t key;
	uint32_t space; /* number of a view or module */
	uint32_t row;   /* index in the store + 1; 0: empty */
};

_Static_assert(sizeof(struct row_ref) == 16, "four references are a cache line");

#define SET_SIZE 4

/* Cache of references. It grows to a limit, and then replaces old ones. A zeroed cache is empty. */
struct row_cache {
	struct row_ref *refs;
	size_t set_count; /* number of sets: 0 or a power of two */
	size_t added;     /* number of references added since it last grew */
};

void row_cache_deinit(struct row_cache *cache);
void row_cache_clear(struct row_cache *cache);

/* Adds a reference. Returns false when out of memory. */
bool row_cache_add(struct row_cache *cache, uint32_t space, uint64_t key, uint32_t row);

static inline struct row_ref *row_cache_set(const struct row_cache *cache, uint32_t space,
					    uint64_t key)
{
	/* Fibonacci hashing, because ips of one function differ in their low bits. */
	uint64_t hash = (key ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15;
	return cache->refs + SET_SIZE * ((hash >> 32) & (cache->set_count - 1));
}

/* Returns an index in the store; UINT32_MAX: the cache has none. */
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
 * Rows that do not fit the compact form, each stored once. Clear the caches
 * when `items` is emptied.
 */
struct full_rows {
	VEC(struct cfi_row) items;
};

#define FULL_ROWS_MAX 4096

/* Returns the index of a row, added if new; UINT32_MAX: out of memory, or FULL_ROWS_MAX is reached. */
uint32_t full_rows_add(struct full_rows *rows, const struct cfi_row *row);

/* Converts a row to the compact form. Returns false if it does not fit. */
bool row_pack(const struct unwind_arch *arch, const struct cfi_row *full, struct row *ret);
