/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Visits of threads to places (ip and sp) in their stacks: how often complete stacks go through
 * each node of the trees, when, and how well such visits predict the callers of the next one.
 */
#pragma once

#include "unwind/repair_internal.h"

/* Visits to a node. */
struct node_visits {
	uint64_t slices; /* the 64ths of the time in which complete stacks go through it */
	uint32_t visits;
	uint32_t twin;   /* another node for the place; NONE: the last */
};

/* A stack among those of its thread. */
struct repair_turn {
	uint64_t thread_id, time_ns;
	uint32_t stack;
};

/* Zeroed but for `repair`, it is empty. */
struct visits {
	const struct repair *repair;
	VEC(struct node_visits) nodes; /* by node of the repair */
	struct u64map places;          /* hash of thread and place -> its newest node, or NONE */
	struct visit_trials *trials;   /* one for each thread, then one for all threads */
	uint64_t first_ns, last_ns;    /* times of all stacks */
};

void visits_deinit(struct visits *visits);

/*
 * Asks for the place of a node (of any tree) in the tree of a thread's complete stacks. Call it
 * before visits_count(). Returns false when out of memory.
 */
bool visits_want_place(struct visits *visits, uint32_t thread, const struct repair_node *node);

/*
 * Counts the visits of all complete stacks. `turns`: all stacks, by thread and time. Returns false
 * when out of memory.
 */
bool visits_count(struct visits *visits, const struct repair_turn *turns);

/* Returns a node at a wanted place, the first of the list by `twin`; NONE: there is none. */
uint32_t visits_find(const struct visits *visits, uint32_t thread, const struct repair_node *node);

/* Adds a node that was added to a tree of complete stacks. Returns false when out of memory. */
bool visits_add_node(struct visits *visits, uint32_t index);

/* Adds a stack to a node of its path; `counts`: it is a visit, not a part of another stack's. */
void visits_add(struct visits *visits, uint32_t node, uint64_t time_ns, bool counts);

/* Returns whether a node is visited around that time, before and after, as it is at other times. */
bool visits_are_near(const struct visits *visits, uint32_t node, uint64_t time_ns);

/* Returns whether `count` visits with the same callers are enough evidence in the thread. */
bool visits_are_enough(const struct visits *visits, uint32_t thread, uint32_t count);
