/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings about events that counted for a part of the time, or not at all, and about samples
 * without a branch stack.
 */
#include "findings/sources.h"

/* Share of the time that an event must have counted, so that no finding is needed. */
#define RUNNING_ENOUGH 0.99

/* Adds findings about multiplexed counters, and about values that cannot be attributed to code. */
void find_multiplexing(const struct analysis_view *view)
{
	for (size_t event = 0; event < view->recording->event_count; event++) {
		const char *name = view->recording->totals[event].event;
		uint64_t enabled_ns = 0, running_ns = 0, unattributed = 0;
		char text[FINDING_TEXT];
		vec_each (worker, view->workers) {
			const struct event_sums *sums = &worker->counted.events[event];
			enabled_ns += sums->enabled_ns;
			running_ns += sums->running_ns;
			unattributed += sums->unattributed;
		}
		double part = enabled_ns ? (double)running_ns / (double)enabled_ns : 1;
		const struct sp_finding shared = {
			.kind = SP_FINDING_MULTIPLEXED, .cause = "multiplexed", .event = name,
			.share = 1 - part, .remedy = "record fewer events at once: -e",
		};
		/* The same kind: counts are partial, too. */
		const struct sp_finding unknown = {
			.kind = SP_FINDING_MULTIPLEXED, .cause = "unattributed", .event = name,
			.samples = unattributed,
		};
		if (part < RUNNING_ENOUGH)
			finding_add(view, &shared,
				    "%s was counted for %s of the time (multiplexed): shares are "
				    "of that part",
				    name, share_text(part, text));
		if (unattributed)
			finding_add(view, &unknown,
				    "%s value%s of %s omitted: the recording has no earlier "
				    "count to subtract",
				    count_text(unattributed, text), plural(unattributed), name);
	}
}

/* Adds findings about samples without a branch stack, if branches are counted. */
void find_branchless(const struct analysis_view *view)
{
	for (size_t event = 0; event < view->recording->event_count; event++) {
		const struct sp_profile *profile = &view->recording->totals[event];
		uint64_t without = 0;
		char count[FINDING_TEXT];
		vec_each (worker, view->workers)
			without += worker->counted.events[event].branchless;
		double part = (double)without / ((double)without + (double)profile->branch_stacks);
		const struct sp_finding finding = {
			.kind = SP_FINDING_NO_BRANCHES, .cause = "no_branches", .event = profile->event,
			.samples = without, .share = part,
			.remedy = "count samples instead: sprof report --no-branch-stack",
		};
		if (without)
			finding_add(view, &finding,
				    "%s sample%s of %s without a branch stack omitted",
				    count_text(without, count), plural(without), profile->event);
	}
}
