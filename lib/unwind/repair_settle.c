/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The outermost frame of a truncated stack is its key. The nodes for the same place (ip and
 * sp) in the whole tree are the candidates: each has other callers.
 *
 * If there is one candidate, so many whole stacks are witnesses that the place has these
 * callers. How much that is worth is measured on the whole stacks of the thread: of a place
 * that N stacks go through, shares q1, q2, … of them with different callers, n witnesses
 * agree with a chance of Σq^n, and the next one differs with Σ(q^n - q^(n+1)). Over all
 * places that is how often a join by n witnesses goes wrong. Places deep in the stack, which
 * change more, make it higher than it is where stacks are cut. The witnesses must also be
 * there at the time of the truncated stack: where they stay away for longer than usual, the
 * thread may be doing something else.
 *
 * If there are several, time decides: the whole stacks before and after the truncated one
 * must agree, and where that is tried on the whole stacks through the place themselves, it
 * must hardly ever be wrong.
 *
 * Stacks grow downwards. Keys are gone through from the highest down, so that what a key
 * can be joined with is whole by then: one pass makes whole what can be.
 */
#include "unwind/repair_internal.h"

#include <stdlib.h>
#include <string.h>

/* At most that part of the joins of a kind may be wrong. */
#define WRONG_MOST 0.005

/* Numbers of witnesses: 1, 2 and 3, 4 to 7, … */
#define WITNESS_CLASSES 16

/* A place counts as so many stacks at most: those of main say little of others. */
#define WEIGHT_MOST 10.0

/* Those of all threads count as so many of a thread's own. */
#define COMMON_TRIALS 50

/* So many times longer than on average may witnesses stay away. */
#define GAP_MOST 3

/* So many steps may be spent on keys with several chains, for each stack that is remembered. */
#define STEPS_PER_STACK 2000

/* A truncated stack to settle. */
struct job {
	uint64_t sp; /* of its key */
	uint32_t key, thread, stack;
	uint64_t time_ns;
};

/* By thread, from the highest key down, in order of time. */
static int compare_jobs(const void *a, const void *b)
{
	const struct job *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->sp != y->sp)
		return x->sp > y->sp ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* One whole stack through a place of several chains of callers. */
struct witness {
	uint64_t time_ns;
	uint32_t candidate;
};

static int compare_witnesses(const void *a, const void *b)
{
	const struct witness *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* How often so many witnesses were followed by one like them, and by another. */
struct trials {
	double all[WITNESS_CLASSES], wrong[WITNESS_CLASSES];
};

struct settling {
	struct repair *repair;
	struct trials *trials; /* of each thread, and of all behind them */
	uint64_t first_ns, last_ns;
	VEC(uint64_t) slices; /* for each node, in which 64ths of the time stacks go through it */
	VEC(struct job) jobs;
	uint32_t *by_thread;    /* numbers of stacks, those of one thread together */
	uint32_t *thread_begin; /* where in by_thread; one more than there are threads */
	uint32_t *through;      /* node -> the candidate that it lies below, itself too; or NONE */
	uint32_t *seen;         /* node -> the turn for which `through` holds */
	uint32_t turn;
	uint64_t steps;         /* that are left */
	VEC(struct witness) witnesses;
	VEC(uint32_t) path;
};

static void settling_deinit(struct settling *settling)
{
	vec_deinit(&settling->jobs);
	free(settling->trials);
	vec_deinit(&settling->slices);
	free(settling->by_thread);
	free(settling->thread_begin);
	free(settling->through);
	free(settling->seen);
	vec_deinit(&settling->witnesses);
	vec_deinit(&settling->path);
}

/* Puts the stacks of each thread together. */
static bool sort_threads(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	size_t threads = repair->threads.count;
	uint32_t *begin = calloc(threads + 3, sizeof(*begin));
	settling->thread_begin = begin;
	settling->by_thread = calloc(repair->stacks.count + 1, sizeof(*settling->by_thread));
	if (!begin || !settling->by_thread)
		return false;
	for (size_t i = 0; i < repair->stacks.count; i++)
		begin[repair->stacks.items[i].thread + 2]++;
	for (size_t i = 2; i < threads + 2; i++)
		begin[i] += begin[i - 1];
	for (size_t i = 0; i < repair->stacks.count; i++)
		settling->by_thread[begin[repair->stacks.items[i].thread + 1]++] = (uint32_t)i;
	return true;
}

static bool make_jobs(struct settling *settling)
{
	struct repair *repair = settling->repair;
	for (uint32_t i = repair->settled; i < repair->stacks.count; i++) {
		const struct stack *stack = &repair->stacks.items[i];
		if (stack->key == NONE)
			continue;
		struct job *job = vec_push(&settling->jobs);
		if (!job)
			return false;
		*job = (struct job){
			.sp = repair->nodes.items[stack->key].sp & ~EXACT,
			.key = stack->key,
			.thread = stack->thread,
			.stack = i,
			.time_ns = stack->time_ns,
		};
	}
	repair->settled = (uint32_t)repair->stacks.count;
	return true;
}

/* What the whole stacks through one place say; `newest` begins its list of nodes. */
static void try_place(const struct repair *repair, const struct node *newest,
		      struct trials *trials)
{
	double all = 0;
	for (const struct node *at = newest;; at = &repair->nodes.items[at->twin]) {
		all += at->stacks;
		if (at->twin == NONE)
			break;
	}
	double weight = all < WEIGHT_MOST ? all : WEIGHT_MOST;
	for (const struct node *at = newest;; at = &repair->nodes.items[at->twin]) {
		double share = at->stacks / all, power = share;
		for (int i = 0; i < WITNESS_CLASSES && all > (double)(1u << i); i++) {
			trials->all[i] += weight * power;
			trials->wrong[i] += weight * (power - power * share);
			power *= power;
		}
		if (at->twin == NONE)
			break;
	}
}

static bool try_all(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	size_t threads = repair->threads.count;
	settling->trials = calloc(threads + 1, sizeof(*settling->trials));
	if (!settling->trials)
		return false;
	for (size_t i = 0; i < repair->nodes.count; i++) {
		const struct node *node = &repair->nodes.items[i];
		if (node->is_newest && node->stacks)
			try_place(repair, node, &settling->trials[node->thread]);
	}
	struct trials *common = &settling->trials[threads];
	for (size_t i = 0; i < threads; i++) {
		for (int j = 0; j < WITNESS_CLASSES; j++) {
			common->all[j] += settling->trials[i].all[j];
			common->wrong[j] += settling->trials[i].wrong[j];
		}
	}
	return true;
}

static unsigned int slice_of(const struct settling *settling, uint64_t time_ns)
{
	double part = (double)(time_ns - settling->first_ns) /
		      ((double)(settling->last_ns - settling->first_ns) + 1);
	return (unsigned int)(part * 64) & 63;
}

/* Notes when whole stacks go through each node. */
static bool find_slices(struct settling *settling)
{
	const struct repair *repair = settling->repair;
	settling->first_ns = UINT64_MAX;
	if (!vec_reserve(&settling->slices, repair->nodes.count))
		return false;
	settling->slices.count = repair->nodes.count;
	memset(settling->slices.items, 0, repair->nodes.count * sizeof(uint64_t));
	for (size_t i = 0; i < repair->stacks.count; i++) {
		uint64_t time_ns = repair->stacks.items[i].time_ns;
		settling->first_ns = time_ns < settling->first_ns ? time_ns : settling->first_ns;
		settling->last_ns = time_ns > settling->last_ns ? time_ns : settling->last_ns;
	}
	for (size_t i = 0; i < repair->stacks.count; i++) {
		const struct stack *stack = &repair->stacks.items[i];
		if (stack->whole != NONE)
			settling->slices.items[stack->whole] |=
				UINT64_C(1) << slice_of(settling, stack->time_ns);
	}
	/* Callers have lower numbers than what they call. */
	for (size_t i = repair->nodes.count; i-- > 0;)
		if (repair->nodes.items[i].parent != NONE)
			settling->slices.items[repair->nodes.items[i].parent] |=
				settling->slices.items[i];
	return true;
}

/* Whether stacks go through the node around that time, before and after, as they do at others. */
static bool is_near(const struct settling *settling, uint32_t node, uint64_t time_ns)
{
	uint64_t slices = settling->slices.items[node];
	unsigned int at = slice_of(settling, time_ns);
	uint64_t here = UINT64_C(1) << at, before = slices & (here - 1);
	uint64_t after = slices & ~(here - 1) & ~here;
	int last = before ? 63 - __builtin_clzll(before) : -1;
	int next = after ? __builtin_ctzll(after) : 64;
	int most = slices ? GAP_MOST * 64 / __builtin_popcountll(slices) : 0;
	return next - last <= (most > 2 ? most : 2);
}

/* Whether so many witnesses, who agree, are enough in the thread. */
static bool is_enough(const struct settling *settling, uint32_t thread, uint32_t witnesses)
{
	const struct trials *own = &settling->trials[thread];
	const struct trials *common = &settling->trials[settling->repair->threads.count];
	for (int i = 0; i < WITNESS_CLASSES && witnesses >> i; i++) {
		double rate = (common->wrong[i] + 0.5) / (common->all[i] + 1);
		if ((own->wrong[i] + rate * COMMON_TRIALS) / (own->all[i] + COMMON_TRIALS) <=
		    WRONG_MOST)
			return true;
	}
	return false;
}

/* The newest node for the key's place among whole stacks; NONE if there is none. */
static uint32_t first_candidate(const struct repair *repair, const struct job *job)
{
	const struct node *key = &repair->nodes.items[job->key];
	const uint32_t *first =
		u64map_find(&repair->twin_of, repair_place_hash(job->thread, key->ip, key->sp));
	if (!first || repair->nodes.items[*first].ip != key->ip ||
	    repair->nodes.items[*first].sp != key->sp)
		return NONE;
	return *first;
}

/* `node`, which is of the truncated tree, as it lies below a candidate for its key. */
static uint32_t move_node(struct settling *settling, const struct job *job, uint32_t node,
			  uint32_t candidate)
{
	struct repair *repair = settling->repair;
	uint32_t at = candidate;
	settling->path.count = 0;
	for (; node != job->key; node = repair->nodes.items[node].parent) {
		const uint32_t *known = u64map_find(&repair->moved,
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
	while (settling->path.count) {
		uint32_t from = settling->path.items[--settling->path.count];
		at = repair_whole_child(repair, job->thread, at, repair->nodes.items[from].ip,
				 repair->nodes.items[from].sp);
		if (at == NONE || !u64map_put(&repair->moved, (uint64_t)from << 32 | candidate, at,
					      NULL))
			return NONE;
	}
	return at;
}

/* Joins a stack with a candidate's callers, if there is room. */
static void join(struct settling *settling, const struct job *job, uint32_t candidate)
{
	struct repair *repair = settling->repair;
	struct stack *stack = &repair->stacks.items[job->stack];
	stack->whole = move_node(settling, job, stack->node, candidate);
	if (stack->whole == NONE || !vec_reserve(&settling->slices, repair->nodes.count))
		return;
	while (settling->slices.count < repair->nodes.count)
		settling->slices.items[settling->slices.count++] = 0;
	for (uint32_t at = stack->whole; at != candidate; at = repair->nodes.items[at].parent) {
		repair->nodes.items[at].stacks++;
		settling->slices.items[at] |= UINT64_C(1) << slice_of(settling, job->time_ns);
	}
}

/* The candidate that a node lies below, itself too; NONE if none. `lowest` is their lowest. */
static uint32_t candidate_above(struct settling *settling, uint32_t node, uint32_t lowest)
{
	const struct repair *repair = settling->repair;
	uint32_t at = node, found = NONE;
	/* Callers have lower numbers than what they call. */
	for (; at != NONE && at >= lowest; at = repair->nodes.items[at].parent) {
		settling->steps -= settling->steps > 0;
		if (settling->seen[at] == settling->turn) {
			found = settling->through[at];
			break;
		}
	}
	for (; node != at && node != NONE; node = repair->nodes.items[node].parent) {
		settling->seen[node] = settling->turn;
		settling->through[node] = found;
	}
	return found;
}

/* Room for the notes of candidate_above() on all nodes that there are by now. */
static bool next_turn(struct settling *settling, size_t *room)
{
	size_t count = settling->repair->nodes.count;
	if (count > *room) {
		size_t more = count + count / 2;
		uint32_t *through = realloc(settling->through, more * sizeof(*through));
		if (through)
			settling->through = through;
		uint32_t *seen = realloc(settling->seen, more * sizeof(*seen));
		if (seen)
			settling->seen = seen;
		if (!through || !seen)
			return false;
		for (size_t i = *room; i < more; i++)
			seen[i] = 0;
		*room = more;
	}
	settling->turn++;
	return true;
}

/* Who of the thread went through which candidate when, sorted. */
static bool find_witnesses(struct settling *settling, const struct job *job, uint32_t first,
			   size_t *room)
{
	const struct repair *repair = settling->repair;
	uint32_t lowest = first;
	if (!next_turn(settling, room))
		return false;
	for (uint32_t at = first; at != NONE; at = repair->nodes.items[at].twin) {
		settling->seen[at] = settling->turn;
		settling->through[at] = at;
		lowest = at < lowest ? at : lowest;
	}
	settling->witnesses.count = 0;
	for (uint32_t i = settling->thread_begin[job->thread];
	     settling->steps && i < settling->thread_begin[job->thread + 1]; i++) {
		const struct stack *stack = &repair->stacks.items[settling->by_thread[i]];
		uint32_t candidate = stack->whole == NONE ? NONE :
				     candidate_above(settling, stack->whole, lowest);
		struct witness *witness = candidate == NONE ? NULL : vec_push(&settling->witnesses);
		if (witness)
			*witness = (struct witness){stack->time_ns, candidate};
		else if (candidate != NONE)
			return false;
	}
	if (settling->witnesses.count)
		qsort(settling->witnesses.items, settling->witnesses.count,
		      sizeof(*settling->witnesses.items), compare_witnesses);
	return true;
}

/* Whether time tells: how often one of the witnesses differs from its neighbours that agree. */
static bool is_steady(const struct settling *settling)
{
	const struct witness *witness = settling->witnesses.items;
	size_t tried = 0, wrong = 0;
	for (size_t i = 1; i + 1 < settling->witnesses.count; i++) {
		if (witness[i - 1].candidate != witness[i + 1].candidate)
			continue;
		tried++;
		wrong += witness[i].candidate != witness[i - 1].candidate;
	}
	return ((double)wrong + 0.5) / ((double)tried + 1) <= WRONG_MOST;
}

/* Joins those between two whole stacks that agree. All jobs are for one key. */
static void join_by_time(struct settling *settling, const struct job *jobs, size_t count)
{
	size_t next = 0, witnesses = settling->witnesses.count;
	const struct witness *witness = settling->witnesses.items;
	if (!witnesses)
		return;
	uint64_t gap_ns = (witness[witnesses - 1].time_ns - witness[0].time_ns) / witnesses;
	if (!is_steady(settling))
		return;
	for (size_t i = 0; i < count; i++) {
		while (next < witnesses && witness[next].time_ns <= jobs[i].time_ns)
			next++;
		if (next && next < witnesses &&
		    witness[next].candidate == witness[next - 1].candidate &&
		    witness[next].time_ns - witness[next - 1].time_ns <= GAP_MOST * gap_ns)
			join(settling, &jobs[i], witness[next].candidate);
	}
}

static bool settle_key(struct settling *settling, const struct job *jobs, size_t count,
		       size_t *room)
{
	const struct repair *repair = settling->repair;
	uint32_t first = first_candidate(repair, jobs);
	if (first == NONE)
		return true;
	if (repair->nodes.items[first].twin != NONE) {
		if (!settling->steps)
			return true;
		if (!find_witnesses(settling, jobs, first, room))
			return false;
		if (settling->steps)
			join_by_time(settling, jobs, count);
		return true;
	}
	bool enough = is_enough(settling, jobs->thread, repair->nodes.items[first].stacks);
	for (size_t i = 0; enough && i < count; i++)
		if (is_near(settling, first, jobs[i].time_ns))
			join(settling, &jobs[i], first);
	return true;
}

static bool settle_all(struct settling *settling)
{
	size_t room = 0, count;
	if (!make_jobs(settling))
		return false;
	if (!settling->jobs.count)
		return true;
	if (!sort_threads(settling) || !try_all(settling) || !find_slices(settling))
		return false;
	settling->steps = STEPS_PER_STACK * (uint64_t)settling->repair->stacks.count;
	const struct job *jobs = settling->jobs.items;
	qsort(settling->jobs.items, settling->jobs.count, sizeof(*jobs), compare_jobs);
	for (size_t i = 0; i < settling->jobs.count; i += count) {
		for (count = 1; i + count < settling->jobs.count &&
				jobs[i + count].key == jobs[i].key; count++)
			;
		if (!settle_key(settling, jobs + i, count, &room))
			return false;
	}
	return true;
}

bool repair_settle(struct repair *repair)
{
	struct settling settling = {.repair = repair};
	bool done = settle_all(&settling);
	settling_deinit(&settling);
	u64map_deinit(&repair->moved);
	repair->last.root = NONE;
	return done;
}
