/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds units by address. .debug_aranges lists their ranges. Units that are not in it (some compilers
 * do not write it) are searched by their own ranges or, without these, by their line tables.
 */
#ifndef DWARF_UNIT_INDEX_H
#define DWARF_UNIT_INDEX_H

#include "dwarf/unit.h"

#define UNIT_NONE UINT64_MAX

/*
 * Sets units_of[i] to the offset of the unit that contains vaddrs[i] (ascending), or UNIT_NONE. Ranges
 * that begin outside of file->code are ignored.
 */
struct sp_error *unit_index_find(struct reader *reader, struct dwarf_file *file,
				 const uint64_t *vaddrs, size_t count, uint64_t *units_of) SP_MUST_CHECK;

#endif
