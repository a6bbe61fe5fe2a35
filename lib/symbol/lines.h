/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What debug information says, with names for people, kept for one module. */
#ifndef SYMBOL_LINES_H
#define SYMBOL_LINES_H

#include "base/arena.h"
#include "base/vec.h"
#include "symbol/source.h"

struct lines {
	VEC(struct dwarf_answer *) answers; /* which have raw names and files */
	struct arena arena;      /* of frames */
	VEC(struct arena) names; /* of demangled names */
};

/* A zeroed struct lines is ready. */
void lines_deinit(struct lines *lines);

/* As resolver_sources(), by what is open. Damage is said in *diagnosis. */
struct sp_error *lines_resolve(struct lines *lines, struct dwarf *dwarf,
			       const struct placement *placement, const uint64_t *offsets, size_t count,
			       unsigned int threads, struct diagnosis *diagnosis,
			       struct source_frames *ret) SP_MUST_CHECK;

#endif
