/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the names that are shown: the shortest ones that are unique among the functions of a file
 * with code, including those without samples (frames/namesakes.h). A function has its name without
 * parameters; if another function has that, too, it has the compiler's suffix
 * ("compute [clone ._omp_fn.0]"), its parameters ("f(int)"), its source file ("helper (a.c)"),
 * both, or its address ("helper@0x1300"). Files have their base name, or the part of their path
 * that distinguishes them. Names do not depend on the order of functions, or on options of rows.
 */
#pragma once

#include <stdbool.h>
#include "profile/function.h"

/*
 * Replaces the names and dsos of all rows and nodes by those that are shown. `rows` owns their
 * texts. No function may be added afterwards. Returns false when out of memory.
 */
bool name_functions(struct functions *rows, struct functions *nodes);

/*
 * Returns whether a text is one of the names under which the function may be shown, whether it
 * needs that form or not. Of source files, a part of the path suffices.
 */
bool shown_name_is(const struct named *named, const char *text);

/*
 * Returns the name with all that may be shown: parameters, and the source file in parentheses.
 * malloc'ed; NULL when out of memory.
 */
char *shown_name_whole(const struct named *named);
