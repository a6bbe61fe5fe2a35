/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thread's memory of what names_find() said. */
#ifndef AGGREGATE_LOOKUP_H
#define AGGREGATE_LOOKUP_H

#include "aggregate/names.h"
#include "machine/ip_maps.h"

enum lookup_kind {
	LOOKUP_EXACT,  /* an ip where code ran */
	LOOKUP_CALLER, /* an ip that a call returns to */
};

/* An answer: the index of a frame, and flags below it (struct name). */
#define LOOKUP_SHOWN 1u
#define LOOKUP_OUTERMOST 2u
#define LOOKUP_PENDING 4u
#define LOOKUP_UNMAPPED 8u
#define LOOKUP_SHIFT 4
#define LOOKUP_FAILED UINT32_MAX /* out of memory */

struct lookup {
	struct names *names;
	struct ip_maps maps; /* caches of answers */
};

/* A zeroed struct lookup with `names` set is ready. */
static inline void lookup_deinit(struct lookup *lookup)
{
	ip_maps_deinit(&lookup->maps);
}

/* The answer for an ip of a view, resolved when it is first asked for; or LOOKUP_FAILED. */
uint32_t lookup_find(struct lookup *lookup, enum lookup_kind kind, uint32_t view,
		     uint16_t cpumode, uint64_t ip);

#endif
