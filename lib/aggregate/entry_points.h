/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds code that calls main() and the functions of threads, by its instructions. */
#ifndef AGGREGATE_ENTRY_POINTS_H
#define AGGREGATE_ENTRY_POINTS_H

#include "symbol/resolver.h"

/*
 * Whether a call without symbol is how a C library starts programs and threads. `call` is a byte of the
 * call instruction. If the library's file is missing, every call counts: other calls back from
 * libraries (qsort(), atexit()) are rarer. May be called where resolver_find() may be.
 */
bool is_entry_point_call(struct resolver *resolver, const struct location *call);

#endif
