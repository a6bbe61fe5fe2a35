/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The outermost frame of a truncated stack is its key. The nodes for the same place (ip and
 * sp) in the whole tree are the candidates: each has other callers. There are two ways to know
 * that one is right:
 *
 * - The whole stacks right before and after the truncated one both go through it: then the
 *   thread has not left the frame.
 *
 * - It left the frame, and came back to the place so often that it is known to have these
 *   callers only. Stacks one after the other that go through a node are one visit. How much n
 *   visits are worth is measured on all places of the thread: of N visits to a place, shares
 *   q1, q2, … have different callers; n of them agree with a chance of Σq^n, and the next one
 *   differs with Σ(q^n - q^(n+1)). Visits must also be there around the time of the truncated
 *   stack: where they stay away for longer than usual, the thread may be doing something else.
 *
 * Stacks grow downwards. Keys are gone through from the highest down, so that what a key
 * can be joined with is whole by then: one pass makes whole what can be.
 */
#include "unwind/repair_internal.h"

#include <stdlib.h>

/* At most that part of the joins of a kind may be wrong. */
#define WRONG_MOST 0.002

/* Numbers of visits: 1, 2 and 3, 4 to 7, … */
#define VISIT_CLASSES 16

/* Limit of the visits that a place counts as. */
#define WEIGHT_MOST 10.0

/* Weight of all threads' trials, in trials of the thread itself. */
#define COMMON_TRIALS 50

/* Limit of a gap between visits, as a multiple of the average gap. */
#define GAP_MOST 3

/*
 * Limit of the distance to the whole stacks before and after, in stacks; and the limit if the place
 * is known to have several callers, between which the thread may have alternated.
 */
#define NEIGHBOUR_MOST 64
#define NEIGHBOUR_MOST_OF_MANY 1

/* Limit of nodes; above it only one place in PLACE_PART is tried. */
#define PLACES_ALL 65536
#define PLACE_PART 16

/* A truncated stack to settle. */
struct truncated_stack {
	uint64_t thread_name;
	uint64_t sp, ip; /* the key's; sp without EXACT */
	uint64_t time_ns;
	uint32_t key, thread, stack;
};

/* By thread, from the highest key down, in order of time. */
static int compare_jobs(const void *a, const void *b)
{
	const struct truncated_stack *x = a, *y = b;
	return u64_order(x->thread_name, y->thread_name) ?: u64_order(y->sp, x->sp)
		?: u64_order(x->ip, y->ip) ?: u64_order(x->time_ns, y->time_ns)
		?: u64_order(x->stack, y->stack);
}

/* Trials by number of visits (class): all, and those followed by a different visit. */
struct trials {
	double all[VISIT_CLASSES], wrong[VISIT_CLASSES];
};

/* Facts about a node, computed while settling. */
struct node_facts {
	uint64_t slices; /* the 64ths of the time in which whole stacks go through it */
	uint32_t visits;
	uint32_t twin;   /* another node for the place; NONE: the last */
};

/* A stack among those of its thread. */
struct turn {
	uint64_t thread_name, time_ns;
	uint32_t stack;
};

struct settling {
	struct repair *repair;
	VEC(struct truncated_stack) jobs;
	VEC(struct node_facts) notes;
	struct turn *turns;     /* by thread and time */
	uint32_t *turn_of;      /* stack -> its index in turns */
	uint64_t *whole_turns;  /* a bit per turn: whole, or joined by now */
	struct u64map places;   /* hash of thread and place -> the newest node; of keys, and others */
	struct trials *trials;  /* one for each thread, then one for all threads */
	uint64_t first_ns, last_ns;
	VEC(uint32_t) path;
	struct u64map moved;    /* (node of a truncated stack, candidate) -> node in the whole tree */
};

static void settling_deinit(struct settling *settling)
{
	vec_deinit(&settling->jobs);
	vec_deinit(&settling->notes);
	free(settling->turns);
	free(settling->turn_of);
	free(settling->whole_turns);
	u64map_deinit(&settling->places);
	free(settling->trials);
	vec_deinit(&settling->path);
	u64map_deinit(&settling->moved);
}

static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	return u64_order(x->thread_name, y->thread_name) ?: u64_order(x->time_ns, y->time_ns)
		?: u64_order(x->stack, y->stack);
}

static bool make_turns(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	size_t count = repair->stacks.count;
	struct turn *turns = calloc(count + 1, sizeof(*turns));
	settling->turns = turns;
	settling->turn_of = calloc(count + 1, sizeof(*settling->turn_of));
	settling->whole_turns = calloc(count / 64 + 1, sizeof(*settling->whole_turns));
	if (!turns || !settling->turn_of || !settling->whole_turns)
		return false;
	for (size_t i = 0; i < count; i++)
		turns[i] = (struct turn){
			.thread_name = repair->threads.items[repair->stacks.items[i].thread].name,
			.time_ns = repair->stacks.items[i].time_ns,
			.stack = (uint32_t)i,
		};
	qsort(turns, count, sizeof(*turns), compare_turns);
	for (size_t i = 0; i < count; i++) {
		settling->turn_of[turns[i].stack] = (uint32_t)i;
		if (repair->stacks.items[turns[i].stack].whole != NONE)
			settling->whole_turns[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return true;
}

static bool make_jobs(struct settling *settling)
{
	struct repair *repair = settling->repair;
	for (uint32_t i = repair->settled; i < repair->stacks.count; i++) {
		const struct repair_stack *stack = &repair->stacks.items[i];
		if (stack->key == NONE)
			continue;
		struct truncated_stack *job = vec_push(&settling->jobs);
		if (!job)
			return false;
		*job = (struct truncated_stack){
			.thread_name = repair->threads.items[stack->thread].name,
			.sp = repair->nodes.items[stack->key].sp & ~EXACT,
			.ip = repair->nodes.items[stack->key].ip,
			.time_ns = stack->time_ns,
			.key = stack->key,
			.thread = stack->thread,
			.stack = i,
		};
	}
	repair->settled = (uint32_t)repair->stacks.count;
	return true;
}

static uint64_t place_hash(uint32_t thread, const struct repair_node *node)
{
	return hash_pair(hash_pair(node->ip, node->sp), thread);
}

static unsigned int slice_of(const struct settling *settling, uint64_t time_ns)
{
	double part = (double)(time_ns - settling->first_ns) /
		      ((double)(settling->last_ns - settling->first_ns) + 1);
	return (unsigned int)(part * 64) & 63;
}

/* The innermost node that two paths of one thread have in common. */
static uint32_t common_node(const struct repair *repair, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a > b)
			a = repair->nodes.items[a].parent;
		else
			b = repair->nodes.items[b].parent;
	}
	return a;
}

/*
 * Notes for each node how often it was visited: once for each whole stack below it, but not
 * where the one before is below it, too.
 */
static void count_visits(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	struct node_facts *notes = settling->notes.items;
	uint32_t last = NONE;
	for (size_t i = 0; i < repair->stacks.count; i++) {
		const struct turn *turn = &settling->turns[i];
		uint32_t whole = repair->stacks.items[turn->stack].whole;
		if (i && turn->thread_name != settling->turns[i - 1].thread_name)
			last = NONE;
		if (whole == NONE)
			continue;
		notes[whole].visits++;
		notes[whole].slices |= UINT64_C(1) << slice_of(settling, turn->time_ns);
		if (last != NONE)
			notes[common_node(repair, last, whole)].visits--;
		last = whole;
	}
}

/* Notes for each node how often it was visited, and when. */
static bool make_notes(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	size_t count = repair->nodes.count;
	settling->first_ns = UINT64_MAX;
	if (!vec_reserve(&settling->notes, count))
		return false;
	struct node_facts *notes = settling->notes.items;
	settling->notes.count = count;
	for (size_t i = 0; i < count; i++)
		notes[i] = (struct node_facts){.twin = NONE};
	for (size_t i = 0; i < repair->stacks.count; i++) {
		uint64_t time_ns = repair->stacks.items[i].time_ns;
		settling->first_ns = time_ns < settling->first_ns ? time_ns : settling->first_ns;
		settling->last_ns = time_ns > settling->last_ns ? time_ns : settling->last_ns;
	}
	count_visits(settling);
	/* A subtraction at a node may wrap around until its children are added. */
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = repair->nodes.items[i].parent;
		if (parent == NONE)
			continue;
		notes[parent].slices |= notes[i].slices;
		notes[parent].visits += notes[i].visits;
	}
	return true;
}

/* Links a node with the others for its place, if that is asked for. */
static void link_node(struct settling *settling, uint32_t index, uint64_t hash)
{
	uint32_t *newest = u64map_find(&settling->places, hash);
	if (!newest)
		return;
	settling->notes.items[index].twin = *newest;
	*newest = index;
}

/* Collects the places of keys, and places with callers that show how much such places change. */
static bool make_places(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	bool all = repair->nodes.count <= PLACES_ALL;
	for (size_t i = 0; i < settling->jobs.count; i++) {
		const struct truncated_stack *job = &settling->jobs.items[i];
		uint64_t hash = place_hash(job->thread, &repair->nodes.items[job->key]);
		if (!u64map_put(&settling->places, hash, NONE, NULL))
			return false;
	}
	for (uint32_t i = 0; i < repair->nodes.count; i++) {
		const struct repair_node *node = &repair->nodes.items[i];
		if (node->thread == NONE)
			continue;
		uint64_t hash = place_hash(node->thread, node);
		if ((all || hash % PLACE_PART == 0) &&
		    !u64map_put(&settling->places, hash, NONE, NULL))
			return false;
		link_node(settling, i, hash);
	}
	return true;
}

/* Adds the trials of the visits to one place; `newest` begins its list of nodes. */
static void try_place(const struct settling *settling, uint32_t newest, struct trials *trials)
{
	const struct node_facts *notes = settling->notes.items;
	double all = 0;
	for (uint32_t at = newest; at != NONE; at = notes[at].twin)
		all += notes[at].visits;
	if (all < 2)
		return;
	double weight = all < WEIGHT_MOST ? all : WEIGHT_MOST;
	for (uint32_t at = newest; at != NONE; at = notes[at].twin) {
		double share = notes[at].visits / all, power = share;
		for (int i = 0; i < VISIT_CLASSES && all > (double)(1u << i); i++) {
			trials->all[i] += weight * power;
			trials->wrong[i] += weight * (power - power * share);
			power *= power;
		}
	}
}

static bool try_all(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	size_t threads = repair->threads.count;
	settling->trials = calloc(threads + 1, sizeof(*settling->trials));
	if (!settling->trials)
		return false;
	for (size_t i = 0; i < settling->places.capacity; i++) {
		const struct u64map_entry *place = &settling->places.entries[i];
		if (place->used && place->value != NONE)
			try_place(settling, place->value,
				  &settling->trials[repair->nodes.items[place->value].thread]);
	}
	struct trials *common = &settling->trials[threads];
	for (size_t i = 0; i < threads; i++) {
		for (int j = 0; j < VISIT_CLASSES; j++) {
			common->all[j] += settling->trials[i].all[j];
			common->wrong[j] += settling->trials[i].wrong[j];
		}
	}
	return true;
}

/* Whether there are visits around that time, before and after, as there are at others. */
static bool is_near(const struct settling *settling, uint32_t node, uint64_t time_ns)
{
	uint64_t slices = settling->notes.items[node].slices;
	unsigned int at = slice_of(settling, time_ns);
	uint64_t here = UINT64_C(1) << at, before = slices & (here - 1);
	uint64_t after = slices & ~(here - 1) & ~here;
	int last = before ? 63 - __builtin_clzll(before) : -1;
	int next = after ? __builtin_ctzll(after) : 64;
	int most = slices ? GAP_MOST * 64 / __builtin_popcountll(slices) : 0;
	return next - last <= (most > 2 ? most : 2);
}

/* Returns whether `visits` equal visits to a place are enough evidence in the thread. */
static bool is_enough(const struct settling *settling, uint32_t thread, uint32_t visits)
{
	const struct trials *own = &settling->trials[thread];
	const struct trials *common = &settling->trials[settling->repair->threads.count];
	for (int i = 0; i < VISIT_CLASSES && visits >> i; i++) {
		double rate = (common->wrong[i] + 0.5) / (common->all[i] + 1);
		if ((own->wrong[i] + rate * COMMON_TRIALS) / (own->all[i] + COMMON_TRIALS) <=
		    WRONG_MOST)
			return true;
	}
	return false;
}

/* Returns a callee of `parent` in a thread's whole tree; NONE when out of memory or room. */
static uint32_t child_of(struct settling *settling, uint32_t thread, uint32_t parent,
			 const struct repair_node *from)
{
	struct repair *repair = settling->repair;
	struct repair_node node = {
		.hash = path_hash(repair->nodes.items[parent].hash, from->ip, from->sp),
		.ip = from->ip, .sp = from->sp, .parent = parent, .thread = thread,
	};
	uint32_t at = repair_find(repair, node.hash);
	if (at != NONE)
		return at;
	at = repair_add_node(repair, &node);
	if (at == NONE || !vec_reserve(&settling->notes, at + 1))
		return NONE;
	settling->notes.items[at] = (struct node_facts){.twin = NONE};
	settling->notes.count = at + 1;
	link_node(settling, at, place_hash(thread, &node));
	return at;
}

/* `node`, which is of the truncated tree, as it lies below a candidate for its key. */
static uint32_t move_node(struct settling *settling, const struct truncated_stack *job,
			  uint32_t node, uint32_t candidate)
{
	const struct repair *repair = settling->repair;
	uint32_t at = candidate;
	settling->path.count = 0;
	for (; node != job->key; node = repair->nodes.items[node].parent) {
		const uint32_t *known = u64map_find(&settling->moved,
						    (uint64_t)node << 32 | candidate);
		if (known) {
			at = *known;
			break;
		}
		uint32_t *slot = vec_push(&settling->path);
		if (!slot)
			return NONE;
		*slot = node;
	}
	while (at != NONE && settling->path.count) {
		uint32_t index = settling->path.items[--settling->path.count];
		struct repair_node from = repair->nodes.items[index];
		at = child_of(settling, job->thread, at, &from);
		if (at != NONE && !u64map_put(&settling->moved, (uint64_t)index << 32 | candidate,
					      at, NULL))
			return NONE;
	}
	return at;
}

/* The turn of a thread's nearest whole stack before (-1) or after (1) one; SIZE_MAX: none. */
static size_t whole_turn(const struct settling *settling, size_t turn, int step)
{
	size_t at = turn + (size_t)step; /* before the first: huge */
	while (at < settling->repair->stacks.count) {
		uint64_t word = settling->whole_turns[at / 64];
		word = step > 0 ? word >> (at % 64) << (at % 64)
				: word << (63 - at % 64) >> (63 - at % 64);
		if (!word) {
			at = step > 0 ? (at | 63) + 1 : (at & ~(size_t)63) - 1;
			continue;
		}
		at = (at & ~(size_t)63) + (size_t)(step > 0 ? __builtin_ctzll(word)
							     : 63 - __builtin_clzll(word));
		if (at >= settling->repair->stacks.count ||
		    settling->turns[at].thread_name != settling->turns[turn].thread_name)
			return SIZE_MAX;
		return at;
	}
	return SIZE_MAX;
}

/*
 * Returns the innermost node that a joined stack shares with the nearest whole one before or after
 * it; or NONE.
 */
static uint32_t shared_node(const struct settling *settling, size_t turn, uint32_t whole, int step)
{
	const struct repair *repair = settling->repair;
	size_t other = whole_turn(settling, turn, step);
	if (other == SIZE_MAX)
		return NONE;
	return common_node(repair, whole, repair->stacks.items[settling->turns[other].stack].whole);
}

/*
 * Joins a stack with a candidate's callers, if there is room. It is a visit to nodes that
 * neither the whole stack before it nor the one after it goes through; to others it is part of
 * theirs.
 */
static void join(struct settling *settling, const struct truncated_stack *job, uint32_t candidate)
{
	const struct repair *repair = settling->repair;
	uint32_t whole = move_node(settling, job, repair->stacks.items[job->stack].node, candidate);
	size_t turn = settling->turn_of[job->stack];
	repair->stacks.items[job->stack].whole = whole;
	if (whole == NONE)
		return;
	settling->whole_turns[turn / 64] |= UINT64_C(1) << (turn % 64);
	uint32_t before = shared_node(settling, turn, whole, -1);
	uint32_t after = shared_node(settling, turn, whole, 1);
	bool visited = true;
	for (uint32_t at = whole; at != candidate; at = repair->nodes.items[at].parent) {
		visited = visited && at != before && at != after;
		settling->notes.items[at].visits += visited;
		settling->notes.items[at].slices |= UINT64_C(1) << slice_of(settling, job->time_ns);
	}
}

/* The whole stack next to a job's, before (-1) or after it (1); its innermost node, or NONE. */
static uint32_t neighbour(const struct settling *settling, const struct truncated_stack *job,
			  int step, size_t most)
{
	const struct repair *repair = settling->repair;
	size_t at = settling->turn_of[job->stack];
	for (size_t away = 0; away < most; away++) {
		at += (size_t)step; /* before the first: huge */
		if (at >= repair->stacks.count ||
		    settling->turns[at].thread_name != job->thread_name)
			return NONE;
		uint32_t whole = repair->stacks.items[settling->turns[at].stack].whole;
		if (whole != NONE && !repair->stacks.items[settling->turns[at].stack].by_visits)
			return whole;
	}
	return NONE;
}

/* The candidate that the whole stacks before and after go through; NONE if they do not. */
static uint32_t candidate_around(const struct settling *settling, const struct truncated_stack *job,
				 bool only)
{
	const struct repair *repair = settling->repair;
	const struct repair_node *key = &repair->nodes.items[job->key];
	size_t most = only ? NEIGHBOUR_MOST : NEIGHBOUR_MOST_OF_MANY;
	uint32_t before = neighbour(settling, job, -1, most);
	uint32_t after = before == NONE ? NONE : neighbour(settling, job, 1, most);
	if (after == NONE)
		return NONE;
	for (uint32_t at = common_node(repair, before, after); at != NONE;
	     at = repair->nodes.items[at].parent)
		if (repair->nodes.items[at].ip == key->ip && repair->nodes.items[at].sp == key->sp)
			return at;
	return NONE;
}

/* All jobs are for one key. */
static void settle_key(struct settling *settling, const struct truncated_stack *jobs, size_t count)
{
	struct repair *repair = settling->repair;
	const struct repair_node *key = &repair->nodes.items[jobs->key];
	const uint32_t *place = u64map_find(&settling->places, place_hash(jobs->thread, key));
	uint32_t newest = place ? *place : NONE;
	if (newest == NONE)
		return;
	const struct node_facts notes = settling->notes.items[newest];
	bool only = notes.twin == NONE && is_enough(settling, jobs->thread, notes.visits);
	for (size_t i = 0; i < count; i++) {
		repair->stacks.items[jobs[i].stack].known = true;
		uint32_t candidate = candidate_around(settling, &jobs[i], notes.twin == NONE);
		bool by_visits = candidate == NONE && only &&
				 is_near(settling, newest, jobs[i].time_ns);
		if (candidate != NONE || by_visits)
			join(settling, &jobs[i], by_visits ? newest : candidate);
		repair->stacks.items[jobs[i].stack].by_visits = by_visits;
	}
}

static bool settle_all(struct settling *settling)
{
	size_t count;
	if (!make_jobs(settling))
		return false;
	if (!settling->jobs.count)
		return true;
	if (!make_turns(settling) || !make_notes(settling) || !make_places(settling) || !try_all(settling))
		return false;
	const struct truncated_stack *jobs = settling->jobs.items;
	qsort(settling->jobs.items, settling->jobs.count, sizeof(*jobs), compare_jobs);
	for (size_t i = 0; i < settling->jobs.count; i += count) {
		for (count = 1; i + count < settling->jobs.count &&
				jobs[i + count].key == jobs[i].key; count++)
			;
		settle_key(settling, jobs + i, count);
	}
	return true;
}

bool repair_settle(struct repair *repair)
{
	struct settling settling = {.repair = repair};
	bool done = settle_all(&settling);
	settling_deinit(&settling);
	return done;
}
