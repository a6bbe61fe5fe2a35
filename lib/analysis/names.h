/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From (view, cpumode, ip) to a frame: a function of a module, or an address in
 * one. Each distinct place is resolved once for all threads; threads keep what
 * they were told in caches of their own.
 */
#ifndef ANALYSIS_NAMES_H
#define ANALYSIS_NAMES_H

#include <pthread.h>
#include <sprof/analysis.h>
#include "base/vec.h"
#include "machine/machine.h"
#include "symbol/resolver.h"

struct frame {
	const struct module *module; /* NULL: nothing was mapped there */
	const struct symbol *symbol; /* NULL: no name */
	uint64_t address;  /* of what has no name, as perf shows it; else 0 */
	uint16_t cpumode;
	bool shown; /* passes the filters by dso and symbol */
};

/* Calls for one module never overlap: a lock for each, shared by some. */
#define NAME_LOCKS 64

struct names {
	const struct machine *machine; /* sealed; borrowed */
	struct resolver *resolver;     /* borrowed */
	const struct sp_analysis_options *options; /* borrowed */
	pthread_mutex_t module_locks[NAME_LOCKS];
	pthread_mutex_t lock;          /* of all below */
	VEC(struct frame) frames;
	uint32_t *slots; /* hash table of index + 1 */
	size_t slot_count;
};

void names_init(struct names *names, const struct machine *machine, struct resolver *resolver,
		const struct sp_analysis_options *options);
void names_deinit(struct names *names);

/* What a thread needs to know of a frame, in one word. */
#define NAME_SHOWN 1u
#define NAME_OUTERMOST 2u /* where threads begin: a chain that ends here is whole */
#define NAME_FRAME_SHIFT 2
#define NAME_FAILED UINT32_MAX /* out of memory */

/*
 * The frame at `ip`, as its index << NAME_FRAME_SHIFT with the flags below. Of a
 * `caller`, ip is where the call returns to: the function is that of the call
 * before it, which may be the last of its function. Thread-safe.
 */
uint32_t names_find(struct names *names, uint32_t view, uint16_t cpumode, uint64_t ip, bool caller);

#endif
