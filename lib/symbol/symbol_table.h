/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of functions by address: sorted arrays, built once. If an address has several symbols, the
 * choice is perf's, so that both show the same rows. A symbol without a size extends to the next
 * one. Of several with one start, the preferred one has a size, is not weak, is global, has fewer
 * leading underscores, has the longer demangled name, or is the first, in this order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct table_symbol {
	uint64_t start, end; /* limit if its size is unknown; table_seal() lowers it */
	const char *name;    /* spelled as in the source; borrowed */
	uint8_t binding;     /* STB_* */
	uint8_t type;        /* STT_* */
	bool sized;          /* the source states its size */
	uint32_t object;     /* index in `objects`; 0: unknown */
};

struct symbol_table {
	VEC(struct table_symbol) symbols; /* after sealing: sorted by start */
	VEC(const char *) objects; /* source files of local symbols, borrowed; the first is NULL */
	/* Arrays with an element for each distinct start: */
	uint64_t *starts;
	uint32_t *first;  /* index of its first symbol; has count + 1 elements */
	uint32_t *chosen; /* index of its preferred symbol, or UNCHOSEN */
	uint32_t *outer;  /* nearest earlier start with a symbol that ends later, or NONE */
	size_t count;
};

/* A zeroed struct symbol_table is empty; add symbols, then seal it. */
void table_deinit(struct symbol_table *table);

/* Adds a symbol and borrows its name. False when out of memory. */
bool table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
	       uint8_t binding, uint8_t type);

/* Limits the symbol that was added last: if its size is unknown, it does not reach past `end`. */
void table_limit_last(struct symbol_table *table, uint64_t end);

/*
 * Sets the source file of the symbol that was added last, and borrows it. False when out of memory.
 */
bool table_set_object(struct symbol_table *table, const char *object);

/*
 * Sorts the symbols. A symbol of unknown size is extended to the next symbol, but by at most
 * `reach` bytes and not past its limit; the last one to the end of the next page.
 */
#define TABLE_REACH_ANY UINT64_MAX
struct sp_error *table_seal(struct symbol_table *table, uint64_t reach) SP_MUST_CHECK;

/*
 * Returns the symbol that contains the address, or NULL: the innermost of nested ones, but not a
 * label within a function. It stores its choices, so it is not thread-safe.
 */
const struct table_symbol *table_find(struct symbol_table *table, uint64_t address);

/* Returns the preferred symbol at exactly that start, or NULL. */
const struct table_symbol *table_at(struct symbol_table *table, uint64_t start);

/*
 * Returns the end of the nearest symbol that begins at or below the address (0: none), and the
 * start of the next one above it (UINT64_MAX: none).
 */
void table_neighbours(const struct symbol_table *table, uint64_t address, uint64_t *end_ret,
		      uint64_t *start_ret);

/* Returns the preferred IFUNC symbol at exactly that start; without any, as table_at(). */
const struct table_symbol *table_ifunc_at(struct symbol_table *table, uint64_t start);
