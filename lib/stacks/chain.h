/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interns the call chains of samples as recorded: instruction pointers with modes, the outermost call
 * first. They are resolved to functions later, once for each distinct chain.
 */
#pragma once

#include <sprof/record.h>
#include "base/vec.h"
#include "profile/radix.h"
#include "stacks/stack_end.h"

/*
 * Words of an interned chain that are not instruction pointers. Like the kernel's marks, they are above
 * PERF_CONTEXT_MAX, where no code can be.
 */
#define CHAIN_MODE(cpumode) ((uint64_t)-16 + (cpumode)) /* mode of the following instruction pointers */
#define CHAIN_EXACT ((uint64_t)-1) /* the next address is an executed instruction, not a return address */
#define CHAIN_GAP ((uint64_t)-2)   /* calls are missing here */
/* First word: how the chain ended, as enum sp_misc_end, END_DEFERRED or END_INVALID. */
#define CHAIN_END(end) ((uint64_t)-32 + (end))

/*
 * Flag in callers.misc, in a bit outside of SP_MISC_STACK: the deferred user part of the chain is
 * missing.
 */
#define CALLERS_DEFERRED 1
/* Flag in callers.misc: the chain was truncated at an address where no code can run. */
#define CALLERS_INVALID 2
/* Flag in callers.misc: recorded addresses that stacks_check() has not checked yet. */
#define CALLERS_UNCHECKED 4
/* Flag in callers.misc, until stacks_check(): a kernel chain with one address in its user part. */
#define CALLERS_ONE_USER (1 << 10)
/*
 * Flag in callers.misc of a key: its struct chain is for the callers of a wait without their kernel
 * part, or for that part.
 */
#define CALLERS_OF_WAIT (1 << 11)
/* The same for samples in library code (fold_other_code()). */
#define CALLERS_OF_OTHERS (1 << 12)

static inline bool chain_is_mark(uint64_t word)
{
	return word >= (uint64_t)PERF_CONTEXT_MAX;
}

/*
 * Returns the mode of code after a PERF_CONTEXT_* mark, as PERF_RECORD_MISC_*; CPUMODE_UNKNOWN for
 * unknown marks.
 */
uint16_t chain_mark_cpumode(uint64_t mark);

static inline bool chain_is_end(uint64_t word)
{
	return word > CHAIN_END(SP_MISC_END_UNKNOWN) && word <= CHAIN_END(END_INVALID);
}

/*
 * The results for a recorded chain under a root: one entry of a cache, and one line of the CPU's
 * cache. A sample of a known chain needs no look at the chain's addresses. The key is a hash of
 * 128 bits: among a million chains, two have the same with a probability of 10^-27. Members are
 * set as the key's flag says: without one, by chain_of(), all of the first three; with
 * CALLERS_OF_WAIT, by drop_kernel(), `left` and `left_misc` of the callers, or `node` of the
 * kernel part.
 */
struct chain {
	uint64_t hash[2];
	uint32_t node;	       /* node of the interned chain */
	uint32_t left;	       /* callers.count after stacks_check() */
	uint16_t left_misc;    /* callers.misc after stacks_check() and --max-stack */
	bool known;	       /* the members of this key are set */
	bool limited;	       /* --max-stack removed callers */
	uint32_t outer, depth; /* with work->only_leaves: answer (names.h) for the outermost mapped
				* caller, or ANSWER_FAILED if there is none; and callers_depth() */
	uint32_t leaf;         /* answer for the frame in place of the sampled address, or
				* ANSWER_FAILED (samples/fold_frames.h) */
	uint32_t last_answer,
		last_leaf; /* leaf of the last sample, plus 1, and its answer; 0: none */
} __attribute__((aligned(64)));

/*
 * The chain that was interned last under a root. The next chain often has the same outer calls, which
 * are then not searched again.
 */
struct last_chain {
	uint32_t root;
	bool used;
	VEC(uint64_t) words;
	struct radix_path path;
};

/* Number of entries in the cache of recorded chains. */
#define CHAIN_MEMORY 16384
#define CHAIN_ROOTS 32

struct chains {
	struct radix radix;
	struct chain *memory;
	unsigned int replaced; /* number of replaced entries */
	struct last_chain last[CHAIN_ROOTS];
	VEC(uint64_t) words; /* buffer for the words of one chain */
};

/* A zeroed struct chains is empty. */
void chains_deinit(struct chains *chains);

/* Callers of a sampled address, from its call chain, innermost first. */
struct callers {
	const uint64_t *ips;
	size_t count;
	uint16_t cpumode; /* mode of the first address */
	uint16_t misc;    /* SP_MISC_STACK bits, which state how the stack was unwound; 0: the chain is the
			   * kernel's */
	bool exact;       /* the first address is an executed instruction, not a return address */
	uint64_t leaf_ip;
	uint16_t leaf_cpumode;
};

/* Sampled address, and its mode. */
struct sampled {
	uint64_t ip;
	uint16_t cpumode;
	bool has_ip;
};

struct sampled sampled_of(const struct sp_record *record);

/*
 * Returns the callers in a recorded or unwound chain, innermost first. A PERF_CONTEXT_* mark precedes
 * each part. A part of the same mode as the part before begins with an executed address. Two marks in a
 * row mean missing calls (SP_MISC_SHORTENED).
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

/*
 * Gets the outermost call, its mode, and whether it is an executed address (not a return address).
 * Returns false if the chain is empty.
 */
bool callers_outermost(const struct callers *callers, uint64_t *ip_ret, uint16_t *cpumode_ret,
		       bool *exact_ret);

/* Removes the outermost call; the chain must have one. */
void callers_drop_outermost(struct callers *callers);

/*
 * Limits the stack to `count` calls: the sampled address and count - 1 callers; count is at least 1.
 * Returns whether callers were removed; then the stack ends at the depth limit.
 */
bool callers_limit(struct callers *callers, size_t count);

/*
 * Truncates the chain to its first `count` words, less marks at their end. The stack then ends at an
 * invalid address.
 */
void callers_truncate(struct callers *callers, size_t count);

/*
 * Removes the user part of a chain, below which the stack counts as complete: of an interrupt's chain, it
 * belongs to the interrupted thread.
 */
void callers_drop_user(struct callers *callers);

/*
 * Removes the kernel part of a chain: then the sampled address is the innermost one outside of the kernel.
 * *kernel_ret: the part in the kernel, with the sampled address; it may point into itself, and must not be
 * copied beyond its life. Returns false, and removes nothing, if the chain has no user part.
 */
bool callers_drop_kernel(struct callers *callers, struct callers *kernel_ret);

/* Returns the number of calls: the sampled address and its callers. */
size_t callers_depth(const struct callers *callers);

/*
 * Returns the cache's entry of a chain under a root, valid until the next call. If it is new,
 * chain->known is false. NULL when out of memory.
 */
struct chain *chains_find(struct chains *chains, uint32_t root, const struct callers *callers);

/*
 * Interns a chain that has callers or a known end, under a root. Returns its node; RADIX_NONE when
 * out of memory.
 */
uint32_t chains_intern(struct chains *chains, uint32_t root, const struct callers *callers);
