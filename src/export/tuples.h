/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers tuples of words in the order of their first occurrence. */
#ifndef EXPORT_TUPLES_H
#define EXPORT_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "list.h"

#define TUPLE_WORDS 4

struct tuple {
	uint64_t words[TUPLE_WORDS];
};

/* A zeroed struct is empty. */
struct tuples {
	LIST(struct tuple) list;
	uint32_t *slots; /* hash table of index + 1 */
	size_t slot_count;
};

void tuples_deinit(struct tuples *tuples);

/* Returns the index of an equal tuple, added if it is new; UINT32_MAX when out of memory. */
uint32_t tuples_add(struct tuples *tuples, struct tuple tuple);

#endif
