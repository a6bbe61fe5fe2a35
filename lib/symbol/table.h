/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A function table: names by address, in sorted arrays, built once. Which of
 * several names an address has is decided as perf does, so that both show the
 * same rows: a symbol without a size reaches to the next one; among those of one
 * start, one with a size, not weak, global, with fewer leading underscores, with
 * the longer (demangled) name, and at last the first, wins.
 */
#ifndef SYMBOL_TABLE_H
#define SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct table_symbol {
	uint64_t start, end; /* end == start: not known, until the table is sealed */
	const char *name;    /* spelled as in the source; borrowed */
	uint8_t binding;     /* STB_* */
	uint8_t type;        /* STT_* */
	bool sized;          /* its end is the source's, not made up by table_seal() */
};

struct table {
	VEC(struct table_symbol) symbols; /* sealed: by start, then as added */
	/* For each distinct start: */
	uint64_t *starts;
	uint32_t *first;  /* index of its first symbol; one more at the end */
	uint32_t *chosen; /* index of the symbol that stands for it, or UNCHOSEN */
	uint32_t *outer;  /* the nearest earlier one that reaches further, or NONE */
	size_t count;
};

/* A zeroed struct table is empty; add to symbols, then seal. */
void table_deinit(struct table *table);

/* False when out of memory. Names stay the caller's. */
bool table_add(struct table *table, uint64_t start, uint64_t size, const char *name,
	       uint8_t binding, uint8_t type);

/*
 * Sorts, and gives an end to the symbols that had none: the next symbol, but not more than
 * `reach` bytes; the last one's is the end of the next page.
 */
#define TABLE_REACH_ANY UINT64_MAX
struct sp_error *table_seal(struct table *table, uint64_t reach) SP_MUST_CHECK;

/*
 * The symbol that covers the address, or NULL. The innermost, where they nest; but
 * a label within a function is only a place in it. Remembers its choices: not
 * for two threads at once.
 */
const struct table_symbol *table_find(struct table *table, uint64_t address);

/* The symbol that stands for an exact start, or NULL. */
const struct table_symbol *table_at(struct table *table, uint64_t start);

#endif
