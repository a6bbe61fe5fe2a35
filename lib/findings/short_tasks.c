/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about threads and processes that ended before their first sample. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "findings/sources.h"

/* Least share of the weight for a finding. */
#define SHARE_LEAST 0.01

/* The same of what tasks with samples lack. */
#define LACKING_LEAST 0.05

/* Limit on programs that a finding names. */
#define NAMED_MOST 4

/* Sums over all programs of an event. */
struct total {
	uint64_t tasks, unsampled, weight;
	bool exact;
};

/*
 * Names the programs: "dog: 310 of 500 (up to 0.25 s), bee: ..., and 3 other programs". NULL when out
 * of memory.
 */
static char *name_programs(const struct sp_profile *profile)
{
	char *text = format_text("%s", "");
	size_t named = 0, others = 0;
	for (size_t i = 0; text && i < profile->unsampled_count; i++) {
		const struct sp_unsampled *row = sp_profile_unsampled(profile, i);
		char never[FINDING_TEXT], tasks[FINDING_TEXT], time[FINDING_TEXT];
		if (!row->unsampled)
			continue;
		if (named == NAMED_MOST) {
			others++;
			continue;
		}
		CLEANUP_FREE char *before = text;
		bool timed = profile->weight_is_time;
		text = format_text("%s%s%s: %s of %s%s%s%s%s", before, named++ ? ", " : "", row->comm,
				   count_text(row->unsampled, never), count_text(row->tasks, tasks),
				   timed ? " (" : "", timed && !row->exact ? "up to " : "",
				   timed ? time_text(row->weight, time) : "", timed ? ")" : "");
	}
	if (!text || !others)
		return text;
	CLEANUP_FREE char *before = text;
	return format_text("%s, and %zu other program%s", before, others, plural(others));
}

/*
 * Sets the remedy for time without samples. Events of whole CPUs are not inherited; waits of single
 * processes exclude them.
 */
static void set_remedy(const struct analysis_view *view, size_t event, char *remedy, size_t size)
{
	const struct perf_event_attr *attr = view_attr(view, event);
	bool is_slow = attr->freq && attr->sample_freq < 20000;
	bool has_switches = false, by_task = attr->inherit;
	for (size_t i = 0; i < view->recording->event_count; i++) {
		has_switches |= view_attr(view, i)->context_switch;
		by_task &= strcmp(view->recording->totals[i].event, TIMES_WAIT_EVENT) != 0;
	}
	snprintf(remedy, size, "record %s%s%sat a higher rate%s",
		 has_switches ? "" : "context switches (--switch-events), ",
		 by_task ? "all CPUs as root (--scope cpu), " : "",
		 by_task || !has_switches ? "or " : "", is_slow ? " (-F 20000)" : "");
}

static bool add_finding(const struct analysis_view *view, const struct sp_profile *profile,
			const struct total *total)
{
	size_t event = (size_t)(profile - view->recording->totals);
	char unsampled[FINDING_TEXT], tasks[FINDING_TEXT], share[FINDING_TEXT];
	char of_all[80], remedy[160];
	bool is_scaled = times_scaled_clock(view->work->times, (uint16_t)event);
	double all = (double)profile->weight + (is_scaled ? 0 : (double)total->weight);
	double part = (double)total->weight / all;
	bool known = profile->weight_is_time || total->exact;
	CLEANUP_FREE char *programs = name_programs(profile);
	if (!programs)
		return false;
	if (known)
		snprintf(of_all, sizeof(of_all), "%s%s of the total %s",
			 total->exact ? "" : "up to ", share_text(part, share),
			 is_scaled ? "has no stack" : "is missing");
	else
		snprintf(of_all, sizeof(of_all), "their counts are missing");
	set_remedy(view, event, remedy, sizeof(remedy));
	const struct sp_finding finding = {
		.kind = SP_FINDING_UNSAMPLED, .cause = "unsampled", .event = profile->event,
		.share = known ? part : 0, .remedy = remedy,
	};
	return finding_add(view, &finding,
			   "%s of %s threads and processes ended before their first "
			   "sample of %s: %s (%s)",
			   count_text(total->unsampled, unsampled), count_text(total->tasks, tasks),
			   profile->event, of_all, programs);
}

/*
 * Adds a finding if tasks with samples lack much weight (each fork and exec, half a period), or if
 * it is not known which code had it. `known`: another finding has the missing weight.
 */
static bool add_lacking(const struct analysis_view *view, const struct sp_profile *profile,
			uint64_t tasks, bool known)
{
	size_t event = (size_t)(profile - view->recording->totals);
	char count[FINDING_TEXT], share[FINDING_TEXT], others[80] = "", missing[80] = "";
	char remedy[160];
	double all = (double)profile->weight + (double)profile->missing_weight;
	double missing_part = (double)profile->missing_weight / all;
	double others_part = fmin((double)profile->unplaced_weight / all, 1);
	bool lacks = !known && !profile->lost_own && !profile->throttled_ns &&
		     missing_part >= LACKING_LEAST;
	bool moves = others_part >= LACKING_LEAST;
	if (!profile->weight_is_time || !profile->weight || !(lacks || moves))
		return true;
	if (moves)
		snprintf(others, sizeof(others), "up to %s of the total may belong to other rows",
			 share_text(others_part, share));
	if (lacks)
		snprintf(missing, sizeof(missing), "%sup to %s of the total is missing",
			 moves ? ", and " : "", share_text(missing_part, share));
	set_remedy(view, event, remedy, sizeof(remedy));
	const struct sp_finding finding = {
		.kind = SP_FINDING_UNSAMPLED, .cause = "unsampled", .event = profile->event,
		.share = moves ? others_part : missing_part, .remedy = remedy,
	};
	return finding_add(view, &finding,
			   "the begin of %s threads and processes has no samples of %s: %s%s",
			   count_text(tasks, count), profile->event, others, missing);
}

static bool find_event(const struct analysis_view *view, const struct sp_profile *profile)
{
	struct total total = {.exact = true};
	for (size_t i = 0; i < profile->unsampled_count; i++) {
		const struct sp_unsampled *row = sp_profile_unsampled(profile, i);
		total.tasks += row->tasks;
		total.unsampled += row->unsampled;
		total.weight += row->weight;
		total.exact &= row->exact;
	}
	bool small = profile->weight_is_time && (double)total.weight <
			     SHARE_LEAST * ((double)total.weight + (double)profile->weight);
	bool ended = total.unsampled && !small;
	return (!ended || add_finding(view, profile, &total)) &&
	       add_lacking(view, profile, total.tasks, ended);
}

bool find_unsampled(const struct analysis_view *view)
{
	for (size_t i = 0; i < view->recording->event_count; i++)
		if (!find_event(view, &view->recording->totals[i]))
			return false;
	return true;
}
