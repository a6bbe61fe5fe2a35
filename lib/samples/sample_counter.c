/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/sample_counter.h"

#include <string.h>
#include "base/ctx.h"
#include "profile/filter.h"
#include "samples/fold_frames.h"
#include "samples/sample_task.h"
#include "samples/sample_values.h"

uint32_t sample_root(struct counted *counted, const struct sample_origin *origin, uint16_t event,
		     const uint64_t *words, uint32_t kernel_chain)
{
	const bool *keys = counted->work->keys->groups;
	struct task *task = origin->task;
	uint32_t cpu = keys[SP_KEY_CPU] ? origin->cpu : 0;
	uint32_t detail = words ? details_add(&counted->details, words) : 0;
	/* Otherwise, the task's last group could match, and the error would be lost. */
	if (counted->details.failed)
		return RADIX_NONE;
	/* The name and the numbers of the task are those of its last group. */
	const struct group *last = &task->last;
	const struct sample_time *time = &counted->sample.time;
	if (last->event == event && last->cpu == (int32_t)cpu && last->detail == detail &&
	    last->replicate == origin->replicate && task->last_view == origin->view &&
	    stratum_key(last->stratum) == stratum_key(time->stratum) &&
	    last->syscall == time->syscall && last->kernel_chain == kernel_chain &&
	    last->waker == time->waker)
		return task->root;
	struct machine_process process = {0};
	if (counted->work->options->tree.processes)
		process = machine_process(counted->work->read->machine, task->pid,
					  task->span.from_ns);
	const struct group group = {
		.event = event,
		.comm = keys[SP_KEY_COMM] ? task->span.name : NULL,
		.pid = keys[SP_KEY_PID] ? (int32_t)task->pid : 0,
		.tid = keys[SP_KEY_TID] ? (int32_t)task->tid : 0,
		.cpu = cpu,
		.detail = detail,
		.replicate = origin->replicate,
		.stratum = time->stratum,
		.syscall = time->syscall,
		.kernel_chain = kernel_chain,
		.waker = time->waker,
		.process_pid = process.pid,
		.process_ns = process.from_ns,
	};
	uint32_t index = groups_add(&counted->groups, &group);
	uint32_t root = RADIX_NONE;
	if (!counted->groups.failed)
		root = radix_root(&counted->chains.radix, root_word(index, origin->view));
	task->last = group;
	if (root == RADIX_NONE)
		task->last.event = SP_EVENT_NONE;
	task->last_view = origin->view;
	task->root = root;
	return root;
}

bool sample_find_origin(struct counted *counted, const struct sp_record *record,
			struct sample_origin *ret)
{
	const struct work *work = counted->work;
	const struct sp_sample *sample = &record->sample;
	const struct sample_time *of = &counted->sample.time;
	const struct sp_filter *filter = &work->options->filter;
	const struct sp_number_list *cpus = &filter->cpus;
	const struct sp_number_list *counts = &filter->parallelism;
	bool counts_pass = !counts->count || filter_number(counts->items, counts->count,
							   sample_parallelism(work, sample));
	uint64_t time_ns = sample_machine_ns(counted, record);
	struct task *task = sample_task(counted, sample->pid, sample->tid, time_ns);
	uint32_t cpu = sample->present & PERF_SAMPLE_CPU ? sample->cpu : UINT32_MAX;
	uint32_t view = task ? stacks_view(&counted->stacks, record, &task->span, time_ns) : 0;
	bool replaced = task && view != task->span.view;
	if (task && of->wake.tid)
		task = sample_task(counted, of->woken_pid, of->wake.tid, time_ns);
	*ret = (struct sample_origin){
		.task = task,
		.time_ns = time_ns,
		.cpu = cpu,
		.replicate =
			work->keys->replicates ? hash_u64(record->file_offset) % REPLICATES : 0,
		.shown = task && task->shown && of->shown &&
			 filter_number(cpus->items, cpus->count, cpu) && counts_pass &&
			 (!filter_has_commands(filter) ||
			  sample_command_is_shown(counted, task, time_ns)),
		.view = view,
		.replaced = replaced,
	};
	return task != NULL;
}

uint32_t sample_leaf(struct counted *counted, uint32_t node, uint32_t answer)
{
	size_t before = counted->leaves.count;
	struct leaf *leaf =
		before == UINT32_MAX
			? NULL
			: u64map_item(&counted->leaves.index_of,
				      key_of_pair(node, answer_frame(answer)), &counted->leaves);
	if (!leaf) {
		counted->failed = true;
		return 0;
	}
	if (counted->leaves.count > before)
		*leaf = (struct leaf){.node = node, .answer = answer};
	return leaf - counted->leaves.items;
}

/*
 * Finds the answer for the outermost caller, for which the chain is not resolved later if only
 * leaves are kept. Returns false when out of memory.
 */
static bool find_outer(struct counted *counted, struct chain *chain, const struct callers *callers,
		       uint32_t view)
{
	struct callers left = *callers;
	uint64_t ip;
	uint16_t cpumode;
	bool exact;
	chain->depth = callers_depth(callers);
	for (; callers_outermost(&left, &ip, &cpumode, &exact); callers_drop_outermost(&left)) {
		chain->outer = address_cache_find(&counted->answers,
						  (struct code_address){ip, view, cpumode, !exact});
		/*
		 * If the kernel walked frame pointers, the outermost words may be unmapped: skips
		 * them, as resolve_chains.c does.
		 */
		if (callers_end(callers) != SP_MISC_END_UNKNOWN ||
		    !(chain->outer & ANSWER_UNMAPPED))
			return chain->outer != ANSWER_FAILED;
	}
	chain->outer = ANSWER_FAILED;
	return true;
}

/*
 * Returns the chain of a sample's callers under a root. A new chain is checked, limited and
 * interned. NULL when out of memory.
 */
static struct chain *chain_of(struct counted *counted, uint32_t root,
			      const struct callers *recorded)
{
	struct chain *chain = chains_find(&counted->chains, root, recorded);
	if (!chain || chain->known)
		return chain;
	struct callers callers = *recorded;
	uint32_t view = root_view(&counted->chains.radix.items[root]);
	stacks_check(&counted->stacks, view, &callers);
	chain->leaf = ANSWER_FAILED;
	const struct sp_analysis_stacks *options = &counted->work->options->stacks;
	bool folded = options->own_code ? fold_other_code(counted, view, &callers, &chain->leaf) :
		      !options->fold_python || fold_python(counted, view, &callers, &chain->leaf);
	if (!folded)
		return NULL;
	callers.misc &= (uint16_t)~CALLERS_OF_OTHERS;
	chain->limited = options->max_frames && callers_limit(&callers, options->max_frames);
	chain->left_misc = callers.misc;
	chain->left = callers.count;
	if (!counted->work->only_leaves)
		chain->node = chains_intern(&counted->chains, root, &callers);
	else if (!find_outer(counted, chain, &callers, view))
		chain->node = RADIX_NONE;
	chain->known = chain->node != RADIX_NONE;
	return chain->known ? chain : NULL;
}

static void count_repairs(struct event_sums *sums, uint16_t misc)
{
	sums->stated_ends += (misc & SP_MISC_END_MASK) != 0;
	sums->repaired += (misc & SP_MISC_REPAIRED) != 0;
	sums->shortened += (misc & SP_MISC_SHORTENED) != 0;
	sums->guessed += (misc & SP_MISC_GUESSED) != 0;
	sums->system_stack += (misc & SP_MISC_SYSTEM_STACK) != 0;
}

/* Counts how a sample's stack ended; `chain`: that of its callers, NULL if it has none. */
static void count_end(struct counted *counted, const struct rooted_sample *sample,
		      const struct stack *stack, const struct chain *chain)
{
	const struct callers *callers = &stack->callers;
	struct event_sums *sums = &counted->events[sample->event];
	struct callers left = {.misc = chain ? chain->left_misc : callers->misc & SP_MISC_STACK};
	sums->limited += stack->has_chain && chain && chain->limited;
	if (stack->has_chain && left.misc)
		count_repairs(sums, left.misc);
	if (!stack->has_chain) {
		sums->ends[SP_STACK_NONE]++;
	} else if (counted->work->only_leaves) {
		uint32_t outer = chain && chain->outer != ANSWER_FAILED ? chain->outer
									: sample->answer;
		sums->ends[stack_end_of(work_attr(counted->work, sample->event),
					callers_end(&left), outer & ANSWER_OUTERMOST,
					chain ? chain->depth : 1)]++;
	}
}

/*
 * Returns the leaf for a sample's address under its callers, and counts how its stack ended, unless
 * an earlier part of the sample did (`is_later`).
 */
static uint32_t leaf_of(struct counted *counted, const struct rooted_sample *sample, bool is_later,
			const struct stack *stack)
{
	struct callers callers = stack->callers;
	uint32_t root = sample->root, answer = sample->answer;
	struct chain *chain = NULL;
	if (counted->work->options->stacks.own_code && !(answer & ANSWER_OWN_CODE))
		callers.misc |= CALLERS_OF_OTHERS;
	if (callers.count || callers_end(&callers) != SP_MISC_END_UNKNOWN) {
		chain = chain_of(counted, root, &callers);
		if (!chain) {
			counted->failed = true;
			return 0;
		}
	}
	if (chain && chain->leaf != ANSWER_FAILED)
		answer = chain->leaf;
	if (!is_later)
		count_end(counted, sample, stack, chain);
	uint32_t node = chain && !counted->work->only_leaves ? chain->node : root;
	uint32_t index = chain && chain->last_leaf && chain->last_answer == answer
				 ? chain->last_leaf - 1
				 : sample_leaf(counted, node, answer);
	if (chain) {
		chain->last_answer = answer;
		chain->last_leaf = index + 1;
	}
	counted->leaves.items[index].chains += stack->has_chain && !is_later;
	counted->leaves.items[index].has_chain |= stack->has_chain;
	return index;
}

void leaf_add_pending(struct counted *counted, uint32_t leaf, const struct weight_sums *sums)
{
	if (!vec_reserve(&counted->leaves.pending, (size_t)leaf + 1)) {
		counted->failed = true;
		return;
	}
	while (counted->leaves.pending.count <= leaf)
		*vec_push(&counted->leaves.pending) = (struct weight_sums){0};
	weight_sums_merge(&counted->leaves.pending.items[leaf], sums);
}

/* Adds a weight to the leaf's in a part of the recording's time. */
static void add_to_part(struct counted *counted, struct leaf *leaf, uint32_t part, uint64_t weight)
{
	struct part_weights *parts = &counted->parts;
	struct part_weight *last = leaf->last_part ? &parts->items[leaf->last_part - 1] : NULL;
	if (!last || last->part != part) {
		last = parts->count < UINT32_MAX ? vec_push(parts) : NULL;
		if (!last) {
			counted->failed = true;
			return;
		}
		*last = (struct part_weight){.part = part, .earlier = leaf->last_part};
		leaf->last_part = parts->count;
	}
	last->weight += weight;
}

/* Adds a sample to its leaf, and to the timeline, if it passes the filters. */
static void add_to_leaf(struct counted *counted, const struct rooted_sample *sample,
			const struct sample_time *time, const struct stack *stack)
{
	uint32_t index = leaf_of(counted, sample, time->is_later, stack);
	uint64_t weight = sample->weight;
	struct leaf *leaf = &counted->leaves.items[index];
	if (!sample->shown || !(leaf->answer & (ANSWER_SHOWN | ANSWER_PENDING)))
		return;
	leaf->samples += !time->is_later;
	leaf->weight = weight_add(leaf->weight, weight);
	if (counted->work->part_ns)
		add_to_part(counted, leaf, sample->part, weight);
	if (time->is_timed && !leaf_times_add(&counted->times, index, time))
		counted->failed = true;
	const struct sp_cell cell = {.time_ns = time->begin_ns,
				     .weight = weight,
				     .thread = sample->task,
				     .node = index,
				     .samples = !time->is_later};
	if (counted->cells.limit && !cells_add(&counted->cells, &cell))
		counted->failed = true;
	const struct weight_sums one = {!time->is_later, weight, wide_product(weight, weight)};
	if (leaf->answer & ANSWER_PENDING || counted->work->keeps ||
	    matches_by_stack(counted->work->matches))
		leaf_add_pending(counted, index, &one);
	else
		weight_sums_merge(&counted->events[sample->event].shown, &one);
}

/* Returns whether a sample's stack ends outside of the kernel: that of a thread off the CPU. */
static bool ends_in_user(const struct counted *counted, const struct sample_time *time)
{
	bool is_off = time->is_wait || time->is_preempted;
	return is_off && !counted->work->options->stacks.kernel_waits;
}

/* Saves a sample with a truncated stack for count_truncated_samples(). */
static void add_truncated(struct counted *counted, const struct rooted_sample *rooted,
			  const struct sp_record *record, const struct stack *stack)
{
	size_t begin = counted->truncated.kernel_ips.count, count = stack->kernel_count;
	if (begin + count > UINT32_MAX ||
	    !vec_reserve(&counted->truncated.kernel_ips, begin + count) ||
	    !vec_reserve(&counted->truncated, counted->truncated.count + 1)) {
		counted->failed = true;
		return;
	}
	if (count)
		memcpy(counted->truncated.kernel_ips.items + begin, record->sample.ips,
		       count * sizeof(uint64_t));
	counted->truncated.kernel_ips.count += count;
	*vec_push(&counted->truncated) = (struct truncated_sample){
		.rooted = *rooted,
		.time = counted->sample.time,
		.sampled = sampled_of(record),
		.number = stack->number,
		.kernel_begin = begin,
		.kernel_count = count,
		.misc = stack->callers.misc,
	};
}

struct sp_error *count_truncated_samples(struct counted *counted)
{
	const size_t count = counted->truncated.count;
	for (size_t i = 0; i < count && !ctx_cancelled(counted->work->ctx); i++) {
		const struct truncated_sample *sample = &counted->truncated.items[i];
		uint32_t number = sample->number + counted->truncated.repair_offset;
		struct stack_parts parts = {&sample->sampled, sample->misc, NULL,
					    sample->kernel_count};
		struct stack stack;
		if (sample->kernel_count)
			parts.kernel = counted->truncated.kernel_ips.items + sample->kernel_begin;
		NEED(stacks_find_repaired(&counted->stacks, counted->truncated.repaired, number,
					  &parts, &stack));
		if (ends_in_user(counted, &sample->time))
			callers_drop_kernel(&stack.callers, &stack.kernel);
		add_to_leaf(counted, &sample->rooted, &sample->time, &stack);
		NEED(!counted->failed);
	}
	return NULL;
}

/*
 * Returns the stack of the record. It is found once, although the record may count for several
 * events, or for several parts of a wait. NULL when out of memory.
 */
static const struct stack *stack_of(struct counted *counted, const struct sp_record *record,
				    const struct sample_origin *origin)
{
	const struct stack_query query = {record, origin->view, origin->replaced, origin->time_ns};
	if (!counted->sample.has_stack) {
		counted->sample.has_stack =
			stacks_find(&counted->stacks, &query, &counted->sample.stack);
		/* An interrupt's stack is on that of an unrelated thread. */
		enum task_waker waker = counted->sample.time.wake.waker;
		if (waker == TASK_WAKER_INTERRUPT || waker == TASK_WAKER_SOFTIRQ) {
			callers_drop_user(&counted->sample.stack.callers);
			counted->sample.stack.number = REPAIR_NONE;
		}
	}
	return counted->sample.has_stack ? &counted->sample.stack : NULL;
}

/*
 * Checks the callers of a wait (stacks_check()) and removes their kernel part, unless they have no
 * other. *ret is the node of that part in either case; the root, if there is none. Returns false
 * when out of memory.
 */
static bool drop_kernel(struct counted *counted, struct stack *stack, uint32_t root, uint32_t view,
			uint32_t *ret)
{
	struct callers *callers = &stack->callers, *kernel = &stack->kernel;
	struct callers key = *callers;
	struct chain *chain;
	if (callers->misc & CALLERS_UNCHECKED) {
		key.misc |= CALLERS_OF_WAIT;
		if (!(chain = chains_find(&counted->chains, root, &key)))
			return false;
		if (!chain->known) {
			stacks_check(&counted->stacks, view, callers);
			chain->left_misc = callers->misc;
			chain->left = callers->count;
			chain->known = true;
		}
		callers->misc = chain->left_misc;
		callers->count = chain->left;
	}
	callers_drop_kernel(callers, kernel);
	*ret = root;
	if (!kernel->count)
		return true;
	key = *kernel;
	key.misc |= CALLERS_OF_WAIT;
	if (!(chain = chains_find(&counted->chains, root, &key)))
		return false;
	if (!chain->known)
		chain->node = chains_intern(&counted->chains, root, kernel);
	chain->known = chain->node != RADIX_NONE;
	*ret = chain->node;
	return chain->known;
}

/*
 * Returns whether a lock or a disk holds up a thread with this stack, or in this system call
 * (number plus 1, or 0).
 */
static bool is_held_up(struct counted *counted, const struct callers *callers, uint32_t view,
		       uint32_t syscall)
{
	struct code_address at = {callers->leaf_ip, view, callers->leaf_cpumode, false};
	const char *arch = sp_reader_info(counted->work->read->reader)->arch;
	uint32_t answer = address_cache_find(&counted->answers, at);
	at.cpumode = callers->cpumode;
	at.caller = !callers->exact;
	for (size_t i = 0; i < callers->count && !(answer & ANSWER_HOLDS_UP); i++) {
		at.ip = callers->ips[i];
		if (chain_is_mark(at.ip)) {
			uint16_t cpumode = chain_mark_cpumode(at.ip);
			at.caller = cpumode != at.cpumode;
			at.cpumode = cpumode;
			continue;
		}
		answer = address_cache_find(&counted->answers, at);
		at.caller = true;
	}
	counted->failed |= answer == ANSWER_FAILED;
	return answer & ANSWER_HOLDS_UP ||
	       (syscall && wait_reason_holds_up(wait_reason_of_syscall(arch, syscall - 1)));
}

void count_place(struct counted *counted, const struct sp_record *record)
{
	struct sample_origin origin;
	uint32_t lifetime, syscall;
	uint64_t ns = threads_blocked_ns(counted->work->times, record, &lifetime, &syscall);
	if (!ns)
		return;
	counted->failed |= !sample_find_origin(counted, record, &origin);
	const struct stack *stack = counted->failed ? NULL : stack_of(counted, record, &origin);
	if (!stack) {
		counted->failed = true;
		return;
	}
	struct callers callers = stack->callers, kernel;
	uint32_t where = PLACE_HELD_UP;
	if (!is_held_up(counted, &callers, origin.view, syscall)) {
		if (!counted->work->options->stacks.kernel_waits)
			callers_drop_kernel(&callers, &kernel);
		uint64_t hash = hash_bytes(callers.ips, callers.count * sizeof(*callers.ips));
		where = (uint32_t)hash_pair(hash, callers.leaf_ip) | 1;
	}
	const struct sample_weight weight = {.key = key_of_pair(lifetime, where), .weight = ns};
	counted->failed |= !sample_weights_add(&counted->times.places, &weight);
}

/* Returns the root of a sample; `wait`: its stack, if it is a wait. RADIX_NONE: out of memory. */
static uint32_t root_of(struct counted *counted, struct stack *wait,
			const struct sample_origin *origin, uint16_t event, const uint64_t *words)
{
	uint32_t root = sample_root(counted, origin, event, words, 0), kernel;
	if (root == RADIX_NONE || !wait)
		return root;
	if (!drop_kernel(counted, wait, root, origin->view, &kernel))
		return RADIX_NONE;
	return sample_root(counted, origin, event, words, kernel + 1);
}

void count_sample(struct counted *counted, const struct sp_record *record, uint16_t event,
		  uint64_t weight)
{
	const struct work *work = counted->work;
	struct sample_origin origin;
	uint64_t words[SP_KEY_LIMIT];
	if (!counted->sample.time.shown)
		return;
	counted->failed |= (work->times->wakers && !sample_find_wakers(counted, record)) ||
			   !sample_find_origin(counted, record, &origin) ||
			   (work->keys->detail_count &&
			    !sample_values(counted, record, NULL, origin.view, words));
	const struct stack *stack = counted->failed ? NULL : stack_of(counted, record, &origin);
	if (!stack) {
		counted->failed = true;
		return;
	}
	struct stack wait; /* its stack, without the kernel's part */
	bool is_wait = ends_in_user(counted, &counted->sample.time);
	if (is_wait) {
		wait = *stack;
		stack = &wait;
	}
	uint32_t root = root_of(counted, is_wait ? &wait : NULL, &origin, event,
				work->keys->detail_count ? words : NULL);
	uint32_t answer = address_cache_find(
		&counted->answers, (struct code_address){stack->callers.leaf_ip, origin.view,
							 stack->callers.leaf_cpumode, false});
	if (root == RADIX_NONE || answer == ANSWER_FAILED) {
		counted->failed = true;
		return;
	}
	const struct rooted_sample sample = {
		.root = root,
		.answer = answer,
		.event = event,
		.shown = origin.shown,
		.part = counted->sample.part,
		.weight = weight,
		.task = counted->tasks.last,
	};
	if (stack->number == REPAIR_NONE)
		add_to_leaf(counted, &sample, &counted->sample.time, stack);
	else
		add_truncated(counted, &sample, record, stack);
}

void count_before_filters(struct counted *counted, const struct sp_record *record, uint16_t event,
			  uint64_t weight)
{
	const struct sideband *sideband = &counted->work->read->sideband;
	weight_sums_add(&counted->events[event].all, weight);
	if (counted->work->part_ns)
		counted->parts.whole[event].weight[counted->sample.part] += weight;
	/* Threads' samples are compared with READ records, or with lifetimes. */
	if (!sideband->task_counts.count && !sideband->lifetimes.events.count)
		return;
	uint32_t *samples =
		u64map_put(&counted->task_samples, key_of_pair(event, record->sample.tid), 0, NULL);
	if (samples)
		*samples += *samples < UINT32_MAX;
	else
		counted->failed = true;
}
