/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about threads and processes that ended before their first sample. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "event/rights.h"
#include "findings/sources.h"
#include "record/types.h"

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

/* Returns the rate to advise; 0: none, as a higher one would lose samples or slow the program. */
static uint64_t higher_hz(const struct analysis_view *view, size_t event)
{
	const struct perf_event_attr *attr = view_attr(view, event);
	const struct sp_profile *profile = &view->recording->totals[event];
	bool is_timed = !attr->freq && record_is_clock(attr->type, attr->config) &&
			attr->sample_period;
	if (profile->lost_own || profile->lost_unknown || profile->throttled_count)
		return 0;
	return sp_higher_rate_hz(is_timed ? 1000000000 / attr->sample_period
				 : attr->freq ? attr->sample_freq : 0,
				 machine_has_python(view->read->machine));
}

/* Returns whether this user may record whole CPUs, as far as is known. */
static bool may_record_cpus(const struct analysis_view *view)
{
	struct rights rights;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = rights_read(view->work->ctx, &rights);
	return !error && rights_cpu_wide(&rights);
}

/*
 * Sets the remedy for time without samples, "" if there is none. Events of whole CPUs are not
 * inherited; waits of single processes exclude them, and not all users may record them.
 */
static void set_remedy(const struct analysis_view *view, size_t event, char *remedy, size_t size)
{
	const struct perf_event_attr *attr = view_attr(view, event);
	uint64_t hz = higher_hz(view, event);
	char rate[FINDING_TEXT];
	snprintf(rate, sizeof(rate), "at a higher rate (-F %llu)", (unsigned long long)hz);
	bool has_switches = false, by_task = attr->inherit;
	for (size_t i = 0; i < view->recording->event_count; i++) {
		has_switches |= view_attr(view, i)->context_switch;
		by_task &= strcmp(view->recording->totals[i].event, TIMES_WAIT_EVENT) != 0;
	}
	by_task = by_task && may_record_cpus(view);
	const char *const ways[] = {
		has_switches ? NULL : "context switches (--switch-events)",
		by_task ? "all CPUs (--scope cpu)" : NULL,
		hz ? rate : NULL,
	};
	const char *before = "record ";
	*remedy = 0;
	for (size_t i = 0; i < count_of(ways); i++) {
		size_t used = strlen(remedy);
		if (ways[i])
			snprintf(remedy + used, size - used, "%s%s", before, ways[i]);
		before = *remedy ? ", or " : before;
	}
}

static void add_finding(const struct analysis_view *view, const struct sp_profile *profile,
			const struct total *total)
{
	size_t event = profile - view->recording->totals;
	char unsampled[FINDING_TEXT], tasks[FINDING_TEXT], share[FINDING_TEXT];
	char of_all[80], remedy[160];
	bool is_scaled = times_scaled_clock(view->work->times, event);
	double all = (double)profile->weight + (is_scaled ? 0 : (double)total->weight);
	double part = (double)total->weight / all;
	bool known = profile->weight_is_time || total->exact;
	CLEANUP_FREE char *programs = name_programs(profile);
	if (!finding_need(view, programs))
		return;
	if (known)
		snprintf(of_all, sizeof(of_all), "%s%s of the total %s",
			 total->exact ? "" : "up to ", share_text(part, share),
			 is_scaled ? "has no stack" : "is missing");
	else
		snprintf(of_all, sizeof(of_all), "their counts are missing");
	set_remedy(view, event, remedy, sizeof(remedy));
	const struct sp_finding finding = {
		.kind = SP_FINDING_UNSAMPLED, .cause = "unsampled", .event = profile->event,
		.share = known ? part : 0, .remedy = *remedy ? remedy : NULL,
	};
	finding_add(view, &finding,
		    "%s of %s threads and processes ended before their first "
		    "sample of %s: %s (%s)",
		    count_text(total->unsampled, unsampled), count_text(total->tasks, tasks),
		    profile->event, of_all, programs);
}

/* Adds a finding if samples of whole CPUs lack much of the CPU time that the kernel counted. */
static void add_late(const struct analysis_view *view, const struct sp_profile *profile,
		     double share)
{
	char text[FINDING_TEXT];
	const struct sp_finding finding = {
		.kind = SP_FINDING_UNSAMPLED, .cause = "missed", .event = profile->event,
		.share = share, .remedy = "record with --scope task: its timers run with threads",
	};
	finding_add(view, &finding,
		    "%s of the target's CPU time has no samples of %s: timers of CPUs are late "
		    "while interrupts are disabled",
		    share_text(share, text), profile->event);
}

/*
 * Adds a finding if tasks with samples lack much weight (each fork and exec, half a period), or if
 * it is not known which code had it. `known`: weight in another finding, which has what is missing.
 */
static void add_lacking(const struct analysis_view *view, const struct sp_profile *profile,
			uint64_t tasks, uint64_t known)
{
	size_t event = profile - view->recording->totals;
	char count[FINDING_TEXT], share[FINDING_TEXT], others[80] = "", missing[80] = "";
	char remedy[160];
	double all = (double)profile->weight + (double)profile->missing_weight;
	double missing_part = (double)profile->missing_weight / all;
	double others_part = fmin((double)profile->unplaced_weight / all, 1);
	bool lacks = !known && !profile->lost_own && !profile->lost_unknown &&
		     !profile->throttled_ns && missing_part >= LACKING_LEAST;
	/* The other finding's weight may be of these rows, too. */
	bool moves = others_part >= LACKING_LEAST && profile->unplaced_weight > known;
	if (!profile->weight_is_time || !profile->weight || !(lacks || moves))
		return;
	if (lacks && !view_attr(view, event)->inherit) {
		add_late(view, profile, missing_part);
		return;
	}
	if (moves)
		snprintf(others, sizeof(others), "up to %s of the total may belong to other rows",
			 share_text(others_part, share));
	if (lacks)
		snprintf(missing, sizeof(missing), "%sup to %s of the total is missing",
			 moves ? ", and " : "", share_text(missing_part, share));
	set_remedy(view, event, remedy, sizeof(remedy));
	const struct sp_finding finding = {
		.kind = SP_FINDING_UNSAMPLED, .cause = "unsampled", .event = profile->event,
		.share = moves ? others_part : missing_part, .remedy = *remedy ? remedy : NULL,
	};
	finding_add(view, &finding,
		    "the begin of %s threads and processes has no samples of %s: %s%s",
		    count_text(tasks, count), profile->event, others, missing);
}

static void find_event(const struct analysis_view *view, const struct sp_profile *profile)
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
	if (ended)
		add_finding(view, profile, &total);
	add_lacking(view, profile, total.tasks, ended ? total.weight : 0);
}

/* Adds a finding if descendants that ran before the recording changed the answer. */
static void find_unrecorded(const struct analysis_view *view)
{
	const struct sideband *sideband = &view->read->sideband;
	char count[FINDING_TEXT], theirs[FINDING_TEXT], own[FINDING_TEXT];
	const struct sp_finding finding = {
		.kind = SP_FINDING_UNSAMPLED, .cause = "unrecorded",
		.remedy = "record with -p PID --descendants",
	};
	if (sideband->unrecorded)
		finding_add(view, &finding,
			    "%s descendant process%s that used %s of CPU time %s not recorded; the "
			    "target used %s",
			    count_text(sideband->unrecorded, count),
			    sideband->unrecorded == 1 ? "" : "es",
			    time_text(sideband->unrecorded_ns, theirs),
			    sideband->unrecorded == 1 ? "was" : "were",
			    sideband->target_ns ? time_text(sideband->target_ns, own)
						: "less than 10 ms");
}

void find_unsampled(const struct analysis_view *view)
{
	find_unrecorded(view);
	for (size_t i = 0; i < view->recording->event_count; i++)
		find_event(view, &view->recording->totals[i]);
}
