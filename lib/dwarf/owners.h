/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Units by address. .debug_aranges lists them, if it is there. Some compilers write none: then the
 * units' own ranges are read, and, for units without ranges, their line tables.
 */
#ifndef DWARF_OWNERS_H
#define DWARF_OWNERS_H

#include "dwarf/unit.h"

#define NO_OWNER UINT64_MAX

/*
 * Sets owners[i] to the offset of the unit that has vaddrs[i] (ascending), or NO_OWNER. Code below
 * `lowest` is what the linker threw away.
 */
struct sp_error *owners_find(struct reader *reader, struct dwarf_file *file, uint64_t lowest,
			     const uint64_t *vaddrs, size_t count, uint64_t *owners) SP_MUST_CHECK;

#endif
