/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was not counted, or only for a part of the time. */
#include "analysis/findings.h"

/* Less than that of the time is worth telling. */
#define RUNNING_TOLD 0.99

/* Counters that took turns, and values that cannot be told to any code. */
bool find_counting(struct run *run)
{
	for (size_t event = 0; event < run->analysis->profile_count; event++) {
		const char *name = run->analysis->profiles[event].event;
		uint64_t enabled_ns = 0, running_ns = 0, unattributed = 0;
		char text[FINDING_TEXT];
		for (size_t i = 0; i < run->worker_count; i++) {
			const struct event_sums *sums = &run->workers[i].events[event];
			enabled_ns += sums->enabled_ns;
			running_ns += sums->running_ns;
			unattributed += sums->unattributed;
		}
		double part = enabled_ns ? (double)running_ns / (double)enabled_ns : 1;
		if (part < RUNNING_TOLD &&
		    !finding_add(run, SP_FINDING_MULTIPLEXED, 0, 1 - part,
				 "record fewer events at once",
				 "%s was counted for %s of the time: it shared its counter with others, "
				 "and what is shown is that part", name, share_text(part, text)))
			return false;
		if (unattributed &&
		    !finding_add(run, SP_FINDING_MULTIPLEXED, unattributed, 0, NULL,
				 "%s value%s of %s cannot be told to any code, and %s left out: the "
				 "recording does not say since when it had been counted",
				 count_text(unattributed, text), plural(unattributed), name,
				 unattributed == 1 ? "is" : "are"))
			return false;
	}
	return true;
}

/* Where branches are counted, samples without any are not shown. */
bool find_branchless(struct run *run)
{
	for (size_t event = 0; event < run->analysis->profile_count; event++) {
		const struct sp_profile *profile = &run->analysis->profiles[event];
		uint64_t without = 0;
		char count[FINDING_TEXT];
		for (size_t i = 0; i < run->worker_count; i++)
			without += run->workers[i].events[event].branchless;
		double part = (double)without / ((double)without + (double)profile->branch_stacks);
		if (without && !finding_add(run, SP_FINDING_NO_BRANCHES, without, part,
					    "--no-branch-stack counts samples instead",
					    "%s sample%s of %s %s no branch stack: what is counted are "
					    "branches", count_text(without, count), plural(without),
					    profile->event, without == 1 ? "has" : "have"))
			return false;
	}
	return true;
}
