/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Split debug information: units with their entries in a .dwo, or in the .dwp that packs them. */
#pragma once

#include "dwarf/unit.h"

/* Offsets in a .dwp's sections at which one unit's parts begin. */
struct package_part {
	uint64_t info, abbrev, str_offsets, rnglists;
};

struct split_places {
	const char *symfs;           /* directory put before every path (--symfs); NULL or "": none */
	struct dwarf_file *package;  /* the .dwp; NULL: none */
	uint32_t *next_number;       /* next file number, counted atomically */
};

/* Returns whether the unit is a skeleton: its entries are in a .dwo or .dwp. */
bool split_is_skeleton(const struct unit *unit);

/*
 * Finds the split unit of a skeleton. *file_ret is its .dwo, which the caller frees, or NULL if the
 * unit is in the package (.dwp). If it is not found, that is noted as damage, and *ret is the
 * skeleton.
 */
struct sp_error *split_open(struct dwarf_reader *reader, const struct split_places *places,
			    const struct unit *skeleton, struct dwarf_file **file_ret,
			    struct unit *ret) SP_MUST_CHECK;
