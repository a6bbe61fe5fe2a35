/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remark on code made at run time. Compilers for Node.js and Java put callees into their callers,
 * and neither perf maps nor jitdumps list them: their time is in their callers' rows.
 */
#include <stdio.h>
#include <string.h>
#include "findings/sources.h"
#include "frames/generated.h"
#include "machine/modules.h"
#include "rows/resolve_chains.h"

/* Least share of an event's weight for a finding. */
#define SHARE_LEAST 0.1

/* Returns the runtime of the frame's code if its compiler may have inlined calls; NULL: none. */
static const struct runtime *inlining_runtime(const struct analysis_view *view,
					      const struct frame *frame)
{
	if (!generated_has(frame) || !symbol_is_named(frame->symbol) ||
	    !generated_may_inline(frame->symbol->name))
		return NULL;
	const struct runtime *runtime =
		machine_runtime(view->read->machine, frame->module->pid);
	return runtime && runtime->callees ? runtime : NULL;
}

/* Sums of a runtime's optimized code. */
struct optimized {
	const struct runtime *runtime;
	double weight;
	uint64_t samples;
};

static void find_in_event(const struct analysis_view *view, uint16_t event)
{
	struct optimized sums[4] = {0}, *most = sums;
	double all = 0;
	char share[FINDING_TEXT], remedy[120];
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		if (!at.leaf->weight || resolved_event(&at.worker->resolved, at.leaf) != event)
			continue;
		all += (double)at.leaf->weight;
		const struct runtime *runtime = inlining_runtime(
			view, &view->names->frames.items[answer_frame(at.leaf->answer)]);
		struct optimized *sum = sums, *end = sums + count_of(sums);
		while (runtime && sum < end && sum->runtime && sum->runtime != runtime)
			sum++;
		if (!runtime || sum == end)
			continue;
		sum->runtime = runtime;
		sum->weight += (double)at.leaf->weight;
		sum->samples += at.leaf->samples;
		if (sum->weight > most->weight)
			most = sum;
	}
	if (!most->runtime || most->weight < SHARE_LEAST * all ||
	    !finding_runtime_remedy(view, most->runtime->callees))
		return;
	snprintf(remedy, sizeof(remedy), "to see these callees, %s (slower)",
		 most->runtime->callees);
	const struct sp_finding finding = {
		.kind = SP_FINDING_NOTE, .cause = "inlined", .object = most->runtime->name,
		.event = view->recording->totals[event].event, .samples = most->samples,
		.share = most->weight / all, .remedy = remedy,
		.summary = "of self may be of inlined callees",
	};
	finding_add(view, &finding, "%s %s: %s", share_text(finding.share, share), finding.summary,
		    most->runtime->name);
}

void find_inlined(const struct analysis_view *view)
{
	const bool *keys = view->work->keys->rows;
	if (!keys[SP_KEY_FUNCTION] && !keys[SP_KEY_SYMBOL])
		return;
	for (uint16_t event = 0; event < view->recording->event_count; event++)
		if (view->work->times->roles[event] != ROLE_NONE)
			find_in_event(view, event);
}
