/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols in the recording itself: simpleperf's features FILE and FILE2. */
#pragma once

#include "base/error.h"
#include "symbol/resolver.h"

struct recorded_index;

/*
 * Index each file's symbols in the payloads; *ret is NULL if there are none. The payloads are
 * borrowed, and untrusted: damaged parts are left out. Fails only when out of memory.
 */
struct sp_error *recorded_index_new(const struct recorded_symbols *recorded,
				    struct recorded_index **ret) SP_MUST_CHECK;
void recorded_index_free(struct recorded_index *index);

/* Returns whether `index` (may be NULL) lists the module as a file of interpreted DEX code. */
bool recorded_is_dex(const struct recorded_index *index, const struct module *module);
