/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and lines of one module's debug information, with demangled names. */
#ifndef SYMBOL_LINES_H
#define SYMBOL_LINES_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "symbol/source.h"

struct lines {
	VEC(struct dwarf_answer *) answers; /* large ones own their raw names and files */
	struct strtab texts;     /* raw names and files of small answers */
	struct u64map shown_of;  /* address of a raw name in `texts` -> index in `shown` */
	VEC(const char *) shown; /* demangled names */
	struct arena arena;      /* frames */
	VEC(struct arena) names; /* demangled names */
};

/* A zeroed struct lines is ready. */
void lines_deinit(struct lines *lines);

/* Opened debug information of one module. Borrowed. */
struct lines_module {
	struct dwarf *dwarf;
	struct placement placement;
	struct diagnosis *diagnosis; /* describes damage that was found */
	/*
	 * Finds the offsets of the symbol at an offset. False if there is none, or its size is not
	 * known.
	 */
	bool (*find_symbol)(void *arg, uint64_t offset, uint64_t *start_ret, uint64_t *end_ret);
	void *arg;
};

/*
 * Implements resolver_sources() for one module. Numbers of frames begin at ret->distinct, which grows.
 */
struct sp_error *lines_resolve(struct lines *lines, const struct lines_module *module,
			       const struct source_query *query,
			       struct source_frames *ret) SP_MUST_CHECK;

#endif
