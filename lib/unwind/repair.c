/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks are paths in trees, from the outermost frame to the innermost, so that common outer frames
 * are stored once. Each thread has two trees: one of whole stacks, and one of truncated stacks.
 * Before its first truncated stack, it only has a log of whole ones (repair_log.c).
 *
 *	whole      main ─ run ─ parse ─ expr ─ term          truncated     expr ─ term ─ expr
 */
#include "unwind/repair_internal.h"

#include <stdlib.h>
#include "base/cleanup.h"

/* Memory for a node, with its share of the table. */
#define NODE_BYTES (sizeof(struct repair_node) + 2 * sizeof(struct repair_slot))

/* Memory for a thread without its log, with its share of the half full table of threads. */
#define THREAD_BYTES (sizeof(struct thread) + 2 * sizeof(struct u64map_entry))

/* A copy rarely ends inside of a smaller frame that begins in it. */
#define LARGE_FRAME 512

DEFINE_CLEANUP(struct repair *, repair_free)

struct repair *repair_new(size_t bytes)
{
	struct repair *repair = calloc(1, sizeof(*repair));
	if (!repair)
		return NULL;
	repair->limit = bytes;
	return repair;
}

static size_t bytes_used(const struct repair *repair)
{
	return repair->nodes.count * NODE_BYTES +
	       repair->stacks.count * sizeof(struct repair_stack) +
	       repair->threads.count * THREAD_BYTES + repair->log_bytes;
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
	vec_deinit(&repair->stacks);
	vec_each (thread, &repair->threads)
		log_deinit(&thread->log);
	vec_deinit(&repair->threads);
	u64map_deinit(&repair->thread_of);
	vec_deinit(&repair->hashes);
}

void repair_free(struct repair *repair)
{
	if (!repair)
		return;
	deinit(repair);
	free(repair);
}

static void put_slot(struct repair_slot *slots, size_t count, struct repair_slot slot)
{
	size_t at = slot.hash & (count - 1);
	while (slots[at].node)
		at = (at + 1) & (count - 1);
	slots[at] = slot;
}

static bool grow_slots(struct repair *repair)
{
	size_t count = repair->slot_count ? repair->slot_count * 2 : 1024;
	struct repair_slot *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < repair->slot_count; i++)
		if (repair->slots[i].node)
			put_slot(slots, count, repair->slots[i]);
	free(repair->slots);
	repair->slots = slots;
	repair->slot_count = count;
	return true;
}

uint32_t repair_find(const struct repair *repair, uint64_t hash)
{
	size_t mask = repair->slot_count - 1;
	if (!repair->slot_count)
		return NONE;
	for (size_t at = hash & mask; repair->slots[at].node; at = (at + 1) & mask)
		if (repair->slots[at].hash == hash)
			return repair->slots[at].node - 1;
	return NONE;
}

uint32_t repair_add_node(struct repair *repair, const struct repair_node *node)
{
	if ((repair->nodes.count + 1) * 4 > repair->slot_count * 3 && !grow_slots(repair))
		return NONE;
	struct repair_node *slot = has_room(repair) ? vec_push(&repair->nodes) : NULL;
	if (!slot)
		return NONE;
	*slot = *node;
	put_slot(repair->slots, repair->slot_count,
		 (struct repair_slot){node->hash, (uint32_t)repair->nodes.count});
	return (uint32_t)repair->nodes.count - 1;
}

/* Returns one of a thread's two roots; NONE when out of memory or room. */
static uint32_t root_of(struct repair *repair, uint64_t thread_id, bool whole)
{
	/* The roots' hashes differ only by `whole`. */
	struct repair_node root = {
		.hash = hash_pair(hash_u64(thread_id), 0x7265706169720000 + whole),
		.ip = thread_id, .parent = NONE, .thread = NONE};
	uint32_t known = repair_find(repair, root.hash);
	return known == NONE ? repair_add_node(repair, &root) : known;
}

/* Returns the thread's index, added if new; NONE when out of memory. */
static uint32_t thread_of(struct repair *repair, uint64_t thread_id)
{
	uint32_t last = repair->last_thread;
	if (last < repair->threads.count && repair->threads.items[last].id == thread_id)
		return last;
	const uint32_t *known = u64map_find(&repair->thread_of, thread_id);
	if (known) {
		repair->last_thread = *known;
		return *known;
	}
	if (!vec_reserve(&repair->threads, repair->threads.count + 1) ||
	    !u64map_put(&repair->thread_of, thread_id, repair->threads.count, NULL))
		return NONE;
	*vec_push(&repair->threads) =
		(struct thread){.id = thread_id, .whole = NONE, .truncated = NONE};
	repair->last_thread = (uint32_t)repair->threads.count - 1;
	return repair->last_thread;
}

static bool has_trees(const struct repair *repair, uint32_t index)
{
	return repair->threads.items[index].truncated != NONE;
}

/*
 * Returns the innermost node of a path below a root, which is added as needed; NONE when out of
 * memory or room. The search begins at the innermost frame, because most of a path is usually
 * known.
 */
static uint32_t add_path(struct repair *repair, uint32_t root, uint32_t index,
			 const struct unwind_frame *frames, size_t count)
{
	uint64_t hash = repair->nodes.items[root].hash;
	uint32_t at = NONE;
	size_t known = count;
	if (!vec_reserve(&repair->hashes, count))
		return NONE;
	for (size_t i = 0; i < count; i++) {
		const struct unwind_frame *frame = &frames[count - 1 - i];
		hash = path_hash(hash, frame->ip, packed_sp(frame));
		repair->hashes.items[i] = hash;
	}
	while (known && (at = repair_find(repair, repair->hashes.items[known - 1])) == NONE)
		known--;
	if (!known)
		at = root;
	for (; known < count && at != NONE; known++) {
		const struct unwind_frame *frame = &frames[count - 1 - known];
		at = repair_add_node(repair, &(struct repair_node){
			.hash = repair->hashes.items[known],
			.ip = frame->ip,
			.sp = packed_sp(frame),
			.parent = at,
			.thread = index,
		});
	}
	return at;
}

/*
 * Returns whether a stack can be truncated at its innermost frame. If not, whole stacks are stored
 * without that frame, since it runs at many places.
 */
static bool can_be_key(const struct unwind_frame *frames)
{
	return !frames[0].exact || frames[1].sp - frames[0].sp >= LARGE_FRAME;
}

static bool push_whole(struct repair *repair, uint32_t index, uint64_t time_ns, uint32_t node)
{
	struct repair_stack *stack = has_room(repair) ? vec_push(&repair->stacks) : NULL;
	if (!stack)
		return false;
	*stack = (struct repair_stack){
		.time_ns = time_ns, .thread = index, .key = NONE, .node = node, .whole = node};
	return true;
}

/* Nodes of the previous stack, outermost first. */
struct stack_path {
	VEC(uint32_t);
};

/* Adds a stack of a log. `words`: its difference from the previous one. */
static bool add_logged(struct repair *repair, uint32_t index, const uint64_t *words,
		       struct stack_path *path)
{
	size_t shared = words[1] >> 32, count = shared + (uint32_t)words[1];
	uint32_t at = shared ? path->items[shared - 1] : repair->threads.items[index].whole;
	bool room = vec_reserve(path, count);
	for (size_t i = shared; i < count && room; i++) {
		const uint64_t *frame = words + 2 + 2 * (i - shared);
		struct repair_node node = {
			.hash = path_hash(repair->nodes.items[at].hash, frame[0], frame[1]),
			.ip = frame[0], .sp = frame[1], .parent = at, .thread = index,
		};
		at = repair_find(repair, node.hash);
		if (at == NONE)
			at = repair_add_node(repair, &node);
		room = at != NONE;
		path->items[i] = at;
	}
	return room && push_whole(repair, index, words[0], at);
}

/* Adds a log's stacks to its thread's tree. Returns false when out of memory or room. */
static bool add_log(struct repair *repair, uint32_t index, const struct log *log)
{
	struct stack_path path = {0};
	bool room = true;
	for (const struct log_block *block = log->first; block && room; block = block->next)
		for (size_t i = 0; i < block->count && room;) {
			room = add_logged(repair, index, block->words + i, &path);
			i += 2 + 2 * (size_t)(uint32_t)block->words[i + 1];
		}
	vec_deinit(&path);
	return room;
}

static void drop_log(struct repair *repair, struct thread *thread)
{
	repair->log_bytes -= log_bytes(&thread->log);
	log_deinit(&thread->log);
}

/* Drops logs of other threads for memory: the thread that needs it comes first. */
static bool make_room(struct repair *repair, uint32_t index)
{
	for (size_t i = 0; i < repair->threads.count && !has_room(repair); i++)
		if (i != index)
			drop_log(repair, &repair->threads.items[i]);
	return has_room(repair);
}

/* Begins to store a thread's stacks in trees. Returns false when out of memory or room. */
static bool make_trees(struct repair *repair, uint32_t index)
{
	if (has_trees(repair, index))
		return true;
	struct thread *thread = &repair->threads.items[index];
	(void)make_room(repair, index);
	thread->whole = root_of(repair, thread->id, true);
	thread->truncated = thread->whole == NONE ? NONE : root_of(repair, thread->id, false);
	if (thread->truncated == NONE)
		return false;
	(void)add_log(repair, index, &thread->log); /* limited by memory */
	drop_log(repair, thread);
	return true;
}

/* Drops older whole stacks if memory is short: the newest is worth more. */
static bool add_to_log(struct repair *repair, uint32_t index, uint64_t time_ns,
		       const struct unwind_frame *frames, size_t count)
{
	struct thread *thread = &repair->threads.items[index];
	if (!has_room(repair))
		drop_log(repair, thread);
	size_t before = log_bytes(&thread->log);
	bool added = has_room(repair) && log_add(&thread->log, time_ns, frames, count);
	repair->log_bytes += log_bytes(&thread->log) - before;
	return added;
}

static uint32_t add_whole(struct repair *repair, uint32_t index, uint64_t time_ns,
			  const struct unwind_frame *frames, size_t count)
{
	size_t skip = count > 1 && !can_be_key(frames);
	frames += skip;
	count -= skip;
	if (!has_trees(repair, index))
		return add_to_log(repair, index, time_ns, frames, count) ? REPAIR_WHOLE
									 : REPAIR_NONE;
	if (!make_room(repair, index))
		return REPAIR_NONE;
	uint32_t node = add_path(repair, repair->threads.items[index].whole, index, frames, count);
	return node != NONE && push_whole(repair, index, time_ns, node) ? REPAIR_WHOLE
									: REPAIR_NONE;
}

uint32_t repair_add(struct repair *repair, uint64_t thread_id, uint64_t time_ns,
		    const struct unwind_frame *frames, const struct unwind_result *result)
{
	bool whole = result->end == UNWIND_COMPLETE;
	if (!result->count || (!whole && result->end != UNWIND_TRUNCATED))
		return REPAIR_NONE;
	uint32_t index = thread_of(repair, thread_id);
	if (index == NONE)
		return REPAIR_NONE;
	if (whole)
		return add_whole(repair, index, time_ns, frames, result->count);
	if (!make_trees(repair, index) || !make_room(repair, index) ||
	    !vec_reserve(&repair->stacks, repair->stacks.count + 1))
		return REPAIR_NONE;
	uint32_t node = add_path(repair, repair->threads.items[index].truncated, NONE, frames,
				 result->count);
	if (node == NONE)
		return REPAIR_NONE;
	*vec_push(&repair->stacks) = (struct repair_stack){
		.time_ns = time_ns,
		.thread = index,
		.key = repair_find(repair, repair->hashes.items[0]),
		.node = node,
		.whole = NONE,
	};
	return (uint32_t)repair->stacks.count - 1;
}

/* Adds a thread of another repair: its roots or log. Returns false when out of memory or room. */
static bool merge_thread(struct repair *repair, const struct thread *thread, uint32_t *merged)
{
	uint32_t index = thread_of(repair, thread->id);
	if (index == NONE || (thread->truncated != NONE && !make_trees(repair, index)))
		return false;
	struct thread *to = &repair->threads.items[index];
	if (thread->truncated != NONE) {
		merged[thread->whole] = to->whole;
		merged[thread->truncated] = to->truncated;
		return true;
	}
	if (has_trees(repair, index))
		return add_log(repair, index, &thread->log);
	size_t before = log_bytes(&to->log);
	bool merged_log = has_room(repair) && log_merge(&to->log, &thread->log);
	repair->log_bytes += log_bytes(&to->log) - before;
	return merged_log;
}

static void merge_stack(struct repair *repair, const struct repair *from,
			const struct repair_stack *stack, const uint32_t *merged)
{
	struct repair_stack copy = *stack;
	copy.node = stack->node == NONE ? NONE : merged[stack->node];
	if (copy.node != NONE) {
		const uint32_t *thread =
			u64map_find(&repair->thread_of, from->threads.items[stack->thread].id);
		copy.thread = *thread;
		copy.key = stack->key == NONE ? NONE : merged[stack->key];
		copy.whole = stack->whole == NONE ? NONE : copy.node;
	} else {
		copy.key = copy.whole = NONE;
		copy.thread = 0;
	}
	*vec_push(&repair->stacks) = copy;
}

bool repair_merge(struct repair *repair, const struct repair *from, uint32_t *offset_ret)
{
	CLEANUP_FREE uint32_t *merged = calloc(from->nodes.count + 1, sizeof(*merged));
	bool threads = true, room = true;
	*offset_ret = repair->stacks.count;
	if (!merged)
		return false;
	for (size_t i = 0; i < from->nodes.count; i++)
		merged[i] = NONE;
	vec_each (thread, &from->threads)
		threads &= merge_thread(repair, thread, merged);
	*offset_ret = repair->stacks.count;
	if (!vec_reserve(&repair->stacks, repair->stacks.count + from->stacks.count))
		return false;
	for (size_t i = 0; i < from->nodes.count; i++) {
		if (from->nodes.items[i].parent == NONE)
			continue;
		/* Adds a node of `from`. Its caller was merged before, or had no room. */
		const struct repair_node *node = &from->nodes.items[i];
		uint32_t at = repair_find(repair, node->hash);
		if (at == NONE && merged[node->parent] != NONE) {
			struct repair_node copy = *node;
			copy.parent = merged[node->parent];
			if (node->thread != NONE)
				copy.thread = *u64map_find(&repair->thread_of,
							   from->threads.items[node->thread].id);
			at = repair_add_node(repair, &copy);
		}
		merged[i] = at;
		room &= merged[i] != NONE;
	}
	vec_each (stack, &from->stacks)
		merge_stack(repair, from, stack, merged);
	return threads && room;
}

/*
 * Writes at most `limit` of the frames from a node to the root, except the first `skip`. Returns
 * the number of all of them.
 */
static size_t copy_path(const struct repair *repair, uint32_t at, size_t skip,
			struct unwind_frame *frames, size_t limit)
{
	size_t count = 0;
	for (; repair->nodes.items[at].parent != NONE; at = repair->nodes.items[at].parent) {
		const struct repair_node *node = &repair->nodes.items[at];
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
	const struct repair_stack *of =
		stack < repair->stacks.count ? &repair->stacks.items[stack] : NULL;
	if (!of || of->node == NONE)
		return 0;
	return copy_path(repair, of->whole == NONE ? of->node : of->whole, 0, frames, limit);
}

size_t repair_outer(const struct repair *repair, uint32_t stack, struct unwind_frame *frames,
		    size_t limit)
{
	const struct repair_stack *of =
		stack < repair->stacks.count ? &repair->stacks.items[stack] : NULL;
	if (!of || of->key == NONE || of->whole == NONE)
		return 0;
	size_t own = copy_path(repair, of->node, 0, NULL, 0);
	return copy_path(repair, of->whole, own, frames, limit);
}

bool repair_is_known(const struct repair *repair, uint32_t stack)
{
	return stack < repair->stacks.count && repair->stacks.items[stack].known;
}

/* Copies the newest whole stacks of trees, as many as fill a quarter of the room. */
static void copy_newest(const struct repair *repair, struct repair *copy)
{
	VEC(struct unwind_frame) frames = {0};
	for (size_t i = repair->stacks.count; i-- > 0 && bytes_used(copy) < copy->limit / 4;) {
		const struct repair_stack *stack = &repair->stacks.items[i];
		struct unwind_result result = {.end = UNWIND_COMPLETE};
		if (stack->whole == NONE)
			continue;
		result.count = copy_path(repair, stack->whole, 0, NULL, 0);
		if (!vec_reserve(&frames, result.count))
			break;
		copy_path(repair, stack->whole, 0, frames.items, result.count);
		uint64_t thread_id = repair->threads.items[stack->thread].id;
		uint32_t index = thread_of(copy, thread_id);
		if (index != NONE && make_trees(copy, index))
			repair_add(copy, thread_id, stack->time_ns, frames.items, &result);
	}
	vec_deinit(&frames);
	/* The oldest comes first again: the next trim begins at the end, too. */
	struct repair_stack *stacks = copy->stacks.items;
	for (size_t i = 0, j = copy->stacks.count; i + 1 < j; i++) {
		const struct repair_stack newer = stacks[i];
		stacks[i] = stacks[--j];
		stacks[j] = newer;
	}
}

bool repair_trim(struct repair *repair)
{
	if (bytes_used(repair) < repair->limit / 2)
		return true;
	CLEANUP(cleanup_repair_free) struct repair *copy = repair_new(repair->limit);
	if (copy)
		copy_newest(repair, copy);
	size_t limit = repair->limit;
	deinit(repair);
	*repair = (struct repair){.limit = limit};
	if (!copy)
		return false;
	*repair = *copy;
	*copy = (struct repair){0};
	repair->tried = repair->stacks.count;
	return true;
}
