/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report as text: a head (the file, limits of the data with remedies, the event's counts and
 * losses), then each event's table or call tree.
 */
#include <ctype.h>
#include <inttypes.h>
#include <sprof/private/command.h>
#include <sprof/private/losses.h>
#include <sprof/private/words.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "input.h"
#include "memory.h"
#include "out/findings_output.h"
#include "out/format_value.h"
#include "out/table.h"
#include "out/thread_times.h"
#include "out/time_line.h"
#include "recorded_options.h"
#include "text.h"

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
 * Returns the recorded command from the recorder's command line, without `record` and its options
 * if they can be separated.
 */
static const char *const *command_of(const struct sp_file_info *info)
{
	return info && info->cmdline ? info->cmdline + sp_recorded_program(info->cmdline) : NULL;
}

/*
 * Writes the recordings that are added up, cut to the terminal's width: "sum of 3 recordings
 * a.data b.data c.data".
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
		const char *path = sp_reader_info(report->recordings[i].reader)->path;
		used += 1 + term_put(term, path, room, out);
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
	if (report->live) {
		term_begin(&report->term, TERM_TITLE, out);
		term_put(&report->term, report->live->title, report->term.width, out);
		term_end(&report->term, TERM_TITLE, out);
		putc('\n', out);
	} else if (report->recording_count > 1)
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

void report_describe_lost(const struct sp_profile *profile, char *text, size_t size)
{
	char count[FORMAT_SIZE], share[FORMAT_SIZE];
	/* With branches, `samples` are those of the stacks. */
	uint64_t taken = profile->of_branches ? profile->branch_stacks : profile->samples;
	uint64_t all = taken + profile->lost_own;
	*text = 0;
	/* Other records than samples may be missing, which makes times unknown. */
	if (!profile->lost && !misses_much(profile))
		snprintf(text, size, "%s lost", profile->times.unknown_ns ? "no samples" : "none");
	else if (profile->lost && profile->lost_own == profile->lost)
		snprintf(text, size, "%s lost (%s)", format_count(profile->lost, count),
			 format_share_short(share_of(profile->lost, all), share));
	else if (profile->lost_unknown)
		snprintf(text, size, "up to %s lost, of this workload or of others on these CPUs",
			 format_count(profile->lost_own + profile->lost_unknown, count));
	else if (profile->lost_own)
		snprintf(text, size,
			 "up to %s lost on these CPUs, about %s of them this workload's",
			 format_count(profile->lost, count),
			 format_count(profile->lost_own, share));
	else if (!misses_much(profile))
		snprintf(text, size, "%s lost (%s of other processes)",
			 profile->times.unknown_ns ? "no samples" : "none",
			 format_count(profile->lost, count));
}

static void add_losses(const struct report *report, const struct sp_profile *profile,
		       struct clauses *clauses)
{
	char lost[LOST_SIZE], count[FORMAT_SIZE], share[FORMAT_SIZE];
	report_describe_lost(profile, lost, sizeof(lost));
	if (*lost)
		add_clause(clauses, "%s", lost);
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
	share_bounds(&half, profile->missing_weight, profile->missing_weight, &low, &high);
	if (high - low >= 0.01)
		add_clause(clauses, "samples are missing: 50%% may in truth be %s to %s",
			   format_share_short(low, low_text), format_share_short(high, high_text));
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
		add_clause(clauses, "%s %s", format_share_short(share, text),
			   sp_stack_end_words(end)->text);
}

/*
 * Writes a line about incomplete stacks: "stacks: 57.3% complete, 42.7% truncated". Writes nothing
 * if at least STACKS_GOOD are complete.
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
			   format_share_short(share_of(profile->repaired, all), share));
	int column = fprintf(out, "stacks: ");
	term_wrap(&report->term, clauses.text, column, INDENT, 0, out);
}

/* Shorter recordings may end before the first waits do. */
#define MOSTLY_WAITS_LEAST_NS 200000000

/*
 * Returns whether the recorded command or processes used less than half of one CPU, and their waits
 * were not recorded.
 */
static bool hides_waits(const struct report *report, const struct sp_profile *profile)
{
	const char *const *command;
	const struct perf_event_attr *attr = report_attr(report, profile);
	return report->recording_count == 1 && !report->live && report->info->cmdline && attr &&
	       !attr->exclude_kernel && report->duration_ns >= MOSTLY_WAITS_LEAST_NS &&
	       profile->weight < report->duration_ns / 2 &&
	       !recordings_have_waits(report->recordings, 1) &&
	       recorded_extent(report->info->cmdline, &command) != RECORDED_OTHERS;
}

/* Adds the total weight in its unit, such as seconds of CPU time. */
static void add_weight(const struct report *report, const struct sp_profile *profile,
		       struct clauses *clauses)
{
	char weight[FORMAT_SIZE], lasted[FORMAT_SIZE], words[CPU_TIME_SIZE];
	if (report->mode != SP_MODE_CPU)
		return;
	report_cpu_time(report, profile, words);
	if (profile->weight_is_time && hides_waits(report, profile))
		add_clause(clauses, "%s of CPU time in %s (--off-cpu records waits)",
			   format_duration(&report->term, profile->weight, weight),
			   format_duration(&report->term, report->duration_ns, lasted));
	else if (profile->weight_is_time)
		add_clause(clauses, "%s of %s",
			   format_duration(&report->term, profile->weight, weight),
			   words);
	else if (event_is_of_switches(profile->event))
		add_clause(clauses, "%s off the CPU",
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
		add_clause(&clauses, "filters pass %s%s (%s%s)",
			   timed ? format_duration(&report->term, profile->shown_weight, count) :
				   format_count(profile->shown_samples, count),
			   timed ? "" : " of them",
			   format_share_short(share_of(profile->shown_weight, profile->weight),
					      share),
			   timed || profile->of_branches ? ""
			   : profile->weight_is_time	 ? " of the time"
							 : " of the total");
	add_bounds(profile, &clauses);
	uint64_t stacks = sp_profile_stack_count(profile);
	double complete = share_of(profile->stacks[SP_STACK_COMPLETE], stacks);
	if (profile->has_callchains && stacks && complete >= STACKS_GOOD)
		add_clause(&clauses, "stacks %s complete", format_share_short(complete, share));
	write_words(report, 0, clauses.text, out);
	times_write_idle(&report->term, profile, out);
	if (report->other_samples && profile == report->profiles[0]) {
		/* info has one recording only. */
		char *command = report->recording_count > 1 ? xstrdup("sprof info -i FILE")
							    : report_command(report, "sprof info");
		char *text = xasprintf("not shown: %s sample%s of other events; %s lists them",
				       format_count(report->other_samples, count),
				       report->other_samples == 1 ? "" : "s", command);
		write_words(report, 0, text, out);
		free(command);
		free(text);
	}
	write_stacks(report, profile, out);
	if (report->callers) {
		fputs("callers of ", out);
		term_put(&report->term, report->callers, 0, out);
		fputs(": self counts direct calls, total all calls\n", out);
	}
}

/* Returns whether one kind of a hybrid machine's CPUs counted the event: the attr has its PMU. */
static bool is_of_one_pmu(const struct report *report, const struct sp_profile *profile)
{
	const struct perf_event_attr *attr = report_attr(report, profile);
	return attr &&
	       (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
	       attr->config >> 32;
}

/* Returns whether the event is a clock that samples less often than sprof advises. */
static bool has_slow_clock(const struct report *report, const struct sp_profile *profile)
{
	return profile->weight_is_time &&
	       report_period(report, profile) > 1000000000 / SP_FAST_HZ;
}

/* Writes the reason why there are no samples. Its text depends on the sampling period. */
static void describe_no_samples(const struct report *report, const struct sp_profile *profile,
				char *buffer, size_t size)
{
	char period[FORMAT_SIZE];
	uint64_t periods = report_period(report, profile);
	if (profile->weight_is_time && periods) {
		const struct perf_event_attr *attr = report_attr(report, profile);
		bool in_step = false;
		for (size_t i = 0; i < report->finding_count; i++)
			in_step |= report->findings[i]->kind == SP_FINDING_LOCK_IN;
		snprintf(buffer, size, "No samples: the recorded threads used less than one "
			 "sampling period (%s) of CPU time%s%s.",
			 format_duration(&report->term, periods, period),
			 attr->exclude_kernel ? " in user code" : "",
			 in_step ? ", or slept whenever a sample was due" : "");
	} else if (periods == 1)
		snprintf(buffer, size, "No samples: %s did not occur.", profile->event);
	else if (periods)
		snprintf(buffer, size,
			 "No samples: %s occurred less often than one sampling period (%s events).",
			 profile->event, format_count(periods, period));
	else
		snprintf(buffer, size,
			 "No samples: %s occurred less often than one sampling period.",
			 profile->event);
}

void report_write_empty(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	char what[256], count[FORMAT_SIZE], *made = NULL;
	char *command = report_command(report, "sprof report");
	const char *remedy = NULL, *does = NULL;
	if (profile->samples) {
		snprintf(what, sizeof(what), "None of the %s samples passes the filters.",
			 format_count(profile->samples, count));
		does = "without filters shows them.";
	} else if (report->damaged) {
		snprintf(what, sizeof(what),
			 "No samples in the readable part of the damaged file.");
		remedy = "Compare its size with the original's: the copy may be incomplete.";
	} else if (profile->lost_own || profile->lost_unknown) {
		snprintf(what, sizeof(what), "All samples of this event were lost%s.",
			 profile->lost_own ? "" : ", or none was of the target");
		remedy = "Record again with larger ring buffers (-m) or a lower rate (-F).";
	} else if (is_of_one_pmu(report, profile)) {
		snprintf(what, sizeof(what), "No samples: the target did not run on the CPUs that "
			 "count %s, or for less than one sampling period.", profile->event);
		does = "without -e and --per-pmu adds up all kinds of CPU.";
	} else {
		describe_no_samples(report, profile, what, sizeof(what));
		remedy = has_slow_clock(report, profile)
				 ? "Record its waits (--off-cpu), children that ran before (-p "
				   "PID --descendants), or at a higher rate (-F 4999)."
			 : profile->weight_is_time
				 ? "Record its waits (--off-cpu), or children that ran before (-p "
				   "PID --descendants)."
				 : "Record for longer, or with children that ran before (-p "
				   "PID --descendants).";
	}
	if (does)
		made = xasprintf("'%s' %s", command, does);
	fprintf(out, "%*s", INDENT, "");
	write_words(report, INDENT, what, out);
	fprintf(out, "%*s%s ", INDENT, "", term_glyph(&report->term, "→", "->"));
	write_words(report, INDENT + 3 - report->term.utf8, made ?: remedy, out);
	free(made);
	free(command);
}

static const struct sp_profile *first_with_rows(const struct report *report)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->profiles[i]->row_count)
			return report->profiles[i];
	return NULL;
}

/* Writes the meaning of the marks that text shows. */
static void write_marks(const struct report *report, FILE *out)
{
	bool between = false, within = false;
	for (size_t i = 0; i < report->profile_count && !report->hide_rows; i++) {
		const struct sp_profile *profile = report->profiles[i];
		if (report_is_grouped(report, profile))
			continue;
		size_t count = report_text_row_count(report, profile);
		between |= report_shows_mark(report, profile, count, MARK_BETWEEN);
		within |= report_shows_mark(report, profile, count, MARK_WITHIN);
	}
	report_write_marks(report, between, within, out);
}

/* Returns whether a row is of several threads of one process, by its name. */
static bool has_pools(const struct report *report, const struct sp_profile *profile)
{
	bool any = false;
	bool by_process = report_has_key(report, SP_KEY_PID);
	for (size_t i = 0; i < profile->row_count && by_process && !any; i++) {
		const char *comm = sp_profile_row(profile, i)->comm;
		any = comm && strstr(comm, " threads)");
	}
	return any;
}

/* Returns whether a shown row is of stacks without the user's own code. */
static bool shows_other_code(const struct report *report, const struct sp_profile *profile)
{
	size_t count = report_text_row_count(report, profile);
	for (size_t i = 0; i < count; i++)
		if (!sp_profile_row(profile, i)->own_code && !sp_profile_row(profile, i)->inlined)
			return true;
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
	bool ranges = !wakers && (report->column_count || report_has_intervals(report));
	if (!ranges)
		snprintf(text, sizeof(text), "Percentages are of %s%s.", of,
			 report_is_exact(report) ? "; they are exact, as each event was sampled"
						 : "");
	else
		snprintf(text, sizeof(text),
			 "Percentages are of %s; %s is the 95%% confidence interval%s.", of,
			 term_glyph(&report->term, "low–high", "low-high"),
			 report->interval == SHOWN_BETWEEN && !report_is_grouped(report, profile)
				 ? " for another run" : "");
	write_words(report, 0, text, out);
	if (report->filtered && !report->relative)
		write_words(report, 0, "The total is before filters; with --percentage relative it "
			    "is what passes them.", out);
	if (ranges)
		write_marks(report, out);
	if (report->my_code)
		write_words(report, 0,
			    "Libraries, runtimes and the kernel count for the functions of your "
			    "own code that called them.", out);
	if (report->my_code && shows_other_code(report, profile))
		write_words(report, 0, "A stack without such a function counts for its first one, "
			    "such as _start.", out);
	if (report->mode == SP_MODE_LATENCY)
		write_words(report, 0,
			    "Latency is time until the process ends, not the latency of requests.",
			    out);
	if (report->mode != SP_MODE_CPU && times && !report->column_count && !report->hide_rows)
		fprintf(out, "Time is in ms; %s.\n", wakers ? "runnable: from wake-up to running" :
			"runnable threads wait for a CPU");
	if (report->mode != SP_MODE_CPU && !report->hide_rows && has_pools(report, profile))
		write_words(report, 0, "Threads of a process with one name are one row; "
			    "-T --percent-limit 0 shows each.", out);
	if (wakers && !report->hide_rows && report_has_key(report, SP_KEY_WAKER))
		write_words(report, 0, "Threads are first; [interrupt] is a timer that expired, or "
			    "a device. For a lock, the waker is the thread that released it: its "
			    "holder until then.", out);
	if (report->mode != SP_MODE_CPU && !report->hide_rows && report_by_total(report) &&
	    profile->times.waits && report_has_key(report, SP_KEY_SRCLINE))
		write_words(report, 0, "Each frame has a row; --no-children shows only the "
			    "innermost line of each wait.", out);
	term_end(&report->term, TERM_DIM, out);
}

static void write_tree(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	if (!profile->tree || !profile->tree->child_count)
		return;
	if (!report->hide_rows || !report->quiet)
		putc('\n', out);
	tree_write(report, profile, out);
}

static void write_profile(const struct report *report, const struct sp_profile *profile, FILE *out)
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
		return;
	}
	write_legend(report, profile, out);
	if (!report->hide_rows)
		table_write(report, profile, out);
	write_tree(report, profile, out);
}

/* Writes an event group as one table, then each event's call tree. */
static void write_group(const struct report *report, const struct joint_view *view, FILE *out)
{
	const struct sp_group *group = view->group;
	if (report->profile_count > group->profile_count)
		putc('\n', out);
	for (size_t i = 0; i < group->profile_count && !report->quiet; i++)
		report_write_event(report, view->profiles[i], out);
	if (!group->row_count) {
		report_write_empty(report, view->profiles[0], out);
		return;
	}
	for (size_t i = 0; i < group->profile_count; i++)
		write_legend(report, view->profiles[i], out);
	if (!report->hide_rows)
		table_write_group(report, view, out);
	for (size_t i = 0; i < group->profile_count; i++) {
		const struct sp_profile *profile = view->profiles[i];
		if (!profile->tree || !profile->tree->child_count)
			continue;
		putc('\n', out);
		write_styled(report, TERM_TITLE, profile->event, out);
		putc('\n', out);
		tree_write(report, profile, out);
	}
}

/* Returns the event group with this leader, which is written in its place; NULL: there is none. */
static const struct joint_view *group_of(const struct report *report,
					 const struct sp_profile *leader)
{
	for (size_t i = 0; i < report->group_count; i++)
		if (report->groups[i].profiles[0] == leader)
			return &report->groups[i];
	return NULL;
}

/* Returns whether another row has the function, with another value of a key. */
static bool is_split(const struct sp_profile *profile, const struct sp_row *row, enum sp_key key)
{
	const char *value = row_text(row, key);
	for (size_t i = 0; value && i < profile->row_count; i++) {
		const struct sp_row *other = sp_profile_row(profile, i);
		if (!strcmp(other->function, row->function) && strcmp(row_text(other, key), value))
			return true;
	}
	return false;
}

/* Returns whether the first row is library code, and other rows are of the user's own. */
static bool hides_own_code(const struct report *report, const struct sp_profile *profile)
{
	bool own = false;
	for (size_t i = 0; i < profile->row_count && !own; i++)
		own = sp_profile_row(profile, i)->own_code;
	return own && !report->my_code && !sp_profile_row(profile, 0)->own_code;
}

/*
 * Makes the command for the code of the hottest row's function. Options select the row's event,
 * comm and dso if there are others. Returns false if there is none that fits.
 */
static bool put_annotate(const struct report *report, const struct sp_profile *profile, char *text,
			 size_t limit)
{
	const struct sp_row *row = sp_profile_row(profile, 0);
	if (!row->identity || row->inlined || row->level != SP_LEVEL_USER)
		return false;
	const struct {
		const char *option, *value;
	} options[] = {
		{"-i", strcmp(report->path, "sprof.data") ? report->path : NULL},
		{"-e", report->profile_count > 1 ? profile->event : NULL},
		{"-c", is_split(profile, row, SP_KEY_COMM) ? row->comm : NULL},
		{"-d", is_split(profile, row, SP_KEY_DSO) ? row->dso : NULL},
		{"", row->function},
	};
	int size = snprintf(text, limit, "The instructions of the first row: sprof annotate");
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		const char *value = options[i].value;
		if (!value || size >= (int)limit)
			continue;
		bool plain = *options[i].option && text_is_bare(value);
		/* Text has several threads as one comm: "worker-* (16 threads)". */
		if (strchr(value, '\'') || (value == row->comm && strchr(value, '*')))
			return false;
		size += snprintf(text + size, limit - (size_t)size, "%s%s%s%s%s%s",
				 *options[i].option ? " " : "", options[i].option, " ",
				 plain ? "" : "'", value, plain ? "" : "'");
	}
	return size < (int)limit && size <= report->term.width;
}

/*
 * Returns whether a row's share is that of its lines, not of its instructions: it is a Python
 * function, or has the time of libraries.
 */
static bool has_lines_only(const struct report *report, const struct sp_row *row)
{
	const char *dso = row->identity ? row->identity->path : row->dso ?: "";
	return report->my_code || !strcmp(dso, "[python]");
}

/*
 * Writes a command that follows: for the time of the user's own functions if the first row is
 * none of them, else for the first row's lines or code.
 */
static void write_next(const struct report *report, FILE *out)
{
	const struct sp_profile *profile = first_with_rows(report);
	const struct sp_row *row = profile ? sp_profile_row(profile, 0) : NULL;
	char text[160];
	if (report->quiet || report->hide_rows || report->recording_count != 1 || report->live ||
	    report->callers || report->callees || !report->order_by_self || report->filtered ||
	    report->mode != SP_MODE_CPU || !row || !row->function)
		return;
	bool usual = !strcmp(report->path, "sprof.data"), fits;
	bool hidden = hides_own_code(report, profile), lines = has_lines_only(report, row);
	if (!hidden && lines &&
	    (report_has_key(report, SP_KEY_SRCLINE) ||
	     (report->my_code && !(row->own_code && row->identity))))
		return;
	const char *own = hidden ? "By the functions of your own code: sprof report --my-code" :
			  !lines ? NULL :
			  report->my_code ? "By lines: sprof report --my-code -s function,srcline" :
					    "By lines: sprof report -s function,srcline";
	if (own && text_is_bare(report->path)) {
		int size = snprintf(text, sizeof(text), "%s%s%s", own, usual ? "" : " ",
				    usual ? "" : report->path);
		fits = size <= report->term.width && size < (int)sizeof(text);
	} else {
		fits = !own && put_annotate(report, profile, text, sizeof(text));
	}
	if (!fits)
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
	char text[160];
	bool usual = !strcmp(report->path, "sprof.data");
	if (!report->term.terminal || report->quiet || report->live ||
	    report->recording_count > 1 || *report->path == '-' ||
	    !text_is_bare(report->path) || !first_with_rows(report))
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
		const struct sp_profile *profile = report->profiles[i];
		const struct joint_view *view = group_of(report, profile);
		if (view)
			write_group(report, view, out);
		else if (!report_is_grouped(report, profile))
			write_profile(report, profile, out);
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
