/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SYMBOL_SOURCE_STORED_H
#define SYMBOL_SOURCE_STORED_H

#include "stored/names.h"
#include "symbol/source.h"

/* Returns a module's stored names; NULL: the recording has none. */
const struct stored_module *source_stored_module(const struct source_env *env,
						 const struct module *module);

extern const struct source source_stored;

#endif
