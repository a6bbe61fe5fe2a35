/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks/stacks.h"

#include <string.h>

/*
 * Limit on the frames of one stack: a stack copy of at most 64 KiB has at most 8192 return addresses.
 */
#define FRAMES_MOST 8192

/*
 * Limit on the calls of an unwound stack, as many as a record can hold. Deeper stacks lose their
 * middle.
 */
#define CALLS_MOST 8000

/* Limit on the bytes of stacks that a worker saves to repair truncated ones. */
#define REPAIR_BYTES ((size_t)48 << 20)

struct sp_error *stacks_init(struct stacks *stacks, const struct unwinding *unwinding)
{
	*stacks = (struct stacks){.unwinding = unwinding};
	if (!unwinding->unwinder)
		return NULL;
	stacks->thread = unwind_thread_new(unwinding->unwinder);
	stacks->repair = repair_new(REPAIR_BYTES);
	NEED(stacks->thread && stacks->repair && vec_reserve(&stacks->frames, FRAMES_MOST));
	return NULL;
}

void stacks_deinit(struct stacks *stacks)
{
	unwind_thread_free(stacks->thread);
	repair_free(stacks->repair);
	vec_deinit(&stacks->frames);
	vec_deinit(&stacks->ips);
	vec_deinit(&stacks->blinds);
	u64map_deinit(&stacks->blind_of);
}

/*
 * Used for stacks of a program that execve(2) replaces: its user stack is gone, so no callers are
 * missing.
 */
#define ENDED_COMPLETE (SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT)

#define CONTEXT_USER ((uint64_t)PERF_CONTEXT_USER)

static bool is_in_kernel(const struct sp_record *record)
{
	return (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Returns the index of the first address of the chain's user part; ip_count if there is none. */
static size_t user_place(const struct sp_sample *sample)
{
	size_t place = 0;
	while (place < sample->ip_count && sample->ips[place] != CONTEXT_USER)
		place++;
	return place + 1 < sample->ip_count ? place + 1 : sample->ip_count;
}

uint32_t stacks_view(const struct stacks *stacks, const struct sp_record *record,
		     const struct machine_span *span, uint64_t time_ns)
{
	if (!span->exec_until_ns || !is_in_kernel(record))
		return span->view;
	size_t place = user_place(&record->sample);
	if (place == record->sample.ip_count)
		return span->view;
	return machine_sample_view(stacks->unwinding->machine, span, time_ns,
				   record->sample.ips[place]);
}

/*
 * Returns whether the kernel chain's user part is one address. A walk by frame pointers may add
 * zeros behind the address.
 */
static bool has_one_user(const struct sp_record *record)
{
	const uint64_t *ips = record->sample.ips;
	size_t count = record->sample.ip_count;
	if (!is_in_kernel(record) || record->misc & SP_MISC_END_MASK)
		return false;
	while (count && !ips[count - 1])
		count--;
	return count > 2 && ips[count - 2] == CONTEXT_USER;
}

/*
 * Adds the deferred user call chain to the sample's chain, in stacks->ips. *ret: whether there is one.
 * Returns false when out of memory.
 */
static bool join_deferred(struct stacks *stacks, const struct sp_sample *sample, bool *ret)
{
	uint64_t cookie;
	*ret = false;
	if (!stacks->deferred || !deferred_cookie(sample->ips, sample->ip_count, &cookie))
		return true;
	size_t count = sample->ip_count - 2;
	stacks->ips.count = 0;
	if (!vec_reserve(&stacks->ips, count + 1))
		return false;
	memcpy(stacks->ips.items, sample->ips, count * sizeof(*sample->ips));
	stacks->ips.count = count;
	return deferred_append(stacks->deferred, sample->tid, cookie, &stacks->ips, ret);
}

/* Returns whether the sample's branches are the CPU's call stack, newest first. */
static bool has_call_stack(const struct stacks *stacks, const struct sp_record *record)
{
	return record->sample.branch_count && stacks->layout && record->event != SP_EVENT_NONE &&
	       stacks->layout->events[record->event].attr.branch_sample_type &
		       PERF_SAMPLE_BRANCH_CALL_STACK;
}

/*
 * Replaces the user part of the chain by the processor's call stack (--call-graph lbr), if the
 * sample has both; perf does the same. The newest branch leads to the running function. Branch
 * sources are exact addresses of calls, not return addresses. *ret: replaced. False when out of
 * memory.
 */
static bool join_branches(struct stacks *stacks, const struct sp_sample *sample, bool *ret)
{
	const uint64_t mark = PERF_CONTEXT_USER;
	size_t user = 0;
	*ret = false;
	while (user < sample->ip_count && sample->ips[user] != mark)
		user++;
	if (user == sample->ip_count)
		return true;
	if (!vec_reserve(&stacks->ips, user + 2 + 2 * sample->branch_count))
		return false;
	uint64_t *ip = stacks->ips.items;
	if (user)
		memcpy(ip, sample->ips, user * sizeof(*ip));
	ip += user;
	*ip++ = mark;
	*ip++ = sample->branches[0].to;
	for (size_t i = 0; i < sample->branch_count; i++) {
		*ip++ = mark;
		*ip++ = sample->branches[i].from;
	}
	stacks->ips.count = ip - stacks->ips.items;
	*ret = true;
	return true;
}

/*
 * Finds the caller of an arm64 function that has its return address in a register (leaf functions, and
 * other functions at their begin): the kernel's frame pointer walk misses it. Returns false if no
 * caller is missing.
 */
static bool find_leaf_caller(struct stacks *stacks, const struct sp_record *record, uint32_t view,
			     size_t place, uint64_t *ret)
{
	enum { LR = DUMP_UNWIND_LINK_REGISTER, SP, PC };
	const struct sp_sample *sample = &record->sample;
	const struct sp_registers *recorded = &sample->user_registers;
	const uint64_t below = (UINT64_C(1) << LR) - 1;
	if (!(recorded->mask >> LR & 1) || recorded->abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	size_t index = __builtin_popcountll(recorded->mask & below);
	if (index >= recorded->count)
		return false;
	/* The stack pointer may be 0, because the first step reads nothing from the stack. */
	const uint64_t values[] = {recorded->values[index], 0, sample->ips[place]};
	const struct unwind_sample from = {
		.view = view,
		.registers = {.abi = recorded->abi, .values = values, .count = 3,
			      .mask = UINT64_C(1) << LR | UINT64_C(1) << SP | UINT64_C(1) << PC},
		.in_kernel = is_in_kernel(record),
	};
	const struct unwind_result result =
		unwind_stack(stacks->thread, &from, stacks->frames.items, 2);
	if (result.count != 2)
		return false;
	*ret = stacks->frames.items[1].ip;
	/*
	 * If the caller was found by a frame pointer, the kernel may have found it too: then it is in
	 * the chain already.
	 */
	return !result.frame_pointers || place + 1 >= sample->ip_count ||
	       sample->ips[place + 1] != *ret;
}

bool stacks_join_leaf(struct stacks *stacks, const struct sp_record *record, uint32_t view,
		      bool *ret)
{
	const struct sp_sample *sample = &record->sample;
	uint64_t caller;
	*ret = false;
	/* A chain with a recorded end was already unwound by the recorder. */
	if (!stacks->unwinding->has_leaves || !stacks->thread || record->misc & SP_MISC_END_MASK)
		return true;
	size_t place = user_place(sample);
	if (place == sample->ip_count || !find_leaf_caller(stacks, record, view, place, &caller))
		return true;
	if (!vec_reserve(&stacks->ips, sample->ip_count + 1))
		return false;
	uint64_t *ips = stacks->ips.items;
	memcpy(ips, sample->ips, (place + 1) * sizeof(*ips));
	ips[place + 1] = caller;
	memcpy(ips + place + 2, sample->ips + place + 1,
	       (sample->ip_count - place - 1) * sizeof(*ips));
	stacks->ips.count = sample->ip_count + 1;
	*ret = true;
	return true;
}

static bool may_run(struct stacks *stacks, uint32_t view, uint64_t ip)
{
	/* Mappings consist of whole pages, so the result holds for the whole page. */
	uint64_t key = hash_pair(ip >> 12, view) | 1;
	struct code_page *page = &stacks->pages[key / 2 % CODE_PAGES];
	if (page->key != key)
		*page = (struct code_page){
			key, machine_may_run(stacks->unwinding->machine, view, ip)};
	return page->may_run;
}

/*
 * Removes the user part, one address, of the program that execve(2) is replacing: the address is no
 * longer mapped. unwind.c has the same test for stack copies.
 */
static void drop_replaced(const struct stacks *stacks, uint32_t view, struct callers *callers)
{
	size_t count = callers->count;
	if (!count || machine_locate(stacks->unwinding->machine, view, PERF_RECORD_MISC_USER,
				     callers->ips[count - 1])
			      .module)
		return;
	for (count -= count > 1 ? 2 : 1; count && !callers->ips[count - 1];)
		count--;
	callers->count = count;
	callers->misc = ENDED_COMPLETE | (callers->misc & CALLERS_OF_OTHERS);
}

void stacks_check(struct stacks *stacks, uint32_t view, struct callers *callers)
{
	uint16_t cpumode = callers->cpumode, misc = callers->misc;
	bool exact = callers->exact;
	if (!(misc & CALLERS_UNCHECKED))
		return;
	callers->misc &= (uint16_t) ~(CALLERS_UNCHECKED | CALLERS_ONE_USER);
	if (misc & CALLERS_ONE_USER)
		drop_replaced(stacks, view, callers);
	for (size_t i = 0; i < callers->count; i++) {
		uint64_t ip = callers->ips[i];
		if (chain_is_mark(ip)) {
			cpumode = chain_mark_cpumode(ip);
			exact = true;
			continue;
		}
		/* Tests the call instruction: its return address may be after the end of a mapping. */
		if (!exact && cpumode == PERF_RECORD_MISC_USER && !may_run(stacks, view, ip - 1)) {
			callers_truncate(callers, i);
			break;
		}
		exact = false;
	}
}

/*
 * Finds the recorded chain, with the parts that can be added to it. Returns false when out of memory.
 */
static bool find_recorded(struct stacks *stacks, const struct sp_record *record, uint32_t view,
			  bool replaced, struct stack *stack)
{
	const struct sp_sample *sample = &record->sample;
	struct sampled sampled = sampled_of(record);
	const uint64_t *ips = sample->ips;
	size_t count = sample->ip_count;
	uint16_t misc = replaced ? ENDED_COMPLETE : record->misc;
	uint16_t unchecked = CALLERS_UNCHECKED;
	bool joined;
	if (!(has_call_stack(stacks, record) ? join_branches(stacks, sample, &joined)
					      : join_deferred(stacks, sample, &joined)))
		return false;
	if (!joined && !stacks_join_leaf(stacks, record, view, &joined))
		return false;
	if (joined) {
		ips = stacks->ips.items;
		count = stacks->ips.count;
		misc = record->misc;
	} else if (has_one_user(record)) {
		unchecked |= CALLERS_ONE_USER;
	}
	stack->callers = callers_of(&sampled, misc, ips, count);
	stack->has_chain = sample->ip_count || callers_end(&stack->callers) != SP_MISC_END_UNKNOWN;
	stack->callers.misc |= unchecked;
	/*
	 * The stack copy would show more callers, but there is no unwinder, so the sample counts as one
	 * without a chain.
	 */
	if (stacks->unwinding->has_dumps && !stacks->thread && sample->stack.size &&
	    sample->user_registers.abi != PERF_SAMPLE_REGS_ABI_NONE)
		stack->has_chain = false;
	return true;
}

/* Returns the number of addresses in the recorded chain before its user part. */
static size_t count_kernel(const struct sp_sample *sample)
{
	size_t count = 0;
	while (count < sample->ip_count && sample->ips[count] != (uint64_t)PERF_CONTEXT_USER &&
	       sample->ips[count] != CONTEXT_USER_DEFERRED)
		count++;
	return count;
}

/*
 * Joins the kernel part of the chain and the unwound user frames. Leaves out the middle if there are
 * too many frames. Returns false when out of memory.
 */
static bool compose(struct stacks *stacks, const struct stack_parts *parts, size_t frame_count,
		    struct stack *stack)
{
	uint16_t misc = parts->misc;
	const struct unwind_frame *frames = stacks->frames.items;
	bool shorten = frame_count > CALLS_MOST;
	if (!vec_reserve(&stacks->ips, parts->kernel_count + 2 * frame_count + 2))
		return false;
	uint64_t *ip = stacks->ips.items;
	stack->kernel_count = parts->kernel_count;
	if (parts->kernel_count)
		memcpy(ip, parts->kernel, parts->kernel_count * sizeof(*ip));
	ip += parts->kernel_count;
	if (frame_count)
		*ip++ = PERF_CONTEXT_USER;
	for (size_t i = 0; i < frame_count; i++) {
		if (shorten && i == CALLS_MOST / 2) {
			i = frame_count - CALLS_MOST / 2;
			*ip++ = PERF_CONTEXT_USER;
			*ip++ = PERF_CONTEXT_USER;
		} else if (i && frames[i].exact) {
			*ip++ = PERF_CONTEXT_USER;
		}
		*ip++ = frames[i].ip;
	}
	stacks->ips.count = ip - stacks->ips.items;
	if (shorten)
		misc |= SP_MISC_SHORTENED;
	stack->callers = callers_of(parts->sampled, misc, stacks->ips.items, stacks->ips.count);
	stack->has_chain = true;
	return true;
}

bool stacks_add_no_unwind_info(struct stacks *stacks, const struct module *module, uint64_t count)
{
	bool added;
	if (!vec_reserve(&stacks->blinds, stacks->blinds.count + 1))
		return false;
	const uint32_t *index =
		u64map_put(&stacks->blind_of, (uintptr_t)module, stacks->blinds.count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(&stacks->blinds) = (struct blind){.module = module};
	stacks->blinds.items[*index].stacks += count;
	return true;
}

/* Counts a complete stack by its size: the size of stack copy that holds it. */
static void add_reach(struct stacks *stacks, const struct unwind_frame *frames, size_t count)
{
	uint64_t reach = (frames[count - 1].sp - frames[0].sp) >> 10;
	stacks->reaches[reach < REACH_CLASSES ? reach : REACH_CLASSES - 1]++;
}

/*
 * Unwinds the stack copy of a sample, counts how it ended, and gives the stack to the repair.
 * Returns false when out of memory.
 */
static bool unwind(struct stacks *stacks, const struct sp_record *record, uint32_t view,
		   uint64_t time_ns, struct stack *stack)
{
	const struct sp_sample *sample = &record->sample;
	const struct unwind_sample from = {
		.view = view,
		.registers = sample->user_registers,
		.stack = {sample->stack.bytes, sample->stack_dyn_size},
		.ip_and_sp_only = record->misc & SP_MISC_SNAPSHOT,
		.in_kernel = is_in_kernel(record),
	};
	struct sampled sampled = sampled_of(record);
	struct unwind_result result =
		unwind_stack(stacks->thread, &from, stacks->frames.items, FRAMES_MOST);
	uint16_t misc = unwind_misc(&result);
	const struct stack_parts parts = {&sampled, misc, sample->ips, count_kernel(sample)};
	if (!compose(stacks, &parts, result.count, stack))
		return false;
	if (result.count == 0)
		return true;
	if (result.end == UNWIND_COMPLETE)
		add_reach(stacks, stacks->frames.items, result.count);
	if (result.end == UNWIND_NO_INFO && !stacks_add_no_unwind_info(stacks, result.blind, 1))
		return false;
	/* Stacks are repaired from those of the same thread and address space. */
	uint32_t user =
		machine_view_of_mode(stacks->unwinding->machine, view, PERF_RECORD_MISC_USER);
	uint32_t number = repair_add(stacks->repair, key_of_pair(sample->tid, user), time_ns,
				      stacks->frames.items, &result);
	if (result.end == UNWIND_TRUNCATED)
		stack->number = number;
	return true;
}

bool stacks_find(struct stacks *stacks, const struct stack_query *query, struct stack *ret)
{
	const struct sp_record *record = query->record;
	ret->number = REPAIR_NONE;
	ret->kernel.count = ret->kernel_count = 0;
	if (stacks->thread && record->sample.user_registers.abi != PERF_SAMPLE_REGS_ABI_NONE &&
	    record->sample.present & PERF_SAMPLE_STACK_USER)
		return unwind(stacks, record, query->view, query->time_ns, ret);
	return find_recorded(stacks, record, query->view, query->replaced, ret);
}

/* Reads all frames of a saved stack into stacks->frames. Returns false when out of memory. */
static bool read_frames(struct stacks *stacks, const struct repair *repair, uint32_t number)
{
	for (;;) {
		size_t count = repair_frames(repair, number, stacks->frames.items,
					     stacks->frames.capacity);
		stacks->frames.count = count;
		if (count <= stacks->frames.capacity)
			return true;
		if (!vec_reserve(&stacks->frames, count))
			return false;
	}
}

bool stacks_find_repaired(struct stacks *stacks, const struct repair *repair, uint32_t number,
			  const struct stack_parts *parts, struct stack *ret)
{
	struct stack stack = {.number = REPAIR_NONE};
	struct stack_parts whole = *parts;
	bool repaired = repair_outer(repair, number, NULL, 0) > 0;
	if (repaired)
		whole.misc = (parts->misc & ~SP_MISC_END_MASK) | SP_MISC_REPAIRED |
			     SP_MISC_END_COMPLETE << SP_MISC_END_SHIFT;
	if (!read_frames(stacks, repair, number) ||
	    !compose(stacks, &whole, stacks->frames.count, &stack))
		return false;
	if (repaired)
		add_reach(stacks, stacks->frames.items, stacks->frames.count);
	*ret = stack;
	return true;
}
