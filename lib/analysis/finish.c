/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The workers' stacks of frames become, for each event, stacks of functions:
 * frames that people cannot tell apart are one from here on. Rows and trees are
 * made of those.
 */
#include "analysis/internal.h"
#include "base/cleanup.h"

#define UNKNOWN "[unknown]"

/* One event's stacks, and the groups that are their roots. */
struct merged {
	struct stacks stacks;
	VEC(struct group);
	struct u64map group_of; /* hash -> index */
};

static void merged_free(struct merged *merged, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		stacks_deinit(&merged[i].stacks);
		vec_deinit(&merged[i]);
		u64map_deinit(&merged[i].group_of);
	}
	free(merged);
}

static enum sp_level level_of(uint16_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_USER:
		return SP_LEVEL_USER;
	case PERF_RECORD_MISC_KERNEL:
		return SP_LEVEL_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return SP_LEVEL_GUEST_USER;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return SP_LEVEL_GUEST_KERNEL;
	default:
		return SP_LEVEL_HYPERVISOR;
	}
}

static uint32_t add_function(struct functions *functions, const struct frame *frame)
{
	const struct module *module = frame->module;
	const struct function_source source = {
		.dso = module ? module->name : UNKNOWN,
		.dso_path = module ? module->path : UNKNOWN,
		.build_id = module ? module->build_id : NULL,
		.build_id_size = module ? module->build_id_size : 0,
		.symbol = frame->symbol ? frame->symbol->name : NULL,
		.start = frame->symbol ? frame->symbol->start : frame->address,
		.size = frame->symbol ? frame->symbol->size : 0,
		.level = level_of(frame->cpumode),
	};
	return functions_add(functions, &source);
}

/* The function of each frame; NULL when out of memory. */
static uint32_t *make_functions(struct run *run)
{
	const struct names *names = &run->names;
	CLEANUP_FREE uint32_t *function_of =
		calloc(names->frames.count + 1, sizeof(*function_of));
	if (!function_of)
		return NULL;
	for (size_t i = 0; i < names->frames.count; i++) {
		function_of[i] = add_function(&run->analysis->functions, &names->frames.items[i]);
		if (function_of[i] == UINT32_MAX)
			return NULL;
	}
	return take_ptr(function_of);
}

/* The index of the group in its event's list; UINT32_MAX when out of memory. */
static uint32_t add_group(struct run *run, struct merged *merged, const struct worker_group *from)
{
	struct group group = {.pid = from->pid, .tid = from->tid, .cpu = from->cpu};
	if (from->comm) {
		group.comm = strtab_add(&run->analysis->strings, from->comm);
		if (!group.comm)
			return UINT32_MAX;
	}
	uint64_t hash = hash_pair((uintptr_t)group.comm, (uint32_t)group.cpu);
	hash = hash_pair(hash, (uint64_t)(uint32_t)group.pid << 32 | (uint32_t)group.tid);
	for (;; hash++) {
		bool added;
		if (!vec_reserve(merged, merged->count + 1))
			return UINT32_MAX;
		const uint32_t *index = u64map_put(&merged->group_of, hash,
						   (uint32_t)merged->count, &added);
		if (!index)
			return UINT32_MAX;
		if (added)
			*vec_push(merged) = group;
		const struct group *known = &merged->items[*index];
		if (known->comm == group.comm && known->pid == group.pid &&
		    known->tid == group.tid && known->cpu == group.cpu)
			return *index;
	}
}

/* Adds one worker's stacks to those of their events. */
static bool merge_worker(struct run *run, struct merged *merged, const struct worker *worker,
			 const uint32_t *function_of)
{
	const struct stacks *from = &worker->chains.stacks;
	CLEANUP_FREE uint32_t *to = calloc(from->count + 1, sizeof(*to));
	CLEANUP_FREE uint16_t *event = calloc(from->count + 1, sizeof(*event));
	if (!to || !event)
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct stack_node *node = &from->items[i];
		uint32_t parent = STACK_NONE, id;
		if (node->parent == STACK_NONE) {
			event[i] = worker->groups.items[node->id].event;
			id = add_group(run, &merged[event[i]], &worker->groups.items[node->id]);
			if (id == UINT32_MAX)
				return false;
		} else {
			event[i] = event[node->parent];
			parent = to[node->parent];
			id = function_of[node->id];
		}
		to[i] = stacks_child(&merged[event[i]].stacks, parent, id);
		if (to[i] == STACK_NONE)
			return false;
		if (node->samples)
			stacks_add(&merged[event[i]].stacks, to[i], node->samples, node->weight);
	}
	return true;
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void add_ends(struct sp_stack_ends *ends, const uint64_t counts[STACK_END_COUNT])
{
	ends->complete += counts[STACK_COMPLETE];
	ends->truncated += counts[STACK_TRUNCATED];
	ends->no_unwind_info += counts[STACK_NO_UNWIND_INFO];
	ends->bad_memory += counts[STACK_BAD_MEMORY];
	ends->depth_limit += counts[STACK_DEPTH_LIMIT];
	ends->none += counts[STACK_NO_CHAIN];
}

/* What is known of an event as a whole; *shown_ret are the sums of what is shown. */
static void sum_up(const struct run *run, uint16_t event, struct sp_profile *profile,
		   struct weight_sums *all_ret, struct weight_sums *shown_ret)
{
	const struct sp_event *of = &run->work.layout->events[event];
	const struct event_losses *losses = &run->sideband.events[event];
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct event_sums *sums = &run->workers[i].events[event];
		weight_sums_merge(all_ret, &sums->all);
		weight_sums_merge(shown_ret, &sums->shown);
		add_ends(&profile->stacks, sums->ends);
	}
	profile->samples = all_ret->samples;
	profile->weight = all_ret->weight;
	profile->shown_samples = shown_ret->samples;
	profile->shown_weight = shown_ret->weight;
	profile->lost = sideband_lost(&run->sideband, event);
	profile->throttled_count = losses->throttled_count;
	profile->throttled_ns = losses->throttled_ns;
	profile->weight_is_time = is_clock(&of->attr);
	profile->has_callchains = of->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
}

static struct sp_error *make_profile(struct run *run, uint16_t event, const struct merged *merged)
{
	struct sp_analysis *analysis = run->analysis;
	struct sp_profile *profile = &analysis->profiles[event];
	struct weight_sums all = {0}, shown = {0};
	profile->event = strtab_add(&analysis->strings, run->work.layout->events[event].name);
	if (!profile->event)
		return error_no_memory();
	sum_up(run, event, profile, &all, &shown);
	struct profile_source source = {
		.stacks = &merged->stacks,
		.groups = merged->items,
		.functions = &analysis->functions,
		.event = profile->event,
		.children = run->options.children,
		.tree = run->options.tree,
		.tree_comms = run->options.tree_comms,
		.whole = run->options.relative ? shown : all,
	};
	for (size_t i = 0; i < run->options.key_count; i++)
		source.keys[run->options.keys[i]] = true;
	if (!profile_rows(&source, &analysis->arena, profile))
		return error_no_memory();
	if (run->options.tree != SP_TREE_NONE && !profile_tree(&source, &analysis->arena, profile))
		return error_no_memory();
	return NULL;
}

static void find_time(struct run *run)
{
	struct sp_analysis *analysis = run->analysis;
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct worker *worker = &run->workers[i];
		if (!worker->last_ns)
			continue;
		if (!analysis->last_ns || worker->first_ns < analysis->first_ns)
			analysis->first_ns = worker->first_ns;
		if (worker->last_ns > analysis->last_ns)
			analysis->last_ns = worker->last_ns;
	}
}

static struct sp_error *make_profiles(struct run *run, struct merged *merged, size_t count)
{
	CLEANUP_FREE uint32_t *function_of = make_functions(run);
	if (!function_of)
		return error_no_memory();
	for (size_t i = 0; i < run->worker_count; i++)
		if (!merge_worker(run, merged, &run->workers[i], function_of))
			return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct sp_error *error = make_profile(run, (uint16_t)i, &merged[i]);
		if (error)
			return error;
		run->analysis->profile_count++;
	}
	return NULL;
}

struct sp_error *finish_profiles(struct run *run)
{
	size_t count = run->work.layout->event_count;
	struct merged *merged = calloc(count + 1, sizeof(*merged));
	run->analysis->profiles = calloc(count + 1, sizeof(*run->analysis->profiles));
	if (!merged || !run->analysis->profiles) {
		free(merged);
		return error_no_memory();
	}
	find_time(run);
	struct sp_error *error = make_profiles(run, merged, count);
	merged_free(merged, count);
	return error;
}
