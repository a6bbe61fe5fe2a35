/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "findings/findings.h"

#include <sprof/words.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "file/reader_damage.h"

/* Replaces a text by the analysis's copy; NULL stays NULL. False when out of memory. */
static bool copy(struct sp_analysis *analysis, const char **text)
{
	const char *from = *text;
	*text = from ? arena_copy_string(&analysis->arena, from, strlen(from)) : NULL;
	return *text || !from;
}

bool finding_add(struct run *run, const struct sp_finding *finding, const char *format, ...)
{
	struct sp_analysis *analysis = run->analysis;
	struct sp_finding added = *finding;
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	added.what = what;
	if (!what || !copy(analysis, &added.what) || !copy(analysis, &added.remedy) ||
	    !copy(analysis, &added.object) || !copy(analysis, &added.event))
		return false;
	struct sp_finding *slot = vec_push(&analysis->findings);
	if (slot)
		*slot = added;
	return slot != NULL;
}

const char *count_text(uint64_t count, char *text)
{
	char digits[24], *out = text;
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
	return text;
}

const char *share_text(double share, char *text)
{
	/* Two digits that count, but never "0.0%" for something or "100%" for less. */
	int decimals = share >= 0.1 && share < 0.995 ? 0 : share >= 0.01 ? 1 : 2;
	if (share > 0 && share < 0.0001)
		snprintf(text, FINDING_TEXT, "less than 0.01%%");
	else
		snprintf(text, FINDING_TEXT, "%.*f%%", share == 1 ? 0 : decimals, share * 100);
	return text;
}

const char *time_text(uint64_t time_ns, char *text)
{
	double seconds = (double)time_ns / 1e9;
	if (seconds < 0.001)
		snprintf(text, FINDING_TEXT, "%.0f us", seconds * 1e6);
	else if (seconds < 1)
		snprintf(text, FINDING_TEXT, "%.3g ms", seconds * 1e3);
	else
		snprintf(text, FINDING_TEXT, "%.*f s", seconds < 100 ? 2 : 0, seconds);
	return text;
}

const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

const char *lower_rate(const struct perf_event_attr *attr, char *text)
{
	uint64_t rate = attr->freq ? attr->sample_freq : attr->sample_period;
	uint64_t period = rate < UINT64_MAX / 4 ? rate * 4 : rate;
	snprintf(text, FINDING_TEXT, attr->freq ? "-F %llu" : "-c %llu",
		 (unsigned long long)(!attr->freq ? period : rate > 4 ? rate / 4 : 1));
	return text;
}

const char *event_to_name(const struct run *run, const struct sp_profile *profile)
{
	for (size_t i = 0; i < run->analysis->profile_count; i++)
		if (&run->analysis->profiles[i] != profile && run->analysis->profiles[i].samples)
			return profile->event;
	return NULL;
}

/* When the last sample was taken is when the recorder was still there. */
static bool add_unfinished(struct run *run, enum sp_finding_kind kind, const char *what)
{
	const struct sp_analysis *analysis = run->analysis;
	const struct sp_finding finding = {.kind = kind, .cause = "unfinished"};
	char time[FINDING_TEXT];
	bool timed = analysis->last_ns > 0;
	return finding_add(run, &finding, "%s%s%s", what, timed ? " — last sample after " : "",
			   timed ? time_text(analysis->last_ns - analysis->first_ns, time) : "");
}

static bool find_places(struct run *run)
{
	const struct sp_damage *unfinished = reader_unfinished_damage(run->reader);
	size_t places = sp_reader_damage_count(run->reader), first = 0;
	if (unfinished && !add_unfinished(run, SP_FINDING_DAMAGE, unfinished->what))
		return false;
	if (unfinished && sp_reader_damage(run->reader, 0) == unfinished)
		first++;
	places -= unfinished != NULL;
	const struct sp_finding finding = {
		.kind = SP_FINDING_DAMAGE, .cause = "damage",
		.remedy = places > 1 ? "list all places: sprof info" : NULL,
	};
	return !places ||
	       finding_add(run, &finding, "the recording is damaged in %zu place%s; the rest is shown: %s",
			   places, plural(places), sp_reader_damage(run->reader, first)->what);
}

static bool find_damage(struct run *run)
{
	uint64_t unknown = 0;
	for (size_t i = 0; i < run->worker_count; i++)
		unknown += run->workers[i].unknown_event;
	const struct sp_finding finding = {
		.kind = SP_FINDING_DAMAGE, .cause = "unknown_event", .samples = unknown,
	};
	char count[FINDING_TEXT];
	if (unknown && !finding_add(run, &finding, "%s sample%s of an event that the recording does not "
				    "describe: omitted", count_text(unknown, count), plural(unknown)))
		return false;
	return find_places(run);
}

/* Samples in step with timers of programs. The file does not have the kernel's HZ. */
static bool find_lock_in(struct run *run)
{
	char text[SP_WORDS_SIZE], remedy[FINDING_TEXT];
	for (uint16_t event = 0; event < run->analysis->profile_count; event++) {
		const struct sp_profile *profile = &run->analysis->profiles[event];
		struct sp_lock_in lock_in;
		if (!profile->samples ||
		    !sp_lock_in_find(&run->work.layout->events[event].attr, 0, &lock_in))
			continue;
		sp_lock_in_text(&lock_in, text, sizeof(text));
		snprintf(remedy, sizeof(remedy), "record with -F %llu",
			 (unsigned long long)lock_in.free_hz);
		const struct sp_finding finding = {
			.kind = SP_FINDING_LOCK_IN, .cause = "lock_in", .event = profile->event,
			.remedy = remedy,
		};
		if (!finding_add(run, &finding, "%s: %s; errors may exceed the intervals",
				 profile->event, text))
			return false;
	}
	return true;
}

static bool find_unfinished(struct run *run)
{
	const char *unfinished = sp_reader_unfinished(run->reader);
	return !unfinished || add_unfinished(run, SP_FINDING_NOTE, unfinished);
}

static bool find_notes(struct run *run)
{
	for (size_t i = 0; i < run->sideband.notes.count; i++) {
		const struct note *note = &run->sideband.notes.items[i];
		char time[FINDING_TEXT];
		bool timed = note->time_ns >= run->analysis->first_ns && run->analysis->last_ns;
		const struct sp_finding finding = {
			.kind = SP_FINDING_NOTE,
			.cause = i < run->sideband.recorded_notes ? "recorder" : "analysis",
		};
		if (!finding_add(run, &finding, "%s%s%s", note->text, timed ? " — after " : "",
				 timed ? time_text(note->time_ns - run->analysis->first_ns, time) :
					 ""))
			return false;
	}
	return true;
}

static int compare_findings(const void *a, const void *b)
{
	const struct sp_finding *x = a, *y = b;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->what, y->what);
}

struct sp_error *finish_findings(struct run *run)
{
	if (!find_damage(run) || !find_losses(run) || !find_throttling(run) ||
	    !find_troubles(run) || !find_stack_troubles(run) || !find_truncation(run) ||
	    !find_unsampled(run) || !find_lock_in(run) || !find_branchless(run) || !find_counting(run))
		return error_no_memory();
	if (run->analysis->findings.count)
		qsort(run->analysis->findings.items, run->analysis->findings.count,
		      sizeof(struct sp_finding), compare_findings);
	/* Notes come last, in their order. */
	return find_unfinished(run) && find_notes(run) ? NULL : error_no_memory();
}
