/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State that changes with time: a thread's name, and the view of an address space. */
#ifndef MACHINE_PROCESS_H
#define MACHINE_PROCESS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "machine/mapping.h"

/* Holds from `from_ns` until the next moment of its timeline. */
struct moment {
	uint64_t from_ns;
	union {
		uint32_t view;
		const char *comm; /* NULL: not known */
	};
	bool born; /* a thread's: forked here; an earlier one of that number was another */
	/* For a view that an exec began: when its program had been mapped; else 0. */
	uint64_t exec_until_ns;
	uint8_t exec_maps; /* mappings that may yet be the exec's own */
};

struct timeline {
	VEC(struct moment);
};

/* The moment at `time_ns`, or NULL before the first. */
const struct moment *timeline_find(const struct timeline *timeline, uint64_t time_ns);
/* When the next one begins; UINT64_MAX: never. `moment` is NULL before the first. */
uint64_t timeline_until(const struct timeline *timeline, const struct moment *moment);
/* Appends a moment, or changes the last if that began at the same time; NULL when out of memory. */
struct moment *timeline_add(struct timeline *timeline, uint64_t from_ns);

/* Timelines by pid or tid. A zeroed one is empty. */
struct timelines {
	struct u64map index_of;
	VEC(struct timeline);
};

void timelines_deinit(struct timelines *timelines);
/* NULL if there is none. */
struct timeline *timelines_find(const struct timelines *timelines, uint32_t id);
/* Found or made; valid until the next call. NULL when out of memory. */
struct timeline *timelines_get(struct timelines *timelines, uint32_t id);

/* A version of an address space, as long as no ip in it changes its meaning. */
struct view {
	struct mapping_node *root;
	struct mapping_node *made; /* code made at run time, over memory that is mapped for it */
	bool shared; /* by a fork: a change makes a view of its own */
	bool complete; /* all code that was mapped in it is known */
};

struct views {
	struct arena arena;
	VEC(struct view);
	size_t limit; /* maximum of count; the last view takes further changes */
	size_t remade; /* how many have begun because code was made where other code was */
	uint64_t unparted; /* times that this was not kept apart: there were too many */
};

void views_deinit(struct views *views);

/*
 * From `time_ns` on, an empty address space; `complete`: it is truly empty, rather than unknown.
 * False when out of memory.
 */
bool views_start(struct views *views, struct timeline *timeline, uint64_t time_ns, bool complete);

/* Whether all code of the timeline's last view is known, from that moment on. */
void views_set_complete(struct views *views, const struct timeline *timeline, bool complete);

/*
 * From `time_ns` on, the address space that `parent` has now, not marked as complete where the
 * fork was before the recording. False when out of memory.
 */
bool views_fork(struct views *views, struct timeline *timeline, const struct timeline *parent,
		uint64_t time_ns);

/* From `time_ns` on, with `mapping` in it. False when out of memory. */
bool views_map(struct views *views, struct timeline *timeline, uint64_t time_ns,
	       const struct mapping *mapping);

/*
 * The same of code that was made at run time: it stays when memory is mapped around it (as a
 * JIT's pages change their rights), until other code takes its place.
 */
bool views_make(struct views *views, struct timeline *timeline, uint64_t time_ns,
		const struct mapping *code);

#endif
