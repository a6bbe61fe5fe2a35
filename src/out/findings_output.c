/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/findings_output.h"

#include <stdlib.h>
#include <string.h>
#include "input.h"
#include "memory.h"
#include "out/format_value.h"
#include "text.h"

#define INDENT 2

/*
 * Limit on the lines of all findings on a terminal, so that the table begins within the first 12 lines.
 */
#define TERM_LINES 5
#define SHARE_LEAST 0.01
#define TEXT_SIZE 512

/* Findings with the same cause, which are shown as one line. */
struct finding_group {
	const struct sp_finding *first; /* member with the largest share */
	double share;
	double effect; /* weight for ordering; groups below SHARE_LEAST are not shown */
	size_t objects, events; /* number of findings with an object, and number without an object that
				 * belong to one event */
};

/*
 * Writes a finding after "! ", or a remark after "- ". A sentence is never cut: its end may be its
 * point. A remedy is a command to paste.
 */
static void write_finding(const struct term *term, const char *text, const char *remedy,
			  bool remark, FILE *out)
{
	fprintf(out, "%*s", INDENT, "");
	term_begin(term, remark ? TERM_DIM : TERM_WARNING, out);
	fputs(remark ? "- " : "! ", out);
	term_end(term, remark ? TERM_DIM : TERM_WARNING, out);
	term_wrap(term, text, INDENT + 2, INDENT + 2, 0, out);
	if (!remedy)
		return;
	term_begin(term, TERM_DIM, out);
	fprintf(out, "%*s%s ", INDENT + 2, "", term_glyph(term, "→", "->"));
	int indent = INDENT + 5 - term->utf8;
	term_wrap(term, remedy, indent, indent, 0, out);
	term_end(term, TERM_DIM, out);
}

static bool is_note(const struct sp_finding *finding)
{
	return finding->kind == SP_FINDING_NOTE && finding->cause && !strcmp(finding->cause, "recorder");
}

/* Returns whether the finding is about the meaning of rows or names, and no loss of data. */
static bool is_remark(const struct sp_finding *finding)
{
	return finding->kind == SP_FINDING_LATE ||
	       (finding->kind == SP_FINDING_NOTE && (text_is_same(finding->cause, "stored_names") ||
						     text_is_same(finding->cause, "preempted") ||
						     text_is_same(finding->cause, "inlined")));
}

static bool is_member(const struct finding_group *group, const struct sp_finding *finding)
{
	const struct sp_finding *first = group->first;
	return finding == first || (first->summary && finding->summary && finding->kind == first->kind &&
				    text_is_same(finding->cause, first->cause));
}

/* Returns how strongly a finding affects the shown shares. Findings are ordered by it. */
static double effect_of(const struct sp_finding *finding, double share)
{
	switch ((int)finding->kind) {
	case SP_FINDING_DAMAGE:
		return 3;
	case SP_FINDING_LOST:
	case SP_FINDING_THROTTLED:
		return 2 + share;
	case SP_FINDING_LOCK_IN:
		return 1;
	case SP_FINDING_LATE:
		/* The sums are right; only these rows are not what they seem. */
		return share < SHARE_LEAST ? share : SHARE_LEAST;
	case SP_FINDING_UNSAMPLED:
		return share > 0 ? share : SHARE_LEAST;
	case SP_FINDING_NOTE:
		/* Stored names change no share. */
		return text_is_same(finding->cause, "stored_names") ? 0 : SHARE_LEAST;
	case SP_FINDING_TRUNCATED_STACKS:
		/*
		 * Only callers may be missing, so self shares are correct: such a finding counts half.
		 */
		return share < SHARE_LEAST ? share : SHARE_LEAST + share / 2;
	default:
		return share;
	}
}

/*
 * Returns whether two findings of a group have the same event and object, so that they come from two
 * recordings.
 */
static bool same_subject(const struct sp_finding *a, const struct sp_finding *b)
{
	return text_is_same(a->object, b->object) && text_is_same(a->event, b->event);
}

/* Returns whether an earlier finding of the group has the same event and object. */
static bool is_repeated(const struct finding_group *group, const struct sp_finding *const *findings,
			size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_member(group, findings[i]) && same_subject(findings[i], findings[index]))
			return true;
	return false;
}

/*
 * Computes the group's share. Shares of objects add up within an event. Findings of a whole event, or
 * of another event, may be about the same samples: the largest sum is used.
 */
static void add_shares(struct finding_group *group, const struct sp_finding *const *findings,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct sp_finding *finding = findings[i];
		double sum = 0;
		if (!is_member(group, finding))
			continue;
		if (!is_repeated(group, findings, i)) {
			group->objects += finding->object != NULL;
			group->events += !finding->object && finding->event;
		}
		for (size_t j = 0; j < count; j++)
			if (is_member(group, findings[j]) &&
			    text_is_same(findings[j]->event, finding->event) &&
			    !findings[j]->object == !finding->object)
				sum += findings[j]->share;
		if (sum > group->share)
			group->share = sum;
		if (finding->share > group->first->share)
			group->first = finding;
	}
	/* The sum may exceed 1 by rounding. */
	if (group->share > 1)
		group->share = 1;
	group->effect = effect_of(group->first, group->share);
}

static int compare_groups(const void *a, const void *b)
{
	const struct finding_group *x = a, *y = b;
	return (x->effect < y->effect) - (x->effect > y->effect);
}

/*
 * Merges findings with one cause into groups, ordered by effect, and leaves out the recorder's notes.
 * Returns the number of groups.
 */
static size_t make_groups(const struct sp_finding *const *findings, size_t count,
			  struct finding_group *groups)
{
	size_t made = 0;
	for (size_t i = 0; i < count; i++) {
		bool known = is_note(findings[i]);
		for (size_t j = 0; j < made && !known; j++)
			known = is_member(&groups[j], findings[i]);
		if (known)
			continue;
		groups[made] = (struct finding_group){.first = findings[i]};
		add_shares(&groups[made++], findings, count);
	}
	/* Insertion sort: groups are few, and those of equal effect stay in order. */
	for (size_t i = 1; i < made; i++)
		for (size_t j = i; j > 0 && compare_groups(&groups[j - 1], &groups[j]) > 0; j--) {
			struct finding_group swapped = groups[j];
			groups[j] = groups[j - 1];
			groups[j - 1] = swapped;
		}
	return made;
}

static const char *name_of(const struct finding_group *group, const struct sp_finding *finding)
{
	return group->objects ? finding->object : finding->event;
}

/* Formats a share in whole percent, "22%", unless that would be all or nearly nothing. */
static const char *short_share(double share, char text[FORMAT_SIZE])
{
	if (share < 0.1 || share >= 0.995)
		return format_share_short(share, text);
	snprintf(text, FORMAT_SIZE, "%.0f%%", share * 100);
	return text;
}

/*
 * Writes the names of a group's objects, as many as fit the line: ": libx264 16%, libswscale 5%, 3
 * more".
 */
static void put_names(const struct term *term, const struct finding_group *group,
		      const struct sp_finding *const *findings, size_t count, char text[TEXT_SIZE])
{
	/* Most modes show waits with other samples: a share of waits alone needs the name. */
	bool only_waits = group->first->event && !strcmp(group->first->event, "offcpu-time");
	size_t events = group->events > 1 || only_waits ? group->events : 0, put = 0;
	size_t names = group->objects ? group->objects : events;
	int width = (term->width ? term->width : TERM_PLAIN_WIDTH) - INDENT - 2;
	char piece[TEXT_SIZE], share[FORMAT_SIZE];
	for (size_t i = 0; i < count && put < names; i++) {
		const char *name = is_member(group, findings[i]) ? name_of(group, findings[i]) : NULL;
		size_t used = strlen(text);
		if (!name || (group->objects && !findings[i]->object))
			continue;
		if (is_repeated(group, findings, i))
			continue;
		double sum = 0;
		for (size_t j = i; j < count; j++)
			if (is_member(group, findings[j]) && same_subject(findings[i], findings[j]))
				sum += findings[j]->share;
		snprintf(piece, sizeof(piece), names > 1 ? "%s%.200s %s" : "%s%.200s",
			 put ? ", " : ": ", name, short_share(sum, share));
		int room = put + 1 < names ? (int)strlen(", 999 more") : 0;
		if (put && term_text_width(term, text) + term_text_width(term, piece) + room > width)
			break;
		snprintf(text + used, TEXT_SIZE - used, "%s", piece);
		put++;
	}
	size_t used = strlen(text);
	if (put < names)
		snprintf(text + used, TEXT_SIZE - used, ", %zu more", names - put);
}

/*
 * Returns whether the finding's full sentence must be shown, because it names the expected file or the
 * reason.
 */
static bool needs_detail(const struct sp_finding *finding)
{
	return finding->kind == SP_FINDING_WRONG_FILE || finding->kind == SP_FINDING_UNPROVEN_FILE ||
	       finding->kind == SP_FINDING_KERNEL_HIDDEN;
}

static void put_group(const struct report *report, const struct finding_group *group,
		      char text[TEXT_SIZE])
{
	const struct sp_finding *first = group->first;
	char share[FORMAT_SIZE];
	if (!first->summary || (group->objects == 1 && needs_detail(first))) {
		snprintf(text, TEXT_SIZE, "%s", first->what);
		return;
	}
	snprintf(text, TEXT_SIZE, "%s %s", short_share(group->share, share), first->summary);
	put_names(&report->term, group, report->findings, report->finding_count, text);
}

/*
 * Returns the number of lines that the groups need: one for each group and each remedy. A remedy that
 * the next group has too counts once.
 */
static size_t lines_of(const struct finding_group *groups, size_t count)
{
	size_t lines = count;
	for (size_t i = 0; i < count; i++)
		lines += groups[i].first->remedy &&
			 !(i + 1 < count &&
			   text_is_same(groups[i + 1].first->remedy, groups[i].first->remedy));
	return lines;
}

size_t findings_shown(const struct report *report, struct shown_finding ret[FINDINGS_SHOWN_MAX],
		      size_t *count_ret)
{
	struct finding_group *groups = xcalloc(report->finding_count + 1, sizeof(*groups));
	size_t count = make_groups(report->findings, report->finding_count, groups), shown = 0;
	while (shown < count && shown < FINDINGS_SHOWN_MAX && groups[shown].effect >= SHARE_LEAST)
		shown++;
	if (report->term.terminal && lines_of(groups, shown) + (shown < count) > TERM_LINES)
		shown--;
	for (size_t i = 0; i < shown; i++) {
		const char *remedy = groups[i].first->remedy;
		/* A remedy of several consecutive findings is shown once, after the last one. */
		bool again = i + 1 < shown && text_is_same(groups[i + 1].first->remedy, remedy);
		ret[i].remedy = again ? NULL : remedy;
		ret[i].remark = is_remark(groups[i].first);
		put_group(report, &groups[i], ret[i].text);
	}
	free(groups);
	*count_ret = count;
	return shown;
}

void findings_write(const struct report *report, FILE *out)
{
	struct shown_finding findings[FINDINGS_SHOWN_MAX];
	size_t count, shown = findings_shown(report, findings, &count);
	for (size_t i = 0; i < shown; i++)
		write_finding(&report->term, findings[i].text, findings[i].remedy,
			      findings[i].remark, out);
	if (shown && shown < count) {
		term_begin(&report->term, TERM_DIM, out);
		bool several = report->recording_count > 1;
		const char *command = report->live ? "--format json shows them"
				      : several    ? "sprof report --format json"
						   : "sprof info --findings";
		char *named = report_command(report, command);
		fprintf(out, "%*s%zu more: ", INDENT + 2, "", count - shown);
		term_put(&report->term, named, 0, out);
		putc('\n', out);
		free(named);
		term_end(&report->term, TERM_DIM, out);
	}
}

bool findings_write_all(const struct term *term, const struct sp_finding *const *findings,
			size_t count, FILE *out)
{
	bool any = false;
	for (size_t i = 0; i < count; i++) {
		if (is_note(findings[i]))
			continue;
		any = true;
		write_finding(term, findings[i]->what, findings[i]->remedy, is_remark(findings[i]),
			      out);
	}
	return any;
}

/* Names of kinds in JSON, by enum sp_finding_kind. Scripts rely on them. */
static const char *const kinds[] = {
	[SP_FINDING_DAMAGE] = "damage",
	[SP_FINDING_LOST] = "lost",
	[SP_FINDING_THROTTLED] = "throttled",
	[SP_FINDING_UNMAPPED] = "unmapped",
	[SP_FINDING_WRONG_FILE] = "wrong_file",
	[SP_FINDING_MISSING_FILE] = "missing_file",
	[SP_FINDING_NO_SYMBOLS] = "no_symbols",
	[SP_FINDING_KERNEL_HIDDEN] = "kernel_hidden",
	[SP_FINDING_TRUNCATED_STACKS] = "truncated_stacks",
	[SP_FINDING_UNSAMPLED] = "unsampled",
	[SP_FINDING_GUEST] = "guest",
	[SP_FINDING_NOTE] = "note",
	[SP_FINDING_MULTIPLEXED] = "multiplexed",
	[SP_FINDING_LOCK_IN] = "lock_in",
	[SP_FINDING_NO_BRANCHES] = "no_branches",
	[SP_FINDING_LATE] = "late",
	[SP_FINDING_UNPROVEN_FILE] = "unproven_file",
};

void findings_write_json(const struct sp_finding *const *findings, size_t count, struct json *json)
{
	json_begin_lines(json, "findings", '[');
	for (size_t i = 0; i < count; i++) {
		const struct sp_finding *finding = findings[i];
		bool known = (size_t)finding->kind < sizeof(kinds) / sizeof(*kinds) && kinds[finding->kind];
		json_begin(json, NULL, '{');
		json_string(json, "kind", known ? kinds[finding->kind] : "other");
		json_string(json, "text", finding->what);
		json_string(json, "remedy", finding->remedy);
		if (finding->samples)
			json_unsigned(json, "samples", finding->samples);
		if (finding->samples || finding->share > 0)
			json_double(json, "share", finding->share);
		json_string(json, "cause", finding->cause);
		json_string(json, "object", finding->object);
		json_string(json, "event", finding->event);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
}
