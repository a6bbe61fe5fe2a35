/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols, lines and inlined functions of a Go program by its function table. */
#pragma once

#include "base/arena.h"
#include "go/pclntab.h"
#include "symbol/resolver.h"
#include "symbol/symbol_table.h"

/*
 * Adds the functions' symbols; their names are valid as long as the Go table. False when out of
 * memory.
 */
bool go_names_add(const struct pclntab *go, struct symbol_table *table);

/*
 * Finds frames as source.frames does; strings are valid as long as the Go table. The image's file is
 * open. Fails if it cannot be read, or when out of memory.
 */
struct sp_error *go_names_frames(const struct image *image, const struct pclntab *go,
				 const uint64_t *offsets, size_t count, struct arena *arena,
				 struct source_frames *ret) SP_MUST_CHECK;
