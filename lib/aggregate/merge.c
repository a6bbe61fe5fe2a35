/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aggregate/merge.h"

#include <string.h>
#include "aggregate/tree_build.h"
#include "aggregate/unsampled.h"
#include "aggregate/value_text.h"
#include "base/cleanup.h"
#include "base/ctx.h"
#include "info/losses.h"
#include "record/types.h"

static void merged_free(struct merged *merged, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		tallies_deinit(&merged[i].tallies);
		groups_deinit(&merged[i].groups);
		details_deinit(&merged[i].details);
		vec_deinit(&merged[i].replicates);
		paths_deinit(&merged[i].paths);
		vec_deinit(&merged[i].texts);
		u64map_deinit(&merged[i].text_of);
	}
	free(merged);
}

/* The number of a worker's tuple, whose texts outlive it; UINT32_MAX when out of memory. */
static uint32_t add_detail(struct run *run, struct merged *merged, const struct summed *summed,
			   uint32_t detail)
{
	const uint64_t *from = details_words(&summed->details, detail);
	uint64_t words[SP_KEY_COUNT];
	for (size_t i = 0; i < run->work.detail_count; i++) {
		words[i] = from[i];
		if (!key_is_text(run->work.detail_keys[i]) || from[i] == DETAIL_NONE)
			continue;
		words[i] = (uintptr_t)strtab_add(&run->analysis->strings,
						 (const char *)(uintptr_t)from[i]);
		if (!words[i])
			return UINT32_MAX;
	}
	return details_add(&merged->details, words);
}

/* The group in its event's list, whose names outlive the worker; UINT32_MAX when out of memory. */
static uint32_t add_group(struct run *run, struct merged *merged, const struct summed *summed,
			  const struct group *from)
{
	struct group group = *from;
	group.replicate = 0;
	if (run->work.detail_count) {
		group.detail = add_detail(run, merged, summed, from->detail);
		if (group.detail == UINT32_MAX)
			return UINT32_MAX;
	}
	if (from->comm)
		group.comm = strtab_add(&run->analysis->strings, from->comm);
	return from->comm && !group.comm ? UINT32_MAX : groups_add(&merged->groups, &group);
}

/* Keeps the hands apart that the tally's row is the sum of. */
static bool merge_replicate(struct merged *merged, uint32_t row, uint8_t replicate,
			    const struct tally *tally)
{
	if (!vec_reserve(&merged->replicates, (size_t)row + 1))
		return false;
	while (merged->replicates.count <= row)
		*vec_push(&merged->replicates) = (struct replicate_sums){0};
	struct replicate_sums *sums = &merged->replicates.items[row];
	sums->self[replicate] = weight_add(sums->self[replicate], tally->self_weight);
	sums->total[replicate] = weight_add(sums->total[replicate], tally->total_weight);
	return true;
}

static bool merge_tallies(struct run *run, struct merged *merged, const struct summed *summed)
{
	for (size_t i = 0; i < summed->tallies.count && !ctx_cancelled(run->ctx); i++) {
		const struct tally *tally = &summed->tallies.items[i];
		const struct group *group = &summed->groups.items[tally->group];
		uint32_t index = add_group(run, &merged[group->event], summed, group);
		if (index == UINT32_MAX ||
		    !tallies_merge(&merged[group->event].tallies, index, tally))
			return false;
		uint32_t row = tallies_row(&merged[group->event].tallies, index, tally->function);
		if (run->work.replicates &&
		    !merge_replicate(&merged[group->event], row, group->replicate, tally))
			return false;
	}
	return true;
}

static void add_ends(struct sp_profile *profile, const struct event_sums *sums)
{
	struct sp_stack_ends *ends = &profile->stacks;
	ends->complete += sums->ends[SP_STACK_COMPLETE];
	ends->truncated += sums->ends[SP_STACK_TRUNCATED];
	ends->no_unwind_info += sums->ends[SP_STACK_NO_UNWIND_INFO];
	ends->bad_memory += sums->ends[SP_STACK_BAD_MEMORY];
	ends->depth_limit += sums->ends[SP_STACK_DEPTH_LIMIT];
	ends->skipped += sums->ends[SP_STACK_SKIPPED];
	ends->switched += sums->ends[SP_STACK_SWITCHED];
	ends->deferred += sums->ends[SP_STACK_DEFERRED];
	ends->invalid_address += sums->ends[SP_STACK_INVALID_ADDRESS];
	ends->none += sums->ends[SP_STACK_NONE];
	profile->repaired += sums->repaired;
	profile->shortened += sums->shortened;
	profile->guessed += sums->guessed;
	profile->limited += sums->limited;
}

/* Estimates the missing weight: a lost sample weighs the mean of the others. */
static uint64_t missing_weight(const struct sp_profile *profile)
{
	if (profile->of_branches || profile->weight_is_latency || !profile->samples)
		return 0;
	double each = (double)profile->weight / (double)profile->samples;
	double missing = each * (double)profile->lost_own +
			 (profile->weight_is_time ? (double)profile->throttled_ns : 0);
	return missing < 1e19 ? (uint64_t)missing : UINT64_MAX;
}

/* The recorder estimates it of all events together. */
static uint64_t lost_own(const struct run *run, uint64_t lost)
{
	for (size_t i = run->sideband.notes.count; i-- > 0;) {
		const struct note *note = &run->sideband.notes.items[i];
		if (note->lost_own < note->lost_all)
			return (uint64_t)((double)lost * ((double)note->lost_own /
							  (double)note->lost_all) + 0.5);
	}
	return lost;
}

/* Fills in an event's totals; *shown_ret are the sums of shown samples. */
static void sum_up(const struct run *run, uint16_t event, struct sp_profile *profile,
		   struct weight_sums *all_ret, struct weight_sums *shown_ret)
{
	const struct sp_event *of = &run->work.layout->events[event];
	const struct event_throttling throttling = losses_throttling(run->sideband.losses, event);
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct event_sums *sums = &run->workers[i].counted.events[event];
		weight_sums_merge(all_ret, &sums->all);
		weight_sums_merge(shown_ret, &sums->shown);
		add_ends(profile, sums);
		profile->branch_stacks += sums->branch_stacks;
	}
	profile->samples = all_ret->samples;
	profile->weight = all_ret->weight;
	profile->shown_samples = shown_ret->samples;
	profile->shown_weight = shown_ret->weight;
	profile->lost = sp_losses_count(run->sideband.losses, event);
	profile->lost_own = lost_own(run, profile->lost);
	profile->throttled_count = throttling.count;
	profile->throttled_ns = throttling.ns;
	profile->weight_is_latency = run->options.memory && of->attr.sample_type &
				     (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	profile->weight_is_time = !run->options.memory && !run->options.branches &&
				  record_is_clock(of->attr.type, of->attr.config);
	profile->of_branches = run->options.branches;
	profile->missing_weight = missing_weight(profile);
	profile->has_callchains = !run->options.branches &&
				  (of->attr.sample_type & PERF_SAMPLE_CALLCHAIN ||
				   (run->unwinding.unwinder && dump_unwind_has_dump(&of->attr)));
}

/* Source of an event's rows; its profile has its totals. */
static struct profile_source source_of(struct run *run, uint16_t event,
				       const struct merged *merged, struct weight_sums whole)
{
	const struct sp_analysis *analysis = run->analysis;
	return (struct profile_source){
		.tallies = &merged->tallies,
		.paths = &merged->paths,
		.groups = merged->groups.items,
		.details = &merged->details,
		.values = {run->work.detail_keys, run->work.detail_count, describe_value, run},
		.functions = &analysis->functions,
		.files = &analysis->row_files,
		.event = analysis->profiles[event].event,
		.children = run->options.children,
		.order_by_self = run->options.order_by_self,
		.texts = merged->texts.items,
		.tree_least = run->options.tree_least,
		.replicates = merged->replicates.items,
		.whole = whole,
	};
}

static struct sp_error *make_profile(struct run *run, uint16_t event, const struct merged *merged,
				     struct profile_source *source)
{
	struct sp_analysis *analysis = run->analysis;
	struct sp_profile *profile = &analysis->profiles[event];
	struct weight_sums all = {0}, shown = {0};
	profile->event = strtab_add(&analysis->strings, run->work.layout->events[event].name);
	if (!profile->event)
		return error_no_memory();
	sum_up(run, event, profile, &all, &shown);
	*source = source_of(run, event, merged, run->options.relative ? shown : all);
	source->missing = profile->missing_weight;
	if (!sum_unsampled(run, event, source) ||
	    !profile_rows(source, &analysis->arena, profile))
		return error_no_memory();
	struct profile_source tree = *source;
	tree.functions = &analysis->nodes;
	tree.files = &analysis->node_files;
	tree.by_symbol = run->options.no_inlines;
	if (run->options.tree != SP_TREE_NONE && !profile_tree(&tree, &analysis->arena, profile))
		return error_no_memory();
	return NULL;
}

/* Puts the rows of the groups' events side by side. */
static struct sp_error *join_groups(struct run *run, const struct profile_source *all)
{
	struct sp_analysis *analysis = run->analysis;
	for (size_t i = 0; i < analysis->groups.count; i++) {
		struct sp_group *group = &analysis->groups.items[i];
		CLEANUP_FREE struct profile_source *sources =
			calloc(group->profile_count, sizeof(*sources));
		if (!sources)
			return error_no_memory();
		for (size_t j = 0; j < group->profile_count; j++)
			sources[j] = all[group->profiles[j]];
		if (!profile_join(sources, group->profile_count, &analysis->arena, group))
			return error_no_memory();
	}
	return NULL;
}

static void find_time(struct run *run)
{
	struct sp_analysis *analysis = run->analysis;
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct counted *counted = &run->workers[i].counted;
		if (!counted->last_ns)
			continue;
		if (!analysis->last_ns || counted->first_ns < analysis->first_ns)
			analysis->first_ns = counted->first_ns;
		if (counted->last_ns > analysis->last_ns)
			analysis->last_ns = counted->last_ns;
	}
}

/* Moves the first worker's bins of each event to the analysis and adds the others'. */
static void merge_time_bins(struct run *run)
{
	struct time_bins **all = run->analysis->time_bins;
	for (size_t i = 0; i < run->worker_count; i++)
		for (size_t event = 0; event < run->work.layout->event_count; event++) {
			struct time_bins **bins = &run->workers[i].counted.time_bins[event];
			if (!all[event])
				all[event] = take_ptr(*bins);
			else if (*bins)
				time_bins_merge(all[event], *bins);
		}
}

static struct sp_error *make_profiles(struct run *run, struct merged *merged, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		memcpy(merged[i].tallies.keys, run->work.keys, sizeof(run->work.keys));
		merged[i].details.width = run->work.detail_count;
	}
	for (size_t i = 0; i < run->worker_count; i++)
		if (!merge_tallies(run, merged, &run->workers[i].summed) ||
		    (run->options.tree != SP_TREE_NONE &&
		     !trees_build(run, merged, &run->workers[i].resolved)))
			return error_no_memory();
	CLEANUP_FREE struct profile_source *sources = calloc(count + 1, sizeof(*sources));
	if (!sources)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct sp_error *error = make_profile(run, (uint16_t)i, &merged[i], &sources[i]);
		if (error)
			return error;
		run->analysis->profile_count++;
	}
	return join_groups(run, sources);
}

struct sp_error *profiles_merge(struct run *run)
{
	size_t count = run->work.layout->event_count;
	struct merged *merged = calloc(count + 1, sizeof(*merged));
	run->analysis->profiles = calloc(count + 1, sizeof(*run->analysis->profiles));
	if (!merged || !run->analysis->profiles) {
		free(merged);
		return error_no_memory();
	}
	find_time(run);
	if (run->options.time_bins) {
		run->analysis->time_bins = calloc(count + 1, sizeof(*run->analysis->time_bins));
		if (!run->analysis->time_bins) {
			free(merged);
			return error_no_memory();
		}
		run->analysis->event_count = count;
		merge_time_bins(run);
	}
	if (!lifetimes_finish(&run->sideband.lifetimes, run->analysis->last_ns)) {
		free(merged);
		return error_no_memory();
	}
	bool whole = run->options.whole_paths;
	if (!srcfiles_make(&run->analysis->row_files, &run->analysis->functions, whole) ||
	    !srcfiles_make(&run->analysis->node_files, &run->analysis->nodes, whole)) {
		merged_free(merged, count);
		return error_no_memory();
	}
	struct sp_error *error = make_profiles(run, merged, count);
	merged_free(merged, count);
	return error;
}
