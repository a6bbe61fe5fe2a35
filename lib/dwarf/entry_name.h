/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the name of a function by its entry (DIE). */
#pragma once

#include "dwarf/unit.h"

/*
 * Returns the linkage name of the function at offset `entry` of `file`, also if its abstract origin
 * or declaration has it. Without one, returns the source's name, in C++ and similar languages with
 * namespaces and classes. The shared strings own the name. `unit` is the unit that refers to it.
 */
struct sp_error *name_of_entry(struct dwarf_reader *reader, const struct unit *unit,
			       struct dwarf_file *file, uint64_t entry,
			       struct entry_name *ret) SP_MUST_CHECK;
