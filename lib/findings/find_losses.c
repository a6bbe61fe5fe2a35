/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about samples that the kernel lost or did not take: how many, when, and on which CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "findings/sources.h"
#include "info/losses.h"
#include "record/types.h"

static int compare_losses(const void *a, const void *b)
{
	const struct sp_loss *x = a, *y = b;
	return u64_order(x->time_ns, y->time_ns);
}

/* Time and CPU in which most of an event's losses happened. */
struct loss_focus {
	uint64_t begin_ns, end_ns; /* the shortest time span with 90 % of the losses */
	uint32_t cpu;              /* the CPU with most losses; UINT32_MAX: unknown */
	double cpu_share;
};

static void focus_time(const struct sp_loss *losses, size_t count, uint64_t total,
		       struct loss_focus *focus)
{
	uint64_t sum = 0, best = UINT64_MAX;
	for (size_t first = 0, last = 0; last < count; last++) {
		sum += losses[last].lost;
		for (; (double)(sum - losses[first].lost) >= 0.9 * (double)total; first++)
			sum -= losses[first].lost;
		uint64_t span = losses[last].time_ns - losses[first].time_ns;
		if ((double)sum >= 0.9 * (double)total && span < best) {
			best = span;
			focus->begin_ns = losses[first].time_ns;
			focus->end_ns = losses[last].time_ns;
		}
	}
}

static void focus_cpu(const struct analysis_view *view, const struct sp_loss *losses, size_t count,
		      uint64_t total, struct loss_focus *focus)
{
	struct u64map index_of = {0};
	CLEANUP_FREE uint64_t *sums = calloc(count, sizeof(*sums));
	uint64_t most = 0;
	focus->cpu = UINT32_MAX;
	for (size_t i = 0; finding_need(view, sums) && i < count; i++) {
		uint32_t *index = u64map_put(&index_of, losses[i].cpu, index_of.count, NULL);
		if (!finding_need(view, index))
			break;
		sums[*index] += losses[i].lost;
		if (sums[*index] > most) {
			most = sums[*index];
			focus->cpu = losses[i].cpu;
		}
	}
	u64map_deinit(&index_of);
	focus->cpu_share = (double)most / (double)total;
}

/*
 * Writes when and where losses happened: ", 96% of them on CPU 1, most between 1.20 s and 1.45 s".
 */
static void describe_focus(const struct analysis_view *view, const struct sp_loss *losses,
			   size_t count, char *text, size_t size)
{
	uint64_t total = 0, start_ns = view->recording->span.begin_ns;
	uint64_t duration_ns = view->recording->span.end_ns - start_ns;
	struct loss_focus focus = {0};
	char share[FINDING_TEXT], begin[FINDING_TEXT], end[FINDING_TEXT];
	*text = 0;
	for (size_t i = 0; i < count; i++)
		total = weight_add(total, losses[i].lost);
	if (!total)
		return;
	focus_time(losses, count, total, &focus);
	focus_cpu(view, losses, count, total, &focus);
	if (focus.cpu != UINT32_MAX)
		snprintf(text, size, ", %s of them on CPU %u", share_text(focus.cpu_share, share),
			 focus.cpu);
	if (view->read->sideband.by_offset || focus.begin_ns < start_ns ||
	    focus.end_ns < focus.begin_ns)
		return;
	/*
	 * The kernel reports a loss when the ring buffer has room again, so the record's time is
	 * the loss's end.
	 */
	if (focus.end_ns - focus.begin_ns < duration_ns / 5 * 4)
		snprintf(text + strlen(text), size - strlen(text),
			 ", most at %s%s%s after the first sample",
			 time_text(focus.begin_ns - start_ns, begin),
			 focus.begin_ns == focus.end_ns ? "" : " to ",
			 focus.begin_ns == focus.end_ns ? "" :
				time_text(focus.end_ns - start_ns, end));
	else
		snprintf(text + strlen(text), size - strlen(text), ", throughout the recording");
}

/* Writes the remedy for an event's losses, with its own rate. */
static const char *loss_remedy(const struct analysis_view *view, uint16_t event, char *text,
			       size_t size)
{
	const struct perf_event_attr *attr = view_attr(view, event);
	bool waits = !strcmp(view->recording->totals[event].event, TIMES_WAIT_EVENT);
	char rate[FINDING_TEXT], rings[FINDING_TEXT];
	lower_rate_options(attr, rate);
	if (waits)
		snprintf(rate, sizeof(rate), "--off-cpu=5");
	if (losses_outside_rings(view->read->sideband.losses, event) * 2 >
	    view->recording->totals[event].lost)
		snprintf(text, size, "record %s (%s), or to a faster disk (-o FILE)",
			 waits ? "fewer waits" : "at a lower rate", rate);
	else if (attr->write_backward)
		snprintf(text, size,
			 "record with smaller ring buffers (-m 512K) or a lower rate (%s): "
			 "overwrite mode loses samples while it reads the buffers", rate);
	else if (larger_rings_option(view, rings))
		snprintf(text, size, "record with larger ring buffers: %s", rings);
	else if (waits)
		snprintf(text, size, "record fewer processes: -p PID");
	else
		snprintf(text, size, "record at a lower rate: %s", rate);
	return text;
}

/* Share of the losses until the first round that changes the answer: the rest is complete. */
#define ATTACHING_LEAST 0.5

static void add_lost_metadata(const struct analysis_view *view, uint64_t lost, const char *where)
{
	char rings[FINDING_TEXT], remedy[80] = "record fewer processes: -p PID";
	if (larger_rings_option(view, rings))
		snprintf(remedy, sizeof(remedy), "record with larger ring buffers: %s", rings);
	const struct sp_finding finding = {
		.kind = SP_FINDING_LOST, .cause = "lost_metadata", .remedy = remedy,
	};
	char count[FINDING_TEXT];
	finding_add(view, &finding,
		    "%s metadata record%s (mmap, comm, fork) lost%s: symbols may "
		    "be missing or wrong",
		    count_text(lost, count), plural(lost), where);
}

static void find_event_losses(const struct analysis_view *view, uint16_t event,
			      const struct sp_loss *losses, size_t count)
{
	const struct sp_profile *profile = &view->recording->totals[event];
	uint64_t own = profile->lost_own + profile->lost_unknown;
	char where[200], lost[FINDING_TEXT], owns[FINDING_TEXT], share[FINDING_TEXT];
	char remedy[200], of_all[80] = "";
	bool metadata = record_is_dummy(view_attr(view, event));
	/* Losses that concern only other processes need no finding. */
	if (!profile->lost || (!metadata && !own))
		return;
	describe_focus(view, losses, count, where, sizeof(where));
	if (metadata) {
		add_lost_metadata(view, profile->lost, where);
		return;
	}
	double all = own;
	vec_each (worker, view->workers)
		all += (double)worker->counted.events[event].recorded;
	const struct sp_finding finding = {
		.kind = SP_FINDING_LOST,
		.cause = "lost",
		.event = profile->event,
		.samples = own,
		.share = (double)own / all,
		.remedy = loss_remedy(view, event, remedy, sizeof(remedy)),
	};
	if (profile->lost_unknown)
		snprintf(of_all, sizeof(of_all),
			 ", of the target or of other processes on these CPUs");
	else if (own < profile->lost)
		snprintf(of_all, sizeof(of_all), "; %s across all processes on these CPUs",
			 count_text(profile->lost, lost));
	double attaching = view->read->sideband.attaching_share;
	if (attaching >= ATTACHING_LEAST)
		snprintf(where + strlen(where), sizeof(where) - strlen(where),
			 ", %s while attaching", share_text(attaching, share));
	finding_add(view, &finding, "%s%s sample%s of %s (%s) lost%s%s",
		    profile->lost_unknown ? "up to " : *of_all ? "about " : "",
		    count_text(own, owns), plural(own), profile->event,
		    share_text(finding.share, share), of_all, where);
}

void find_losses(const struct analysis_view *view)
{
	const struct sp_losses *all = view->read->sideband.losses;
	size_t total = sp_losses_moment_count(all);
	CLEANUP_FREE struct sp_loss *losses = calloc(total + 1, sizeof(*losses));
	if (!finding_need(view, losses))
		return;
	for (uint16_t event = 0; event < view->recording->event_count; event++) {
		size_t count = 0;
		for (size_t i = 0; i < total; i++)
			if (sp_losses_moment(all, i)->event == event)
				losses[count++] = *sp_losses_moment(all, i);
		qsort(losses, count, sizeof(*losses), compare_losses);
		find_event_losses(view, event, losses, count);
	}
}

void find_throttling(const struct analysis_view *view)
{
	for (size_t i = 0; i < view->recording->event_count; i++) {
		const struct sp_profile *profile = &view->recording->totals[i];
		char times[FINDING_TEXT], time[FINDING_TEXT], rate[FINDING_TEXT], remedy[80];
		uint64_t count = profile->throttled_count, ns = profile->throttled_ns;
		double part = profile->weight_is_time && profile->weight ?
				      (double)ns / ((double)ns + (double)profile->weight) : 0;
		if (!count)
			continue;
		snprintf(remedy, sizeof(remedy), "record at a lower rate: %s",
			 lower_rate_options(view_attr(view, i), rate));
		const struct sp_finding finding = {
			.kind = SP_FINDING_THROTTLED, .cause = "throttled", .event = profile->event,
			.share = part, .remedy = remedy,
		};
		finding_add(view, &finding,
			    "%s was throttled %s%s, for %s in total: samples are "
			    "missing there",
			    profile->event, count == 1 ? "once" : count_text(count, times),
			    count == 1 ? "" : " times", time_text(ns, time));
	}
}
