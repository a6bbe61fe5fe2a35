/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report as text: a head (the file, limits of the data with remedies, the event's counts and losses),
 * then each event's table or call tree.
 */
#include <ctype.h>
#include <inttypes.h>
#include <sprof/private/command.h>
#include <sprof/private/words.h>
#include <stdarg.h>
#include <string.h>
#include "out/findings_output.h"
#include "out/format_value.h"
#include "out/table.h"
#include "out/time_line.h"
#include "out/thread_times.h"

/* Text after a command with words that 'sprof archive' has hidden. */
#define HIDDEN " (other arguments hidden)"
#define HIDDEN_WIDTH ((int)sizeof(HIDDEN) - 1)

/* Indentation of the head's lines. */
#define INDENT 2

static void write_styled(const struct report *report, enum term_style style, const char *text,
			 FILE *out)
{
	term_begin(&report->term, style, out);
	term_put(&report->term, text, 0, out);
	term_end(&report->term, style, out);
}

static void write_words(const struct report *report, int indent, const char *text, FILE *out)
{
	term_wrap(&report->term, text, indent, indent, 0, out);
}

/*
 * Returns the recorded command from the recorder's command line, without `record` and its options if
 * they can be separated.
 */
static const char *const *command_of(const struct sp_file_info *info)
{
	return info && info->cmdline ? info->cmdline + sp_recorded_program(info->cmdline) : NULL;
}

/*
 * Writes the recordings that are added up, cut to the terminal's width: "sum of 3 recordings  a.data
 * b.data c.data".
 */
static void write_recordings(const struct report *report, FILE *out)
{
	const struct term *term = &report->term;
	char title[48];
	snprintf(title, sizeof(title), "sum of %zu recordings", report->recording_count);
	int used = (int)strlen(title) + 1;
	write_styled(report, TERM_TITLE, title, out);
	putc(' ', out);
	for (size_t i = 0; i < report->recording_count; i++) {
		int room = term->width ? term->width - used - 1 : 0;
		if (term->width && room < 2)
			break;
		putc(' ', out);
		used += 1 + term_put(term, sp_reader_info(report->recordings[i].reader)->path, room, out);
	}
	putc('\n', out);
}

/*
 * Writes the file and its command, cut to the terminal's width: "sprof.data  ./demo -x", or
 * "sprof.data  cc a.c (arguments hidden)".
 */
static void write_file(const struct report *report, FILE *out)
{
	const struct term *term = &report->term;
	int first = term_text_width(term, report->path) + 1, used = first;
	write_styled(report, TERM_TITLE, report->path, out);
	bool hidden = false;
	for (const char *const *word = command_of(report->info); word && *word; word++) {
		int room = term->width ? term->width - used - 1 : 0;
		if (term->width && room < 2)
			break;
		hidden |= sp_word_is_hidden(*word);
		if (sp_word_is_hidden(*word))
			continue;
		fputs(used == first ? "  " : " ", out);
		used += 1 + term_put(term, *word, room, out);
	}
	if (hidden && (!term->width || used + HIDDEN_WIDTH <= term->width))
		fputs(HIDDEN, out);
	putc('\n', out);
}

void report_write_title(const struct report *report, FILE *out)
{
	if (report->recording_count > 1)
		write_recordings(report, out);
	else
		write_file(report, out);
}

/* Parts of a line, which are written with commas between them. */
struct clauses {
	char text[640];
	size_t size;
};

static void add_clause(struct clauses *clauses, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_clause(struct clauses *clauses, const char *format, ...)
{
	size_t room = sizeof(clauses->text) - clauses->size;
	va_list arguments;
	if (clauses->size && room > 3) {
		clauses->size += (size_t)sprintf(clauses->text + clauses->size, ", ");
		room -= 2;
	}
	va_start(arguments, format);
	int size = vsnprintf(clauses->text + clauses->size, room, format, arguments);
	va_end(arguments);
	if (size > 0)
		clauses->size += (size_t)size < room ? (size_t)size : room - 1;
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* "none lost" is not the whole truth if more than this part of the weight is missing. */
#define MISSING_LEAST 0.05

static bool misses_much(const struct sp_profile *profile)
{
	double all = (double)profile->weight + (double)profile->missing_weight;
	return (double)profile->missing_weight > MISSING_LEAST * all;
}

static void add_losses(const struct report *report, const struct sp_profile *profile,
		       struct clauses *clauses)
{
	char count[FORMAT_SIZE], share[FORMAT_SIZE];
	uint64_t all = profile->samples + profile->lost_own;
	if (!profile->lost && !misses_much(profile))
		add_clause(clauses, "none lost");
	else if (profile->lost && profile->lost_own == profile->lost)
		add_clause(clauses, "%s lost (%s)", format_count(profile->lost, count),
			   format_percent(share_of(profile->lost, all), share));
	else if (profile->lost_own)
		add_clause(clauses, "up to %s lost on these CPUs, about %s of them this workload's",
			   format_count(profile->lost, count), format_count(profile->lost_own, share));
	if (profile->throttled_count)
		add_clause(clauses, "throttled %s time%s (%s)",
			   format_count(profile->throttled_count, count),
			   profile->throttled_count == 1 ? "" : "s",
			   format_duration(&report->term, profile->throttled_ns, share));
}

/* Adds how far lost samples could change a share of 50 %, if by at least 1 %. */
static void add_bounds(const struct sp_profile *profile, struct clauses *clauses)
{
	const struct sp_weight half = {.weight = profile->weight / 2, .share.value = 0.5};
	char low_text[FORMAT_SIZE], high_text[FORMAT_SIZE];
	double low, high;
	if (!profile->missing_weight || !profile->weight)
		return;
	format_bounds(&half, profile->missing_weight, profile->missing_weight, &low, &high);
	if (high - low >= 0.01)
		add_clause(clauses, "missing samples widen 50%% to %s-%s", format_percent(low, low_text),
			   format_percent(high, high_text));
}

/*
 * If at least this share of stacks is complete, the event's line mentions them, and write_stacks()
 * writes nothing.
 */
#define STACKS_GOOD 0.99

/* Least share of a kind of incomplete stacks that the head mentions. */
#define KIND_LEAST 0.01

/* Adds the share of stacks with an end, unless it is below KIND_LEAST. */
static void add_stacks(const struct sp_profile *profile, enum sp_stack_end end,
		       struct clauses *clauses)
{
	char text[FORMAT_SIZE];
	double share = share_of(profile->stacks[end], sp_profile_stack_count(profile));
	if (share >= KIND_LEAST)
		add_clause(clauses, "%s %s", format_percent(share, text),
			   sp_stack_end_words(end)->text);
}

/*
 * Writes a line about incomplete stacks: "stacks: 57.3% complete, 42.7% truncated". Writes nothing if
 * at least STACKS_GOOD are complete.
 */
static void write_stacks(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct clauses clauses = {.size = 0};
	char share[FORMAT_SIZE];
	uint64_t all = sp_profile_stack_count(profile);
	if (!profile->has_callchains || !all ||
	    share_of(profile->stacks[SP_STACK_COMPLETE], all) >= STACKS_GOOD)
		return;
	/* Kinds with a share below KIND_LEAST are shown only in JSON. */
	for (enum sp_stack_end end = 0; sp_stack_end_words(end); end++)
		if (end != SP_STACK_NONE)
			add_stacks(profile, end, &clauses);
	add_stacks(profile, SP_STACK_NONE, &clauses);
	if (share_of(profile->repaired, all) >= KIND_LEAST)
		add_clause(&clauses, "%s completed from other samples",
			   format_percent(share_of(profile->repaired, all), share));
	int column = fprintf(out, "stacks: ");
	term_wrap(&report->term, clauses.text, column, INDENT, 0, out);
}

/* Adds the total weight in its unit, such as seconds of CPU time. */
static void add_weight(const struct report *report, const struct sp_profile *profile,
		       struct clauses *clauses)
{
	char weight[FORMAT_SIZE];
	if (report->mode != SP_MODE_CPU)
		return;
	if (profile->weight_is_time)
		add_clause(clauses, "%s of CPU time",
			   format_duration(&report->term, profile->weight, weight));
	else if (profile->weight_is_latency)
		add_clause(clauses, "%s cycles of latency", format_count(profile->weight, weight));
	else
		add_clause(clauses, "%s event%s", format_count(profile->weight, weight),
			   profile->weight == 1 ? "" : "s");
}

/* Adds the time of threads by state, and the number of samples. */
static void add_times(const struct report *report, const struct sp_profile *profile,
		      struct clauses *clauses)
{
	char times[320], count[FORMAT_SIZE];
	times_describe(&report->term, profile, times, sizeof(times));
	add_clause(clauses, "%s", times);
	if (report->mode == SP_MODE_WAKERS)
		return;
	add_clause(clauses, "%s sample%s", format_count(profile->samples, count),
		   profile->samples == 1 ? "" : "s");
}

/*
 * Writes an event's line: "4,996 samples of cpu-clock, 5.00 s of CPU time, none lost, stacks 99.9%
 * complete".
 */
void report_write_event(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct clauses clauses = {.size = 0};
	char count[FORMAT_SIZE], share[FORMAT_SIZE];
	if (report->mode != SP_MODE_CPU)
		add_times(report, profile, &clauses);
	else if (!profile->samples)
		add_clause(&clauses, "no samples of %s", profile->event);
	else if (profile->of_branches)
		add_clause(&clauses, "%s branches from %s samples of %s",
			   format_count(profile->samples, count),
			   format_count(profile->branch_stacks, share), profile->event);
	else
		add_clause(&clauses, "%s sample%s of %s", format_count(profile->samples, count),
			   profile->samples == 1 ? "" : "s", profile->event);
	if (profile->samples && !profile->of_branches)
		add_weight(report, profile, &clauses);
	if (profile->samples || profile->lost)
		add_losses(report, profile, &clauses);
	/* Time passes filters without a sample, too. */
	bool timed = report->mode != SP_MODE_CPU && profile->weight_is_time;
	if (report->filtered && (timed ? profile->shown_weight : profile->shown_samples))
		add_clause(&clauses, "filters pass %s%s (%s)",
			   timed ? format_duration(&report->term, profile->shown_weight, count) :
				   format_count(profile->shown_samples, count),
			   timed ? "" : " of them",
			   format_percent(share_of(profile->shown_weight, profile->weight), share));
	add_bounds(profile, &clauses);
	uint64_t stacks = sp_profile_stack_count(profile);
	double complete = share_of(profile->stacks[SP_STACK_COMPLETE], stacks);
	if (profile->has_callchains && stacks && complete >= STACKS_GOOD)
		add_clause(&clauses, "stacks %s complete", format_percent(complete, share));
	write_words(report, 0, clauses.text, out);
	times_write_idle(&report->term, profile, out);
	write_stacks(report, profile, out);
	if (report->callers) {
		fputs("callers of ", out);
		term_put(&report->term, report->callers, 0, out);
		fputs(": self counts direct calls, total all calls\n", out);
	}
}

/* Returns the profile's index; their number if it is not in the report. */
static size_t index_of(const struct report *report, const struct sp_profile *profile)
{
	size_t at = 0;
	while (at < report->profile_count && report->profiles[at] != profile)
		at++;
	return at;
}

/* Returns whether one kind of a hybrid machine's CPUs counted the event: the attr has its PMU. */
static bool is_of_one_pmu(const struct report *report, const struct sp_profile *profile)
{
	size_t at = index_of(report, profile);
	if (!report->events || at == report->profile_count)
		return false;
	const struct perf_event_attr *attr = &report->events[at]->attr;
	return (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
	       attr->config >> 32;
}

/* Writes the reason why there are no samples. Its text depends on the sampling period. */
static void describe_no_samples(const struct report *report, const struct sp_profile *profile,
				char *buffer, size_t size)
{
	char period[FORMAT_SIZE];
	size_t at = index_of(report, profile);
	uint64_t periods = at < report->profile_count ? report_period(report, at) : 0;
	if (profile->weight_is_time && periods) {
		const struct perf_event_attr *attr = &report->events[at]->attr;
		struct sp_lock_in lock_in;
		snprintf(buffer, size, "No samples: the target used less than one sampling period "
			 "(%s) of CPU time%s%s.", format_duration(&report->term, periods, period),
			 attr->exclude_kernel ? " in user code" : "",
			 sp_lock_in_find(attr, 0, &lock_in) ? ", or slept whenever a sample was due" : "");
	} else if (periods == 1)
		snprintf(buffer, size, "No samples: %s did not occur.", profile->event);
	else if (periods)
		snprintf(buffer, size, "No samples: %s occurred less often than one sampling period "
			 "(%s events).", profile->event, format_count(periods, period));
	else
		snprintf(buffer, size, "No samples: %s occurred less often than one sampling period.",
			 profile->event);
}

void report_write_empty(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	char what[256], count[FORMAT_SIZE];
	const char *remedy;
	if (profile->samples) {
		snprintf(what, sizeof(what), "None of the %s samples passes the filters.",
			 format_count(profile->samples, count));
		remedy = "'sprof report' without filters shows them.";
	} else if (report->damaged) {
		snprintf(what, sizeof(what), "No samples in the readable part of the damaged file.");
		remedy = "Compare its size with the original's: the copy may be incomplete.";
	} else if (profile->lost) {
		snprintf(what, sizeof(what), "All samples of this event were lost.");
		remedy = "Record again with larger ring buffers (-m) or a lower rate (-F).";
	} else if (is_of_one_pmu(report, profile)) {
		snprintf(what, sizeof(what), "No samples: the target did not run on the CPUs that "
			 "count %s, or for less than one sampling period.", profile->event);
		remedy = "'sprof report' without -e and --per-pmu adds up all kinds of CPU.";
	} else {
		describe_no_samples(report, profile, what, sizeof(what));
		remedy = "Record for longer, or at a higher rate (-F 20000).";
	}
	fprintf(out, "%*s", INDENT, "");
	write_words(report, INDENT, what, out);
	fprintf(out, "%*s%s ", INDENT, "", term_glyph(&report->term, "→", "->"));
	write_words(report, INDENT + 3 - report->term.utf8, remedy, out);
}

static const struct sp_profile *first_with_rows(const struct report *report)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->profiles[i]->row_count)
			return report->profiles[i];
	return NULL;
}

/* Returns whether text shows a row with the mark of a share that varies. */
static bool shows_varying(const struct report *report)
{
	for (size_t i = 0; i < report->profile_count && !report->hide_rows; i++) {
		const struct sp_profile *profile = report->profiles[i];
		size_t count = report_text_row_count(report, profile);
		for (size_t j = 0; j < count; j++) {
			const struct sp_row *row = sp_profile_row(profile, j);
			const struct sp_between *between =
				report_by_total(report) ? row->total_between : row->self_between;
			if (between && between->varies)
				return report->interval != SHOWN_WITHIN;
		}
	}
	return false;
}

/* Writes the legend of the columns after the first event with rows, once for the report. */
static void write_legend(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	bool times = true;
	char text[240];
	if (report->quiet || profile != first_with_rows(report))
		return;
	for (size_t i = 0; i < report->profile_count; i++)
		times &= report->profiles[i]->weight_is_time;
	term_begin(&report->term, TERM_DIM, out);
	bool wakers = report->mode == SP_MODE_WAKERS;
	const char *of = report->relative ? "what passes the filters" :
			 report->mode == SP_MODE_LATENCY ? "the processes' lifetimes" :
			 wakers ? times ? "blocked time that wake-ups ended" : "all wake-ups" :
			 report->mode != SP_MODE_CPU ? "the threads' time" :
			 times ? "total CPU time" : "the event's total";
	if (wakers || (!report->column_count && !report_has_intervals(report)))
		snprintf(text, sizeof(text), "Percentages are of %s.", of);
	else
		snprintf(text, sizeof(text),
			 "Percentages are of %s; %s is the 95%% confidence interval%s%s.", of,
			 term_glyph(&report->term, "low–high", "low-high"),
			 report->interval == SHOWN_BETWEEN ? " for another run" : "",
			 !shows_varying(report)		   ? ""
			 : report->interval == SHOWN_BETWEEN ? "; with ~, the share varies"
			 : report->recording_count > 1	   ? "; ~: for another run, as runs differ"
					: "; ~: for another run, as the share varies over time");
	write_words(report, 0, text, out);
	if (report->mode == SP_MODE_LATENCY)
		write_words(report, 0,
			    "Latency is time until the process ends, not the latency of requests. "
			    "Without wake-ups (record --wakers), the wait for a CPU after one is "
			    "blocked time.",
			    out);
	if (report->mode != SP_MODE_CPU && times && !report->column_count && !report->hide_rows)
		fprintf(out, "Time is in ms; %s.\n", wakers ? "runnable: from wake-up to running" :
			"runnable threads wait for a CPU");
	if (wakers && !report->hide_rows && report_has_key(report, SP_KEY_WAKER))
		write_words(report, 0, "Threads are first; [interrupt] is a timer that expired, or "
			    "a device.", out);
	if (report->mode != SP_MODE_CPU && !report->hide_rows && report_by_total(report) &&
	    report_has_key(report, SP_KEY_SRCLINE))
		write_words(report, 0, "Each frame has a row; --no-children shows only the "
			    "innermost line of each wait.", out);
	term_end(&report->term, TERM_DIM, out);
}

/* Writes a blank line and the call tree, if there is one. */
static bool write_tree(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	if (!profile->tree || !profile->tree->child_count)
		return true;
	if (!report->hide_rows || !report->quiet)
		putc('\n', out);
	return tree_write(report, profile, out);
}

static bool write_profile(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	if (report->profile_count > 1)
		putc('\n', out);
	if (!report->quiet)
		report_write_event(report, profile, out);
	else if (report->profile_count > 1) {
		write_styled(report, TERM_PLAIN, profile->event, out);
		putc('\n', out);
	}
	if (!profile->row_count) {
		report_write_empty(report, profile, out);
		return true;
	}
	write_legend(report, profile, out);
	if (!report->hide_rows && !table_write(report, profile, out))
		return false;
	return write_tree(report, profile, out);
}

/* Writes an event group as one table, then each event's call tree. */
static bool write_group(const struct report *report, const struct joint_view *view, FILE *out)
{
	const struct sp_group *group = view->group;
	bool done = true;
	if (report->profile_count > group->profile_count)
		putc('\n', out);
	for (size_t i = 0; i < group->profile_count && !report->quiet; i++)
		report_write_event(report, view->profiles[i], out);
	if (!group->row_count) {
		report_write_empty(report, view->profiles[0], out);
		return true;
	}
	for (size_t i = 0; i < group->profile_count; i++)
		write_legend(report, view->profiles[i], out);
	if (!report->hide_rows)
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

/*
 * Returns the event group to write in place of this profile, if the profile is the group's leader; else
 * NULL. *ret: whether the profile is in any group.
 */
static const struct joint_view *group_of(const struct report *report,
					 const struct sp_profile *profile, bool *ret)
{
	*ret = false;
	for (size_t i = 0; i < report->group_count; i++) {
		if (!joint_view_has(&report->groups[i], profile))
			continue;
		*ret = true;
		return report->groups[i].profiles[0] == profile ? &report->groups[i] : NULL;
	}
	return NULL;
}

/* Writes the command for the code of the hottest function, on a terminal with room for it. */
static void write_next(const struct report *report, FILE *out)
{
	const struct sp_profile *profile = first_with_rows(report);
	const struct sp_row *row = profile ? sp_profile_row(profile, 0) : NULL;
	char text[160];
	if (report->quiet || report->hide_rows || report->recording_count != 1 ||
	    report->callers || report->callees || !report->order_by_self ||
	    report->mode != SP_MODE_CPU || !row || !row->function || !row->identity ||
	    row->inlined || row->level != SP_LEVEL_USER)
		return;
	bool is_default = !strcmp(report->path, "sprof.data");
	int size = snprintf(text, sizeof(text),
			    "The instructions of the first row: sprof annotate %s%s%s'%s'",
			    is_default ? "" : "-i ", is_default ? "" : report->path,
			    is_default ? "" : " ", row->function);
	if (size >= (int)sizeof(text) || size > report->term.width ||
	    strchr(row->function, '\'') || strpbrk(report->path, " '\"\\$`&|;<>()*?[]~#!"))
		return;
	putc('\n', out);
	term_begin(&report->term, TERM_DIM, out);
	write_words(report, 0, text, out);
	term_end(&report->term, TERM_DIM, out);
}

/* Writes the command that browses the recording, if the reader is at a terminal. */
static void write_browser(const struct report *report, FILE *out)
{
#ifdef HAVE_NCURSES
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./:@%+=,-";
	char text[160];
	bool usual = !strcmp(report->path, "sprof.data");
	if (!report->term.terminal || report->quiet || report->recording_count > 1 ||
	    *report->path == '-' || report->path[strspn(report->path, plain)] ||
	    !first_with_rows(report))
		return;
	snprintf(text, sizeof(text), "Browse it with keys: sprof browse%s%s", usual ? "" : " ",
		 usual ? "" : report->path);
	term_begin(&report->term, TERM_DIM, out);
	write_words(report, 0, text, out);
	term_end(&report->term, TERM_DIM, out);
#else
	(void)report, (void)out;
#endif
}

static bool write_text(const struct report *report, FILE *out)
{
	if (!report->quiet) {
		report_write_title(report, out);
		timeline_write(report, out);
		findings_write(report, out);
	}
	for (size_t i = 0; i < report->profile_count; i++) {
		bool grouped;
		const struct joint_view *view = group_of(report, report->profiles[i], &grouped);
		if (view && !write_group(report, view, out))
			return false;
		if (!grouped && !write_profile(report, report->profiles[i], out))
			return false;
	}
	write_next(report, out);
	write_browser(report, out);
	return true;
}

const struct output_format output_text = {
	.name = "text",
	.intervals = true,
	.files = (const char *const[]){"*.txt", NULL},
	.paged = true,
	.folds_python = true,
	.write = write_text,
};
