/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges of code that is not contiguous: .debug_ranges, .debug_rnglists. */
#ifndef DWARF_RANGES_H
#define DWARF_RANGES_H

#include "dwarf/unit.h"

/* A walk over the addresses [low, high) that an entry covers. */
struct ranges {
	const struct unit *unit;
	struct section *section; /* section of the list; NULL: a single range */
	uint64_t at;             /* in the section */
	uint64_t base;
	uint64_t low, high;      /* the one range */
	bool ended;
	bool damaged;            /* the list ended where it must not */
};

/* By the attributes of an entry: DW_AT_ranges where it has that, else both ends. */
void ranges_begin(const struct unit *unit, const struct value *low, const struct value *high,
		  const struct value *list, struct ranges *ret);

/* False at the end. Empty ranges are left out. */
bool ranges_next(struct ranges *ranges, uint64_t *low_ret, uint64_t *high_ret);

#endif
