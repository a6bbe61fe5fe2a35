/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the C library's calls of main() and of thread functions, where stacks end, by their
 * instructions.
 */
#pragma once

#include "symbol/resolver.h"

/*
 * Returns whether a call in the C library starts a program or a thread. `call` is the last byte of
 * the call instruction: the return address - 1. The caller checks that the library is the C library
 * and that the function has no symbol. Returns true if the code cannot be read, because calls of
 * main() and thread functions are the most frequent ones. As with resolver_find(), calls for one
 * module may not run at the same time.
 */
bool is_entry_point_call(struct resolver *resolver, const struct location *call);
