/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "stored/stored_names.h"
#include "symbol/source.h"

/* Returns a module's stored names; NULL: the recording has none. */
const struct stored_module *source_stored_module(const struct source_env *env,
						 const struct module *module);

/*
 * Lists places of functions in the debug information that have one of the keys: one for each source
 * file and start address. `opened` is the state of source_stored. Returns false when out of memory.
 */
bool source_stored_list_sources(void *opened, const struct namesake_keys *keys,
				struct listed_symbols *ret);

extern const struct source source_stored;
