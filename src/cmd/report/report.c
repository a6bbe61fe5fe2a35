/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof report` turns a recording into tables, call trees and exports. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sprof/private/command.h>
#include "browser.h"
#include "cmd/common/recordings.h"
#include "cmd/info/info.h"
#include "cmd/report/report_arguments.h"
#include "cmd/report/report_result.h"
#include "command.h"
#include "diag.h"
#include "export/gzip.h"
#include "input.h"
#include "memory.h"
#include "out/output.h"
#include "out/time_line.h"
#include "pager.h"
#include "progress.h"
#include "tui/browse.h"

/*
 * Least share of call tree branches, and of rows ordered by total, in text output, as in perf.
 * --percent-limit replaces it.
 */
#define TEXT_LIMIT 0.005

/*
 * Text shows the first rows that together have this part of all self weight, and on a terminal at most
 * TEXT_ROWS rows.
 */
#define TEXT_COVERAGE 0.99
#define TEXT_ROWS 40

/*
 * On a terminal, numbers of lines from which the limit of rows follows: all lines of the report, those
 * of its head, and those of each event besides its rows.
 */
#define TEXT_LINES 60
#define HEAD_LINES 12
#define EVENT_LINES 6
#define LEAST_ROWS 5

/* On a terminal, most lines of a tree of processes. */
#define PROCESS_LINES 30

/* Part of the most samples of an event from which another event has about as many. */
#define ABOUT_AS_MANY 0.9

/* perf's header feature with the event groups. */
#define GROUP_DESC 17

static bool is_text(const struct report_arguments *arguments)
{
	return arguments->output == &output_text;
}

/* Returns the least share of shown tree branches. */
static double tree_limit(const struct report_arguments *arguments)
{
	if (arguments->limit >= 0)
		return arguments->limit;
	return is_text(arguments) && arguments->tree != SP_TREE_NONE ? TEXT_LIMIT : 0;
}

/* Text and pages are ordered by self, the hottest code first; other formats keep their documented order. */
static bool orders_by_self(const struct report_arguments *arguments)
{
	/* The innermost function of a wait is the scheduler's. */
	bool total = arguments->children == 1 || (arguments->mode != SP_MODE_CPU && arguments->children);
	return arguments->output->functions || ((is_text(arguments) || arguments->live) && !total);
}

/* Sets the limits of rows. A limit given by the user disables the others. */
static void set_row_limits(const struct report_arguments *arguments, struct report *report)
{
	size_t events = 0, head;
	report->row_limit = arguments->limit >= 0 ? arguments->limit : 0;
	report->row_most = arguments->most;
	if (arguments->limit >= 0 || arguments->most || !is_text(arguments) ||
	    report_by_time(report))
		return;
	if (report_by_total(report))
		report->row_limit = TEXT_LIMIT;
	else
		report->row_coverage = TEXT_COVERAGE;
	if (!report->term.terminal)
		return;
	for (size_t i = 0; i < report->profile_count; i++)
		events += report->profiles[i]->row_count > 0;
	head = HEAD_LINES + events * EVENT_LINES;
	report->row_most = head < TEXT_LINES && events ? (TEXT_LINES - head) / events : 0;
	if (report->row_most < LEAST_ROWS)
		report->row_most = LEAST_ROWS;
	if (report->row_most > TEXT_ROWS)
		report->row_most = TEXT_ROWS;
}

/*
 * Returns how events are put into groups: as recorded by default; with --group all events in one group
 * if the recording has no groups.
 */
static enum sp_grouping grouping(const struct report_arguments *arguments,
				 const struct sp_reader *reader)
{
	bool never = arguments->output->stacks || arguments->mode != SP_MODE_CPU ||
		     (arguments->output == &output_csv && arguments->group < 0);
	if (!arguments->group || never)
		return SP_GROUPS_NONE;
	if (arguments->group < 0 || sp_reader_has_feature(reader, GROUP_DESC))
		return SP_GROUPS_RECORDED;
	return SP_GROUPS_ALL;
}

/*
 * Groups of options for sp_analysis_sum(). `options` points to the other members, so this struct
 * must not be copied.
 */
struct analysis_groups {
	struct sp_analysis_rows rows;
	struct sp_analysis_tree tree;
	struct sp_analysis_stacks stacks;
	struct sp_analysis_samples samples;
	struct sp_filter filter;
	struct sp_files files;
	struct sp_analysis_options options;
};

/* Returns which rows need between-run intervals. */
static enum sp_between_choice between_choice(const struct report_arguments *arguments)
{
	if (!arguments->output->intervals || arguments->interval == SHOWN_WITHIN ||
	    arguments->tree_only)
		return SP_BETWEEN_NONE;
	for (size_t i = 0; i < arguments->column_count; i++)
		if (arguments->columns[i] == REPORT_COLUMN_TOTAL_RANGE)
			return SP_BETWEEN_ALL;
	/* Text has intervals of the share that orders it. */
	bool self = arguments->explain || (is_text(arguments) && orders_by_self(arguments));
	return self ? SP_BETWEEN_SELF : SP_BETWEEN_ALL;
}

static void set_rows(const struct report_arguments *arguments, const struct sp_reader *reader,
		     struct sp_analysis_rows *rows)
{
	static const enum sp_key functions[] = {SP_KEY_DSO, SP_KEY_FUNCTION};
	bool by_function = arguments->output->functions;
	*rows = (struct sp_analysis_rows){
		.size = sizeof(*rows),
		.keys = by_function ? functions : arguments->keys,
		.key_count = by_function ? 2 : arguments->key_count,
		.none = arguments->tree_only,
		.children = by_function || arguments->children != 0,
		.pools = arguments->output == &output_text,
		.order_by_self = orders_by_self(arguments),
		.groups = grouping(arguments, reader),
		.whole_paths = arguments->selection.whole_paths,
		.parent = arguments->parent,
		.parent_only = arguments->exclude_other,
		.time_quantum_ns = arguments->time_quantum_ns,
		.fields = arguments->fields,
		.field_count = arguments->field_count,
		.raw_trace = arguments->raw_trace,
		.between = between_choice(arguments),
	};
}

/* Returns whether the output needs timelines: always, or to label samples with their threads. */
static bool needs_timeline(const struct report_arguments *arguments)
{
	bool labels = false;
	for (size_t i = 0; i < arguments->key_count && arguments->keys_given; i++)
		labels |= arguments->keys[i] == SP_KEY_PID || arguments->keys[i] == SP_KEY_TID ||
			  arguments->keys[i] == SP_KEY_COMM;
	return arguments->timeline || arguments->output->timeline ||
	       (arguments->output->labels && labels);
}

static void set_groups(const struct report_arguments *arguments, const struct sp_reader *reader,
		       struct sp_names *names, struct analysis_groups *groups)
{
	const struct output_format *output = arguments->output;
	set_rows(arguments, reader, &groups->rows);
	groups->tree = (struct sp_analysis_tree){
		.size = sizeof(groups->tree),
		.order = output->stacks ? SP_TREE_CALLER : arguments->tree,
		.least = arguments->process_tree ? 0 : tree_limit(arguments),
		.comms = output->comms || arguments->tree_comms,
		.processes = arguments->processes,
		.command_lines = arguments->command_lines,
		.process_tree = arguments->process_tree,
		.lines = arguments->tree_lines || output->lines,
		.collapse_recursion = arguments->collapse_recursion ||
				      (is_text(arguments) && !arguments->tui),
		.addresses = output->addresses,
	};
	groups->stacks = (struct sp_analysis_stacks){
		.size = sizeof(groups->stacks),
		.max_frames = (size_t)arguments->max_stack,
		.inlines = arguments->selection.inlines ? SP_ON : SP_OFF,
		.callers = arguments->callers,
		.callees = arguments->callees,
		.kernel_waits = arguments->kernel_waits,
		.fold_python = report_folds_python(arguments),
		.own_code = arguments->my_code,
	};
	groups->samples = (struct sp_analysis_samples){
		.size = sizeof(groups->samples),
		.branches = arguments->branches == 1,
		.memory = arguments->memory,
		.mode = (enum sp_mode)arguments->mode,
		.event = arguments->selection.events.count ? arguments->selection.events.items[0] : NULL,
		.all_threads = arguments->all_threads,
		.relative = arguments->relative,
		.time_bins = output == &output_text && !arguments->selection.quiet,
		.timeline = needs_timeline(arguments),
	};
	groups->filter = input_options_filter(&arguments->selection, NULL);
	groups->files = input_options_files(&arguments->selection);
	groups->options = (struct sp_analysis_options){
		.size = sizeof(groups->options),
		.rows = &groups->rows,
		.tree = &groups->tree,
		.stacks = &groups->stacks,
		.samples = &groups->samples,
		.filter = &groups->filter,
		.files = &groups->files,
		.threads = (unsigned int)arguments->selection.jobs,
		.names = names,
	};
}

/* Arrays that struct report points to. The analysis owns the profiles and findings in them. */
struct report_arrays {
	const struct sp_profile **profiles;
	const struct sp_finding **findings;
	struct joint_view *groups;
	const struct sp_profile **members; /* profiles of all groups, one group after another */
	const struct sp_event **events; /* event of each profile */
	const struct sp_time_bins **bins;  /* samples over time of each profile that has some */
	size_t bins_count;
	const struct sp_timeline **timelines; /* timelines of the profiles */
	const struct sp_profile **lines; /* profiles by source line; NULL without --source */
	const struct sp_profile **pairs; /* profiles by waker and wakee */
};

/* Analyses of the same recordings. All except the first may be NULL. */
struct analyses {
	struct sp_analysis *all, *lines, *pairs;
};

struct report_result {
	struct report report; /* points to all other members */
	struct analyses analyses;
	struct report_arrays lists;
	struct sp_file_info info;
	const char **shown; /* info.cmdline if arguments are hidden */
	struct timeline timeline;
};

static void lists_deinit(struct report_arrays *lists)
{
	free(lists->profiles);
	free(lists->findings);
	free(lists->groups);
	free(lists->members);
	free(lists->events);
	free(lists->bins);
	free(lists->timelines);
	free(lists->lines);
	free(lists->pairs);
}

/*
 * Returns whether mode cpu leaves out an event that -e does not name: it only provides side-band
 * records, or it is of waits and wake-ups, which other modes show.
 */
static bool is_left_out(const struct report_arguments *arguments, const struct report *report,
			const struct sp_event *event, const struct sp_profile *profile)
{
	if (arguments->selection.events.count)
		return false;
	if (report->profile_count &&
	    recordings_have_waits(report->recordings, report->recording_count) &&
	    (event_is_of_switches(profile->event) ||
	     !strncmp(profile->event, "sched:sched_wak", 15)))
		return true;
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_DUMMY && !profile->samples;
}

/* Collects the event groups with all their events selected by -e. */
static void collect_groups(const struct sp_analysis *analysis,
			   const struct report_arguments *arguments, struct report *report,
			   struct report_arrays *lists)
{
	size_t groups = sp_analysis_group_count(analysis), members = 0, next = 0;
	for (size_t i = 0; i < groups; i++)
		members += sp_analysis_group(analysis, i)->profile_count;
	lists->groups = xcalloc(groups + 1, sizeof(*lists->groups));
	lists->members = xcalloc(members + 1, sizeof(*lists->members));
	for (size_t i = 0; i < groups; i++) {
		const struct sp_group *group = sp_analysis_group(analysis, i);
		struct joint_view view = {group, lists->members + next};
		bool all = true;
		for (size_t j = 0; j < group->profile_count; j++) {
			const struct sp_profile *profile =
				sp_analysis_profile(analysis, group->profiles[j]);
			lists->members[next++] = profile;
			all &= input_options_has_event(&arguments->selection, profile->event);
		}
		if (all)
			lists->groups[report->group_count++] = view;
	}
	report->groups = lists->groups;
}

/* Collects the shown profiles and the findings. */
static void collect(const struct report_arguments *arguments, const struct analyses *analyses,
		    struct report *report, struct report_arrays *lists)
{
	const struct sp_analysis *analysis = analyses->all;
	size_t profiles = sp_analysis_profile_count(analysis);
	size_t findings = sp_analysis_finding_count(analysis);
	lists->profiles = xcalloc(profiles + 1, sizeof(*lists->profiles));
	lists->findings = xcalloc(findings + 1, sizeof(*lists->findings));
	lists->events = xcalloc(profiles + 1, sizeof(*lists->events));
	lists->bins = xcalloc(profiles + 1, sizeof(*lists->bins));
	lists->timelines = xcalloc(profiles + 1, sizeof(*lists->timelines));
	lists->lines = xcalloc(profiles + 1, sizeof(*lists->lines));
	lists->pairs = xcalloc(profiles + 1, sizeof(*lists->pairs));
	for (size_t i = 0; i < profiles; i++) {
		size_t shown = report->profile_count;
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		const struct sp_event *event = sp_analysis_event(analysis, i);
		if (arguments->mode == SP_MODE_CPU &&
		    !input_options_has_event(&arguments->selection, profile->event))
			continue;
		if (arguments->mode == SP_MODE_CPU &&
		    is_left_out(arguments, report, event, profile)) {
			report->other_samples += profile->samples;
			continue;
		}
		if (arguments->mode != SP_MODE_WAKERS)
			report->other_samples += profile->other_samples;
		lists->events[shown] = event;
		const struct sp_time_bins *bins = sp_analysis_time_bins(analysis, i);
		if (bins)
			lists->bins[lists->bins_count++] = bins;
		lists->timelines[shown] = sp_analysis_timeline(analysis, i);
		if (analyses->lines)
			lists->lines[shown] = sp_analysis_profile(analyses->lines, i);
		if (analyses->pairs)
			lists->pairs[shown] = sp_analysis_profile(analyses->pairs, i);
		lists->profiles[report->profile_count++] = profile;
	}
	for (size_t i = 0; i < findings; i++) {
		const struct sp_finding *finding = sp_analysis_finding(analysis, i);
		if (!arguments->live || strcmp(finding->cause ?: "", "unfinished") != 0)
			lists->findings[report->finding_count++] = finding;
	}
	report->profiles = lists->profiles;
	report->events = lists->events;
	report->timelines = lists->timelines;
	report->lines = analyses->lines ? lists->lines : NULL;
	report->pairs = analyses->pairs ? lists->pairs : NULL;
	report->findings = lists->findings;
	collect_groups(analysis, arguments, report, lists);
}

/* Returns whether rows have totals: by default if there are call chains. */
static bool shows_children(const struct report_arguments *arguments, const struct report *report)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->profiles[i]->has_callchains)
			return arguments->children != 0;
	return arguments->children == 1;
}

/*
 * Removes all profiles except that with the most samples, for formats with one event. Of several
 * with about as many samples, keeps the first, because which has the most is chance.
 */
static void choose_one_event(const struct output_format *output, struct report *report)
{
	uint64_t most = 0;
	size_t chosen = 0;
	if (report->profile_count < 2)
		return;
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->profiles[i]->shown_samples > most)
			most = report->profiles[i]->shown_samples;
	while ((double)report->profiles[chosen]->shown_samples < ABOUT_AS_MANY * (double)most)
		chosen++;
	diag_print("format %s has one event: %s (--events chooses another)", output->name,
		   report->profiles[chosen]->event);
	report->profiles += chosen;
	report->events += chosen;
	report->timelines += chosen;
	if (report->lines)
		report->lines += chosen;
	report->profile_count = 1;
}

/*
 * Prints to standard error why samples or call chains are missing. If the output is text, prints only
 * reasons that the report itself does not contain.
 */
static void missing_data_print(const struct report_arguments *arguments,
			       const struct recordings *recordings,
			       const struct report *report)
{
	bool several = recordings->count > 1;
	const char *subject = several ? "these recordings" : report->path;
	bool any = false, recorded = false, chains = false;
	for (size_t i = 0; i < report->profile_count; i++) {
		recorded |= report->profiles[i]->samples > 0;
		/* Modes of time may show time without samples. */
		any |= report->profiles[i]->shown_samples || report->profiles[i]->shown_weight;
		chains |= report->profiles[i]->has_callchains;
	}
	if (!any && recorded)
		recordings_print_span(recordings, &arguments->selection);
	if (!any && arguments->output != &output_text && report->filtered) {
		diag_print("%s: no samples pass the filters", subject);
	} else if (!any && arguments->output != &output_text) {
		char *command = report_command(report, "sprof report");
		diag_print("%s: no samples; '%s' without --format prints the reason", subject,
			   command);
		free(command);
	}
	bool wanted = arguments->tree != SP_TREE_NONE || arguments->children == 1 ||
		      report_names_stacks(arguments);
	for (size_t i = 0; i < arguments->key_count; i++)
		wanted |= arguments->keys[i] == SP_KEY_PARENT;
	if (any && !chains && wanted)
		diag_print("%s %s no call chains; 'sprof record -g' records them", subject,
			   several ? "have" : "has");
}

/* Returns whether the file's name asks for compression of a format that is text. */
static bool is_compressed(const struct report_arguments *arguments)
{
	return arguments->file && !arguments->output->binary &&
	       !fnmatch("*.gz", arguments->file, FNM_CASEFOLD);
}

static int write_report(const struct report_arguments *arguments,
			const struct recordings *recordings, struct report *report)
{
	const struct output_format *output = arguments->output;
	struct progress progress;
	if (output->one_event)
		choose_one_event(output, report);
	if (output->check && !output->check(report))
		return 1;
	bool paged = arguments->selection.pager != 0 && output->paged;
	struct pager pager = pager_open(arguments->file, paged);
	if (!pager.out)
		return 1;
	FILE *out = is_compressed(arguments) ? gzip_open(pager.out) : pager.out;
	bool header = arguments->header && output == &output_text;
	for (size_t i = 0; i < recordings->count && header; i++) {
		/* The header is that of the file. */
		sp_reader_split_pmus(recordings->items[i].reader);
		info_print_header(recordings->items[i].reader, out);
	}
	/* With source code, messages are printed meanwhile. */
	progress_begin_writing(&progress, arguments->file && !arguments->selection.quiet &&
						  !arguments->source);
	bool done = output->write(report, out);
	if (out != pager.out)
		fclose(out);
	progress_end(&progress);
	pager.incomplete = !done;
	int status = pager_close(&pager);
	if (done && !status && arguments->open)
		browser_open(arguments->file);
	missing_data_print(arguments, recordings, report);
	return done ? status : 1;
}

static bool are_damaged(const struct recordings *recordings)
{
	bool damaged = false;
	for (size_t i = 0; i < recordings->count; i++)
		damaged |= sp_reader_damage_count(recordings->items[i].reader) > 0;
	return damaged;
}

/* Returns whether a word is an option without a value: "-v", "--verbose". It can be no secret. */
static bool is_option_name(const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
	bool has_dash = word[0] == '-' && word[1];
	return has_dash && (word[1] == '-' ? !word[strspn(word, letters)] : !word[2]);
}

/*
 * Returns the recorder's words without values among the program's arguments that name no files
 * here, as they may be secrets, and without the recorder's own if they cannot be separated. The
 * caller frees it.
 */
static const char **hide_arguments(const char *const *words)
{
	size_t program = sp_recorded_program(words), count = 0;
	bool records = words[0] && words[1] && !strcmp(words[1], "record");
	size_t from = program ? program + 1 : records ? 2 : 1;
	while (words[count])
		count++;
	const char **shown = xcalloc(count + 1, sizeof(*shown));
	for (size_t i = 0; i < count; i++) {
		struct stat status;
		bool is_file = !stat(words[i], &status) && S_ISREG(status.st_mode);
		shown[i] = i < from || is_file || is_option_name(words[i]) ? words[i] : "***";
	}
	return shown;
}

/* Fills the result's report from its analyses. */
static void set_report(const struct report_arguments *arguments,
		       const struct recordings *recordings, struct report_result *result)
{
	const struct sp_analysis *analysis = result->analyses.all;
	struct report *report = &result->report;
	result->info = *sp_reader_info(recordings->items[0].reader);
	if (arguments->command_line == SP_OFF)
		result->info.cmdline = NULL;
	/* Exports are for others. */
	bool hides = result->info.cmdline && !is_text(arguments) && !arguments->command_lines;
	if (hides) {
		result->shown = hide_arguments(result->info.cmdline);
		result->info.cmdline = result->shown;
	}
	*report = (struct report){
		.path = result->info.path,
		.info = &result->info,
		.recordings = recordings->items,
		.recording_count = recordings->count,
		.duration_ns = sp_analysis_duration_ns(analysis),
		.analysis = analysis,
		.damaged = are_damaged(recordings),
		.keys = arguments->keys,
		.key_count = arguments->key_count,
		.field_names = (const char *const *)arguments->field_names,
		.columns = arguments->columns,
		.column_count = arguments->column_count,
		.tree = arguments->tree,
		.process_tree = arguments->process_tree,
		.order_by_self = orders_by_self(arguments),
		.hide_rows = arguments->tree != SP_TREE_NONE && !arguments->keys_given,
		.show_samples = arguments->samples,
		.keep_keys = arguments->column_count ||
			     (arguments->keys_given && !arguments->more_keys &&
			      !arguments->by_thread),
		.my_code = arguments->my_code,
		.filtered = input_options_is_filtered(&arguments->selection) ||
			    report_names_stacks(arguments),
		.callers = arguments->callers,
		.callees = arguments->callees,
		.relative = arguments->relative,
		.interval = arguments->interval,
		.mode = (enum sp_mode)arguments->mode,
		.source_directories = (const char *const *)arguments->source_directories.items,
		.source_directory_count = arguments->source_directories.count,
		.quiet = arguments->selection.quiet,
		.term = term_of_output(arguments->file, arguments->colour),
	};
	collect(arguments, &result->analyses, report, &result->lists);
	result->timeline = (struct timeline){
		.first_ns = sp_analysis_first_ns(analysis),
		.last_ns = sp_analysis_last_ns(analysis),
		.bins = result->lists.bins,
		.bins_count = result->lists.bins_count,
		.times = recordings->items[0].times,
		.time_count = recordings->items[0].time_count,
	};
	report->timeline = recordings->count == 1 ? &result->timeline : NULL;
	report->children = shows_children(arguments, report);
	report->tree_limit = tree_limit(arguments);
	report->tree_most = arguments->most;
	if (report->process_tree && report->term.terminal && arguments->limit < 0 &&
	    !arguments->most)
		report->tree_most = PROCESS_LINES;
	set_row_limits(arguments, report);
}

static bool has_time(const struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (arguments->keys[i] == SP_KEY_TIME)
			return true;
	return false;
}

/* Makes times relative to the first sample for text; other formats use the recording's clock. */
static struct sp_error *set_time_origins(const struct report_arguments *arguments,
					 struct recordings *recordings,
					 struct sp_analysis_rows *rows)
{
	uint64_t last_ns;
	rows->time_offsets = arguments->output == &output_text && has_time(arguments);
	for (size_t i = 0; i < recordings->count && rows->time_offsets; i++) {
		struct sp_recording *recording = &recordings->items[i];
		struct sp_error *error = input_time(recording->reader, &recording->time_origin_ns,
						    &last_ns);
		if (error)
			return error;
	}
	return NULL;
}

/* Analyses the recordings again, with other rows. */
static struct sp_error *analyse_rows(struct sp_ctx *ctx, const struct recordings *recordings,
				     const struct analysis_groups *from,
				     struct sp_analysis_rows rows, struct sp_analysis **ret)
{
	struct sp_analysis_tree tree = {.size = sizeof(tree)};
	struct sp_analysis_samples samples = from->samples;
	struct sp_analysis_options options = from->options;
	rows.children = false;
	samples.timeline = false;
	options.counts = NULL;
	options.rows = &rows;
	options.tree = &tree;
	options.samples = &samples;
	return sp_analysis_sum(ctx, recordings->items, recordings->count, &options, ret);
}

/* Makes all analyses that the output needs. Source code needs its lines by instruction, too. */
static struct sp_error *analyse(const struct report_arguments *arguments, struct sp_ctx *ctx,
				const struct recordings *recordings,
				const struct analysis_groups *groups, struct analyses *ret)
{
	static const enum sp_key lines[] = {SP_KEY_DSO, SP_KEY_FUNCTION, SP_KEY_SRCLINE};
	static const enum sp_key pairs[] = {SP_KEY_WAKER, SP_KEY_WAKEE};
	struct sp_analysis_rows rows = groups->rows;
	struct sp_error *error = sp_analysis_sum(ctx, recordings->items, recordings->count,
						 &groups->options, &ret->all);
	if (!error && (arguments->source || arguments->output->source_lines)) {
		rows.keys = lines;
		rows.key_count = sizeof(lines) / sizeof(*lines);
		rows.instructions = arguments->source;
		error = analyse_rows(ctx, recordings, groups, rows, &ret->lines);
	}
	if (!error && arguments->output->pairs && arguments->mode == SP_MODE_WAKERS) {
		rows.keys = pairs;
		rows.key_count = sizeof(pairs) / sizeof(*pairs);
		rows.instructions = false;
		error = analyse_rows(ctx, recordings, groups, rows, &ret->pairs);
	}
	return error;
}

void report_result_free(struct report_result *result)
{
	if (!result)
		return;
	lists_deinit(&result->lists);
	free(result->shown);
	sp_analysis_free(result->analyses.pairs);
	sp_analysis_free(result->analyses.lines);
	sp_analysis_free(result->analyses.all);
	free(result);
}

struct report *report_result_report(struct report_result *result)
{
	return &result->report;
}

struct sp_error *report_result_new(const struct report_arguments *arguments, struct sp_ctx *ctx,
				   struct recordings *recordings, struct sp_names *names,
				   struct sp_counts **counts, struct report_result **ret)
{
	struct report_result *result = xcalloc(1, sizeof(*result));
	struct analysis_groups groups;
	*ret = NULL;
	set_groups(arguments, recordings->items[0].reader, names, &groups);
	groups.options.counts = counts;
	struct sp_error *error = set_time_origins(arguments, recordings, &groups.rows);
	if (!error)
		error = analyse(arguments, ctx, recordings, &groups, &result->analyses);
	if (error) {
		report_result_free(result);
		return error;
	}
	set_report(arguments, recordings, result);
	*ret = result;
	return NULL;
}

/* Browses `first`, or a result that the browser makes. Returns the exit status. */
static int browse_recordings(const struct report_arguments *arguments, struct sp_ctx *ctx,
			     struct recordings *recordings, struct report_result *first)
{
	struct sp_names *names = NULL;
	struct sp_error *error = sp_names_new(&names);
	int status = 1;
	if (error) {
		diag_error(error);
		report_result_free(first);
	} else {
		const struct browse_source source = {ctx, arguments, recordings, names,
						     report_result_new};
		status = browse_run(&source, first);
	}
	sp_names_free(names);
	return recordings_print_damage(recordings) | status;
}

static int report_recordings(struct sp_ctx *ctx, void *data, struct recordings *recordings)
{
	struct report_arguments *arguments = data;
	if (!recordings_select_events(recordings, &arguments->selection, !arguments->per_pmu))
		return 1;
	int status = report_arguments_resolve(arguments, ctx, recordings);
	if (status >= 0)
		return status;
	if (!recordings_resolve_times(recordings, &arguments->selection))
		return 1;
	struct report_result *result = NULL;
	struct progress progress;
	/* These options have checks of the result, which come before the browser. */
	bool checked = arguments->memory || arguments->interval == SHOWN_BETWEEN;
	if (arguments->tui && !checked)
		return browse_recordings(arguments, ctx, recordings, NULL);
	progress_begin(&progress, ctx, !arguments->selection.quiet && !arguments->selection.verbose);
	struct sp_error *error = report_result_new(arguments, ctx, recordings, NULL, NULL, &result);
	progress_end(&progress);
	if (error) {
		diag_error(error);
		return 1;
	}
	status = 1;
	const struct sp_analysis *analysis = result->analyses.all;
	if (report_check_result(arguments, recordings, analysis)) {
		if (arguments->tui)
			return browse_recordings(arguments, ctx, recordings, result);
		status = write_report(arguments, recordings, &result->report);
		report_unmatched_names(arguments, ctx, recordings, analysis);
	}
	report_result_free(result);
	return recordings_print_damage(recordings) | status;
}

static int report_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct report_arguments arguments;
	int status = report_arguments_parse(&arguments, argc, argv);
	const struct recordings_run run = {
		.selection = &arguments.selection,
		.header_only = arguments.header_only,
		.read = report_recordings,
		.arguments = &arguments,
	};
	if (status < 0)
		status = recordings_run(&run, ctx);
	report_arguments_deinit(&arguments);
	return status;
}

const struct command command_browse = {
	.name = "browse",
	.summary = "browse a recording in the terminal: rows, flame graph, times, code",
	.run = report_run,
};

const struct command command_report = {
	.name = "report",
	.summary = "show the hot functions and the call tree of a recording",
	.run = report_run,
};
