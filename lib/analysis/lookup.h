/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thread's memory of what names_find() said. */
#ifndef ANALYSIS_LOOKUP_H
#define ANALYSIS_LOOKUP_H

#include "analysis/names.h"
#include "base/hash.h"
#include "base/vec.h"

enum lookup_kind {
	LOOKUP_EXACT,  /* an ip where code ran */
	LOOKUP_CALLER, /* an ip that a call returns to */
};

/* An answer: the index of a frame, and flags below it (struct name). */
#define LOOKUP_SHOWN 1u
#define LOOKUP_OUTERMOST 2u
#define LOOKUP_PENDING 4u
#define LOOKUP_NOWHERE 8u
#define LOOKUP_SHIFT 4
#define LOOKUP_FAILED UINT32_MAX /* out of memory */

struct lookup {
	struct names *names;
	struct u64map map_of;    /* (view, cpumode, kind) -> index in maps */
	VEC(struct u64map) maps; /* ip -> answer */
	struct { uint64_t key; uint32_t map; bool known; } last[8]; /* of map_of */
};

/* A zeroed struct lookup with `names` set is ready. */
void lookup_deinit(struct lookup *lookup);

uint32_t lookup_find(struct lookup *lookup, enum lookup_kind kind, uint32_t view,
		     uint16_t cpumode, uint64_t ip);

#endif
