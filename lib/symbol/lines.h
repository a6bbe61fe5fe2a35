/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and lines of one module's debug information, with demangled names. */
#ifndef SYMBOL_LINES_H
#define SYMBOL_LINES_H

#include "base/arena.h"
#include "base/vec.h"
#include "symbol/source.h"

struct lines {
	VEC(struct dwarf_answer *) answers; /* own the raw names and files */
	struct arena arena;      /* frames */
	VEC(struct arena) names; /* demangled names */
};

/* A zeroed struct lines is ready. */
void lines_deinit(struct lines *lines);

/*
 * Implements resolver_sources() with opened debug information. Numbers of frames begin at
 * ret->distinct, which grows. *diagnosis describes damage.
 */
struct sp_error *lines_resolve(struct lines *lines, struct dwarf *dwarf,
			       const struct placement *placement, const uint64_t *offsets, size_t count,
			       unsigned int threads, struct diagnosis *diagnosis,
			       struct source_frames *ret) SP_MUST_CHECK;

#endif
