/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/chain.h"

#include <linux/perf_event.h>

/* Since Linux 6.19: the user's part comes later, under the number that follows. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

#define likely(x) __builtin_expect(!!(x), 1)

void chains_deinit(struct chains *chains)
{
	stacks_deinit(&chains->stacks);
	u64map_deinit(&chains->map_of);
	for (size_t i = 0; i < chains->maps.count; i++)
		u64map_deinit(&chains->maps.items[i]);
	vec_deinit(&chains->maps);
	for (size_t i = 0; i < CHAIN_MEMORY; i++)
		vec_deinit(&chains->memory[i]);
	vec_deinit(&chains->modes);
}

static bool is_mark(uint64_t ip)
{
	return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

static uint16_t mark_cpumode(uint64_t mark)
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

/* What ips mean in a view for a mode; NULL when out of memory. */
static struct u64map *map_for(struct chains *chains, uint32_t view, uint16_t cpumode, bool caller)
{
	bool added;
	uint64_t key = (uint64_t)view << 8 | (uint64_t)cpumode << 1 | caller;
	unsigned int slot = (cpumode == PERF_RECORD_MISC_USER) * 2 + caller;
	if (likely(chains->last[slot].known && chains->last[slot].key == key))
		return &chains->maps.items[chains->last[slot].map];
	uint32_t lowest = machine_view_of_mode(chains->names->machine, view, cpumode);
	uint64_t common = (uint64_t)lowest << 8 | (uint64_t)cpumode << 1 | caller;
	if (!vec_reserve(&chains->maps, chains->maps.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&chains->map_of, common, (uint32_t)chains->maps.count,
					   &added);
	if (!index)
		return NULL;
	if (added)
		*vec_push(&chains->maps) = (struct u64map){0};
	chains->last[slot].key = key;
	chains->last[slot].map = *index;
	chains->last[slot].known = true;
	return &chains->maps.items[*index];
}

uint32_t chains_name(struct chains *chains, uint32_t view, uint16_t cpumode, uint64_t ip,
		     bool caller)
{
	struct u64map *map = map_for(chains, view, cpumode, caller);
	if (!map)
		return NAME_FAILED;
	const uint32_t *known = u64map_find(map, ip);
	if (likely(known))
		return *known;
	uint32_t name = names_find(chains->names, view, cpumode, ip, caller);
	if (name == NAME_FAILED || !u64map_put(map, ip, name, NULL))
		return NAME_FAILED;
	return name;
}

size_t chain_depth(const struct sp_sample *sample)
{
	size_t depth = 0;
	for (size_t i = 0; i < sample->ip_count; i++)
		depth += !is_mark(sample->ips[i]);
	return depth;
}

/* A recorded chain: the sampled place, and the part above it, innermost first. */
struct callers {
	const uint64_t *ips;
	size_t count;
	uint16_t cpumode; /* of the first */
	bool exact;       /* of the first */
	uint64_t leaf_ip;
	uint16_t leaf_cpumode;
};

/*
 * The first call of a chain is the sampled ip once more, unless it is of another
 * mode: then the chain has no part for the sample's mode, and all of it called.
 */
static struct callers callers_of(const struct sp_sample *sample, uint16_t cpumode)
{
	struct callers callers = {.ips = sample->ips, .count = sample->ip_count,
				  .cpumode = cpumode, .exact = true,
				  .leaf_ip = sample->ip, .leaf_cpumode = cpumode};
	bool has_ip = sample->present & PERF_SAMPLE_IP;
	/* The number behind this mark is no ip, and is the last of the chain. */
	if (callers.count >= 2 && callers.ips[callers.count - 2] == CONTEXT_USER_DEFERRED)
		callers.count -= 2;
	while (callers.count && is_mark(*callers.ips)) {
		callers.cpumode = mark_cpumode(*callers.ips);
		callers.ips++;
		callers.count--;
	}
	if (callers.count && !has_ip) {
		callers.leaf_ip = *callers.ips;
		callers.leaf_cpumode = callers.cpumode;
	}
	if (callers.count && (callers.cpumode == cpumode || *callers.ips == callers.leaf_ip)) {
		callers.ips++;
		callers.count--;
		callers.exact = false;
	}
	return callers;
}

/* How many calls, counted from the outermost, are the same ips as in `chain`. */
static size_t common_ips(const struct chain *chain, const struct callers *callers)
{
	size_t max = chain->count < callers->count ? chain->count : callers->count, same = 0;
	const struct chain_step *steps = chain->items;
	const uint64_t *end = callers->ips + callers->count;
	while (same < max && steps[same].ip == end[-1 - (ptrdiff_t)same])
		same++;
	return same;
}

/* What the call inside the first `same` ones says of them: their mode, and whether it marks. */
struct joint {
	uint16_t cpumode;
	bool exact;
};

static struct joint joint_of_callers(const struct callers *callers, size_t same)
{
	size_t at = callers->count - same;
	struct joint joint = {callers->cpumode, callers->exact};
	if (!at)
		return joint;
	joint.exact = is_mark(callers->ips[at - 1]);
	while (at > 0 && !is_mark(callers->ips[at - 1]))
		at--;
	if (at > 0)
		joint.cpumode = mark_cpumode(callers->ips[at - 1]);
	return joint;
}

static struct joint joint_of_chain(const struct chain *chain, size_t same)
{
	struct joint joint = {chain->cpumode, chain->exact};
	if (same == chain->count)
		return joint;
	joint.exact = is_mark(chain->items[same].ip);
	while (same < chain->count && !is_mark(chain->items[same].ip))
		same++;
	if (same < chain->count)
		joint.cpumode = mark_cpumode(chain->items[same].ip);
	return joint;
}

/* How many calls, counted from the outermost, are the same and mean the same. */
static size_t common_steps(const struct chain *chain, const struct callers *callers)
{
	size_t same = common_ips(chain, callers);
	if (!same || is_mark(chain->items[same - 1].ip))
		return same;
	struct joint a = joint_of_callers(callers, same), b = joint_of_chain(chain, same);
	if (a.cpumode == b.cpumode)
		return same - (a.exact != b.exact);
	/* Another mode, up to the next mark. */
	while (same > 0 && !is_mark(chain->items[same - 1].ip))
		same--;
	return same;
}

/* Takes up the calls inside the first `same` ones; false when out of memory. */
static bool add_steps(struct chains *chains, struct chain *chain, const struct callers *callers,
		      size_t same)
{
	size_t left = callers->count - same;
	uint16_t cpumode = callers->cpumode;
	if (!vec_reserve(&chains->modes, left) || !vec_reserve(chain, callers->count))
		return false;
	for (size_t i = 0; i < left; i++) {
		if (is_mark(callers->ips[i]))
			cpumode = mark_cpumode(callers->ips[i]);
		chains->modes.items[i] = cpumode;
	}
	uint32_t node = same ? chain->items[same - 1].node : chain->root;
	chain->count = same;
	for (size_t i = left; i-- > 0;) {
		uint64_t ip = callers->ips[i];
		bool exact = i ? is_mark(callers->ips[i - 1]) : callers->exact;
		uint32_t name = 0;
		if (!is_mark(ip)) {
			name = chains_name(chains, chain->view, chains->modes.items[i], ip, !exact);
			if (name == NAME_FAILED)
				return false;
			node = stacks_child(&chains->stacks, node, name >> NAME_FRAME_SHIFT);
			if (node == STACK_NONE)
				return false;
		}
		chain->items[chain->count++] = (struct chain_step){ip, node, name};
	}
	return true;
}

/* The node of the sample's caller; STACK_NONE when out of memory. */
static uint32_t add_callers(struct chains *chains, uint32_t root, uint32_t view,
			    const struct callers *callers, uint32_t *last_name_ret)
{
	struct chain *chain = &chains->memory[root % CHAIN_MEMORY];
	size_t same = 0, first = 0;
	if (chain->root == root && chain->view == view)
		same = common_steps(chain, callers);
	chain->root = root;
	chain->view = view;
	chain->cpumode = callers->cpumode;
	chain->exact = callers->exact;
	if (!add_steps(chains, chain, callers, same)) {
		chain->count = 0;
		return STACK_NONE;
	}
	while (first < chain->count && is_mark(chain->items[first].ip))
		first++;
	if (first < chain->count)
		*last_name_ret = chain->items[first].name;
	return chain->count ? vec_last(chain)->node : root;
}

/* The name of a chain's outermost call, where nothing else of it is wanted. */
static uint32_t outermost_name(struct chains *chains, uint32_t view, const struct callers *callers,
			       uint32_t leaf_name)
{
	size_t last = callers->count;
	while (last && is_mark(callers->ips[last - 1]))
		last--;
	if (!last--)
		return leaf_name;
	size_t at = last;
	while (at && !is_mark(callers->ips[at - 1]))
		at--;
	uint16_t cpumode = at ? mark_cpumode(callers->ips[at - 1]) : callers->cpumode;
	bool exact = last ? is_mark(callers->ips[last - 1]) : callers->exact;
	return chains_name(chains, view, cpumode, callers->ips[last], !exact);
}

struct chain_place chains_add(struct chains *chains, uint32_t root, uint32_t view,
			      uint16_t cpumode, const struct sp_sample *sample, bool only_leaf)
{
	struct callers callers = callers_of(sample, cpumode);
	struct chain_place place = {.node = STACK_NONE};
	uint32_t parent = root;
	uint32_t name = chains_name(chains, view, callers.leaf_cpumode, callers.leaf_ip, false);
	place.leaf_name = place.last_name = name;
	if (name == NAME_FAILED)
		return place;
	if (only_leaf)
		place.last_name = outermost_name(chains, view, &callers, name);
	else if (callers.count)
		parent = add_callers(chains, root, view, &callers, &place.last_name);
	if (parent != STACK_NONE && place.last_name != NAME_FAILED)
		place.node = stacks_child(&chains->stacks, parent, name >> NAME_FRAME_SHIFT);
	return place;
}
