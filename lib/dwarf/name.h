/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Name of a function by its entry. */
#ifndef DWARF_NAME_H
#define DWARF_NAME_H

#include "dwarf/unit.h"

/*
 * The linkage name of an entry of `file`, or of what it is an instance or definition of; else
 * its name, in C++ and the like with its namespaces and classes before it. *ret is the
 * reader's; NULL where there is none. `unit` is the one that has met the entry.
 */
struct sp_error *name_of_entry(struct reader *reader, const struct unit *unit,
			       struct dwarf_file *file, uint64_t entry,
			       const char **ret) SP_MUST_CHECK;

#endif
