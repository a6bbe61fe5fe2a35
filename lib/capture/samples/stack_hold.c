/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/stack_hold.h"

#include <pthread.h>
#include <string.h>
#include "base/clock.h"
#include "unwind/repair.h"

/* Time after a truncated stack in which stacks are saved. */
#define ACTIVE_NS 2000000000

/* Limits of held samples: time and bytes. */
#define HOLD_NS 200000000
#define HOLD_BYTES ((size_t)4 << 20)

#define REPAIR_BYTES ((size_t)32 << 20)

/* Limit of frames of stacks that help to complete others. */
#define FRAMES_MAX ((size_t)1 << 20)

/* Samples this recent are held a second time: later stacks may repair them, too. */
#define RECENT_NS 100000000

/* Limit of the bytes of their copied frames. */
#define RECENT_BYTES ((size_t)16 << 20)

struct held {
	uint32_t stack;  /* its number in the repair */
	uint16_t misc;
	bool again;      /* held for the second time */
	enum stack_hold_cut cut;
	uint64_t thread, time_ns, missing;
	struct dump *dump; /* copy without its stack */
	struct unwind_frame *frames; /* its own frames, if it is held again; else NULL */
	size_t frame_count;
	uint64_t *ips; /* chain of its frames with Python frames; NULL: without Python frames */
	size_t ip_count, own_count;  /* number of its own frames */
};

struct held_list {
	VEC(struct held);
};

struct stack_hold {
	const struct stack_dump_layout *layout; /* borrowed */
	size_t limit;
	pthread_mutex_t lock; /* protects all members but the two atomic ones */
	struct repair *repair;
	struct held_list held, recent;
	size_t held_bytes;
	VEC(struct unwind_frame) frames; /* scratch */
	VEC(uint64_t) ips;
	uint64_t flushed_ns;   /* CLOCK_MONOTONIC */
	uint64_t truncated_ns; /* atomic: time of the latest truncated stack; 0: none */
	uint64_t oldest_ns;    /* atomic: time of the oldest held stack; UINT64_MAX: none */
};

struct stack_hold *stack_hold_new(const struct stack_dump_layout *layout, size_t limit)
{
	struct stack_hold *stack_hold = calloc(1, sizeof(*stack_hold));
	if (!stack_hold)
		return NULL;
	pthread_mutex_init(&stack_hold->lock, NULL);
	stack_hold->layout = layout;
	stack_hold->limit = limit;
	stack_hold->oldest_ns = UINT64_MAX;
	stack_hold->repair = repair_new(REPAIR_BYTES);
	if (stack_hold->repair)
		return stack_hold;
	stack_hold_free(stack_hold);
	return NULL;
}

static void drop(struct held_list *list)
{
	vec_each (item, list) {
		free(item->dump);
		free(item->frames);
		free(item->ips);
	}
	list->count = 0;
}

static void drop_held(struct stack_hold *stack_hold)
{
	drop(&stack_hold->held);
	stack_hold->held_bytes = 0;
	__atomic_store_n(&stack_hold->oldest_ns, UINT64_MAX, __ATOMIC_SEQ_CST);
}

void stack_hold_free(struct stack_hold *stack_hold)
{
	if (!stack_hold)
		return;
	drop_held(stack_hold);
	drop(&stack_hold->recent);
	vec_deinit(&stack_hold->held);
	vec_deinit(&stack_hold->recent);
	vec_deinit(&stack_hold->frames);
	vec_deinit(&stack_hold->ips);
	repair_free(stack_hold->repair);
	pthread_mutex_destroy(&stack_hold->lock);
	free(stack_hold);
}

/* Returns whether a held stack may need this one. */
static bool is_wanted(struct stack_hold *stack_hold, const struct stack_hold_stack *stack)
{
	enum unwind_end end = stack->result->end;
	if (stack->result->count == 0)
		return false;
	uint64_t last_ns = __atomic_load_n(&stack_hold->truncated_ns, __ATOMIC_RELAXED);
	if (end == UNWIND_TRUNCATED) {
		if (stack->time_ns > last_ns)
			__atomic_store_n(&stack_hold->truncated_ns, stack->time_ns, __ATOMIC_RELAXED);
		return true;
	}
	return end == UNWIND_COMPLETE && last_ns && stack->time_ns < last_ns + ACTIVE_NS;
}

/* Copies the chain if it has Python frames. False when out of memory. */
static bool copy_python_chain(struct stack_hold *stack_hold, const struct stack_hold_stack *stack,
		     struct held *held)
{
	size_t size = stack->ip_count * sizeof(*held->ips);
	if (stack->ip_count <= stack->result->count)
		return true;
	held->ips = malloc(size);
	if (!held->ips)
		return false;
	memcpy(held->ips, stack->ips, size);
	held->ip_count = stack->ip_count;
	held->own_count = stack->result->count;
	stack_hold->held_bytes += size;
	return true;
}

static struct sp_error *hold(struct stack_hold *stack_hold, const struct stack_hold_stack *stack,
			     uint32_t number)
{
	const struct dump *dump = stack->dump;
	size_t size = dump->size - dump->stack_size;
	struct held *held = vec_push(&stack_hold->held);
	NEED(held);
	*held = (struct held){.stack = number, .misc = stack->misc, .thread = stack->thread,
			      .time_ns = stack->time_ns, .missing = stack->result->missing,
			      .cut = stack->cut,
			      .dump = malloc(size)};
	if (!held->dump || !copy_python_chain(stack_hold, stack, held)) {
		free(held->dump);
		stack_hold->held.count--;
		return error_no_memory();
	}
	memcpy(held->dump, dump, size);
	held->dump->size = size;
	held->dump->stack_size = 0;
	stack_hold->held_bytes += size;
	if (stack_hold->held.count == 1)
		stack_hold->flushed_ns = clock_ns(CLOCK_MONOTONIC);
	if (stack->time_ns < stack_hold->oldest_ns)
		__atomic_store_n(&stack_hold->oldest_ns, stack->time_ns, __ATOMIC_SEQ_CST);
	return NULL;
}

static uint32_t add(struct stack_hold *stack_hold, const struct stack_hold_stack *stack)
{
	return repair_add(stack_hold->repair, stack->thread, stack->time_ns, stack->frames,
			  stack->result);
}

struct sp_error *stack_hold_add(struct stack_hold *stack_hold, const struct stack_hold_stack *stack,
				bool *held_ret)
{
	struct sp_error *error = NULL;
	*held_ret = false;
	if (!is_wanted(stack_hold, stack))
		return NULL;
	pthread_mutex_lock(&stack_hold->lock);
	uint32_t number = add(stack_hold, stack);
	/* If no sample is held, only this frees memory. */
	if (number == REPAIR_NONE && !stack_hold->held.count &&
	    repair_complete(stack_hold->repair) && repair_trim(stack_hold->repair))
		number = add(stack_hold, stack);
	if (stack->result->end == UNWIND_TRUNCATED && number != REPAIR_NONE && !stack->helper) {
		error = hold(stack_hold, stack, number);
		*held_ret = !error;
	}
	pthread_mutex_unlock(&stack_hold->lock);
	return error;
}

/* Adds whole stacks as deep as the frames go. Returns false when out of memory. */
static bool find_frames(struct stack_hold *stack_hold, uint32_t stack, size_t *count_ret)
{
	for (;;) {
		size_t count = repair_frames(stack_hold->repair, stack, stack_hold->frames.items,
					     stack_hold->frames.capacity);
		*count_ret = count;
		if (count <= stack_hold->frames.capacity)
			return true;
		if (count > FRAMES_MAX) {
			*count_ret = stack_hold->frames.capacity;
			return true;
		}
		if (!vec_reserve(&stack_hold->frames, count))
			return false;
	}
}

/* Makes the chain of a held stack. Returns false when out of memory. */
static bool make_chain(struct stack_hold *stack_hold, const struct held *held,
		       const struct unwind_frame *frames, size_t count,
		       struct stack_dump_chain *chain)
{
	size_t own = held->own_count < count ? held->own_count : count;
	if (!vec_reserve(&stack_hold->ips, held->ip_count + count - own))
		return false;
	uint64_t *ips = stack_hold->ips.items;
	chain->ips = ips;
	chain->count = held->ip_count + count - own;
	if (held->ip_count)
		memcpy(ips, held->ips, held->ip_count * sizeof(*ips));
	for (size_t i = own; i < count; i++)
		ips[held->ip_count + i - own] = frames[i].ip + (i > 0 && frames[i].exact);
	return true;
}

static struct sp_error *write_held(struct stack_hold *stack_hold, const struct held *held,
				   struct record_buffer *output, struct stack_hold_counts *counts)
{
	size_t count;
	bool repaired = repair_outer(stack_hold->repair, held->stack, NULL, 0) > 0;
	struct stack_dump_chain chain = {.misc = held->misc};
	const struct unwind_frame *frames = held->frames;
	if (held->frames && !repaired)
		count = held->frame_count;
	else if (!find_frames(stack_hold, held->stack, &count))
		return error_no_memory();
	if (!frames || repaired)
		frames = stack_hold->frames.items;
	NEED(make_chain(stack_hold, held, frames, count, &chain));
	if (repaired)
		chain.misc = (held->misc & ~SP_MISC_END_MASK) | SP_MISC_REPAIRED |
			     SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT;
	counts->repaired += repaired;
	counts->truncated += !repaired;
	counts->cuts[held->cut] += !repaired;
	counts->alone += !repaired && !repair_is_known(stack_hold->repair, held->stack);
	return stack_dump_encode(stack_hold->layout, output, held->dump, &chain, stack_hold->limit);
}

/* Moves it to `recent`, with its own frames, because the repair drops their number. */
static struct sp_error *hold_again(struct stack_hold *stack_hold, struct held *held)
{
	size_t count;
	struct held *slot = vec_push(&stack_hold->recent);
	NEED(slot);
	*slot = *held;
	held->dump = NULL;
	held->ips = NULL;
	NEED(find_frames(stack_hold, slot->stack, &count));
	slot->frames = malloc((count + 1) * sizeof(*slot->frames));
	NEED(slot->frames);
	memcpy(slot->frames, stack_hold->frames.items, count * sizeof(*slot->frames));
	slot->frame_count = count;
	slot->again = true;
	return NULL;
}

static struct sp_error *write_or_hold(struct stack_hold *stack_hold, uint64_t recent_ns,
				      struct record_buffer *output, struct stack_hold_counts *counts)
{
	struct sp_error *error = NULL;
	size_t bytes = 0;
	for (size_t i = 0; i < stack_hold->held.count && !error; i++) {
		struct held *held = &stack_hold->held.items[i];
		bool recent = held->time_ns > recent_ns && !held->again && bytes < RECENT_BYTES &&
			      !repair_outer(stack_hold->repair, held->stack, NULL, 0);
		error = recent ? hold_again(stack_hold, held) : write_held(stack_hold, held, output, counts);
		if (recent && !error)
			bytes += vec_last(&stack_hold->recent)->frame_count *
				 sizeof(struct unwind_frame);
	}
	return error;
}

/* Holds the recent ones again. */
static void add_again(struct stack_hold *stack_hold)
{
	vec_each (held, &stack_hold->recent) {
		const struct unwind_result result = {.count = held->frame_count,
						     .end = UNWIND_TRUNCATED,
						     .missing = held->missing};
		held->stack = repair_add(stack_hold->repair, held->thread, held->time_ns, held->frames,
					 &result);
		stack_hold->held_bytes += held->dump->size + held->ip_count * sizeof(*held->ips);
		if (held->time_ns < stack_hold->oldest_ns)
			__atomic_store_n(&stack_hold->oldest_ns, held->time_ns, __ATOMIC_SEQ_CST);
	}
	struct held_list held = stack_hold->held;
	stack_hold->held = stack_hold->recent;
	stack_hold->recent = held;
	stack_hold->flushed_ns = clock_ns(CLOCK_MONOTONIC);
}

static uint64_t newest_ns(const struct stack_hold *stack_hold)
{
	uint64_t newest_ns = 0;
	vec_each (item, &stack_hold->held)
		if (item->time_ns > newest_ns)
			newest_ns = item->time_ns;
	return newest_ns;
}

static struct sp_error *flush(struct stack_hold *stack_hold, bool now, struct record_buffer *output,
			      struct stack_hold_counts *counts)
{
	uint64_t newest = newest_ns(stack_hold);
	uint64_t recent_ns = now || newest < RECENT_NS ? UINT64_MAX : newest - RECENT_NS;
	struct sp_error *error = repair_complete(stack_hold->repair) ? NULL : error_no_memory();
	if (!error)
		error = write_or_hold(stack_hold, recent_ns, output, counts);
	drop_held(stack_hold);
	if (!error && !repair_trim(stack_hold->repair))
		error = error_no_memory();
	if (!error)
		add_again(stack_hold);
	return error;
}

struct sp_error *stack_hold_flush(struct stack_hold *stack_hold, bool now, struct record_buffer *output,
				  uint64_t *oldest_ns, struct stack_hold_counts *counts)
{
	struct sp_error *error = NULL;
	if (stack_hold_oldest_ns(stack_hold) == UINT64_MAX)
		return NULL;
	pthread_mutex_lock(&stack_hold->lock);
	if (stack_hold->held.count && (now || stack_hold->held_bytes > HOLD_BYTES ||
				       clock_ns(CLOCK_MONOTONIC) - stack_hold->flushed_ns >= HOLD_NS)) {
		uint64_t held_ns = stack_hold_oldest_ns(stack_hold);
		if (held_ns < __atomic_load_n(oldest_ns, __ATOMIC_RELAXED))
			__atomic_store_n(oldest_ns, held_ns, __ATOMIC_SEQ_CST);
		error = flush(stack_hold, now, output, counts);
	}
	pthread_mutex_unlock(&stack_hold->lock);
	return error;
}

uint64_t stack_hold_oldest_ns(const struct stack_hold *stack_hold)
{
	return __atomic_load_n(&stack_hold->oldest_ns, __ATOMIC_SEQ_CST);
}
