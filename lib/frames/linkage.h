/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linkage names of constructors and destructors, in the Itanium ABI's mangling. */
#pragma once

/*
 * Returns a function's linkage name as all its pieces have it: those of constructors and
 * destructors have different digits. NULL if it has no such digit, or when out of memory.
 * malloc'ed.
 */
char *linkage_of_source(const char *raw_name);

/* Returns the digit of a constructor's or destructor's linkage name; 0: it is none. */
char linkage_variant(const char *raw_name);
