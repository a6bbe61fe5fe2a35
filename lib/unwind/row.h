/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a frame is left, in 32 bytes: what nearly all code needs fits (CFA = register +
 * offset, registers saved at small multiples of a word from it); what does not is kept
 * beside, whole. Two of them are a cache line, and a set of the caches.
 */
#ifndef UNWIND_ROW_H
#define UNWIND_ROW_H

#include "base/vec.h"
#include "unwind/cfi_row.h"

enum row_kind {
	ROW_EMPTY,   /* of a cache: no row */
	ROW_SIMPLE,
	ROW_FULL,    /* `full` has it: expressions, signal frames, far offsets */
	ROW_OUTERMOST, /* nothing called this code: threads begin in it */
	ROW_FRAME_POINTER, /* nothing is known of it but its frame pointer */
	ROW_UNKNOWN, /* nor that: it keeps none */
	ROW_UNMAPPED, /* no module is known there: JIT code, or no code at all */
	ROW_NO_CODE, /* no code is there */
};

struct row {
	uint64_t key;
	uint32_t space;     /* view, or module */
	union {
		int32_t cfa_offset; /* SIMPLE */
		uint32_t full;      /* FULL: index */
	};
	uint8_t kind, cfa_column;
	uint16_t saved;     /* bit per slot of the architecture */
	int8_t at[ARCH_SLOTS]; /* words from the CFA to where that slot's column is saved */
};

_Static_assert(sizeof(struct row) == 32, "two rows are a cache line");

/* Rows found before; grows to a limit, then forgets. A zeroed one is empty. */
struct row_cache {
	struct row *rows; /* sets of two */
	size_t set_count; /* 0 or a power of two */
	size_t added;     /* since it last grew */
};

void row_cache_deinit(struct row_cache *cache);
void row_cache_clear(struct row_cache *cache);

/* The place of a new row, empty but for its key; valid until the next. NULL: out of memory. */
struct row *row_cache_add(struct row_cache *cache, uint32_t space, uint64_t key);

static inline struct row *row_cache_find(const struct row_cache *cache, uint32_t space,
					 uint64_t key)
{
	if (cache->set_count == 0)
		return NULL;
	/* Fibonacci hashing: ips of one function differ in their low bits. */
	uint64_t hash = (key ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15;
	struct row *set = cache->rows + 2 * ((hash >> 32) & (cache->set_count - 1));
	if (set[0].key == key && set[0].space == space && set[0].kind != ROW_EMPTY)
		return &set[0];
	if (set[1].key == key && set[1].space == space && set[1].kind != ROW_EMPTY)
		return &set[1];
	return NULL;
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

/* Whether the row fits; then *ret (but for its key) is set. */
bool row_pack(const struct unwind_arch *arch, const struct cfi_row *full, struct row *ret);

#endif
