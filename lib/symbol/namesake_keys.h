/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Search of functions by their name without parameters, in symbol tables that are not demangled. */
#pragma once

#include <stdbool.h>
#include "base/hash.h"

/*
 * Keys of names. A key is equal for functions with equal names without parameters. It is cheap:
 * names are not demangled, so that some other functions have it, too. A zeroed struct is empty.
 */
struct namesake_keys {
	struct u64map map;
	uint64_t begins[64]; /* bits for keys of the names' beginnings, to reject most early */
};

/* Adds the key of a raw name. Returns false when out of memory. */
bool namesake_keys_add(struct namesake_keys *keys, const char *raw_name);

/* Returns whether a raw name has one of the keys. */
bool namesake_keys_have(const struct namesake_keys *keys, const char *raw_name);

void namesake_keys_deinit(struct namesake_keys *keys);

/* Returns the hash of a raw name without the suffix of a clone. */
uint64_t namesake_raw_hash(const char *raw_name);

/*
 * Returns the suffix of a clone that has its function's name in the debug information, such as
 * ".constprop.0", or the end of the name.
 */
const char *namesake_suffix(const char *raw_name);
