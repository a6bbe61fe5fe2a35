/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call chains of samples, interned as they were recorded: as ips, in one form
 * for all, the outermost call first. What the ips mean is asked once for each
 * distinct chain, when all are there.
 */
#ifndef AGGREGATE_CHAIN_H
#define AGGREGATE_CHAIN_H

#include <sprof/record.h>
#include "aggregate/stack_end.h"
#include "base/vec.h"
#include "profile/radix.h"

/*
 * Words of an interned chain that are no ips. As the kernel's own marks, they lie
 * where no code can: above PERF_CONTEXT_MAX.
 */
#define CHAIN_MODE(cpumode) ((uint64_t)-16 + (cpumode)) /* mode of the following ips */
#define CHAIN_EXACT ((uint64_t)-1) /* the next ip is where code ran, not where a call returns to */
#define CHAIN_GAP ((uint64_t)-2)   /* calls were left out here */
/* How it ended, enum sp_misc_end, END_DEFERRED or END_INVALID; the first word. */
#define CHAIN_END(end) ((uint64_t)-32 + (end))

/* In callers.misc, of bits that SP_MISC_STACK has not: the user's part never came. */
#define CALLERS_DEFERRED 1
/* The same: calls are omitted from the first address where no code can run. */
#define CALLERS_INVALID 2

static inline bool chain_is_mark(uint64_t word)
{
	return word >= (uint64_t)PERF_CONTEXT_MAX;
}

/* Mode of the code after a mark, a PERF_RECORD_MISC_*; CPUMODE_UNKNOWN for unknown marks. */
uint16_t chain_mark_cpumode(uint64_t mark);

static inline bool chain_is_end(uint64_t word)
{
	return word > CHAIN_END(SP_MISC_END_UNKNOWN) && word <= CHAIN_END(END_INVALID);
}

/* A chain as it was recorded, and where it lies. */
struct chain {
	uint64_t hash;
	uint32_t root;
	uint32_t node;    /* RADIX_NONE: the place is empty */
	uint16_t cpumode; /* these three: see struct callers */
	uint16_t misc;
	bool exact;
	VEC(uint64_t) ips;
	uint32_t last_answer, last_leaf; /* for chains_add()'s caller to use; 0 in a new one */
};

/* The chain last interned under a root: the next may have its outer calls in common. */
struct last_chain {
	uint32_t root;
	bool used;
	VEC(uint64_t) words;
	struct radix_path path;
};

/* Size of the cache of recorded chains, which spares most of them the interning. */
#define CHAIN_MEMORY 16384
#define CHAIN_ROOTS 32

struct chains {
	struct radix radix;
	struct chain *memory;
	struct last_chain last[CHAIN_ROOTS];
	VEC(uint64_t) words; /* scratch */
};

/* A zeroed struct chains is empty. */
void chains_deinit(struct chains *chains);

/* A sample's call chain: the sampled place, and the calls above it, innermost first. */
struct callers {
	const uint64_t *ips;
	size_t count;
	uint16_t cpumode; /* mode of the first ip */
	uint16_t misc;    /* the SP_MISC_STACK of what was unwound; 0: the kernel's own chain */
	bool exact;       /* the first is where code ran, not where a call returns to */
	uint64_t leaf_ip;
	uint16_t leaf_cpumode;
};

/* Sampled place. */
struct sampled {
	uint64_t ip;
	uint16_t cpumode;
	bool has_ip;
};

struct sampled sampled_of(const struct sp_record *record);

/*
 * Callers in a recorded chain, or in one made in its place: the innermost ip first, each part
 * after its PERF_CONTEXT_* mark. A part of the same mode as the one before it begins with an ip
 * where code ran; two marks stand for missing calls (SP_MISC_SHORTENED).
 */
struct callers callers_of(const struct sampled *sampled, uint16_t misc, const uint64_t *ips,
			  size_t count);

static inline enum sp_misc_end callers_end(const struct callers *callers)
{
	if (callers->misc & CALLERS_DEFERRED)
		return END_DEFERRED;
	if (callers->misc & CALLERS_INVALID)
		return END_INVALID;
	return (enum sp_misc_end)((callers->misc & SP_MISC_END_MASK) >> SP_MISC_END_SHIFT);
}

/* The outermost call, with its mode and whether it is exact; false if there is none. */
bool callers_outermost(const struct callers *callers, uint64_t *ip_ret, uint16_t *cpumode_ret,
		       bool *exact_ret);

/* Leaves out the outermost call, which is there. */
void callers_drop(struct callers *callers);

/*
 * Keeps the sampled place and no more than count - 1 calls above it, of a count that is not 0;
 * whether there were more. They end at the depth limit then.
 */
bool callers_limit(struct callers *callers, size_t count);

/*
 * Truncates the chain to `count` ips, also without marks at their end. The stack then ends at an
 * invalid address.
 */
void callers_truncate(struct callers *callers, size_t count);

/* How many ips a recorded chain has. */
size_t callers_depth(const struct callers *callers);

/*
 * The chain, of which calls or an end must be known; NULL when out of memory. Valid until
 * the next call.
 */
struct chain *chains_add(struct chains *chains, uint32_t root, const struct callers *callers);

#endif
