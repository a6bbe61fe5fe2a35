/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbolizes places, a module at a time, and modules in parallel. */
#pragma once

#include "base/diagnosis.h"
#include "symbolizer/space.h"

/* A place to symbolize; its module is not NULL. */
struct lookup_place {
	struct space_place at;
	size_t index;                      /* set and used by the caller */
	const struct symbol *symbol;       /* result; NULL: no symbol */
	const struct source_frame *source; /* result: the innermost function; NULL: not found */
	uint64_t vaddr;                    /* result; UINT64_MAX: unknown */
};

/* The places of one module. */
struct lookup_group {
	struct lookup_place *places;
	size_t count;
	unsigned int threads;
	struct diagnosis symbols, lines; /* causes of missing names and lines; enum resolver_problem */
	struct sp_error *error;
};

/* The caller sets `symbolizer` and `places`; lookup_run() makes the rest. */
struct lookup {
	const struct sp_symbolizer *symbolizer;
	VEC(struct lookup_place) places; /* afterwards sorted by module and offset */
	VEC(struct lookup_group) groups;
	size_t next; /* index of the next group; atomic */
};

/* Symbolizes all places. Fails only when out of memory. */
struct sp_error *lookup_run(struct lookup *lookup) SP_MUST_CHECK;
void lookup_deinit(struct lookup *lookup);
