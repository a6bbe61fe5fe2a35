/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remark on modes of time: if no sample shows where a thread was preempted, on-CPU samples
 * distribute its wait for a CPU. Code that runs right before a switch may have less than its part.
 */
#include "findings/sources.h"

/* Least share of the shown time for a finding. */
#define SHARE_LEAST 0.05

void find_preempted(const struct analysis_view *view)
{
	double all = 0, preempted = 0;
	char text[FINDING_TEXT];
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		const struct counted *counted = &at.worker->counted;
		size_t index = at.leaf - counted->leaves.items;
		if (index >= counted->times.count)
			continue;
		const struct leaf_time *time = &counted->times.items[index];
		all += (double)state_sums_total(&time->sums);
		if (!time->is_rest && !stratum_is_of_waits(time->stratum) &&
		    !stratum_is_preempted(time->stratum))
			preempted += (double)time->sums.ns[TIME_RUNNABLE];
	}
	const struct sp_finding finding = {
		.kind = SP_FINDING_NOTE, .cause = "preempted",
		.share = all > 0 ? preempted / all : 0,
	};
	/* One line of 80 columns. */
	if (finding.share >= SHARE_LEAST)
		finding_add(view, &finding, "preempted threads waited %s of the time without "
			    "stacks: split by CPU time", share_text(finding.share, text));
}
