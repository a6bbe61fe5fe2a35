/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report as one JSON object. Names and order of members are stable (sprof-report(1)). Shares are
 * fractions. Keys that were not requested and unknown totals are omitted.
 */
#include "json.h"

#include <inttypes.h>
#include <stdlib.h>
#include "buffer.h"
#include "list.h"
#include "out/format_value.h"
#include "out/findings_output.h"
#include "out/output.h"
#include "out/thread_times.h"

static void write_weight(struct json *json, const struct sp_weight *weight, bool total)
{
	json_double(json, total ? "total" : "self", weight->share.value);
	json_double(json, total ? "total_low" : "self_low", weight->share.low);
	json_double(json, total ? "total_high" : "self_high", weight->share.high);
	json_unsigned(json, total ? "total_samples" : "self_samples", weight->samples);
	json_unsigned(json, total ? "total_weight" : "self_weight", weight->weight);
}

/* Writes the least and greatest share that is possible because samples are missing. */
static void write_bounds(struct json *json, const struct sp_weight *weight, uint64_t missing,
			 uint64_t own, bool total)
{
	double low, high;
	share_bounds(weight, missing, own, &low, &high);
	json_double(json, total ? "total_least" : "self_least", low);
	json_double(json, total ? "total_most" : "self_most", high);
}

/* Writes the between-run interval, if it is known. */
static void write_between(struct json *json, const struct sp_between *between, bool total)
{
	if (!between)
		return;
	json_double(json, total ? "total_between_low" : "self_between_low", between->low);
	json_double(json, total ? "total_between_high" : "self_between_high", between->high);
}

/* Keys and options that are the same for all rows. */
struct row_keys {
	const struct report *report;
	enum sp_key keys[SP_KEY_LIMIT];
	size_t count;
	bool totals, build_id, event;
	uint64_t missing; /* weight that may be missing in the whole profile */
};

static void write_key(const struct row_keys *of, struct json *json, const struct sp_row *row,
		      enum sp_key key)
{
	const char *name = report_key_name(of->report, key);
	int64_t number;
	if (!sp_key_is_number(key))
		json_string(json, name, row_text(row, key));
	else if (row_number(row, key, &number))
		json_signed(json, name, number);
}

/* Writes the row's keys. Newer members follow older ones, because readers rely on the order. */
static void write_keys(const struct row_keys *of, struct json *json, const struct sp_row *row)
{
	size_t i = 0;
	for (; i < of->count && of->keys[i] < SP_KEY_FIRST_VALUE; i++)
		write_key(of, json, row, of->keys[i]);
	if (of->build_id)
		json_string(json, "build_id", row->build_id);
	if (of->event)
		json_string(json, "event", row->event);
	for (; i < of->count; i++)
		write_key(of, json, row, of->keys[i]);
}

/*
 * Writes that a name is no symbol, but "fn@" and an address from unwind information, or the
 * addresses of a gap in that.
 */
static void write_name_source(struct json *json, const char *name, bool from_cfi)
{
	if (name && from_cfi)
		json_string(json, "name_source", *name == '0' ? "gap" : "cfi");
}

static void write_identity(struct json *json, const struct sp_identity *identity)
{
	struct buffer text = {.form = TEXT_SHOWN};
	if (!identity || !identity->path)
		return;
	if (identity->home)
		buffer_format(&text, "%s:%s:%s:%" PRIu32, identity->path, identity->linkage_name,
			      identity->home, identity->home_line);
	else
		buffer_format(&text, "%s+0x%" PRIx64, identity->path, identity->address);
	buffer_char(&text, '\0');
	json_string(json, "identity", text.text);
	buffer_deinit(&text);
}

static void write_row(const struct row_keys *of, struct json *json, const struct sp_row *row)
{
	json_begin(json, NULL, '{');
	write_weight(json, &row->self, false);
	if (of->totals)
		write_weight(json, &row->total, true);
	write_keys(of, json, row);
	write_name_source(json, row->function ?: row->symbol, row->from_cfi);
	write_identity(json, row->identity);
	if (of->missing)
		write_bounds(json, &row->self, of->missing, row->missing_weight, false);
	if (of->missing && of->totals)
		write_bounds(json, &row->total, of->missing, row->missing_weight, true);
	write_between(json, row->self_between, false);
	if (of->totals)
		write_between(json, row->total_between, true);
	if (row->self_times)
		times_write_json(json, "self_times", row->self_times);
	if (row->self_times && of->totals)
		times_write_json(json, "total_times", row->total_times);
	json_end(json, '}');
}

static void write_ratios(struct json *json, const struct sp_group *group, const char *key,
			 const struct sp_ratio *ratios)
{
	json_begin(json, key, '[');
	for (size_t i = 0; i < group->ratio_count; i++) {
		json_begin(json, NULL, '{');
		json_string(json, "name", sp_group_ratio(group, i)->name);
		if (ratios[i].known)
			json_double(json, "value", ratios[i].value);
		if (ratios[i].bounded) {
			json_double(json, "low", ratios[i].low);
			json_double(json, "high", ratios[i].high);
		}
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_joint_row(const struct row_keys *of, struct json *json,
			    const struct sp_group *group, const struct sp_joint_row *row)
{
	json_begin(json, NULL, '{');
	json_begin(json, "events", '[');
	for (size_t i = 0; i < group->profile_count; i++) {
		json_begin(json, NULL, '{');
		write_weight(json, &row->self[i], false);
		if (of->totals)
			write_weight(json, &row->total[i], true);
		json_end(json, '}');
	}
	json_end(json, ']');
	if (group->ratio_count)
		write_ratios(json, group, "ratios", row->ratios);
	if (group->ratio_count && of->totals)
		write_ratios(json, group, "total_ratios", row->total_ratios);
	write_keys(of, json, row->row);
	write_name_source(json, row->row->function ?: row->row->symbol, row->row->from_cfi);
	write_identity(json, row->row->identity);
	json_end(json, '}');
}

static void write_group(const struct report *report, struct json *json,
			const struct joint_view *view)
{
	const struct sp_group *group = view->group;
	struct row_keys of = {.report = report,
			      .totals = report_has_totals(report, view->profiles[0]),
			      .build_id = report_has_key(report, SP_KEY_DSO)};
	of.count = report_ordered_keys(report, of.keys);
	json_begin_lines(json, NULL, '{');
	json_string(json, "name", group->name);
	json_begin(json, "events", '[');
	for (size_t i = 0; i < group->profile_count; i++)
		json_string(json, NULL, view->profiles[i]->event);
	json_end(json, ']');
	json_begin_lines(json, "rows", '[');
	size_t shown = 0;
	for (size_t i = 0; i < group->row_count; i++) {
		const struct sp_joint_row *row = sp_group_row(group, i);
		if ((report->row_most && shown == report->row_most) ||
		    !report_shows(report, group, row))
			continue;
		write_joint_row(&of, json, group, row);
		shown++;
	}
	json_end_lines(json, ']');
	if (report->row_most)
		json_unsigned(json, "rows_left_out", group->row_count - shown);
	json_end_lines(json, '}');
}

static void write_groups(const struct report *report, struct json *json)
{
	if (!report->group_count)
		return;
	json_begin_lines(json, "groups", '[');
	for (size_t i = 0; i < report->group_count; i++)
		write_group(report, json, &report->groups[i]);
	json_end_lines(json, ']');
}

/* Begins a node's JSON object, up to and including "children": [. */
static void begin_node(struct json *json, const struct sp_tree_node *node)
{
	json_begin(json, NULL, '{');
	json_string(json, node->function ? "function" : "symbol", node_name(node));
	write_name_source(json, node_name(node), node->from_cfi);
	write_identity(json, node->identity);
	json_string(json, "dso", node->dso);
	json_string(json, "srcline", node->srcline);
	if (node->inlined)
		json_bool(json, "inlined", true);
	if (node->cycle_calls) {
		json_unsigned(json, "cycle_calls", node->cycle_calls);
		json_unsigned(json, "cycle_rounds", node->cycle_rounds);
	}
	if (node->truncated)
		json_bool(json, "truncated", true);
	json_double(json, "self", node->self.share.value);
	json_double(json, "total", node->total.share.value);
	json_begin(json, "children", '[');
}

/* Writes how much --limit leaves out of `rows`. */
static void write_left_out(struct json *json, const struct sp_profile *profile, size_t count)
{
	double self = 0;
	for (size_t i = count; i < profile->row_count; i++)
		self += sp_profile_row(profile, i)->self.share.value;
	json_unsigned(json, "rows_left_out", profile->row_count - count);
	json_double(json, "self_left_out", self);
}

struct json_level {
	const struct sp_tree_node *node;
	size_t next;
};

/* Writes the call tree with an explicit stack, because call chains may be thousands of frames deep. */
static void write_tree(const struct report *report, struct json *json,
		       const struct sp_tree_node *root)
{
	LIST(struct json_level) levels = {0};
	double least;
	size_t hidden;
	report_limit_tree(report, root, &least, &hidden);
	*list_push(&levels) = (struct json_level){root, 0};
	json_begin_lines(json, "tree", '[');
	while (levels.count) {
		struct json_level *level = &levels.items[levels.count - 1];
		const struct sp_tree_node *child = NULL;
		if (level->next < level->node->child_count)
			child = sp_tree_child(level->node, level->next++);
		if (child && child->total.share.value >= least) {
			begin_node(json, child);
			*list_push(&levels) = (struct json_level){child, 0};
		} else if (--levels.count) {
			json_end(json, ']');
			json_end(json, '}');
		}
	}
	json_end_lines(json, ']');
	if (report->tree_most)
		json_unsigned(json, "nodes_left_out", hidden);
	free(levels.items);
}

/* Writes the programs that have threads or processes without a sample, if any. */
static void write_unsampled(struct json *json, const struct sp_profile *profile)
{
	if (!profile->unsampled_count)
		return;
	json_begin_lines(json, "unsampled", '[');
	for (size_t i = 0; i < profile->unsampled_count; i++) {
		const struct sp_unsampled *of = sp_profile_unsampled(profile, i);
		json_begin(json, NULL, '{');
		json_string(json, "comm", of->comm);
		json_unsigned(json, "tasks", of->tasks);
		json_unsigned(json, "unsampled", of->unsampled);
		if (of->lasted_ns)
			json_unsigned(json, "lasted_ns", of->lasted_ns);
		json_unsigned(json, of->exact ? "weight" : "weight_most", of->weight);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
}

/* Writes the names of the events that were added up. */
static void write_added(struct json *json, const struct sp_event *event)
{
	if (!event->added_count)
		return;
	json_begin(json, "added_up", '[');
	for (size_t i = 0; i < event->added_count; i++)
		json_string(json, NULL, event->added_names[i]);
	json_end(json, ']');
}

static void write_head(struct json *json, const struct sp_profile *profile)
{
	const struct sp_stack_end_words *words;
	json_unsigned(json, "samples", profile->samples);
	json_unsigned(json, "weight", profile->weight);
	if (profile->weight_has_kernel)
		json_unsigned(json, "kernel_weight", profile->kernel_weight);
	json_unsigned(json, "lost", profile->lost);
	json_unsigned(json, "lost_own", profile->lost_own);
	if (profile->lost_unknown)
		json_unsigned(json, "lost_unknown", profile->lost_unknown);
	json_begin(json, "throttled", '{');
	json_unsigned(json, "count", profile->throttled_count);
	json_unsigned(json, "ns", profile->throttled_ns);
	json_end(json, '}');
	json_begin(json, "stacks", '{');
	for (enum sp_stack_end end = 0; (words = sp_stack_end_words(end)); end++)
		if (profile->stacks[end] || end < SP_STACK_DEFERRED)
			json_unsigned(json, words->key, profile->stacks[end]);
	json_end(json, '}');
	json_unsigned(json, "repaired", profile->repaired);
	if (profile->system_stack)
		json_unsigned(json, "system_stack", profile->system_stack);
	if (profile->of_branches)
		json_unsigned(json, "branch_stacks", profile->branch_stacks);
	if (profile->missing_weight)
		json_unsigned(json, "missing_weight", profile->missing_weight);
	if (profile->unplaced_weight)
		json_unsigned(json, "unplaced_weight", profile->unplaced_weight);
	write_unsampled(json, profile);
	if (profile->mode != SP_MODE_CPU)
		times_write_json_head(json, profile);
}

static void write_profile(const struct report *report, struct json *json, size_t index)
{
	const struct sp_profile *profile = report->profiles[index];
	size_t count = report_row_count(report, profile);
	struct row_keys of = {.report = report,
			      .totals = report_has_totals(report, profile),
			      .build_id = report_has_key(report, SP_KEY_DSO),
			      .event = report_has_key(report, SP_KEY_EVENT),
			      .missing = profile->missing_weight};
	of.count = report_ordered_keys(report, of.keys);
	json_begin_lines(json, NULL, '{');
	json_string(json, "name", profile->event);
	if (report->events && profile->mode == SP_MODE_CPU)
		write_added(json, report->events[index]);
	write_head(json, profile);
	if (report->filtered) {
		json_unsigned(json, "shown_samples", profile->shown_samples);
		json_unsigned(json, "shown_weight", profile->shown_weight);
	}
	json_begin_lines(json, "rows", '[');
	for (size_t i = 0; i < count; i++)
		write_row(&of, json, sp_profile_row(profile, i));
	json_end_lines(json, ']');
	if (report->row_most)
		write_left_out(json, profile, count);
	if (profile->tree)
		write_tree(report, json, profile->tree);
	json_end_lines(json, '}');
}

static void write_recordings(const struct report *report, struct json *json)
{
	if (report->recording_count < 2)
		return;
	json_begin_lines(json, "recordings", '[');
	for (size_t i = 0; i < report->recording_count; i++) {
		struct sp_reader *reader = report->recordings[i].reader;
		json_begin(json, NULL, '{');
		json_string(json, "path", sp_reader_info(reader)->path);
		json_bool(json, "damaged", sp_reader_damage_count(reader) > 0);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
}

static void write_live(const struct report_live *live, struct json *json)
{
	json_begin(json, "live", '{');
	json_unsigned(json, "time_ms", live->time_ms);
	json_unsigned(json, "begin_ns", live->begin_ns);
	json_unsigned(json, "end_ns", live->end_ns);
	json_double(json, "own_cpu", live->own_cpu);
	json_end(json, '}');
}

static bool write_json(const struct report *report, FILE *out)
{
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	json_unsigned(&json, "sprof", 1);
	if (report->live) {
		write_live(report->live, &json);
	} else {
		json_begin(&json, "file", '{');
		json_string(&json, "path", report->path);
		json_unsigned(&json, "duration_ns", report->duration_ns);
		json_bool(&json, "damaged", report->damaged);
		json_end(&json, '}');
		write_recordings(report, &json);
	}
	if (report->other_samples)
		json_unsigned(&json, "other_samples", report->other_samples);
	json_string(&json, "callers", report->callers);
	json_string(&json, "callees", report->callees);
	json_begin_lines(&json, "events", '[');
	for (size_t i = 0; i < report->profile_count; i++)
		write_profile(report, &json, i);
	json_end_lines(&json, ']');
	write_groups(report, &json);
	findings_write_json(report->findings, report->finding_count, &json);
	json_end_lines(&json, '}');
	return true;
}

const struct output_format output_json = {
	.name = "json",
	.intervals = true,
	.files = (const char *const[]){"*.json", NULL},
	.write = write_json,
};
