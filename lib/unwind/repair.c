/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks are paths in trees, from the outermost frame to the innermost, so that what they
 * have in common is kept once. Each thread has two trees: of whole stacks, and of truncated
 * ones, whose outermost frames are not known:
 *
 *	whole      main ─ run ─ parse ─ expr ─ term          truncated     expr ─ term ─ expr
 */
#include "unwind/repair_internal.h"

#include <stdlib.h>
#include "base/cleanup.h"

/* A node with its share of the tables. */
#define NODE_BYTES (sizeof(struct node) + 24)

DEFINE_CLEANUP(struct repair *, repair_free)

struct repair *repair_new(size_t bytes)
{
	struct repair *repair = calloc(1, sizeof(*repair));
	if (!repair)
		return NULL;
	repair->limit = bytes;
	repair->last.root = NONE;
	return repair;
}

static size_t bytes_used(const struct repair *repair)
{
	return repair->nodes.count * NODE_BYTES + repair->stacks.count * sizeof(struct stack);
}

static bool has_room(const struct repair *repair)
{
	return bytes_used(repair) < repair->limit && repair->nodes.count < NONE / 2 &&
	       repair->stacks.count < NONE / 2;
}

static void deinit(struct repair *repair)
{
	vec_deinit(&repair->nodes);
	free(repair->slots);
	u64map_deinit(&repair->twin_of);
	vec_deinit(&repair->stacks);
	vec_deinit(&repair->threads);
	u64map_deinit(&repair->thread_of);
	u64map_deinit(&repair->moved);
	vec_deinit(&repair->last.nodes);
}

void repair_free(struct repair *repair)
{
	if (!repair)
		return;
	deinit(repair);
	free(repair);
}

static inline uint64_t node_hash(uint32_t parent, uint64_t ip, uint64_t sp)
{
	return hash_pair(ip ^ (uint64_t)parent << 32, sp);
}

static bool grow_slots(struct repair *repair)
{
	size_t count = repair->slot_count ? repair->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < repair->nodes.count; i++) {
		const struct node *node = &repair->nodes.items[i];
		size_t slot = node_hash(node->parent, node->ip, node->sp) & (count - 1);
		while (slots[slot])
			slot = (slot + 1) & (count - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	free(repair->slots);
	repair->slots = slots;
	repair->slot_count = count;
	return true;
}

/* The node, made if there is none such; NONE when out of memory or room. */
static uint32_t child_of(struct repair *repair, uint32_t parent, uint64_t ip, uint64_t sp,
			 bool *added_ret)
{
	if ((repair->nodes.count + 1) * 4 > repair->slot_count * 3 && !grow_slots(repair))
		return NONE;
	size_t mask = repair->slot_count - 1, slot = node_hash(parent, ip, sp) & mask;
	*added_ret = false;
	for (; repair->slots[slot]; slot = (slot + 1) & mask) {
		const struct node *node = &repair->nodes.items[repair->slots[slot] - 1];
		if (node->ip == ip && node->sp == sp && node->parent == parent)
			return repair->slots[slot] - 1;
	}
	struct node *node = has_room(repair) ? vec_push(&repair->nodes) : NULL;
	if (!node)
		return NONE;
	*node = (struct node){.ip = ip, .sp = sp, .parent = parent, .twin = NONE,
			      .thread = NO_THREAD};
	repair->slots[slot] = (uint32_t)repair->nodes.count;
	*added_ret = true;
	return repair->slots[slot] - 1;
}

uint64_t repair_place_hash(uint32_t thread, uint64_t ip, uint64_t sp)
{
	return hash_pair(hash_pair(ip, sp), thread);
}

/* As child_of() in a thread's whole tree, where a new node is linked with its twins. */
uint32_t repair_whole_child(struct repair *repair, uint32_t thread, uint32_t parent, uint64_t ip,
			    uint64_t sp)
{
	bool added;
	uint32_t index = child_of(repair, parent, ip, sp, &added);
	if (index == NONE || !added)
		return index;
	uint32_t *newest = u64map_put(&repair->twin_of, repair_place_hash(thread, ip, sp), index,
				      &added);
	if (!newest)
		return NONE;
	struct node *node = &repair->nodes.items[index];
	if (!added) {
		repair->nodes.items[*newest].is_newest = false;
		node->twin = *newest;
		*newest = index;
	}
	node->thread = thread & NO_THREAD;
	node->is_newest = true;
	return index;
}

/* The thread's index; NONE when out of memory or room. */
static uint32_t thread_of(struct repair *repair, uint64_t name)
{
	bool added;
	const uint32_t *known = u64map_find(&repair->thread_of, name);
	if (known)
		return *known;
	struct thread thread = {
		.name = name,
		.whole = child_of(repair, NONE, name, 0, &added),
		.truncated = child_of(repair, NONE, name, 1, &added),
	};
	if (thread.whole == NONE || thread.truncated == NONE ||
	    !vec_reserve(&repair->threads, repair->threads.count + 1) ||
	    !u64map_put(&repair->thread_of, name, (uint32_t)repair->threads.count, NULL))
		return NONE;
	*vec_push(&repair->threads) = thread;
	return (uint32_t)repair->threads.count - 1;
}

static inline uint64_t packed_sp(const struct unwind_frame *frame)
{
	return (frame->sp & ~EXACT) | (frame->exact ? EXACT : 0);
}

/* How many of the outermost frames are those of the last stack. */
static size_t known_path(struct repair *repair, uint32_t root, const struct unwind_frame *frames,
			 size_t count)
{
	struct last_path *last = &repair->last;
	size_t known = 0, most = last->nodes.count < count ? last->nodes.count : count;
	if (last->root != root)
		return 0;
	for (; known < most; known++) {
		struct node *node = &repair->nodes.items[last->nodes.items[known]];
		const struct unwind_frame *frame = &frames[count - 1 - known];
		if (node->ip != frame->ip || node->sp != packed_sp(frame))
			break;
		node->stacks++;
	}
	return known;
}

/* The innermost node of a path below a root; NONE when out of memory or room. */
static uint32_t add_path(struct repair *repair, uint32_t thread, bool whole,
			 const struct unwind_frame *frames, size_t count)
{
	const struct thread *of = &repair->threads.items[thread];
	uint32_t at = whole ? of->whole : of->truncated;
	struct last_path *last = &repair->last;
	size_t known = known_path(repair, at, frames, count);
	last->root = at;
	last->nodes.count = known;
	if (!vec_reserve(&last->nodes, count))
		return NONE;
	if (known)
		at = *vec_last(&last->nodes);
	for (size_t i = known; i < count; i++) {
		const struct unwind_frame *frame = &frames[count - 1 - i];
		bool added;
		at = whole ? repair_whole_child(repair, thread, at, frame->ip, packed_sp(frame)) :
			     child_of(repair, at, frame->ip, packed_sp(frame), &added);
		if (at == NONE)
			return NONE;
		repair->nodes.items[at].stacks++;
		*vec_push(&last->nodes) = at;
	}
	return at;
}

uint32_t repair_add(struct repair *repair, uint64_t thread, uint64_t time_ns,
		    const struct unwind_frame *frames, const struct unwind_result *result)
{
	bool whole = result->end == UNWIND_COMPLETE;
	if (!result->count || (!whole && result->end != UNWIND_TRUNCATED))
		return REPAIR_NONE;
	uint32_t index = thread_of(repair, thread);
	if (index == NONE || !has_room(repair) ||
	    !vec_reserve(&repair->stacks, repair->stacks.count + 1))
		return REPAIR_NONE;
	uint32_t node = add_path(repair, index, whole, frames, result->count);
	if (node == NONE)
		return REPAIR_NONE;
	*vec_push(&repair->stacks) = (struct stack){
		.time_ns = time_ns,
		.thread = index,
		.key = whole ? NONE : repair->last.nodes.items[0],
		.node = node,
		.whole = whole ? node : NONE,
	};
	return (uint32_t)repair->stacks.count - 1;
}

/* Where a node of another repair went. */
struct merged {
	uint32_t node;
	uint32_t thread; /* of the whole tree; NONE: it is of a truncated one */
};

/* Both roots of a thread; false when out of memory or room. */
static bool merge_roots(struct repair *repair, const struct thread *thread, struct merged *merged)
{
	uint32_t index = thread_of(repair, thread->name);
	if (index == NONE)
		return false;
	merged[thread->whole] = (struct merged){repair->threads.items[index].whole, index};
	merged[thread->truncated] = (struct merged){repair->threads.items[index].truncated, NONE};
	return true;
}

/* A node comes after its parent: that was merged, or found no room. */
static void merge_node(struct repair *repair, const struct node *node, struct merged *merged,
		       struct merged *ret)
{
	bool added;
	const struct merged *parent = &merged[node->parent];
	*ret = (struct merged){NONE, parent->thread};
	if (parent->node == NONE)
		return;
	if (parent->thread == NONE)
		ret->node = child_of(repair, parent->node, node->ip, node->sp, &added);
	else
		ret->node = repair_whole_child(repair, parent->thread, parent->node, node->ip,
					       node->sp);
	if (ret->node != NONE)
		repair->nodes.items[ret->node].stacks += node->stacks;
}

static void merge_stack(struct repair *repair, const struct repair *from,
			const struct stack *stack, const struct merged *merged)
{
	struct stack copy = *stack;
	copy.node = stack->node == NONE ? NONE : merged[stack->node].node;
	if (copy.node != NONE) {
		const uint32_t *thread =
			u64map_find(&repair->thread_of, from->threads.items[stack->thread].name);
		copy.thread = *thread;
		copy.key = stack->key == NONE ? NONE : merged[stack->key].node;
		copy.whole = stack->whole == NONE ? NONE : copy.node;
	} else {
		copy.key = copy.whole = NONE;
		copy.thread = 0;
	}
	*vec_push(&repair->stacks) = copy;
}

bool repair_merge(struct repair *repair, const struct repair *from, uint32_t *offset_ret)
{
	*offset_ret = (uint32_t)repair->stacks.count;
	if (!from->stacks.count)
		return true;
	CLEANUP_FREE struct merged *merged = calloc(from->nodes.count, sizeof(*merged));
	if (!merged || !vec_reserve(&repair->stacks, repair->stacks.count + from->stacks.count))
		return false;
	bool roots = true, room = true;
	for (size_t i = 0; i < from->nodes.count; i++)
		merged[i] = (struct merged){NONE, NONE};
	for (size_t i = 0; i < from->threads.count; i++)
		roots &= merge_roots(repair, &from->threads.items[i], merged);
	for (size_t i = 0; i < from->nodes.count; i++) {
		if (from->nodes.items[i].parent == NONE)
			continue;
		merge_node(repair, &from->nodes.items[i], merged, &merged[i]);
		room &= merged[i].node != NONE;
	}
	for (size_t i = 0; i < from->stacks.count; i++)
		merge_stack(repair, from, &from->stacks.items[i], merged);
	return roots && room;
}

/* The frames from a node to the root, without the first `skip` of them: how many there are. */
static size_t copy_path(const struct repair *repair, uint32_t at, size_t skip,
			struct unwind_frame *frames, size_t limit)
{
	size_t count = 0;
	for (; repair->nodes.items[at].parent != NONE; at = repair->nodes.items[at].parent) {
		const struct node *node = &repair->nodes.items[at];
		if (skip) {
			skip--;
			continue;
		}
		if (count < limit)
			frames[count] = (struct unwind_frame){.ip = node->ip,
							      .sp = node->sp & ~EXACT,
							      .exact = node->sp & EXACT};
		count++;
	}
	return count;
}

size_t repair_frames(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		     size_t limit)
{
	const struct stack *of = stack < repair->stacks.count ? &repair->stacks.items[stack] : NULL;
	if (!of || of->node == NONE)
		return 0;
	return copy_path(repair, of->whole == NONE ? of->node : of->whole, 0, frames, limit);
}

size_t repair_outer(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		    size_t limit)
{
	const struct stack *of = stack < repair->stacks.count ? &repair->stacks.items[stack] : NULL;
	if (!of || of->key == NONE || of->whole == NONE)
		return 0;
	size_t own = copy_path(repair, of->node, 0, NULL, 0);
	return copy_path(repair, of->whole, own, frames, limit);
}

/* Copies the newest whole stacks, as many as fill a quarter of the room. */
static void copy_newest(const struct repair *repair, struct repair *copy)
{
	VEC(struct unwind_frame) frames = {0};
	for (size_t i = repair->stacks.count; i-- > 0 && bytes_used(copy) < copy->limit / 4;) {
		const struct stack *stack = &repair->stacks.items[i];
		struct unwind_result result = {.end = UNWIND_COMPLETE};
		if (stack->whole == NONE)
			continue;
		result.count = copy_path(repair, stack->whole, 0, NULL, 0);
		if (!vec_reserve(&frames, result.count))
			break;
		copy_path(repair, stack->whole, 0, frames.items, result.count);
		repair_add(copy, repair->threads.items[stack->thread].name, stack->time_ns,
			   frames.items, &result);
	}
	vec_deinit(&frames);
}

bool repair_forget(struct repair *repair)
{
	if (bytes_used(repair) < repair->limit / 2)
		return true;
	CLEANUP(cleanup_repair_free) struct repair *copy = repair_new(repair->limit);
	if (copy)
		copy_newest(repair, copy);
	size_t limit = repair->limit;
	deinit(repair);
	*repair = (struct repair){.limit = limit, .last = {.root = NONE}};
	if (!copy)
		return false;
	*repair = *copy;
	*copy = (struct repair){0};
	repair->settled = (uint32_t)repair->stacks.count;
	return true;
}
