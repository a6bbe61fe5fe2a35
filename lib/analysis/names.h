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
#include "profile/function.h"
#include "symbol/resolver.h"

struct frame {
	const struct module *module; /* NULL: nothing was mapped there */
	const struct symbol *symbol; /* NULL: no name */
	uint64_t address;  /* of what has no name, as perf shows it; else 0 */
	uint32_t function; /* what people see of it: index in `functions` */
	uint16_t cpumode;
};

/* Calls for one module never overlap: a lock for each, shared by some. */
#define NAME_LOCKS 64

struct names {
	const struct machine *machine; /* sealed; borrowed */
	struct resolver *resolver;     /* borrowed */
	const struct sp_analysis_options *options; /* borrowed */
	pthread_mutex_t module_locks[NAME_LOCKS];
	pthread_mutex_t lock;          /* of all below */
	struct functions *functions;   /* borrowed */
	VEC(struct frame) frames;
	uint32_t *slots; /* hash table of index + 1 */
	size_t slot_count;
};

void names_init(struct names *names, const struct machine *machine, struct resolver *resolver,
		const struct sp_analysis_options *options, struct functions *functions);
void names_deinit(struct names *names);

struct name {
	uint32_t frame, function; /* indexes in frames and functions */
	bool outermost; /* threads begin here: a chain that ends in it is whole */
	bool shown;     /* passes the filters by dso and symbol */
};

/*
 * What is at `ip`. Of a `caller`, ip is where the call returns to: the function is
 * that of the call before it, which may be the last thing in its function. False
 * when out of memory. Thread-safe.
 */
bool names_find(struct names *names, uint32_t view, uint16_t cpumode, uint64_t ip, bool caller,
		struct name *ret);

#endif
