/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The outermost frame of a truncated stack is its key. The nodes for the same place (ip and sp) in
 * the tree of complete stacks are the candidates: each has other callers. Two facts show that a
 * candidate is right:
 *
 * - The complete stacks right before and after the truncated one both go through it: then the
 *   thread has not left the frame.
 *
 * - The thread left the frame, and came back to the place so often that it is known to have these
 *   callers only (repair_visits.h). Visits must also be there around the time of the truncated
 *   stack: if none is for longer than usual, the thread may be doing something else.
 *
 * Stacks grow downwards. Keys are tried from the highest address down, so that all stacks that a
 * key can be joined with are complete by then. Thus one pass is enough.
 */
#include <stdlib.h>
#include "unwind/repair_visits.h"

/*
 * Limit of the distance to the complete stacks before and after, in stacks; and the limit if the
 * place is known to have several callers, between which the thread may have alternated.
 */
#define NEIGHBOUR_MOST 64
#define NEIGHBOUR_MOST_OF_MANY 1

/* A truncated stack to complete. */
struct truncated_stack {
	uint64_t thread_id;
	uint64_t sp, ip; /* the key's; sp without EXACT */
	uint64_t time_ns;
	uint32_t key, thread, stack;
};

/* Orders by thread, from the highest key down, by time. */
static int compare_jobs(const void *a, const void *b)
{
	const struct truncated_stack *x = a, *y = b;
	return u64_order(x->thread_id, y->thread_id) ?: u64_order(y->sp, x->sp)
		?: u64_order(x->ip, y->ip) ?: u64_order(x->time_ns, y->time_ns)
		?: u64_order(x->stack, y->stack);
}

struct completion {
	struct repair *repair;
	VEC(struct truncated_stack) jobs;
	struct repair_turn *turns; /* all stacks by thread and time */
	uint32_t *turn_of;         /* stack -> its index in turns */
	uint64_t *whole_turns;     /* a bit for each turn: the stack is complete */
	struct visits visits;
	VEC(uint32_t) path;        /* buffer of move_node() */
	struct u64map moved;       /* (node of a truncated stack, candidate) -> complete node */
};

static int compare_turns(const void *a, const void *b)
{
	const struct repair_turn *x = a, *y = b;
	return u64_order(x->thread_id, y->thread_id) ?: u64_order(x->time_ns, y->time_ns)
		?: u64_order(x->stack, y->stack);
}

static bool make_turns(struct completion *completion)
{
	const struct repair *repair = completion->repair;
	size_t count = repair->stacks.count;
	struct repair_turn *turns = calloc(count + 1, sizeof(*turns));
	completion->turns = turns;
	completion->turn_of = calloc(count + 1, sizeof(*completion->turn_of));
	completion->whole_turns = calloc(count / 64 + 1, sizeof(*completion->whole_turns));
	if (!turns || !completion->turn_of || !completion->whole_turns)
		return false;
	for (size_t i = 0; i < count; i++)
		turns[i] = (struct repair_turn){
			.thread_id = repair->threads.items[repair->stacks.items[i].thread].id,
			.time_ns = repair->stacks.items[i].time_ns,
			.stack = i,
		};
	qsort(turns, count, sizeof(*turns), compare_turns);
	for (size_t i = 0; i < count; i++) {
		completion->turn_of[turns[i].stack] = i;
		if (repair->stacks.items[turns[i].stack].whole != NONE)
			completion->whole_turns[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return true;
}

static bool make_jobs(struct completion *completion)
{
	struct repair *repair = completion->repair;
	for (uint32_t i = repair->tried; i < repair->stacks.count; i++) {
		const struct repair_stack *stack = &repair->stacks.items[i];
		if (stack->key == NONE)
			continue;
		struct truncated_stack *job = vec_push(&completion->jobs);
		if (!job)
			return false;
		*job = (struct truncated_stack){
			.thread_id = repair->threads.items[stack->thread].id,
			.sp = repair->nodes.items[stack->key].sp & ~EXACT,
			.ip = repair->nodes.items[stack->key].ip,
			.time_ns = stack->time_ns,
			.key = stack->key,
			.thread = stack->thread,
			.stack = i,
		};
	}
	repair->tried = repair->stacks.count;
	return true;
}

/* Returns a callee of `parent` in a thread's complete stacks; NONE when out of memory or room. */
static uint32_t child_of(struct completion *completion, uint32_t thread, uint32_t parent,
			 const struct repair_node *from)
{
	struct repair *repair = completion->repair;
	struct repair_node node = {
		.hash = path_hash(repair->nodes.items[parent].hash, from->ip, from->sp),
		.ip = from->ip, .sp = from->sp, .parent = parent, .thread = thread,
	};
	uint32_t at = repair_find(repair, node.hash);
	if (at != NONE)
		return at;
	at = repair_add_node(repair, &node);
	return at != NONE && visits_add_node(&completion->visits, at) ? at : NONE;
}

/* Returns the copy, below a candidate for the job's key, of a node of a truncated stack. */
static uint32_t move_node(struct completion *completion, const struct truncated_stack *job,
			  uint32_t node, uint32_t candidate)
{
	const struct repair *repair = completion->repair;
	uint32_t at = candidate;
	completion->path.count = 0;
	for (; node != job->key; node = repair->nodes.items[node].parent) {
		const uint32_t *known = u64map_find(&completion->moved,
						    (uint64_t)node << 32 | candidate);
		if (known) {
			at = *known;
			break;
		}
		if (!vec_append(&completion->path, node))
			return NONE;
	}
	while (at != NONE && completion->path.count) {
		uint32_t index = completion->path.items[--completion->path.count];
		struct repair_node from = repair->nodes.items[index];
		at = child_of(completion, job->thread, at, &from);
		if (at != NONE && !u64map_put(&completion->moved, (uint64_t)index << 32 | candidate,
					      at, NULL))
			return NONE;
	}
	return at;
}

/*
 * Returns the turn of the thread's nearest complete stack before (-1) or after (1) one; or
 * SIZE_MAX.
 */
static size_t whole_turn(const struct completion *completion, size_t turn, int step)
{
	size_t at = turn + (size_t)step; /* before the first: huge */
	while (at < completion->repair->stacks.count) {
		uint64_t word = completion->whole_turns[at / 64];
		word = step > 0 ? word >> (at % 64) << (at % 64)
				: word << (63 - at % 64) >> (63 - at % 64);
		if (!word) {
			at = step > 0 ? (at | 63) + 1 : (at & ~(size_t)63) - 1;
			continue;
		}
		at = (at & ~(size_t)63) + (size_t)(step > 0 ? __builtin_ctzll(word)
							     : 63 - __builtin_clzll(word));
		if (at >= completion->repair->stacks.count ||
		    completion->turns[at].thread_id != completion->turns[turn].thread_id)
			return SIZE_MAX;
		return at;
	}
	return SIZE_MAX;
}

/*
 * Returns the innermost node that a joined stack shares with the nearest complete one before or
 * after it; or NONE.
 */
static uint32_t shared_node(const struct completion *completion, size_t turn, uint32_t whole,
			    int step)
{
	const struct repair *repair = completion->repair;
	size_t other = whole_turn(completion, turn, step);
	if (other == SIZE_MAX)
		return NONE;
	uint32_t stack = completion->turns[other].stack;
	return repair_common_node(repair, whole, repair->stacks.items[stack].whole);
}

/*
 * Joins a stack with a candidate's callers, if there is room. It is a visit to nodes that neither
 * the complete stack before it nor the one after it goes through; to others it is part of theirs.
 */
static void join(struct completion *completion, const struct truncated_stack *job,
		 uint32_t candidate)
{
	const struct repair *repair = completion->repair;
	uint32_t whole = move_node(completion, job, repair->stacks.items[job->stack].node,
				   candidate);
	size_t turn = completion->turn_of[job->stack];
	repair->stacks.items[job->stack].whole = whole;
	if (whole == NONE)
		return;
	completion->whole_turns[turn / 64] |= UINT64_C(1) << (turn % 64);
	uint32_t before = shared_node(completion, turn, whole, -1);
	uint32_t after = shared_node(completion, turn, whole, 1);
	bool visited = true;
	for (uint32_t at = whole; at != candidate; at = repair->nodes.items[at].parent) {
		visited = visited && at != before && at != after;
		visits_add(&completion->visits, at, job->time_ns, visited);
	}
}

/*
 * Returns the innermost node of the complete stack next to a job's, before (-1) or after it (1); or
 * NONE.
 */
static uint32_t neighbour(const struct completion *completion, const struct truncated_stack *job,
			  int step, size_t most)
{
	const struct repair *repair = completion->repair;
	size_t at = completion->turn_of[job->stack];
	for (size_t away = 0; away < most; away++) {
		at += (size_t)step; /* before the first: huge */
		if (at >= repair->stacks.count || completion->turns[at].thread_id != job->thread_id)
			return NONE;
		uint32_t whole = repair->stacks.items[completion->turns[at].stack].whole;
		if (whole != NONE && !repair->stacks.items[completion->turns[at].stack].by_visits)
			return whole;
	}
	return NONE;
}

/* Returns the candidate that the complete stacks before and after go through; or NONE. */
static uint32_t candidate_around(const struct completion *completion,
				 const struct truncated_stack *job, bool only)
{
	const struct repair *repair = completion->repair;
	const struct repair_node *key = &repair->nodes.items[job->key];
	size_t most = only ? NEIGHBOUR_MOST : NEIGHBOUR_MOST_OF_MANY;
	uint32_t before = neighbour(completion, job, -1, most);
	uint32_t after = before == NONE ? NONE : neighbour(completion, job, 1, most);
	if (after == NONE)
		return NONE;
	for (uint32_t at = repair_common_node(repair, before, after); at != NONE;
	     at = repair->nodes.items[at].parent)
		if (repair->nodes.items[at].ip == key->ip && repair->nodes.items[at].sp == key->sp)
			return at;
	return NONE;
}

/* Completes the stacks of jobs for one key. */
static void complete_key(struct completion *completion, const struct truncated_stack *jobs,
			 size_t count)
{
	struct repair *repair = completion->repair;
	const struct visits *visits = &completion->visits;
	uint32_t newest = visits_find(visits, jobs->thread, &repair->nodes.items[jobs->key]);
	if (newest == NONE)
		return;
	const struct node_visits node = visits->nodes.items[newest];
	bool only = node.twin == NONE && visits_are_enough(visits, jobs->thread, node.visits);
	for (size_t i = 0; i < count; i++) {
		repair->stacks.items[jobs[i].stack].known = true;
		uint32_t candidate = candidate_around(completion, &jobs[i], node.twin == NONE);
		bool by_visits = candidate == NONE && only &&
				 visits_are_near(visits, newest, jobs[i].time_ns);
		if (candidate != NONE || by_visits)
			join(completion, &jobs[i], by_visits ? newest : candidate);
		repair->stacks.items[jobs[i].stack].by_visits = by_visits;
	}
}

static bool complete_all(struct completion *completion)
{
	const struct repair *repair = completion->repair;
	if (!make_jobs(completion))
		return false;
	if (!completion->jobs.count)
		return true;
	const struct truncated_stack *jobs = completion->jobs.items;
	for (size_t i = 0; i < completion->jobs.count; i++)
		if (!visits_want_place(&completion->visits, jobs[i].thread,
				       &repair->nodes.items[jobs[i].key]))
			return false;
	if (!make_turns(completion) || !visits_count(&completion->visits, completion->turns))
		return false;
	vec_sort(&completion->jobs, compare_jobs);
	for (size_t i = 0, count; i < completion->jobs.count; i += count) {
		for (count = 1; i + count < completion->jobs.count &&
				jobs[i + count].key == jobs[i].key; count++)
			;
		complete_key(completion, jobs + i, count);
	}
	return true;
}

bool repair_complete(struct repair *repair)
{
	struct completion completion = {.repair = repair, .visits.repair = repair};
	bool done = complete_all(&completion);
	vec_deinit(&completion.jobs);
	free(completion.turns);
	free(completion.turn_of);
	free(completion.whole_turns);
	visits_deinit(&completion.visits);
	vec_deinit(&completion.path);
	u64map_deinit(&completion.moved);
	return done;
}
