/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Units by address. .debug_aranges lists them, if it is there. Some compilers write none: then the
 * units' own ranges are read, and, for units without ranges, their line tables.
 */
#ifndef DWARF_UNIT_INDEX_H
#define DWARF_UNIT_INDEX_H

#include "dwarf/unit.h"

#define UNIT_NONE UINT64_MAX

/*
 * Sets units_of[i] to the offset of the unit that has vaddrs[i] (ascending), or UNIT_NONE. Code below
 * `lowest` is what the linker threw away.
 */
struct sp_error *unit_index_find(struct reader *reader, struct dwarf_file *file, uint64_t lowest,
				 const uint64_t *vaddrs, size_t count, uint64_t *units_of) SP_MUST_CHECK;

#endif
