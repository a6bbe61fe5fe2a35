/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code that calls main() and the functions of threads, known by its instructions. */
#ifndef AGGREGATE_ENTRY_POINTS_H
#define AGGREGATE_ENTRY_POINTS_H

#include "symbol/resolver.h"

/*
 * Whether the call at `call` (a byte of it; no symbol is there) is one that a C library makes
 * where programs and threads begin. Where the library is not at hand every call counts: what
 * else it calls back (qsort(), atexit()) is rarer. For who may call resolver_find().
 */
bool is_entry_point_call(struct resolver *resolver, const struct location *call);

#endif
