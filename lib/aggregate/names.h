/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From (view, cpumode, ip) to a frame: a symbol of a module, or an address in one; in
 * modules with debug information, each place by itself, since functions may be inlined
 * there. Each distinct place is resolved once for all threads; threads keep what they
 * were told in caches of their own. What people see of frames is made when all are
 * there (labels.h).
 */
#ifndef AGGREGATE_NAMES_H
#define AGGREGATE_NAMES_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <sprof/analysis.h>
#include "base/hash.h"
#include "base/vec.h"
#include "machine/machine.h"
#include "symbol/resolver.h"

struct frame {
	const struct module *module; /* NULL: nothing was mapped there */
	const struct symbol *symbol; /* NULL: nothing is known */
	uint64_t address;  /* shown in place of a symbol; 0 if there is one */
	uint64_t offset;   /* if `sourced`: offset in the module; else 0 */
	uint32_t pid;      /* if `sourced`: the process; else 0 */
	uint16_t cpumode;
	bool sourced;      /* the module has debug information, and that is wanted */
};

/* Calls for one module never overlap: a lock for each, shared by some. */
#define NAME_LOCKS 64

/* Lookup of functions and lines; resolver_has_sources() and resolver_sources(). */
struct name_sources {
	bool (*has)(void *arg, const struct module *module, uint32_t pid);
	struct sp_error *(*find)(void *arg, const struct module *module, uint32_t pid,
				 const uint64_t *offsets, size_t count, unsigned int threads,
				 struct source_frames *ret);
	void *arg;
};

struct names {
	const struct machine *machine; /* sealed; borrowed */
	struct resolver *resolver;     /* borrowed */
	const struct sp_analysis_options *options; /* borrowed */
	struct name_sources sources;   /* asked only where `has` is not NULL */
	pthread_mutex_t module_locks[NAME_LOCKS];
	uint8_t *sourced;              /* by module, under its lock: 0 not asked, 1 no, 2 yes */
	pthread_mutex_t lock;          /* guards all below */
	VEC(struct frame) frames;
	struct index_set index_of;
};

/* False when out of memory; to be released either way. Without `sources`, none are asked. */
bool names_init(struct names *names, const struct machine *machine, struct resolver *resolver,
		const struct sp_analysis_options *options, const struct name_sources *sources);
void names_deinit(struct names *names);

/* Names in place of an unknown module, and of a guest's mappings. */
#define NAMES_UNKNOWN "[unknown]"
#define NAMES_GUEST "[guest]"

/* A virtual machine's code, of whose mappings a recording made outside of it knows nothing. */
static inline bool names_is_guest(const struct frame *frame)
{
	return !frame->module && (frame->cpumode == PERF_RECORD_MISC_GUEST_USER ||
				  frame->cpumode == PERF_RECORD_MISC_GUEST_KERNEL);
}

/* Name of the frame's dso as shown. */
static inline const char *names_dso(const struct frame *frame)
{
	if (frame->module)
		return frame->module->name;
	return names_is_guest(frame) ? NAMES_GUEST : NAMES_UNKNOWN;
}

/* Whether a frame's symbol, or the address that stands for it, passes the filter by symbol. */
bool names_symbol_shown(const struct sp_analysis_options *options, const struct frame *frame);

struct name {
	uint32_t frame; /* index in frames */
	bool outermost; /* threads begin here: a chain that ends in it is whole */
	bool unmapped;   /* nothing is mapped there: no caller, but what a frame pointer's word was */
	bool shown;     /* passes the filters by dso and symbol */
	bool pending;   /* passes that by dso; that by symbol must wait for the functions */
};

/*
 * Finds the frame at `ip`. With `caller`, ip is a return address: the function is that of the
 * call before it, which may be its function's last instruction. False when out of memory.
 * Thread-safe.
 */
bool names_find(struct names *names, uint32_t view, uint16_t cpumode, uint64_t ip, bool caller,
		struct name *ret);

#endif
