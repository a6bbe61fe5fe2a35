/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/findings.h"

#include <sprof/words.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "file/losses.h"
#include "record/note.h"

bool finding_add(struct run *run, enum sp_finding_kind kind, uint64_t samples, double share,
		 const char *remedy, const char *format, ...)
{
	struct sp_analysis *analysis = run->analysis;
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	struct sp_finding finding = {.kind = kind, .samples = samples, .share = share};
	finding.what = what ? arena_copy_string(&analysis->arena, what, strlen(what)) : NULL;
	if (remedy)
		finding.remedy = arena_copy_string(&analysis->arena, remedy, strlen(remedy));
	if (!finding.what || (remedy && !finding.remedy))
		return false;
	struct sp_finding *slot = vec_push(&analysis->findings);
	if (slot)
		*slot = finding;
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

/* That the recording was not ended, and when about: with the damage where it is that, or a note. */
static bool tell_unfinished(struct run *run, enum sp_finding_kind kind, const char *what)
{
	const struct sp_analysis *analysis = run->analysis;
	char time[FINDING_TEXT];
	bool timed = analysis->last_ns > 0;
	return finding_add(run, kind, 0, 0, NULL, "%s%s%s", what,
			   timed ? " — the last sample is after " : "",
			   timed ? time_text(analysis->last_ns - analysis->first_ns, time) : "");
}

static bool find_places(struct run *run)
{
	const struct sp_damage *unfinished = reader_unfinished_damage(run->reader);
	size_t places = sp_reader_damage_count(run->reader), first = 0;
	if (unfinished && !tell_unfinished(run, SP_FINDING_DAMAGE, unfinished->what))
		return false;
	if (unfinished && sp_reader_damage(run->reader, 0) == unfinished)
		first++;
	places -= unfinished != NULL;
	return !places ||
	       finding_add(run, SP_FINDING_DAMAGE, 0, 0,
			   places > 1 ? "`sprof info` lists all places" : NULL,
			   "the recording is damaged in %zu place%s, and what could be read is shown: %s",
			   places, plural(places), sp_reader_damage(run->reader, first)->what);
}

static bool find_damage(struct run *run)
{
	uint64_t unknown = 0;
	for (size_t i = 0; i < run->worker_count; i++)
		unknown += run->workers[i].unknown_event;
	if (unknown && !finding_add(run, SP_FINDING_DAMAGE, unknown, 0, NULL,
				    "%llu sample%s of no event of the recording: left out",
				    (unsigned long long)unknown, unknown == 1 ? " is" : "s are"))
		return false;
	return find_places(run);
}

static int compare_losses(const void *a, const void *b)
{
	const struct sp_loss *x = a, *y = b;
	return u64_order(x->time_ns, y->time_ns);
}

/* When and where most of an event's losses were; sums are of one event. */
struct loss_focus {
	uint64_t begin_ns, end_ns; /* the shortest time that holds 90 % of them */
	uint32_t cpu;              /* where most of them were; UINT32_MAX: not known */
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

static bool focus_cpu(const struct sp_loss *losses, size_t count, uint64_t total,
		      struct loss_focus *focus)
{
	struct u64map index_of = {0};
	CLEANUP_FREE uint64_t *sums = calloc(count, sizeof(*sums));
	uint64_t most = 0;
	focus->cpu = UINT32_MAX;
	for (size_t i = 0; sums && i < count; i++) {
		uint32_t *index = u64map_put(&index_of, losses[i].cpu, (uint32_t)index_of.count, NULL);
		if (!index) {
			u64map_deinit(&index_of);
			return false;
		}
		sums[*index] += losses[i].lost;
		if (sums[*index] > most) {
			most = sums[*index];
			focus->cpu = losses[i].cpu;
		}
	}
	u64map_deinit(&index_of);
	focus->cpu_share = (double)most / (double)total;
	return sums != NULL;
}

/* ", 96% of them on CPU 1, most between 1.20 s and 1.45 s" */
static bool describe_focus(const struct run *run, const struct sp_loss *losses, size_t count,
			   char *text, size_t size)
{
	const struct sp_analysis *analysis = run->analysis;
	uint64_t total = 0, start_ns = analysis->first_ns;
	uint64_t duration_ns = analysis->last_ns - start_ns;
	struct loss_focus focus = {0};
	char share[FINDING_TEXT], begin[FINDING_TEXT], end[FINDING_TEXT];
	*text = 0;
	for (size_t i = 0; i < count; i++)
		total = weight_add(total, losses[i].lost);
	if (!total)
		return true;
	focus_time(losses, count, total, &focus);
	if (!focus_cpu(losses, count, total, &focus))
		return false;
	if (focus.cpu != UINT32_MAX)
		snprintf(text, size, ", %s of them on CPU %u", share_text(focus.cpu_share, share),
			 focus.cpu);
	if (run->sideband.by_offset || focus.begin_ns < start_ns || focus.end_ns < focus.begin_ns)
		return true;
	/* A loss is told of when there is room again, so that its time is when it ended. */
	if (focus.end_ns - focus.begin_ns < duration_ns / 5 * 4)
		snprintf(text + strlen(text), size - strlen(text),
			 ", most of them %s %s%s%s after the first sample",
			 focus.begin_ns == focus.end_ns ? "at" : "between",
			 time_text(focus.begin_ns - start_ns, begin),
			 focus.begin_ns == focus.end_ns ? "" : " and ",
			 focus.begin_ns == focus.end_ns ? "" :
				time_text(focus.end_ns - start_ns, end));
	else
		snprintf(text + strlen(text), size - strlen(text), ", all along");
	return true;
}

static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* Whether the recording says how most of an event's stacks ended. */
static bool was_unwound(const struct run *run, uint16_t event)
{
	uint64_t said = 0;
	for (size_t i = 0; i < run->worker_count; i++)
		said += run->workers[i].events[event].said;
	return said * 2 > run->analysis->profiles[event].samples;
}

static const char *loss_remedy(const struct run *run, uint16_t event)
{
	const struct perf_event_attr *attr = &run->work.layout->events[event].attr;
	if (losses_outside_rings(run->sideband.told, event) * 2 > run->analysis->profiles[event].lost)
		return "record at a lower rate (-F), or to a faster disk (-o)";
	if (attr->write_backward)
		return "these came while the buffers were read: smaller ones (-m) or a lower rate (-F)";
	/* With copies of stacks buffers are large to begin with. */
	if (was_unwound(run, event) || attr->sample_type & PERF_SAMPLE_STACK_USER)
		return "record with larger buffers (-m 32M) or a lower rate (-F)";
	return "record with larger buffers (-m 2M) or a lower rate (-F)";
}

static bool find_event_losses(struct run *run, uint16_t event, const struct sp_loss *losses,
			      size_t count)
{
	const struct sp_profile *profile = &run->analysis->profiles[event];
	char where[200], lost[FINDING_TEXT], owns[FINDING_TEXT], share[FINDING_TEXT];
	if (!profile->lost)
		return true;
	if (!describe_focus(run, losses, count, where, sizeof(where)))
		return false;
	if (is_dummy(&run->work.layout->events[event].attr))
		return finding_add(run, SP_FINDING_LOST, 0, 0, "record with larger buffers: -m 2M",
				   "%s record%s of what was mapped where, or of names, got lost%s: "
				   "samples may lack names or have wrong ones",
				   count_text(profile->lost, lost), plural(profile->lost), where);
	uint64_t own = profile->lost_own;
	double all = (double)own + (double)profile->samples, part = all > 0 ? (double)own / all : 0;
	const char *remedy = loss_remedy(run, event);
	if (own == profile->lost)
		return finding_add(run, SP_FINDING_LOST, own, part, remedy,
				   "%s sample%s of %s (%s of all) got lost%s", count_text(own, lost),
				   plural(own), profile->event, share_text(part, share), where);
	return finding_add(run, SP_FINDING_LOST, own, part, remedy,
			   "probably %s sample%s of %s (%s of all) got lost: of everyone's on these CPUs, "
			   "%s did%s", count_text(own, owns), plural(own), profile->event,
			   share_text(part, share), count_text(profile->lost, lost), where);
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
		if (!finding_add(run, SP_FINDING_LOCK_IN, 0, 0, remedy,
				 "%s: %s; shares may be wrong by more than their intervals",
				 profile->event, text))
			return false;
	}
	return true;
}

static bool find_losses(struct run *run)
{
	const struct sp_losses *told = run->sideband.told;
	size_t total = sp_losses_moment_count(told);
	CLEANUP_FREE struct sp_loss *losses = calloc(total + 1, sizeof(*losses));
	if (!losses)
		return false;
	for (uint16_t event = 0; event < run->analysis->profile_count; event++) {
		size_t count = 0;
		for (size_t i = 0; i < total; i++)
			if (sp_losses_moment(told, i)->event == event)
				losses[count++] = *sp_losses_moment(told, i);
		qsort(losses, count, sizeof(*losses), compare_losses);
		if (!find_event_losses(run, event, losses, count))
			return false;
	}
	return true;
}

static bool find_throttling(struct run *run)
{
	for (size_t i = 0; i < run->analysis->profile_count; i++) {
		const struct sp_profile *profile = &run->analysis->profiles[i];
		char times[FINDING_TEXT], time[FINDING_TEXT];
		uint64_t count = profile->throttled_count, ns = profile->throttled_ns;
		double part = profile->weight_is_time && profile->weight ?
				      (double)ns / ((double)ns + (double)profile->weight) : 0;
		if (!count)
			continue;
		if (!finding_add(run, SP_FINDING_THROTTLED, 0, part,
				 "record at a lower rate (-F), or raise kernel.perf_event_max_sample_rate "
				 "and kernel.perf_cpu_time_max_percent",
				 "the kernel held %s back %s%s, for %s in all, because it took too much "
				 "time: what ran then is missing", profile->event,
				 count == 1 ? "once" : count_text(count, times),
				 count == 1 ? "" : " times", time_text(ns, time)))
			return false;
	}
	return true;
}

/* Fewer than that are no more than a line in the profile's head. */
#define TRUNCATED_TOLD 0.005

/* The most that the kernel copies of a stack: its size is a u16, and a multiple of 8. */
#define STACK_COPY_MAX 65528
#define NO_MORE_STACK                                                                          \
	"the kernel copies no more: compile with -fno-omit-frame-pointer, and record with "    \
	"--call-graph fp"

/* The recorder saw how large they were. */
static const char *noted_remedy(const struct run *run, char *text, size_t size)
{
	for (size_t i = run->sideband.notes.count; i-- > 0;) {
		const char *note = run->sideband.notes.items[i].text;
		const char *number = strstr(note, NOTE_STACK_SIZE);
		if (strstr(note, NOTE_NO_MORE_STACK))
			return NO_MORE_STACK;
		unsigned long bytes = number ? strtoul(number + strlen(NOTE_STACK_SIZE), NULL, 10) : 0;
		if (!bytes || bytes > STACK_COPY_MAX)
			continue;
		snprintf(text, size, "copy more of them: --call-graph dwarf,%lu", bytes);
		return text;
	}
	return "copy more of them: --call-graph dwarf,SIZE";
}

/* What to do about stacks that were longer than what was copied of them. */
static const char *copy_remedy(const struct run *run, const struct perf_event_attr *attr,
			       uint64_t truncated, char *text, size_t size)
{
	uint32_t more = stack_size_enough(run, truncated);
	if (more <= attr->sample_stack_user)
		more = attr->sample_stack_user * 2;
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return noted_remedy(run, text, size);
	if (attr->sample_stack_user >= STACK_COPY_MAX)
		return NO_MORE_STACK;
	snprintf(text, size, "copy more of them: --call-graph dwarf,%u",
		 more < STACK_COPY_MAX ? more : STACK_COPY_MAX);
	return text;
}

/* Stacks that ended in one way, or had to be mended in one. */
struct stack_trouble {
	uint64_t samples;
	const char *what;   /* "12% of the stacks of cpu-clock" … */
	const char *remedy;
};

static bool tell_stacks(struct run *run, const struct sp_profile *profile,
			const struct stack_trouble *trouble)
{
	char share[FINDING_TEXT];
	double part = (double)trouble->samples / (double)profile->samples;
	return part < TRUNCATED_TOLD ||
	       finding_add(run, SP_FINDING_TRUNCATED_STACKS, trouble->samples, part,
			   trouble->remedy, "%s of the stacks of %s %s", share_text(part, share),
			   profile->event, trouble->what);
}

static bool find_event_truncation(struct run *run, uint16_t event)
{
	const struct sp_profile *profile = &run->analysis->profiles[event];
	const struct perf_event_attr *attr = &run->work.layout->events[event].attr;
	const struct sp_stack_ends *ends = &profile->stacks;
	bool unwound = was_unwound(run, event);
	char remedy[100];
	const struct stack_trouble troubles[] = {
		{ends->truncated,
		 unwound ? "are longer than what was copied of them: their outermost calls are missing" :
			   "end before the function that began the thread",
		 unwound ? copy_remedy(run, attr, ends->truncated, remedy, sizeof(remedy)) :
			   "record with --call-graph dwarf, or compile with -fno-omit-frame-pointer"},
		{profile->limited, "are deeper than --max-stack: further calls are not looked at",
		 "'sprof report' without it has them all"},
		{ends->depth_limit - profile->limited,
		 unwound ? "are deeper than the limit: their outermost calls are missing" :
			   "reached the kernel's limit: their outermost calls are missing",
		 unwound ? "record with a larger --max-stack" :
			   "sudo sysctl kernel.perf_event_max_stack=1000, then record with --max-stack 1000; "
			   "or record with --call-graph dwarf"},
		{ends->no_unwind_info, "end in code without unwind information",
		 no_unwind_info_remedy(run)},
		{ends->bad_memory, "end at an invalid stack address",
		 "-g caller shows in which code"},
		{ends->invalid_address,
		 "end at an invalid return address: outer callers are omitted",
		 "record with --call-graph dwarf, or compile with -fno-omit-frame-pointer"},
		{ends->skipped, "have no callers in the program: the recorder could not keep up",
		 "record at a lower rate (-F), or unwind afterwards (--unwind later)"},
		{ends->switched, "are of signals that are handled on a stack of their own: what was "
		 "interrupted is on another, which was not copied", NULL},
		{ends->deferred,
		 "have no callers in the program: they were to come when the kernel returned "
		 "there, but are not in the recording",
		 "record with larger buffers (-m 2M), or do not defer them (--call-graph fp)"},
		{profile->guessed, "pass code without unwind information, which was left by frame "
		 "pointer: callers may be missing there",
		 "compile it with -fasynchronous-unwind-tables"},
		{profile->shortened, "are too deep for a record: frames in their middle were left out",
		 NULL},
	};
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++)
		if (!tell_stacks(run, profile, &troubles[i]))
			return false;
	return true;
}

static bool find_truncation(struct run *run)
{
	for (uint16_t i = 0; i < run->analysis->profile_count; i++)
		if (run->analysis->profiles[i].samples && !find_event_truncation(run, i))
			return false;
	return true;
}

/* What a recorder that was killed would say. */
static bool find_unfinished(struct run *run)
{
	const char *unfinished = sp_reader_unfinished(run->reader);
	return !unfinished || tell_unfinished(run, SP_FINDING_NOTE, unfinished);
}

static bool find_notes(struct run *run)
{
	for (size_t i = 0; i < run->sideband.notes.count; i++) {
		const struct note *note = &run->sideband.notes.items[i];
		char time[FINDING_TEXT];
		bool timed = note->time_ns >= run->analysis->first_ns && run->analysis->last_ns;
		if (!finding_add(run, SP_FINDING_NOTE, 0, 0, NULL, "%s%s%s", note->text,
				 timed ? " — after " : "",
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
	/* Notes are the last, and stay as they came. */
	return find_unfinished(run) && find_notes(run) ? NULL : error_no_memory();
}
