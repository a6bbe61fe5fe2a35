/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* C++ (Itanium ABI) and Rust (legacy and v0) names for people. */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include <stdbool.h>
#include "base/arena.h"

/*
 * The name as perf and `c++filt -p` show it: without parameters, and without a
 * Rust name's hash. It belongs to the arena; NULL where `name` is not mangled,
 * is too long or expands too far (a hostile one may, without end), or memory is
 * short: it is then shown as it is.
 */
const char *demangle(const char *name, struct arena *arena);

/* Whether this build can demangle at all. */
bool demangle_available(void);

#endif
