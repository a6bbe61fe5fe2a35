/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts call chains among the interned stacks. Chains that follow one another
 * mostly differ in their innermost calls alone, so that each is compared with
 * the one before it from the outermost end, and only what differs is looked up.
 */
#ifndef ANALYSIS_CHAIN_H
#define ANALYSIS_CHAIN_H

#include <sprof/record.h>
#include "analysis/names.h"
#include "base/hash.h"
#include "base/vec.h"
#include "profile/stacks.h"

#define CHAIN_MEMORY 32 /* so many chains are remembered, by their roots */

/* A chain as it was interned, the outermost call first. */
struct chain {
	uint32_t root, view;
	uint16_t cpumode;     /* of its innermost call */
	bool exact;           /* the innermost ip is where code ran, not where a call returns to */
	VEC(struct chain_step);
};

struct chain_step {
	uint64_t ip;   /* or mark */
	uint32_t node; /* of the stack that begins with all up to here */
	uint32_t name; /* as of names_find(); 0 for marks */
};

struct chains {
	struct names *names;
	struct stacks stacks;     /* ids are frames' indexes; those of roots are the caller's */
	struct u64map map_of;     /* (view, cpumode, caller) -> index in maps */
	VEC(struct u64map) maps;  /* ip -> name */
	struct { uint64_t key; uint32_t map; bool known; } last[4]; /* of map_of */
	struct chain memory[CHAIN_MEMORY];
	VEC(uint16_t) modes;      /* scratch: the cpumode of each call of the chain at hand */
};

/* A zeroed struct chains with `names` set is ready. */
void chains_deinit(struct chains *chains);

/* The name of one place; NAME_FAILED when out of memory. */
uint32_t chains_name(struct chains *chains, uint32_t view, uint16_t cpumode, uint64_t ip,
		     bool caller);

/* How a sample's stack lies among the stacks. */
struct chain_place {
	uint32_t node;      /* the sampled function; STACK_NONE when out of memory */
	uint32_t leaf_name; /* its name */
	uint32_t last_name; /* that of the outermost */
};

/* How many calls a recorded chain has, without marks. */
size_t chain_depth(const struct sp_sample *sample);

/*
 * The stack of a sample, under `root`; with only_leaf the sampled function alone.
 * `cpumode` is that of the sample's ip.
 */
struct chain_place chains_add(struct chains *chains, uint32_t root, uint32_t view,
			      uint16_t cpumode, const struct sp_sample *sample, bool only_leaf);

#endif
