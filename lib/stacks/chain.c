/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks/chain.h"

#include <stdlib.h>
#include <string.h>
#include "base/wide.h"
#include "stacks/deferred.h"

void chains_deinit(struct chains *chains)
{
	radix_deinit(&chains->radix);
	free(chains->memory);
	for (size_t i = 0; i < CHAIN_ROOTS; i++) {
		vec_deinit(&chains->last[i].words);
		vec_deinit(&chains->last[i].path);
	}
	vec_deinit(&chains->words);
}

uint16_t chain_mark_cpumode(uint64_t mark)
{
	switch (mark) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
	}
}

struct sampled sampled_of(const struct sp_record *record)
{
	return (struct sampled){
		.ip = record->sample.ip,
		.cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK,
		.has_ip = record->sample.present & PERF_SAMPLE_IP,
	};
}

/*
 * The first address of a chain repeats the sampled address, so it is no caller. If the modes differ,
 * the chain has no part in the sample's mode, and all its addresses are callers.
 */
struct callers callers_of(const struct sampled *sampled, uint16_t misc, const uint64_t *ips,
			  size_t count)
{
	struct callers callers = {.ips = ips, .count = count,
				  .cpumode = sampled->cpumode, .exact = true,
				  .misc = misc & SP_MISC_STACK,
				  .leaf_ip = sampled->ip, .leaf_cpumode = sampled->cpumode};
	uint64_t cookie;
	/*
	 * The chain ends with a cookie, which is not an address. The deferred chain that it stands for
	 * is missing or was already added.
	 */
	if (deferred_cookie(callers.ips, callers.count, &cookie)) {
		callers.count -= 2;
		callers.misc |= CALLERS_DEFERRED;
	}
	/* Chains made by frame pointer may end with 0, which is not an address of code. */
	while (callers.count && callers.ips[callers.count - 1] == 0)
		callers.count--;
	while (callers.count && chain_is_mark(*callers.ips)) {
		callers.cpumode = chain_mark_cpumode(*callers.ips);
		callers.ips++;
		callers.count--;
	}
	if (callers.count && !sampled->has_ip) {
		callers.leaf_ip = *callers.ips;
		callers.leaf_cpumode = callers.cpumode;
	}
	if (callers.count &&
	    (callers.cpumode == sampled->cpumode || *callers.ips == callers.leaf_ip)) {
		callers.ips++;
		callers.count--;
		callers.exact = false;
	}
	return callers;
}

/* Part of a chain: consecutive calls of one mode, at [begin, end) of the addresses. */
struct chain_part {
	size_t begin, end;
	uint16_t cpumode;
	bool exact; /* the first address is that of an executed instruction, not a return address */
	bool gap;   /* calls are missing before the first address */
};

/* Returns the outermost part among the first `count` addresses. */
static struct chain_part last_part(const struct callers *callers, size_t count)
{
	struct chain_part part = {.end = count, .begin = count, .cpumode = callers->cpumode,
				  .exact = callers->exact};
	while (part.begin && !chain_is_mark(callers->ips[part.begin - 1]))
		part.begin--;
	if (part.begin) {
		part.cpumode = chain_mark_cpumode(callers->ips[part.begin - 1]);
		part.gap = callers->misc & SP_MISC_SHORTENED && part.begin >= 2 &&
			   callers->ips[part.begin - 1] == (uint64_t)PERF_CONTEXT_USER &&
			   callers->ips[part.begin - 2] == (uint64_t)PERF_CONTEXT_USER;
		part.exact = !part.gap;
	}
	return part;
}

bool callers_outermost(const struct callers *callers, uint64_t *ip_ret, uint16_t *cpumode_ret,
		       bool *exact_ret)
{
	size_t count = callers->count;
	while (count && chain_is_mark(callers->ips[count - 1]))
		count--;
	if (!count)
		return false;
	struct chain_part part = last_part(callers, count);
	*ip_ret = callers->ips[count - 1];
	*cpumode_ret = part.cpumode;
	*exact_ret = part.exact && part.begin == count - 1;
	return true;
}

void callers_drop_outermost(struct callers *callers)
{
	while (callers->count && chain_is_mark(callers->ips[callers->count - 1]))
		callers->count--;
	callers->count--;
}

/* Truncates to `count` addresses, less marks at their end, and clears the recorded end of the stack. */
static void end_before(struct callers *callers, size_t count)
{
	while (count && chain_is_mark(callers->ips[count - 1]))
		count--;
	callers->count = count;
	callers->misc &= (uint16_t)~(SP_MISC_END_MASK | CALLERS_DEFERRED | CALLERS_INVALID);
}

bool callers_limit(struct callers *callers, size_t count)
{
	size_t kept = 0;
	for (size_t calls = 1; kept < callers->count; kept++)
		if (!chain_is_mark(callers->ips[kept]) && calls++ == count)
			break;
	if (kept == callers->count)
		return false;
	end_before(callers, kept);
	callers->misc |= SP_MISC_END_DEPTH_LIMIT << SP_MISC_END_SHIFT;
	return true;
}

void callers_truncate(struct callers *callers, size_t count)
{
	end_before(callers, count);
	callers->misc |= CALLERS_INVALID;
}

void callers_drop_user(struct callers *callers)
{
	size_t count = 0;
	while (count < callers->count && (!chain_is_mark(callers->ips[count]) ||
		chain_mark_cpumode(callers->ips[count]) == PERF_RECORD_MISC_KERNEL))
		count++;
	callers->count = count;
	callers->misc = SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT;
}

bool callers_drop_kernel(struct callers *callers, struct callers *kernel_ret)
{
	size_t kernel = 0, user;
	*kernel_ret = *callers;
	kernel_ret->misc = 0;
	kernel_ret->count = 0;
	if (callers->leaf_cpumode != PERF_RECORD_MISC_KERNEL)
		return false;
	while (callers->cpumode == PERF_RECORD_MISC_KERNEL && kernel < callers->count &&
	       !chain_is_mark(callers->ips[kernel]))
		kernel++;
	kernel_ret->count = kernel;
	if (!kernel) {
		kernel_ret->ips = &kernel_ret->leaf_ip;
		kernel_ret->cpumode = PERF_RECORD_MISC_KERNEL;
		kernel_ret->count = 1;
		kernel_ret->exact = true;
	} else if (!callers->exact) { /* the sampled address is the one before */
		kernel_ret->ips--;
		kernel_ret->count++;
		kernel_ret->exact = true;
	}
	for (user = kernel; user < callers->count && chain_is_mark(callers->ips[user]);)
		user++;
	bool marked = user > kernel && callers->ips[user - 1] == (uint64_t)PERF_CONTEXT_USER;
	if (user == callers->count || !(marked || callers->cpumode == PERF_RECORD_MISC_USER))
		return false;
	callers->leaf_ip = callers->ips[user];
	callers->leaf_cpumode = callers->cpumode = PERF_RECORD_MISC_USER;
	callers->ips += user + 1;
	callers->count -= user + 1;
	callers->exact = false;
	return true;
}

size_t callers_depth(const struct callers *callers)
{
	size_t depth = 1;
	for (size_t i = 0; i < callers->count; i++)
		depth += !chain_is_mark(callers->ips[i]);
	return depth;
}

/*
 * Writes a chain in the form that is interned, outermost call first. The meaning of an address depends
 * only on the words before it: the mode of its part, and CHAIN_EXACT if it is no return address. The
 * first word states how the chain ended.
 */
static bool arrange(struct chains *chains, const struct callers *callers)
{
	/*
	 * In the worst case, each address is a part of its own, and CHAIN_MODE and CHAIN_EXACT precede
	 * it.
	 */
	if (!vec_reserve(&chains->words, callers->count * 2 + 3))
		return false;
	uint64_t *word = chains->words.items;
	if (callers_end(callers) != SP_MISC_END_UNKNOWN)
		*word++ = CHAIN_END(callers_end(callers));
	for (size_t left = callers->count; left;) {
		struct chain_part part = last_part(callers, left);
		if (part.begin < part.end)
			*word++ = CHAIN_MODE(part.cpumode);
		for (size_t i = part.end; i > part.begin; i--) {
			if (part.exact && i == part.begin + 1)
				*word++ = CHAIN_EXACT;
			*word++ = callers->ips[i - 1];
		}
		if (part.gap)
			*word++ = CHAIN_GAP;
		left = part.begin ? part.begin - 1 : 0;
	}
	chains->words.count = word - chains->words.items;
	return true;
}

static size_t common_words(const struct last_chain *last, const struct chains *chains)
{
	const uint64_t *a = last->words.items, *b = chains->words.items;
	size_t most = last->words.count, same = 0;
	if (chains->words.count < most)
		most = chains->words.count;
	while (same < most && a[same] == b[same])
		same++;
	return same;
}

uint32_t chains_intern(struct chains *chains, uint32_t root, const struct callers *callers)
{
	struct last_chain *last = &chains->last[root % CHAIN_ROOTS];
	if (!arrange(chains, callers))
		return RADIX_NONE;
	bool known = last->used && last->root == root;
	size_t common = known ? common_words(last, chains) : 0;
	if (!known)
		last->path.count = 0;
	last->used = false;
	last->root = root;
	uint32_t node = radix_add(&chains->radix, root, chains->words.items, chains->words.count,
				  common, &last->path);
	if (node == RADIX_NONE)
		return RADIX_NONE;
	/* Makes the buffer the words of the last chain, and the old words the new buffer. */
	__typeof__(last->words.items) items = last->words.items;
	size_t capacity = last->words.capacity;
	last->words.items = chains->words.items;
	last->words.count = chains->words.count;
	last->words.capacity = chains->words.capacity;
	chains->words.items = items;
	chains->words.count = 0;
	chains->words.capacity = capacity;
	last->used = true;
	return node;
}

struct hash {
	uint64_t a, b;
};

/*
 * Adds two words. The factor is odd, so that for given words each state becomes another one: states
 * that differ never become equal. (A product of both halves of the state shrinks where the words
 * repeat: after 300 calls of a recursion, the hash did not depend on the root, and so the thread.)
 */
static inline void add_words(struct hash *hash, uint64_t x, uint64_t y)
{
	struct wide product = wide_product(hash->a ^ x, 0x9e3779b97f4a7c15 + (y << 1));
	uint64_t b = hash->b ^ y;
	hash->b = (b << 23 | b >> 41) + product.high;
	hash->a = product.low + hash->b;
}

/* Two independent hashes let the CPU multiply in parallel. */
static struct hash hash_callers(uint32_t root, const struct callers *callers)
{
	const uint64_t *ips = callers->ips; /* NULL if there are no addresses */
	size_t count = callers->count, i = 0;
	uint64_t state =
		callers->cpumode | (uint64_t)callers->misc << 16 | (uint64_t)callers->exact << 32;
	/* Factors keep small numbers apart from differences of addresses. */
	struct hash hash = {(root + 1) * 0x9e3779b97f4a7c15, (count + 1) * 0xbf58476d1ce4e5b9};
	struct hash other = {(state + 1) * 0x94d049bb133111eb, 0xd6e8feb86659fd93};
	for (; count - i >= 4; i += 4) {
		add_words(&hash, ips[i], ips[i + 1]);
		add_words(&other, ips[i + 2], ips[i + 3]);
	}
	for (; i < count; i++)
		add_words(&hash, ips[i], 0);
	add_words(&hash, other.a, other.b);
	add_words(&hash, other.b, other.a);
	return hash;
}

static inline bool has_hash(const struct chain *chain, struct hash hash)
{
	return chain->hash[0] == hash.a && chain->hash[1] == hash.b;
}

/*
 * Each chain may be in two entries. Two frequent chains thus never replace each other in turns,
 * since a new chain replaces the first and the second by turns.
 */
struct chain *chains_find(struct chains *chains, uint32_t root, const struct callers *callers)
{
	const size_t size = CHAIN_MEMORY * sizeof(*chains->memory);
	if (!chains->memory) {
		chains->memory = aligned_alloc(sizeof(*chains->memory), size);
		if (!chains->memory)
			return NULL;
		memset(chains->memory, 0, size);
	}
	struct hash hash = hash_callers(root, callers);
	struct chain *chain = &chains->memory[hash.a % CHAIN_MEMORY];
	struct chain *second = &chains->memory[hash.b % CHAIN_MEMORY];
	if (has_hash(chain, hash))
		return chain;
	if (has_hash(second, hash))
		return second;
	if (chain->known && (!second->known || chains->replaced++ % 2))
		chain = second;
	*chain = (struct chain){.hash = {hash.a, hash.b}};
	return chain;
}
