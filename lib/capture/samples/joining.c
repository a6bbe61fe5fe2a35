/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/joining.h"

#include <pthread.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "unwind/repair.h"

/* Stacks are remembered as long as one of them was truncated that lately. */
#define ACTIVE_NS 2000000000

/* So long are samples held back, or until they are so many bytes. */
#define HOLD_NS 200000000
#define HOLD_BYTES ((size_t)4 << 20)

#define REPAIR_BYTES ((size_t)32 << 20)

/* Deeper stacks are not made of others. */
#define FRAMES_MAX ((size_t)1 << 20)

/* What came so shortly before is asked for again: what comes after it has its say, too. */
#define RECENT_NS 100000000

struct held {
	uint32_t stack;  /* of the repair */
	uint16_t misc;
	bool again;      /* it has been asked for */
	enum joining_cut cut;
	uint64_t thread, time_ns, missing;
	struct dump *dump; /* without its stack */
	struct unwind_frame *frames; /* its own, of what is held again; else NULL */
	size_t frame_count;
};

struct held_list {
	VEC(struct held);
};

struct joining {
	const struct dump_layout *layout; /* borrowed */
	size_t limit;
	pthread_mutex_t lock; /* of all but the two that are atomic */
	struct repair *repair;
	struct held_list held, recent;
	size_t held_bytes;
	VEC(struct unwind_frame) frames; /* scratch */
	VEC(uint64_t) ips;
	uint64_t settled_ns;   /* CLOCK_MONOTONIC */
	uint64_t truncated_ns; /* atomic: time of the latest that was truncated; 0: none */
	uint64_t oldest_ns;    /* atomic: of what is held; UINT64_MAX: none */
};

struct joining *joining_new(const struct dump_layout *layout, size_t limit)
{
	struct joining *joining = calloc(1, sizeof(*joining));
	if (!joining)
		return NULL;
	pthread_mutex_init(&joining->lock, NULL);
	joining->layout = layout;
	joining->limit = limit;
	joining->oldest_ns = UINT64_MAX;
	joining->repair = repair_new(REPAIR_BYTES);
	if (joining->repair)
		return joining;
	joining_free(joining);
	return NULL;
}

static void drop(struct held_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].dump);
		free(list->items[i].frames);
	}
	list->count = 0;
}

static void drop_held(struct joining *joining)
{
	drop(&joining->held);
	joining->held_bytes = 0;
	__atomic_store_n(&joining->oldest_ns, UINT64_MAX, __ATOMIC_SEQ_CST);
}

void joining_free(struct joining *joining)
{
	if (!joining)
		return;
	drop_held(joining);
	drop(&joining->recent);
	vec_deinit(&joining->held);
	vec_deinit(&joining->recent);
	vec_deinit(&joining->frames);
	vec_deinit(&joining->ips);
	repair_free(joining->repair);
	pthread_mutex_destroy(&joining->lock);
	free(joining);
}

/* Whether there is somebody to be helped by this stack. */
static bool is_wanted(struct joining *joining, const struct joining_stack *stack)
{
	enum unwind_end end = stack->result->end;
	if (stack->result->count == 0)
		return false;
	uint64_t last_ns = __atomic_load_n(&joining->truncated_ns, __ATOMIC_RELAXED);
	if (end == UNWIND_TRUNCATED) {
		if (stack->time_ns > last_ns)
			__atomic_store_n(&joining->truncated_ns, stack->time_ns, __ATOMIC_RELAXED);
		return true;
	}
	return end == UNWIND_COMPLETE && last_ns && stack->time_ns < last_ns + ACTIVE_NS;
}

static struct sp_error *hold(struct joining *joining, const struct joining_stack *stack,
			     uint32_t number)
{
	const struct dump *dump = stack->dump;
	size_t size = dump->size - dump->stack_size;
	struct held *held = vec_push(&joining->held);
	if (!held)
		return error_no_memory();
	*held = (struct held){.stack = number, .misc = stack->misc, .thread = stack->thread,
			      .time_ns = stack->time_ns, .missing = stack->result->missing,
			      .cut = stack->cut,
			      .dump = malloc(size)};
	if (!held->dump) {
		joining->held.count--;
		return error_no_memory();
	}
	memcpy(held->dump, dump, size);
	held->dump->size = (uint32_t)size;
	held->dump->stack_size = 0;
	joining->held_bytes += size;
	if (joining->held.count == 1)
		joining->settled_ns = clock_ns(CLOCK_MONOTONIC);
	if (stack->time_ns < joining->oldest_ns)
		__atomic_store_n(&joining->oldest_ns, stack->time_ns, __ATOMIC_SEQ_CST);
	return NULL;
}

static uint32_t add(struct joining *joining, const struct joining_stack *stack)
{
	return repair_add(joining->repair, stack->thread, stack->time_ns, stack->frames,
			  stack->result);
}

struct sp_error *joining_add(struct joining *joining, const struct joining_stack *stack,
			     bool *held_ret)
{
	struct sp_error *error = NULL;
	*held_ret = false;
	if (!is_wanted(joining, stack))
		return NULL;
	pthread_mutex_lock(&joining->lock);
	uint32_t number = add(joining, stack);
	/* Where nobody waits, nothing makes room but this. */
	if (number == REPAIR_NONE && !joining->held.count && repair_settle(joining->repair) &&
	    repair_forget(joining->repair))
		number = add(joining, stack);
	if (stack->result->end == UNWIND_TRUNCATED && number != REPAIR_NONE && !stack->helper) {
		error = hold(joining, stack, number);
		*held_ret = !error;
	}
	pthread_mutex_unlock(&joining->lock);
	return error;
}

/* Whole stacks of as many frames as there are; false when out of memory. */
static bool find_frames(struct joining *joining, uint32_t stack, size_t *count_ret)
{
	for (;;) {
		size_t count = repair_frames(joining->repair, stack, joining->frames.items,
					     joining->frames.capacity);
		*count_ret = count;
		if (count <= joining->frames.capacity)
			return vec_reserve(&joining->ips, count);
		if (count > FRAMES_MAX) {
			*count_ret = joining->frames.capacity;
			return vec_reserve(&joining->ips, *count_ret);
		}
		if (!vec_reserve(&joining->frames, count))
			return false;
	}
}

static struct sp_error *write_held(struct joining *joining, const struct held *held,
				   struct record_buffer *output, struct joining_counts *counts)
{
	size_t count;
	bool shortened, repaired = repair_outer(joining->repair, held->stack, NULL, 0) > 0;
	struct dump_chain chain = {.misc = held->misc};
	const struct unwind_frame *frames = held->frames;
	if (held->frames && !repaired)
		count = held->frame_count;
	else if (!find_frames(joining, held->stack, &count))
		return error_no_memory();
	if (!frames || repaired)
		frames = joining->frames.items;
	if (!vec_reserve(&joining->ips, count))
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct unwind_frame *frame = &frames[i];
		joining->ips.items[i] = frame->ip + (i > 0 && frame->exact);
	}
	if (repaired)
		chain.misc = (uint16_t)((held->misc & ~SP_MISC_END_MASK) | SP_MISC_REPAIRED |
					SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT);
	chain.ips = joining->ips.items;
	chain.count = count;
	counts->repaired += repaired;
	counts->truncated += !repaired;
	counts->cuts[held->cut] += !repaired;
	counts->alone += !repaired && !repair_is_known(joining->repair, held->stack);
	struct sp_error *error =
		dump_encode(joining->layout, output, held->dump, &chain, joining->limit, &shortened);
	counts->shortened += !error && shortened;
	return error;
}

/* Moves it to `recent`, with its own frames, since the repair will forget their number. */
static struct sp_error *keep(struct joining *joining, struct held *held)
{
	size_t count;
	struct held *slot = vec_push(&joining->recent);
	if (!slot)
		return error_no_memory();
	*slot = *held;
	held->dump = NULL;
	if (!find_frames(joining, slot->stack, &count))
		return error_no_memory();
	slot->frames = malloc((count + 1) * sizeof(*slot->frames));
	if (!slot->frames)
		return error_no_memory();
	memcpy(slot->frames, joining->frames.items, count * sizeof(*slot->frames));
	slot->frame_count = count;
	slot->again = true;
	return NULL;
}

static struct sp_error *write_or_keep(struct joining *joining, uint64_t recent_ns,
				      struct record_buffer *output, struct joining_counts *counts)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < joining->held.count && !error; i++) {
		struct held *held = &joining->held.items[i];
		bool recent = held->time_ns > recent_ns && !held->again &&
			      !repair_outer(joining->repair, held->stack, NULL, 0);
		error = recent ? keep(joining, held) : write_held(joining, held, output, counts);
	}
	return error;
}

/* The recent ones are held again. */
static void ask_again(struct joining *joining)
{
	for (size_t i = 0; i < joining->recent.count; i++) {
		struct held *held = &joining->recent.items[i];
		const struct unwind_result result = {.count = held->frame_count,
						     .end = UNWIND_TRUNCATED,
						     .missing = held->missing};
		held->stack = repair_add(joining->repair, held->thread, held->time_ns, held->frames,
					 &result);
		joining->held_bytes += held->dump->size;
		if (held->time_ns < joining->oldest_ns)
			__atomic_store_n(&joining->oldest_ns, held->time_ns, __ATOMIC_SEQ_CST);
	}
	struct held_list held = joining->held;
	joining->held = joining->recent;
	joining->recent = held;
	joining->settled_ns = clock_ns(CLOCK_MONOTONIC);
}

static uint64_t newest_ns(const struct joining *joining)
{
	uint64_t newest_ns = 0;
	for (size_t i = 0; i < joining->held.count; i++)
		if (joining->held.items[i].time_ns > newest_ns)
			newest_ns = joining->held.items[i].time_ns;
	return newest_ns;
}

static struct sp_error *settle(struct joining *joining, bool now, struct record_buffer *output,
			       struct joining_counts *counts)
{
	uint64_t newest = newest_ns(joining);
	uint64_t recent_ns = now || newest < RECENT_NS ? UINT64_MAX : newest - RECENT_NS;
	struct sp_error *error = repair_settle(joining->repair) ? NULL : error_no_memory();
	if (!error)
		error = write_or_keep(joining, recent_ns, output, counts);
	drop_held(joining);
	if (!error && !repair_forget(joining->repair))
		error = error_no_memory();
	if (!error)
		ask_again(joining);
	return error;
}

struct sp_error *joining_settle(struct joining *joining, bool now, struct record_buffer *output,
				uint64_t *oldest_ns, struct joining_counts *counts)
{
	struct sp_error *error = NULL;
	if (joining_oldest_ns(joining) == UINT64_MAX)
		return NULL;
	pthread_mutex_lock(&joining->lock);
	if (joining->held.count && (now || joining->held_bytes > HOLD_BYTES ||
				    clock_ns(CLOCK_MONOTONIC) - joining->settled_ns >= HOLD_NS)) {
		uint64_t held_ns = joining_oldest_ns(joining);
		if (held_ns < __atomic_load_n(oldest_ns, __ATOMIC_RELAXED))
			__atomic_store_n(oldest_ns, held_ns, __ATOMIC_SEQ_CST);
		error = settle(joining, now, output, counts);
	}
	pthread_mutex_unlock(&joining->lock);
	return error;
}

uint64_t joining_oldest_ns(const struct joining *joining)
{
	return __atomic_load_n(&joining->oldest_ns, __ATOMIC_SEQ_CST);
}
