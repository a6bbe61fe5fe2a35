/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/counted.h"

#include <stdlib.h>

struct sp_error *counted_init(struct counted *counted, const struct work *work,
			      unsigned int bin_shift)
{
	*counted = (struct counted){.work = work, .answers = names_cache(work->names)};
	counted->details.width = work->keys->detail_count;
	size_t count = work->read->sideband.layout->event_count;
	counted->events = calloc(count + 1, sizeof(*counted->events));
	NEED(counted->events && vec_reserve(&counted->leaves, 1));
	if (work->options->samples.time_bins)
		NEED(counted->time_bins = calloc(count + 1, sizeof(*counted->time_bins)));
	if (work->part_ns)
		NEED(counted->parts.whole = calloc(count + 1, sizeof(*counted->parts.whole)));
	counted->part_begin_ns = work->parts_begin_ns;
	if (work->options->samples.timeline)
		counted->cells.limit = work->options->samples.timeline_cells;
	NEED(cells_widen(&counted->cells, work->options->samples.timeline ? bin_shift : 0));
	struct sp_error *error = stacks_init(&counted->stacks, &work->read->unwinding);
	if (work->read->sideband.deferred_count)
		counted->stacks.deferred = &work->read->deferred;
	counted->stacks.layout = work->read->sideband.layout;
	if (!error && work->keys->has_traces)
		error = sp_trace_new(work->ctx, work->read->reader, &counted->trace);
	return error;
}

void counted_deinit(struct counted *counted)
{
	address_cache_deinit(&counted->answers);
	chains_deinit(&counted->chains);
	groups_deinit(&counted->groups);
	details_deinit(&counted->details);
	sp_trace_free(counted->trace);
	strtab_deinit(&counted->texts);
	stacks_deinit(&counted->stacks);
	vec_deinit(&counted->truncated);
	vec_deinit(&counted->truncated.kernel_ips);
	vec_deinit(&counted->folded);
	vec_deinit(&counted->kept);
	vec_deinit(&counted->leaves);
	u64map_deinit(&counted->leaves.index_of);
	vec_deinit(&counted->tasks);
	u64map_deinit(&counted->tasks.index_of);
	vec_deinit(&counted->leaves.pending);
	free(counted->events);
	if (counted->time_bins)
		time_bins_free(counted->time_bins,
			       counted->work->read->sideband.layout->event_count);
	cells_deinit(&counted->cells);
	vec_deinit(&counted->parts);
	free(counted->parts.whole);
	leaf_times_deinit(&counted->times);
	u64map_deinit(&counted->task_samples);
	u64map_deinit(&counted->counters.index_of);
	vec_deinit(&counted->counters);
}
