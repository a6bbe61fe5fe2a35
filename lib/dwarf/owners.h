/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which unit has the code at an address. .debug_aranges says it where it is there; some
 * compilers write none, so for what it leaves open the units are asked, and those that do
 * not say have their line tables run.
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
