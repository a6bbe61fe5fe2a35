/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Demangling of names of C++ (Itanium ABI), Rust (legacy and v0), D and OCaml. */
#pragma once

#include <stdbool.h>
#include "base/arena.h"

/*
 * Returns the name as perf and `c++filt -p` show it: without parameters, and without a Rust name's
 * hash. Names of D and OCaml are those of `c++filt` and perf 7.2. It belongs to the arena. NULL if
 * `name` is not mangled, is too long, expands too far (a hostile name may expand without end), or
 * memory is short; the caller then shows `name` itself.
 */
const char *demangle(const char *name, struct arena *arena);

/*
 * Returns the name with what distinguishes functions of one name: parameters, clone suffixes, and a
 * Rust name's hash. Otherwise the same as demangle().
 */
const char *demangle_whole(const char *name, struct arena *arena);

/* Returns whether this build has a demangler of C++, Rust and D. */
bool demangle_available(void);
