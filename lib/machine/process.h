/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State that changes over time: the name of a thread, and the view of an address space. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "machine/mapping.h"
#include "machine/modules.h"

/* State from `from_ns` until the next moment of its timeline. */
struct moment {
	uint64_t from_ns;
	union {
		uint32_t view;
		const char *comm; /* NULL: unknown */
	};
	bool born; /* the thread was forked at this time; one before with the same tid was a
		    * different thread */
	/* If an exec began the view: the time when its program had been mapped; else 0. */
	uint64_t exec_until_ns;
	uint8_t exec_maps; /* number of coming mappings that may belong to the exec itself */
};

struct moments {
	VEC(struct moment);
};

/* Returns the moment at `time_ns`, or NULL before the first one. */
const struct moment *timeline_find(const struct moments *timeline, uint64_t time_ns);
/* Returns the time of the moment after `moment` (NULL: before the first); UINT64_MAX: there is none. */
uint64_t timeline_until(const struct moments *timeline, const struct moment *moment);
/* Appends a moment, or returns the last one if it began at the same time. NULL when out of memory. */
struct moment *timeline_add(struct moments *timeline, uint64_t from_ns);

/* Timelines by pid or tid. A zeroed struct is empty. */
struct timelines {
	struct u64map index_of;
	VEC(struct moments);
};

void timelines_deinit(struct timelines *timelines);
/* Returns the timeline of `id`, or NULL. */
struct moments *timelines_find(const struct timelines *timelines, uint32_t id);
/*
 * Returns the timeline of `id`, which is created if it is new. Valid until the next call; NULL when out
 * of memory.
 */
struct moments *timelines_get(struct timelines *timelines, uint32_t id);

/* A version of an address space, in which each ip has one meaning. */
struct view {
	struct mapping_node *root;
	struct mapping_node *made; /* JIT code, on top of the memory that was mapped for it */
	bool shared; /* a fork shares it, so that a change creates a new view */
	bool complete; /* all executable mappings in it are known */
};

struct views {
	struct arena arena;
	VEC(struct view);
	size_t limit; /* limit of `count`; at the limit, changes go into the last view */
	size_t remade; /* number of views that began because JIT code replaced other code */
	uint64_t unparted; /* number of such replacements without a new view, because `remade` was at its
			    * limit */
};

void views_deinit(struct views *views);

/*
 * Begins an empty address space at `time_ns`. `complete`: it is really empty, not unknown. Returns
 * false when out of memory.
 */
bool views_start(struct views *views, struct moments *timeline, uint64_t time_ns, bool complete);

/* Sets whether all executable mappings of the timeline's last view are known. */
void views_set_complete(struct views *views, const struct moments *timeline, bool complete);

/*
 * Gives the timeline the parent's present address space, from `time_ns` on. It is not marked as
 * complete if the fork was before the recording. Returns false when out of memory.
 */
bool views_fork(struct views *views, struct moments *timeline, const struct moments *parent,
		uint64_t time_ns);

/* Adds a mapping from `time_ns` on. Returns false when out of memory. */
bool views_map(struct views *views, struct moments *timeline, uint64_t time_ns,
	       const struct mapping *mapping);

/*
 * Adds JIT code, like views_map(). The code stays when memory is mapped around it (for example, when a
 * JIT changes the rights of its pages), until other code takes its place.
 */
bool views_make(struct views *views, struct moments *timeline, uint64_t time_ns,
		const struct mapping *code);

/*
 * Code that programs moved: they copied it to memory without a file at the same addresses, to have
 * it in huge pages. The code keeps its file:
 *
 * - The recorder compares the bytes while the process lives, and writes the file's mapping again.
 * - Without such a record, the program's own code is kept, because the process cannot run without
 *   it. So is a library's, if the memory has exactly the place of its code. The module is marked.
 */

/* A zeroed struct is empty. */
struct replaced_code {
	struct u64map programs; /* pid -> module of the program that it executed */
	struct u64map unproven; /* pid and module of code without a proof -> the module */
};

struct replaced_mapping {
	struct views *views;
	struct moments *space;
	uint64_t time_ns;
	struct mapping mapping;
	bool is_code;
};

void replaced_code_deinit(struct replaced_code *replaced);

/* The process executes a program. Returns false when out of memory. */
bool replaced_code_exec(struct replaced_code *replaced, uint32_t pid);

/* Adds a mapping, like views_map(), but keeps moved code. Returns false when out of memory. */
bool replaced_code_map(struct replaced_code *replaced, const struct modules *modules,
	       const struct replaced_mapping *event);

/* Marks the modules of code that is not proven, and frees the memory. */
void replaced_code_seal(struct replaced_code *replaced, const struct modules *modules);
