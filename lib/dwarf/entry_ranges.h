/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges of code that is not contiguous: .debug_ranges, .debug_rnglists. */
#pragma once

#include "dwarf/unit.h"

/*
 * Iterator over the address ranges [low, high) of an entry. Ranges that begin outside of the file's
 * code do not exist: the linker removed their code.
 */
struct entry_ranges {
	const struct unit *unit;
	struct section *section; /* section of the list; NULL: a single range */
	uint64_t at;             /* in the section */
	uint64_t base;
	bool removed;            /* the base is of removed code */
	uint64_t low, high;      /* the range, if it is a single one */
	bool ended;
	bool damaged;            /* the list is truncated or invalid */
};

/* Begins an iteration, by DW_AT_ranges (`list`) if the entry has it, else by low_pc and high_pc. */
void ranges_begin(const struct unit *unit, const struct value *low, const struct value *high,
		  const struct value *list, struct entry_ranges *ret);

/* Returns the next range that exists and is not empty; false at the end. */
bool ranges_next(struct entry_ranges *ranges, uint64_t *low_ret, uint64_t *high_ret);
