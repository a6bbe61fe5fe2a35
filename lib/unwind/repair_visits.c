/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Consecutive stacks that go through a node are one visit to it. The evidence of n visits is
 * measured at all places of the thread: of N visits to a place, shares q1, q2, … have different
 * callers; n of them agree with probability Σq^n, and the next one differs with Σ(q^n - q^(n+1)).
 */
#include "unwind/repair_visits.h"

#include <stdlib.h>

/* Limit of the part of wrong joins, of those that visits decide. */
#define WRONG_MOST 0.002

/* Numbers of visits: 1, 2 and 3, 4 to 7, … */
#define VISIT_CLASSES 16

/* Limit of the visits that a place counts as. */
#define WEIGHT_MOST 10.0

/* Weight of all threads' trials, in trials of the thread itself. */
#define COMMON_TRIALS 50

/* Limit of a gap between visits, as a multiple of the average gap. */
#define GAP_MOST 3

/* Limit of nodes; above it only one place in PLACE_PART is tried. */
#define PLACES_ALL 65536
#define PLACE_PART 16

/* Trials by number of visits (class): all, and those followed by a different visit. */
struct visit_trials {
	double all[VISIT_CLASSES], wrong[VISIT_CLASSES];
};

void visits_deinit(struct visits *visits)
{
	vec_deinit(&visits->nodes);
	u64map_deinit(&visits->places);
	free(visits->trials);
}

static uint64_t place_hash(uint32_t thread, const struct repair_node *node)
{
	return hash_pair(hash_pair(node->ip, node->sp), thread);
}

bool visits_want_place(struct visits *visits, uint32_t thread, const struct repair_node *node)
{
	return u64map_put(&visits->places, place_hash(thread, node), NONE, NULL);
}

uint32_t visits_find(const struct visits *visits, uint32_t thread, const struct repair_node *node)
{
	const uint32_t *newest = u64map_find(&visits->places, place_hash(thread, node));
	return newest ? *newest : NONE;
}

static unsigned int slice_of(const struct visits *visits, uint64_t time_ns)
{
	double part = (double)(time_ns - visits->first_ns) /
		      ((double)(visits->last_ns - visits->first_ns) + 1);
	return (unsigned int)(part * 64) & 63;
}

void visits_add(struct visits *visits, uint32_t node, uint64_t time_ns, bool counts)
{
	visits->nodes.items[node].visits += counts;
	visits->nodes.items[node].slices |= UINT64_C(1) << slice_of(visits, time_ns);
}

/*
 * Counts one visit for each complete stack at and below a node, but not if the previous stack is
 * there, too.
 */
static void count_stacks(struct visits *visits, const struct repair_turn *turns)
{
	const struct repair *repair = visits->repair;
	uint32_t last = NONE;
	for (size_t i = 0; i < repair->stacks.count; i++) {
		const struct repair_turn *turn = &turns[i];
		uint32_t whole = repair->stacks.items[turn->stack].whole;
		if (i && turn->thread_id != turns[i - 1].thread_id)
			last = NONE;
		if (whole == NONE)
			continue;
		visits_add(visits, whole, turn->time_ns, true);
		if (last != NONE)
			visits->nodes.items[repair_common_node(repair, last, whole)].visits--;
		last = whole;
	}
	/* A subtraction at a node may wrap around until its children are added. */
	for (size_t i = repair->nodes.count; i-- > 0;) {
		const struct node_visits *node = &visits->nodes.items[i];
		uint32_t parent = repair->nodes.items[i].parent;
		if (parent == NONE)
			continue;
		visits->nodes.items[parent].slices |= node->slices;
		visits->nodes.items[parent].visits += node->visits;
	}
}

/* Links a node with the others at its place, if the place is wanted. */
static void link_node(struct visits *visits, uint32_t index, uint64_t hash)
{
	uint32_t *newest = u64map_find(&visits->places, hash);
	if (!newest)
		return;
	visits->nodes.items[index].twin = *newest;
	*newest = index;
}

bool visits_add_node(struct visits *visits, uint32_t index)
{
	const struct repair_node *node = &visits->repair->nodes.items[index];
	if (!vec_reserve(&visits->nodes, index + 1))
		return false;
	visits->nodes.items[index] = (struct node_visits){.twin = NONE};
	visits->nodes.count = index + 1;
	link_node(visits, index, place_hash(node->thread, node));
	return true;
}

/* Links the nodes of wanted places, and of others, which show how much places change. */
static bool link_nodes(struct visits *visits)
{
	const struct repair *repair = visits->repair;
	bool all = repair->nodes.count <= PLACES_ALL;
	for (uint32_t i = 0; i < repair->nodes.count; i++) {
		const struct repair_node *node = &repair->nodes.items[i];
		if (node->thread == NONE)
			continue;
		uint64_t hash = place_hash(node->thread, node);
		if ((all || hash % PLACE_PART == 0) &&
		    !u64map_put(&visits->places, hash, NONE, NULL))
			return false;
		link_node(visits, i, hash);
	}
	return true;
}

/* Adds the trials of the visits to one place; `newest` begins its list of nodes. */
static void try_place(const struct visits *visits, uint32_t newest, struct visit_trials *trials)
{
	const struct node_visits *nodes = visits->nodes.items;
	double all = 0;
	for (uint32_t at = newest; at != NONE; at = nodes[at].twin)
		all += nodes[at].visits;
	if (all < 2)
		return;
	double weight = all < WEIGHT_MOST ? all : WEIGHT_MOST;
	for (uint32_t at = newest; at != NONE; at = nodes[at].twin) {
		double share = nodes[at].visits / all, power = share;
		for (int i = 0; i < VISIT_CLASSES && all > (double)(1u << i); i++) {
			trials->all[i] += weight * power;
			trials->wrong[i] += weight * (power - power * share);
			power *= power;
		}
	}
}

static bool try_places(struct visits *visits)
{
	const struct repair *repair = visits->repair;
	size_t threads = repair->threads.count;
	visits->trials = calloc(threads + 1, sizeof(*visits->trials));
	if (!visits->trials)
		return false;
	for (size_t i = 0; i < visits->places.capacity; i++) {
		const struct u64map_entry *place = &visits->places.entries[i];
		if (place->used && place->value != NONE)
			try_place(visits, place->value,
				  &visits->trials[repair->nodes.items[place->value].thread]);
	}
	struct visit_trials *common = &visits->trials[threads];
	for (size_t i = 0; i < threads; i++) {
		for (int j = 0; j < VISIT_CLASSES; j++) {
			common->all[j] += visits->trials[i].all[j];
			common->wrong[j] += visits->trials[i].wrong[j];
		}
	}
	return true;
}

bool visits_count(struct visits *visits, const struct repair_turn *turns)
{
	const struct repair *repair = visits->repair;
	if (!vec_reserve(&visits->nodes, repair->nodes.count))
		return false;
	visits->nodes.count = repair->nodes.count;
	for (size_t i = 0; i < repair->nodes.count; i++)
		visits->nodes.items[i] = (struct node_visits){.twin = NONE};
	visits->first_ns = UINT64_MAX;
	vec_each (stack, &repair->stacks) {
		uint64_t time_ns = stack->time_ns;
		visits->first_ns = time_ns < visits->first_ns ? time_ns : visits->first_ns;
		visits->last_ns = time_ns > visits->last_ns ? time_ns : visits->last_ns;
	}
	count_stacks(visits, turns);
	return link_nodes(visits) && try_places(visits);
}

bool visits_are_near(const struct visits *visits, uint32_t node, uint64_t time_ns)
{
	uint64_t slices = visits->nodes.items[node].slices;
	unsigned int at = slice_of(visits, time_ns);
	uint64_t here = UINT64_C(1) << at, before = slices & (here - 1);
	uint64_t after = slices & ~(here - 1) & ~here;
	int last = before ? 63 - __builtin_clzll(before) : -1;
	int next = after ? __builtin_ctzll(after) : 64;
	int most = slices ? GAP_MOST * 64 / __builtin_popcountll(slices) : 0;
	return next - last <= (most > 2 ? most : 2);
}

bool visits_are_enough(const struct visits *visits, uint32_t thread, uint32_t count)
{
	const struct visit_trials *own = &visits->trials[thread];
	const struct visit_trials *common = &visits->trials[visits->repair->threads.count];
	for (int i = 0; i < VISIT_CLASSES && count >> i; i++) {
		double rate = (common->wrong[i] + 0.5) / (common->all[i] + 1);
		if ((own->wrong[i] + rate * COMMON_TRIALS) / (own->all[i] + COMMON_TRIALS) <=
		    WRONG_MOST)
			return true;
	}
	return false;
}
