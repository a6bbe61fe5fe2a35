/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report for people. First, in plain words, what the data is worth: what
 * was lost, which stacks are whole, what could not be resolved, and what to do
 * about each. Then for each event its table, and the call tree if asked for.
 */
#include <inttypes.h>
#include <string.h>
#include "out/format.h"
#include "out/table.h"

/* Where the words of the head begin. */
#define INDENT 2

static void write_styled(const struct report *report, enum term_style style, const char *text,
			 FILE *out)
{
	term_begin(&report->term, style, out);
	term_put(&report->term, text, 0, out);
	term_end(&report->term, style, out);
}

/* Words of a sentence that may be long, broken at blanks to fit the terminal. */
static void write_words(const struct report *report, int indent, const char *text, FILE *out)
{
	int width = report->term.width ? report->term.width : 100, column = indent;
	char word[256];
	while (*text) {
		size_t size = strcspn(text, " ");
		size_t kept = size < sizeof(word) ? size : sizeof(word) - 1;
		memcpy(word, text, kept);
		word[kept] = '\0';
		text += kept;
		int columns = term_text_width(&report->term, word);
		if (column > indent && column + columns + 1 > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
		if (column > indent)
			column += fprintf(out, " ");
		column += term_put(&report->term, word, 0, out);
		text += strspn(text, " ");
	}
	putc('\n', out);
}

/* Whose clock and processors it was recorded by: "on host (Linux 6.1, x86_64)". */
static void write_host(const struct report *report, FILE *out)
{
	const struct sp_file_info *info = report->info;
	if (!info || !info->hostname)
		return;
	fputs(" on ", out);
	term_put(&report->term, info->hostname, 0, out);
	if (!info->osrelease)
		return;
	fputs(" (Linux ", out);
	term_put(&report->term, info->osrelease, 0, out);
	if (info->arch) {
		fputs(", ", out);
		term_put(&report->term, info->arch, 0, out);
	}
	putc(')', out);
}

static void write_file(const struct report *report, FILE *out)
{
	const struct sp_file_info *info = report->info;
	char buffer[FORMAT_SIZE];
	write_styled(report, TERM_TITLE, report->path, out);
	if (report->duration_ns)
		fprintf(out, "  %s", format_duration(&report->term, report->duration_ns, buffer));
	write_host(report, out);
	putc('\n', out);
	if (!info || !info->cmdline || !*info->cmdline)
		return;
	fprintf(out, "%*srecorded by", INDENT, "");
	for (const char *const *word = info->cmdline; *word; word++) {
		putc(' ', out);
		term_put(&report->term, *word, 60, out);
	}
	putc('\n', out);
}

/* "! what", and the remedy below it. What the recorder only notes is no warning. */
static void write_finding(const struct report *report, const struct sp_finding *finding, FILE *out)
{
	bool note = finding->kind == SP_FINDING_NOTE;
	enum term_style style = note ? TERM_DIM : TERM_WARNING;
	fprintf(out, "%*s", INDENT, "");
	term_begin(&report->term, style, out);
	fputs(note ? "- " : "! ", out);
	term_end(&report->term, style, out);
	write_words(report, INDENT + 2, finding->what, out);
	if (!finding->remedy)
		return;
	term_begin(&report->term, TERM_DIM, out);
	fprintf(out, "%*s%s ", INDENT + 2, "", term_glyph(&report->term, "→", "->"));
	write_words(report, INDENT + 5 - report->term.utf8, finding->remedy, out);
	term_end(&report->term, TERM_DIM, out);
}

static void write_losses(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	char count[FORMAT_SIZE], share[FORMAT_SIZE], many[FORMAT_SIZE];
	double all = (double)profile->samples + (double)profile->lost_own;
	bool others = profile->lost_own < profile->lost;
	if (profile->lost)
		fprintf(out, "; %s%s lost (%s of all", others ? "probably " : "",
			format_count(profile->lost_own, count),
			format_share(all > 0 ? (double)profile->lost_own / all : 0, share));
	if (others)
		fprintf(out, "; of everyone's on these CPUs, %s", format_count(profile->lost, count));
	fputs(profile->lost ? ")" : "; none lost", out);
	snprintf(many, sizeof(many), "%" PRIu64 " times", profile->throttled_count);
	if (profile->throttled_count)
		fprintf(out, "; throttled %s, for %s in all",
			profile->throttled_count == 1 ? "once" : many,
			format_duration(&report->term, profile->throttled_ns, share));
	putc('\n', out);
}

/* "shares: because of missing samples, 50% may be 33% to 67%". */
static void write_bounds(const struct sp_profile *profile, FILE *out)
{
	const struct sp_weight half = {.weight = profile->weight / 2, .share.value = 0.5};
	char low_text[FORMAT_SIZE], high_text[FORMAT_SIZE];
	double low, high;
	if (!profile->missing_weight || !profile->weight)
		return;
	format_bounds(&half, profile->missing_weight, profile->missing_weight, &low, &high);
	fprintf(out, "%*sshares: because of missing samples, 50%% may be %s to %s\n",
		INDENT, "", format_share(low, low_text), format_share(high, high_text));
}

/* "stacks: 4,990 complete (99.88%), 6 truncated". */
static void write_stacks(const struct sp_profile *profile, FILE *out)
{
	const struct sp_stack_ends *ends = &profile->stacks;
	const struct {
		uint64_t count;
		const char *how;
	} kinds[] = {
		{ends->complete, "complete"},           {ends->truncated, "truncated"},
		{ends->no_unwind_info, "ended for lack of unwind information"},
		{ends->bad_memory, "ended at unreadable memory"},
		{ends->depth_limit, "cut at the depth limit"},
		{ends->skipped, "left out under pressure"},
		{ends->switched, "cut where a signal changed stacks"},
		{ends->deferred, "without the program's part"},
		{ends->invalid_address, "ended at an invalid return address"},
		{ends->none, "without a stack"},
	};
	char count[FORMAT_SIZE], share[FORMAT_SIZE];
	const char *before = "stacks: ";
	if (!profile->has_callchains || !profile->samples)
		return;
	fprintf(out, "%*s", INDENT, "");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!kinds[i].count)
			continue;
		fprintf(out, "%s%s %s (%s)", before, format_count(kinds[i].count, count),
			kinds[i].how,
			format_share((double)kinds[i].count / (double)profile->samples, share));
		before = ", ";
	}
	if (profile->repaired)
		fprintf(out, "; %s repaired", format_count(profile->repaired, count));
	putc('\n', out);
}

static void write_shown(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	char shown[FORMAT_SIZE], all[FORMAT_SIZE], share[FORMAT_SIZE];
	if (!report->filtered || !profile->samples)
		return;
	double part = profile->weight ? (double)profile->shown_weight / (double)profile->weight : 0;
	fprintf(out, "%*sfilters: %s of %s samples pass, %s of the weight\n", INDENT, "",
		format_count(profile->shown_samples, shown), format_count(profile->samples, all),
		format_share(part, share));
}

static void write_event(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	char count[FORMAT_SIZE], weight[FORMAT_SIZE];
	write_styled(report, TERM_TITLE, profile->event, out);
	if (profile->of_branches) {
		fprintf(out, "  %s branches of %s samples", format_count(profile->samples, count),
			format_count(profile->branch_stacks, weight));
		write_losses(report, profile, out);
		write_shown(report, profile, out);
		return;
	}
	fprintf(out, "  %s sample%s", format_count(profile->samples, count),
		profile->samples == 1 ? "" : "s");
	if (profile->samples && profile->weight_is_time)
		fprintf(out, ", %s of processor time",
			format_duration(&report->term, profile->weight, weight));
	else if (profile->samples && profile->weight_is_latency)
		fprintf(out, ", %s cycles of latency", format_count(profile->weight, weight));
	else if (profile->samples)
		fprintf(out, ", standing for %s event%s", format_count(profile->weight, weight),
			profile->weight == 1 ? "" : "s");
	write_losses(report, profile, out);
	write_bounds(profile, out);
	write_stacks(profile, out);
	write_shown(report, profile, out);
}

/* An empty table would leave people guessing. */
static void write_empty(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	const char *what, *remedy;
	if (profile->samples) {
		what = "No sample passes the filters.";
		remedy = "'sprof report' without them shows what there is.";
	} else if (report->damaged) {
		what = "No samples are in what could be read of the file.";
		remedy = "A copy that is whole may have them: compare the sizes.";
	} else if (profile->lost) {
		what = "All samples of this event were lost.";
		remedy = "Record again with larger rings (-m 4M) or a lower rate (-F 99).";
	} else {
		what = "No samples: while this was recorded, the event never counted as far as one period.";
		remedy = "A program that mostly sleeps uses little processor time: record for longer, "
			 "or with a higher rate (-F 20000).";
	}
	fprintf(out, "%*s", INDENT, "");
	write_words(report, INDENT, what, out);
	fprintf(out, "%*s%s ", INDENT, "", term_glyph(&report->term, "→", "->"));
	write_words(report, INDENT + 3 - report->term.utf8, remedy, out);
}

/* What the limit leaves out is said. */
static void write_left_out(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	char rows[FORMAT_SIZE], limit[FORMAT_SIZE];
	size_t shown = report_row_count(report, profile);
	if (shown == profile->row_count)
		return;
	term_begin(&report->term, TERM_DIM, out);
	fprintf(out, "%s %s rows below %s\n", term_glyph(&report->term, "…", "..."),
		format_count(profile->row_count - shown, rows),
		format_share(report->row_limit, limit));
	term_end(&report->term, TERM_DIM, out);
}

static void write_legend(const struct report *report, FILE *out)
{
	term_begin(&report->term, TERM_DIM, out);
	fprintf(out, "Shares are of %s weight; %s is the 95%% interval, in percent.\n",
		report->relative ? "what passes the filters, by" : "the event's whole",
		term_glyph(&report->term, "low–high", "low-high"));
	term_end(&report->term, TERM_DIM, out);
}

static bool write_profile(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	if (!report->quiet || report->profile_count > 1)
		putc('\n', out);
	if (!report->quiet)
		write_event(report, profile, out);
	else if (report->profile_count > 1) {
		write_styled(report, TERM_PLAIN, profile->event, out);
		putc('\n', out);
	}
	if (!profile->row_count) {
		write_empty(report, profile, out);
		return true;
	}
	if (!report->quiet)
		putc('\n', out);
	if (!table_write(report, profile, out))
		return false;
	write_left_out(report, profile, out);
	if (!profile->tree || !profile->tree->child_count)
		return true;
	putc('\n', out);
	return tree_write(report, profile, out);
}

/* What events count together, and then of each what its head and tree say. */
static bool write_group(const struct report *report, const struct joint_view *view, FILE *out)
{
	const struct sp_group *group = view->group;
	bool done = true;
	if (!report->quiet || report->profile_count > group->profile_count)
		putc('\n', out);
	for (size_t i = 0; i < group->profile_count && !report->quiet; i++)
		write_event(report, view->profiles[i], out);
	if (!group->row_count) {
		write_empty(report, view->profiles[0], out);
		return true;
	}
	if (!report->quiet)
		putc('\n', out);
	done = table_write_group(report, view, out);
	for (size_t i = 0; i < group->profile_count && done; i++) {
		const struct sp_profile *profile = view->profiles[i];
		if (!profile->tree || !profile->tree->child_count)
			continue;
		putc('\n', out);
		write_styled(report, TERM_TITLE, profile->event, out);
		putc('\n', out);
		done = tree_write(report, profile, out);
	}
	return done;
}

/* At the place of its first event; NULL: the profile is by itself. *ret: it is in one. */
static const struct joint_view *group_of(const struct report *report,
					 const struct sp_profile *profile, bool *ret)
{
	*ret = false;
	for (size_t i = 0; i < report->group_count; i++) {
		if (!view_has(&report->groups[i], profile))
			continue;
		*ret = true;
		return report->groups[i].profiles[0] == profile ? &report->groups[i] : NULL;
	}
	return NULL;
}

static bool write_text(const struct report *report, FILE *out)
{
	bool any = false;
	if (!report->quiet) {
		write_file(report, out);
		for (size_t i = 0; i < report->finding_count; i++)
			write_finding(report, report->findings[i], out);
		for (size_t i = 0; i < report->profile_count; i++)
			any |= report->profiles[i]->row_count > 0;
		if (any)
			write_legend(report, out);
	}
	for (size_t i = 0; i < report->profile_count; i++) {
		bool grouped;
		const struct joint_view *view = group_of(report, report->profiles[i], &grouped);
		if (view && !write_group(report, view, out))
			return false;
		if (!grouped && !write_profile(report, report->profiles[i], out))
			return false;
	}
	return true;
}

const struct output output_text = {"text", true, write_text};
