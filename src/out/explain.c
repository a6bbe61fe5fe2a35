/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report of at most ANSWER_MOST bytes, for scripts and for a first look: the hottest functions with
 * line, stack and time, the threads' waits, and what limits the data. It has fewer functions if it
 * were longer.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "input.h"
#include "json.h"
#include "memory.h"
#include "out/findings_output.h"
#include "out/format_value.h"
#include "out/output.h"
#include "out/table.h"
#include "out/thread_times.h"
#include "out/time_line.h"
#include "text.h"

#define ANSWER_MOST 4096

/* Most functions, and the least share of the second and later ones. */
#define HOT_MOST 5
#define HOT_LEAST 0.02

/* Most functions that are named by total, and their least share. */
#define TOTAL_MOST 5
#define TOTAL_LEAST 0.05

/* Outermost and innermost functions of a stack that are named. */
#define OUTER_MOST 3
#define INNER_MOST 4
#define STACK_MOST (OUTER_MOST + INNER_MOST)

/*
 * A function with this part of its caller's weight, or more, is not named: start-up code, for
 * example.
 */
#define PASSED_SHARE 0.99

/* Columns of a name. */
#define NAME_MOST 60

/*
 * Equal parts of the recording. A function is hot in a time if the shortest run of parts with
 * WINDOW_SHARE of its weight is at most WINDOW_MOST parts. Fewer samples than WINDOW_SAMPLES tell
 * nothing.
 */
#define PARTS 20
#define WINDOW_SHARE 0.9
#define WINDOW_MOST 16
#define WINDOW_SAMPLES 50

/* A hot function. */
struct hot {
	const struct sp_row *row;
	const struct sp_row *line;	    /* its hottest line; NULL: not known */
	double parts[PARTS];		    /* weight by time */
	const struct sp_timeline_node *end; /* end of its heaviest stack; NULL: none */
	double heaviest;		    /* weight of that stack */
	size_t first, last;		    /* parts in which it is hot */
	bool sometimes;			    /* they are not the whole recording */
};

struct explanation {
	const struct report *report;
	const struct sp_profile *profile;
	const struct sp_timeline *timeline;
	struct hot hot[HOT_MOST];
	size_t count;
	const struct sp_row *totals[TOTAL_MOST + 1]; /* largest first; NULL: end */
};

static bool is_node_of(const struct sp_row *row, const struct sp_tree_node *node)
{
	return node && node->function && text_is_same(row->function, node->function) &&
	       text_is_same(row->dso_path, node->dso_path);
}

static size_t hot_of(const struct explanation *explanation, const struct sp_tree_node *node)
{
	size_t i = 0;
	while (i < explanation->count && !is_node_of(explanation->hot[i].row, node))
		i++;
	return i;
}

/* Adds the weights of each part of the time, and finds the heaviest stacks. */
static void add_times(struct explanation *explanation)
{
	const struct sp_timeline *timeline = explanation->timeline;
	double *weights = xcalloc(timeline->node_count + 1, sizeof(*weights));
	uint8_t *owners = xmalloc(timeline->node_count + 1);
	double length = (double)(timeline->end_ns - timeline->begin_ns) + 1;
	for (size_t i = 0; i < timeline->node_count; i++)
		owners[i] = (uint8_t)hot_of(explanation, sp_timeline_node(timeline, i)->node);
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		size_t part = cell->time_ns < timeline->begin_ns
				      ? 0
				      : (size_t)((double)(cell->time_ns - timeline->begin_ns) /
						 length * PARTS);
		if (owners[cell->node] == explanation->count)
			continue;
		weights[cell->node] += (double)cell->weight;
		explanation->hot[owners[cell->node]].parts[part < PARTS ? part : PARTS - 1] +=
			(double)cell->weight;
	}
	for (size_t i = 0; i < timeline->node_count; i++) {
		struct hot *hot = &explanation->hot[owners[i]];
		if (owners[i] == explanation->count || weights[i] <= hot->heaviest)
			continue;
		hot->heaviest = weights[i];
		hot->end = sp_timeline_node(timeline, i);
	}
	free(owners);
	free(weights);
}

/* Finds the shortest run of parts with WINDOW_SHARE of the weight. */
static void find_window(struct hot *hot)
{
	double all = 0, most = 0;
	size_t shortest = PARTS;
	for (size_t i = 0; i < PARTS; i++)
		all += hot->parts[i];
	for (size_t first = 0; first < PARTS; first++) {
		double sum = 0;
		for (size_t size = 1; first + size <= PARTS && size <= shortest; size++) {
			sum += hot->parts[first + size - 1];
			if (sum < WINDOW_SHARE * all || (size == shortest && sum <= most))
				continue;
			shortest = size;
			most = sum;
			hot->first = first;
			hot->last = first + size - 1;
		}
	}
	hot->sometimes =
		all > 0 && shortest <= WINDOW_MOST && hot->row->self.samples >= WINDOW_SAMPLES;
}

static void find_lines(struct explanation *explanation, const struct sp_profile *lines)
{
	for (size_t i = 0; lines && i < lines->row_count; i++) {
		const struct sp_row *line = sp_profile_row(lines, i);
		for (size_t j = 0; j < explanation->count && line->srcline; j++) {
			struct hot *hot = &explanation->hot[j];
			if (text_is_same(line->function, hot->row->function) &&
			    text_is_same(line->dso_path, hot->row->dso_path) &&
			    (!hot->line || line->self.weight > hot->line->self.weight))
				hot->line = line;
		}
	}
}

/*
 * Finds callers with the largest totals. Start-up code has the largest of all, and a leaf has no
 * callees.
 */
static void find_totals(struct explanation *explanation)
{
	const struct sp_profile *profile = explanation->profile;
	double most = 0;
	for (size_t i = 0; i < profile->row_count; i++)
		most = fmax(most, sp_profile_row(profile, i)->total.share.value);
	size_t count = 0;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		double share = row->total.share.value;
		if (!row->function || share < TOTAL_LEAST || share >= PASSED_SHARE * most ||
		    row->self.share.value >= PASSED_SHARE * share)
			continue;
		size_t at = count < TOTAL_MOST ? count++ : TOTAL_MOST;
		for (; at && explanation->totals[at - 1]->total.share.value < share; at--)
			explanation->totals[at] = explanation->totals[at - 1];
		explanation->totals[at] = row;
	}
	explanation->totals[count] = NULL;
}

static void find_answer(const struct report *report, struct explanation *explanation)
{
	const struct sp_profile *profile = report->profiles[0];
	*explanation = (struct explanation){
		.report = report, .profile = profile, .timeline = report->timelines[0]};
	for (size_t i = 0; i < profile->row_count && explanation->count < HOT_MOST; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (row->self.samples && (!i || row->self.share.value >= HOT_LEAST))
			explanation->hot[explanation->count++].row = row;
	}
	find_lines(explanation, report->lines ? report->lines[0] : NULL);
	if (explanation->timeline)
		add_times(explanation);
	for (size_t i = 0; i < explanation->count; i++)
		find_window(&explanation->hot[i]);
	find_totals(explanation);
}

/*
 * Time at which a part begins, in seconds since the first sample: states of threads, and with them
 * the timeline, begin before that.
 */
static double part_time(const struct explanation *explanation, size_t part)
{
	const struct sp_timeline *timeline = explanation->timeline;
	const struct timeline *samples = explanation->report->timeline;
	double length = (double)(timeline->end_ns - timeline->begin_ns);
	double before = samples ? (double)(samples->first_ns - timeline->begin_ns) : 0;
	return fmax(0, length * (double)part / PARTS - before) / 1e9;
}

/* Returns the next caller of a stack that is code; NULL at its end. */
static const struct sp_timeline_node *next_code(const struct explanation *explanation,
						const struct sp_timeline_node *at)
{
	do {
		const struct sp_timeline_node *parent =
			sp_timeline_node(explanation->timeline, at->parent);
		at = parent == at ? NULL : parent;
	} while (at && (!at->node || at->node->state != SP_STATE_NONE || !node_name(at->node)));
	return at;
}

/*
 * Collects names of a function's heaviest stack: the outermost that have not nearly all of their
 * caller's weight, as start-up code has, and the innermost. NULL stands for those between. Returns
 * their number.
 */
static size_t stack_of(const struct explanation *explanation, const struct hot *hot,
		       const char *ret[STACK_MOST + 1])
{
	const struct sp_timeline_node *at;
	size_t index = 0, telling = 0, count = 0;
	for (at = hot->end; at; at = next_code(explanation, at)) {
		const struct sp_tree_node *caller =
			sp_timeline_node(explanation->timeline, at->parent)->node;
		index++;
		if (caller &&
		    (double)at->node->total.weight < PASSED_SHARE * (double)caller->total.weight)
			telling = index;
	}
	index = 0;
	for (at = hot->end; at; at = next_code(explanation, at), index++) {
		if (index < INNER_MOST || (index < telling && index + OUTER_MOST >= telling))
			ret[count++] = node_name(at->node);
		else if (index == INNER_MOST && index < telling)
			ret[count++] = NULL;
	}
	for (size_t i = 0; i < count / 2; i++) {
		const char *name = ret[i];
		ret[i] = ret[count - 1 - i];
		ret[count - 1 - i] = name;
	}
	return count;
}

/* Returns a name's short form in `buffer`. */
static const char *short_name(const struct report *report, const char *name, char *buffer,
			      size_t size)
{
	char *made = NULL;
	name = name ?: "[unknown]";
	const char *shorter = name_shorten(&report->term, name, NAME_MOST, &made);
	snprintf(buffer, size, "%s", shorter);
	free(made);
	return buffer;
}

/* Returns the number of processes with samples. */
static size_t process_count(const struct explanation *explanation)
{
	const struct sp_timeline *timeline = explanation->timeline;
	size_t count = 0;
	for (size_t i = 0; timeline && i < timeline->thread_count; i++) {
		const struct sp_timeline_thread *thread = sp_timeline_thread(timeline, i);
		count += thread->pid == thread->tid;
	}
	return count;
}

/* -- Text ------------------------------------------------------------------- */

static void put_name(const struct report *report, const char *name, FILE *out)
{
	char buffer[4 * NAME_MOST];
	term_put(&report->term, short_name(report, name, buffer, sizeof(buffer)), NAME_MOST, out);
}

static void put_stack(const struct explanation *explanation, const struct hot *hot, FILE *out)
{
	const char *names[STACK_MOST + 1];
	char text[(STACK_MOST + 2) * 4 * NAME_MOST], buffer[4 * NAME_MOST], share[FORMAT_SIZE];
	size_t count = stack_of(explanation, hot, names), used;
	if (count < 2)
		return;
	double part = hot->heaviest / (double)hot->row->self.weight;
	used = (size_t)snprintf(text, sizeof(text), "%s of it: ", format_share_short(part, share));
	for (size_t i = 0; i < count && used < sizeof(text); i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s", i ? " > " : "",
			names[i] ? short_name(explanation->report, names[i], buffer, sizeof(buffer))
				 : "...");
	fprintf(out, "%*s", 4, "");
	term_wrap(&explanation->report->term, text, 4, 4, 3, out);
}

static void put_hot(const struct explanation *explanation, const struct hot *hot, FILE *out)
{
	const struct sp_row *row = hot->row;
	char share[FORMAT_SIZE], range[FORMAT_SIZE];
	report_range(explanation->report, &row->self, row->self_between, 1, range);
	fprintf(out, "  %s (%s) ", format_share(row->self.share.value, share),
		remove_padding(range));
	put_name(explanation->report, row->function, out);
	bool bare = *row->dso != '['; /* names like "[python]" already have brackets */
	fputs(bare ? " [" : " ", out);
	term_put(&explanation->report->term, row->dso, NAME_MOST, out);
	fputs(bare ? "]\n" : "\n", out);
	put_stack(explanation, hot, out);
	if (hot->line) {
		fputs("    hottest line: ", out);
		term_put(&explanation->report->term, hot->line->srcline, NAME_MOST, out);
		fprintf(out, ", %s\n", format_share(hot->line->self.share.value, share));
	}
	if (hot->sometimes)
		fprintf(out, "    nearly all of it in --time +%.3f,+%.3f\n",
			part_time(explanation, hot->first), part_time(explanation, hot->last + 1));
	if (row->self_times && row->self_times->blocked_ns > row->self_times->running_ns)
		fprintf(out, "    blocked: %s\n",
			format_duration(&explanation->report->term, row->self_times->blocked_ns,
					share));
}

static void put_totals(const struct explanation *explanation, FILE *out)
{
	char *text, buffer[4 * NAME_MOST], share[FORMAT_SIZE];
	size_t size;
	if (!explanation->totals[0])
		return;
	FILE *stream = text_stream_open(&text, &size);
	for (const struct sp_row *const *row = explanation->totals; *row; row++)
		fprintf(stream, "%s%s %s", row > explanation->totals ? ", " : "",
			format_share((*row)->total.share.value, share),
			short_name(explanation->report, (*row)->function, buffer, sizeof(buffer)));
	text_stream_close(stream, &text);
	int column = fprintf(out, "by total (with callees): ");
	term_wrap(&explanation->report->term, text, column, 2, 0, out);
	free(text);
}

static void put_head(const struct explanation *explanation, FILE *out)
{
	const struct report *report = explanation->report;
	const struct sp_profile *profile = explanation->profile;
	char text[512], count[FORMAT_SIZE], weight[FORMAT_SIZE], lasted[FORMAT_SIZE],
		lost[LOST_SIZE], words[CPU_TIME_SIZE];
	report_describe_lost(profile, lost, sizeof(lost));
	report_cpu_time(report, profile, words);
	snprintf(text, sizeof(text), "%s sample%s of %s%s%s, %s%s%s%s%s",
		 format_count(profile->samples, count), profile->samples == 1 ? "" : "s",
		 profile->event, report->duration_ns ? " in " : "",
		 report->duration_ns ? format_duration(&report->term, report->duration_ns, lasted)
				     : "",
		 profile->weight_is_time ? format_duration(&report->term, profile->weight, weight)
					 : format_count(profile->weight, weight),
		 profile->mode != SP_MODE_CPU ? " of threads' time"
		 : profile->weight_is_time    ? " of "
					      : " events",
		 profile->mode == SP_MODE_CPU && profile->weight_is_time ?
			 words : "",
		 *lost ? ", " : "", lost);
	term_wrap(&report->term, text, 0, 2, 0, out);
	if (profile->mode != SP_MODE_CPU) {
		times_describe(&report->term, profile, text, sizeof(text));
		term_wrap(&report->term, text, 0, 2, 0, out);
		times_write_idle(&report->term, profile, out);
	} else {
		fprintf(out, "CPU time only: %s\n",
			recordings_have_waits(report->recordings, report->recording_count)
				? "--mode wall has waits"
				: "'sprof record --off-cpu' records waits");
	}
}

static void put_text(const struct explanation *explanation, FILE *out)
{
	const struct report *report = explanation->report;
	put_head(explanation, out);
	if (!report->quiet)
		findings_write(report, out);
	if (!report->finding_count)
		fputs("nothing limits these shares but their intervals\n", out);
	char *command = report_command(report, "sprof report");
	if (!explanation->count) {
		fputs("no samples to explain: '", out);
		term_put(&report->term, command, 0, out);
		fputs("' prints the reason\n", out);
		free(command);
		return;
	}
	fputs("\nhottest functions: self (95% interval)\n", out);
	report_write_marks(report,
			   report_shows_mark(report, explanation->profile, explanation->count,
					     MARK_BETWEEN),
			   report_shows_mark(report, explanation->profile, explanation->count,
					     MARK_WITHIN),
			   out);
	for (size_t i = 0; i < explanation->count; i++)
		put_hot(explanation, &explanation->hot[i], out);
	put_totals(explanation, out);
	fputs("\nmore: ", out);
	term_put(&report->term, command, 0, out);
	fputs(" --callers FUNCTION; -S FUNCTION -s srcline; -s tid; -g\n", out);
	if (process_count(explanation) > 1) {
		fputs("processes: ", out);
		term_put(&report->term, command, 0, out);
		fputs(" --processes; by file that they were called with: -s argument\n", out);
	}
	free(command);
}

/* -- JSON ------------------------------------------------------------------- */

static void put_hot_json(const struct explanation *explanation, const struct hot *hot,
			 struct json *json)
{
	const char *names[STACK_MOST + 1];
	char buffer[4 * NAME_MOST];
	const struct sp_row *row = hot->row;
	json_begin(json, NULL, '{');
	json_string(json, "function",
		    short_name(explanation->report, row->function, buffer, sizeof(buffer)));
	json_string(json, "dso", short_name(explanation->report, row->dso, buffer, sizeof(buffer)));
	json_double(json, "self", row->self.share.value);
	json_double(json, "self_low", row->self.share.low);
	json_double(json, "self_high", row->self.share.high);
	if (row->self_between) {
		json_double(json, "self_between_low", row->self_between->low);
		json_double(json, "self_between_high", row->self_between->high);
	}
	json_double(json, "total", row->total.share.value);
	json_unsigned(json, "self_samples", row->self.samples);
	if (hot->line) {
		json_string(json, "srcline",
			    short_name(explanation->report, hot->line->srcline, buffer,
				       sizeof(buffer)));
		json_double(json, "srcline_self", hot->line->self.share.value);
	}
	size_t count = stack_of(explanation, hot, names);
	json_begin(json, "stack", '[');
	for (size_t i = 0; i < count; i++)
		json_string(
			json, NULL,
			names[i] ? short_name(explanation->report, names[i], buffer, sizeof(buffer))
				 : "...");
	json_end(json, ']');
	if (count)
		json_double(json, "stack_share", hot->heaviest / (double)row->self.weight);
	if (hot->sometimes) {
		json_double(json, "from_s", part_time(explanation, hot->first));
		json_double(json, "to_s", part_time(explanation, hot->last + 1));
	}
	if (row->self_times)
		times_write_json(json, "self_times", row->self_times);
	json_end(json, '}');
}

static void put_json(const struct explanation *explanation, FILE *out)
{
	const struct report *report = explanation->report;
	const struct sp_profile *profile = explanation->profile;
	struct json json = {.out = out};
	struct shown_finding findings[FINDINGS_SHOWN_MAX];
	size_t all, shown = findings_shown(report, findings, &all);
	char buffer[4 * NAME_MOST];
	json_begin_lines(&json, NULL, '{');
	json_unsigned(&json, "sprof", 1);
	json_string(&json, "event", profile->event);
	json_unsigned(&json, "duration_ns", report->duration_ns);
	json_unsigned(&json, "samples", profile->samples);
	json_unsigned(&json, "weight", profile->weight);
	json_unsigned(&json, "lost", profile->lost);
	json_unsigned(&json, "lost_own", profile->lost_own);
	if (profile->lost_unknown)
		json_unsigned(&json, "lost_unknown", profile->lost_unknown);
	if (profile->mode != SP_MODE_CPU)
		times_write_json(&json, "times", &profile->times);
	json_begin_lines(&json, "hot", '[');
	for (size_t i = 0; i < explanation->count; i++)
		put_hot_json(explanation, &explanation->hot[i], &json);
	json_end_lines(&json, ']');
	json_begin_lines(&json, "totals", '[');
	for (const struct sp_row *const *row = explanation->totals; *row; row++) {
		json_begin(&json, NULL, '{');
		json_string(&json, "function",
			    short_name(report, (*row)->function, buffer, sizeof(buffer)));
		json_string(&json, "dso", (*row)->dso);
		json_double(&json, "total", (*row)->total.share.value);
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	json_begin_lines(&json, "findings", '[');
	for (size_t i = 0; i < shown; i++) {
		json_begin(&json, NULL, '{');
		json_string(&json, "text", findings[i].text);
		json_string(&json, "remedy", findings[i].remedy);
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	json_unsigned(&json, "findings_left_out", all - shown);
	json_end_lines(&json, '}');
}

/* Writes the report with as many functions as fit. */
static bool write_answer(const struct report *report, FILE *out,
			 void (*put)(const struct explanation *explanation, FILE *out))
{
	struct explanation explanation;
	if (!report->profile_count)
		return false;
	find_answer(report, &explanation);
	for (bool fits = false; !fits; explanation.count -= !fits) {
		char *text;
		size_t size;
		FILE *stream = text_stream_open(&text, &size);
		put(&explanation, stream);
		text_stream_close(stream, &text);
		fits = size <= ANSWER_MOST || !explanation.count;
		if (fits)
			fwrite(text, 1, size, out);
		free(text);
	}
	return true;
}

static bool write_text(const struct report *report, FILE *out)
{
	return write_answer(report, out, put_text);
}

static bool write_json(const struct report *report, FILE *out)
{
	return write_answer(report, out, put_json);
}

#define NEEDS                                                                                      \
	.stacks = true, .functions = true, .timeline = true, .source_lines = true,                 \
	.one_event = true, .folds_python = true

const struct output_format output_explain = {
	.name = "text",
	NEEDS,
	.paged = true,
	.intervals = true,
	.write = write_text,
};

const struct output_format output_explain_json = {
	.name = "json",
	NEEDS,
	.intervals = true,
	.write = write_json,
};
