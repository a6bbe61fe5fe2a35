/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/make_profiles.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "frames/shown_names.h"
#include "record/python_record.h"
#include "rows/timeline.h"
#include "rows/value_text.h"

/* Collects what profile_source needs to make the rows of an event. Returns false when out of memory. */
static bool make_source(struct merged *merged, size_t index, struct profile_source *ret)
{
	struct sp_analysis *analysis = merged->analysis;
	const struct analysis_options *options = merged->options;
	const struct merged_event *summed = &merged->events[index];
	*ret = (struct profile_source){
		.tallies = &summed->tallies,
		.paths = &summed->paths,
		.groups = summed->groups.items,
		.details = &summed->details,
		.values = {merged->keys.details, merged->keys.detail_count, describe_value, merged},
		.functions = &analysis->functions,
		.files = &analysis->row_files,
		.event = analysis->profiles[index].event,
		.children = options->rows.children,
		.order_by_self = options->rows.order_by_self,
		.texts = summed->texts.items,
		.tree_least = options->tree.least,
		.replicates = summed->replicates.items,
		.whole = options->samples.relative ? summed->shown : summed->all,
		.is_exact = !analysis->profiles[index].is_estimate,
		.missing = summed->missing,
		.by_run = merged_by_run(merged),
	};
	return programs_weights(&summed->unsampled, &analysis->arena, ret);
}

/* Returns the part of all weight in stacks with a Python function that could not be read. */
static double unresolved_part(const struct profile_source *source)
{
	uint64_t weight = 0;
	vec_each (tally, source->tallies) {
		const struct function *function = tally->function == TALLY_NONE ? NULL :
						  &source->functions->items[tally->function];
		if (function && function->function &&
		    !strcmp(function->function, PYTHON_UNRESOLVED))
			weight = weight_add(weight, source->children ? tally->total_weight :
						    tally->self_weight);
	}
	return source->whole.weight ? (double)weight / (double)source->whole.weight : 0;
}

/* Sets the times of a mode in which rows and nodes have states. */
static void set_states(struct merged *merged, size_t index, struct profile_source *source)
{
	struct merged_event *from = &merged->events[index];
	if (!merged->weigher->of_threads)
		return;
	if (merged->options->samples.relative)
		from->states.sums = from->states.shown;
	from->states.n_eff = weight_sums_effective(&from->all);
	from->states.preempted_n_eff = weight_sums_effective(&from->preempted);
	source->states = &from->states;
	source->whole = (struct weight_sums){.weight = state_sums_total(&from->states.sums)};
}

static bool make_profile(struct merged *merged, size_t index, struct profile_source *source)
{
	struct sp_analysis *analysis = merged->analysis;
	struct sp_profile *profile = &analysis->profiles[index];
	if (!make_source(merged, index, source))
		return false;
	set_states(merged, index, source);
	const struct batches *whole = &merged->events[index].whole;
	/* Exact shares vary between runs, but need no estimate within one. */
	if (merged->batch_count && (!source->is_exact || source->by_run))
		source->batches = interval_batches_of(whole->items, whole->count,
						      weight_sums_effective(&source->whole));
	source->unresolved = unresolved_part(source);
	if (!programs_list(&merged->events[index].unsampled, &analysis->arena, profile) ||
	    !profile_rows(source, &analysis->arena, profile))
		return false;
	struct profile_source tree = *source;
	tree.functions = &analysis->nodes;
	tree.files = &analysis->node_files;
	tree.by_symbol = merged->options->stacks.inlines == SP_OFF;
	if (merged->options->tree.order == SP_TREE_NONE)
		return true;
	CLEANUP_FREE const struct sp_tree_node **last =
		calloc(source->paths->radix.count + 1, sizeof(*last));
	if (!last || !profile_tree(&tree, &analysis->arena, profile, last))
		return false;
	return !merged->options->samples.timeline || timeline_make(merged, index, last);
}

/* Makes the rows of each event group by joining the rows of its events. */
static bool join_groups(struct sp_analysis *analysis, const struct profile_source *all)
{
	vec_each (group, &analysis->groups) {
		CLEANUP_FREE struct profile_source *sources =
			calloc(group->profile_count, sizeof(*sources));
		if (!sources)
			return false;
		for (size_t j = 0; j < group->profile_count; j++)
			sources[j] = all[group->profiles[j]];
		if (!profile_join(sources, group->profile_count, &analysis->arena, group))
			return false;
	}
	return true;
}

struct sp_error *profiles_make(struct merged *merged)
{
	struct sp_analysis *analysis = merged->analysis;
	bool whole = merged->options->rows.whole_paths;
	NEED(name_functions(&analysis->functions, &analysis->nodes));
	NEED(srcfiles_make(&analysis->row_files, &analysis->functions, whole) &&
	     srcfiles_make(&analysis->node_files, &analysis->nodes, whole));
	CLEANUP_FREE struct profile_source *sources = calloc(merged->event_count + 1, sizeof(*sources));
	NEED(sources);
	for (size_t i = 0; i < merged->event_count; i++)
		NEED(make_profile(merged, i, &sources[i]));
	return join_groups(analysis, sources) ? NULL : error_no_memory();
}
