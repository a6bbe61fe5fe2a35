/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "input.h"
#include "out/report.h"

#include <stdlib.h>
#include <string.h>
#include "list.h"
#include "text.h"

/* Least width of a terminal for columns of intervals. */
#define INTERVALS_WIDTH 70

/*
 * Least part of a share that is the low bound of its between-run interval, from one recording. A
 * wider interval is that of a program with phases: it does not narrow the share in other runs.
 */
#define BETWEEN_LEAST (1.0 / 3)

const struct perf_event_attr *report_attr(const struct report *report,
					  const struct sp_profile *profile)
{
	size_t at = 0;
	while (at < report->profile_count && report->profiles[at] != profile)
		at++;
	return report->events && at < report->profile_count ? &report->events[at]->attr : NULL;
}

uint64_t report_period(const struct report *report, const struct sp_profile *profile)
{
	const struct perf_event_attr *attr = report_attr(report, profile);
	if (!attr)
		return 0;
	if (!attr->freq)
		return attr->sample_period;
	return profile->weight_is_time && attr->sample_freq ? 1000000000 / attr->sample_freq : 0;
}

void report_cpu_time(const struct report *report, const struct sp_profile *profile,
		     char text[CPU_TIME_SIZE])
{
	const struct perf_event_attr *attr = report_attr(report, profile);
	char user[FORMAT_SIZE];
	if (profile->kernel_weight)
		snprintf(text, CPU_TIME_SIZE,
			 "CPU time, %s of it in user code (the kernel was not sampled)",
			 format_duration(&report->term, profile->weight - profile->kernel_weight,
					 user));
	else
		snprintf(text, CPU_TIME_SIZE, "CPU time%s",
			 profile->weight_has_kernel ? " (the kernel was not sampled)"
			 : attr && attr->exclude_kernel && !attr->exclude_user
				 ? " in user code (the kernel's was not recorded)" : "");
}

size_t report_find_event(const struct report *report, const char *event)
{
	size_t at = 0;
	while (at < report->profile_count && strcmp(report->profiles[at]->event, event) != 0)
		at++;
	return at;
}

bool report_has_key(const struct report *report, enum sp_key key)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (report->keys[i] == key)
			return true;
	return false;
}

const char *report_key_name(const struct report *report, enum sp_key key)
{
	return key < SP_KEY_FIELD ? sp_key_name(key) : report->field_names[key - SP_KEY_FIELD];
}

size_t report_ordered_keys(const struct report *report, enum sp_key ret[SP_KEY_LIMIT])
{
	size_t count = 0;
	for (enum sp_key key = 0; key < SP_KEY_LIMIT; key++)
		if (key != SP_KEY_EVENT && report_has_key(report, key))
			ret[count++] = key;
	return count;
}

const char *row_text(const struct sp_row *row, enum sp_key key)
{
	const struct sp_value *value;
	switch (key) {
	case SP_KEY_COMM:
		return row->comm;
	case SP_KEY_DSO:
		return row->dso;
	case SP_KEY_SYMBOL:
		return row->symbol;
	case SP_KEY_FUNCTION:
		return row->function;
	case SP_KEY_SRCFILE:
		return row->srcfile;
	case SP_KEY_SRCLINE:
		return row->srcline;
	case SP_KEY_EVENT:
		return row->event;
	default:
		value = sp_row_value(row, key);
		return value ? value->text : NULL;
	}
}

bool row_number(const struct sp_row *row, enum sp_key key, int64_t *ret)
{
	const struct sp_value *value;
	switch (key) {
	case SP_KEY_PID:
		*ret = row->pid;
		break;
	case SP_KEY_TID:
		*ret = row->tid;
		break;
	case SP_KEY_CPU:
		*ret = row->cpu;
		break;
	default:
		value = sp_row_value(row, key);
		*ret = value && value->text ? (int64_t)value->number : -1;
		break;
	}
	return *ret >= 0;
}

const struct sp_weight *row_order_weight(const struct report *report, const struct sp_row *row)
{
	return report_by_total(report) ? &row->total : &row->self;
}

bool report_by_total(const struct report *report)
{
	return report->children && !report->order_by_self;
}

bool report_by_time(const struct report *report)
{
	return report->key_count && *report->keys == SP_KEY_TIME;
}

struct sp_share report_interval(const struct report *report, const struct sp_share *within,
				const struct sp_between *between, char *mark_ret)
{
	struct sp_share share = *within;
	bool varies = between && between->varies && report->interval != SHOWN_WITHIN;
	bool wide = varies && report->interval == SHOWN_BY_ROW && report->recording_count <= 1 &&
		    between->low < BETWEEN_LEAST * within->value;
	*mark_ret = wide ? MARK_WITHIN : varies ? MARK_BETWEEN : '\0';
	if (*mark_ret == MARK_BETWEEN || (between && report->interval == SHOWN_BETWEEN)) {
		share.low = between->low;
		share.high = between->high;
	}
	return share;
}

struct sp_share row_order_interval(const struct report *report, const struct sp_row *row,
				   char *mark_ret)
{
	return report_interval(report, &row_order_weight(report, row)->share,
			       report_by_total(report) ? row->total_between : row->self_between,
			       mark_ret);
}

const char *report_range(const struct report *report, const struct sp_weight *weight,
			 const struct sp_between *between, int decimals, char buffer[FORMAT_SIZE])
{
	char mark;
	const struct sp_share share = report_interval(report, &weight->share, between, &mark);
	format_range(&report->term, &share, decimals, buffer);
	if (mark) {
		memmove(buffer + 1, buffer, FORMAT_SIZE - 1);
		buffer[0] = mark;
	}
	return buffer;
}

bool report_shows_mark(const struct report *report, const struct sp_profile *profile,
		       size_t row_count, char mark)
{
	char found = '\0';
	for (size_t i = 0; i < row_count && found != mark; i++)
		row_order_interval(report, sp_profile_row(profile, i), &found);
	return found == mark;
}

void report_write_marks(const struct report *report, bool between, bool within, FILE *out)
{
	if (between)
		term_wrap(&report->term, report->recording_count > 1 ?
			  "~: for another run, as runs differ." :
			  "~: for another run, as the share varies over time.", 0, 0, 0, out);
	if (within)
		term_wrap(&report->term, "*: of this run only, as the share varies; sprof record "
			  "--repeat 5 compares runs.", 0, 0, 0, out);
}

bool report_is_exact(const struct report *report)
{
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->profiles[i]->is_estimate)
			return false;
	return report->recording_count <= 1;
}

bool report_has_intervals(const struct report *report)
{
	return (!report->term.width || report->term.width >= INTERVALS_WIDTH) &&
	       !report_is_exact(report);
}

bool report_shows(const struct report *report, const struct sp_group *group,
		  const struct sp_joint_row *row)
{
	for (size_t i = 0; i < group->profile_count; i++)
		if ((report_by_total(report) ? row->total : row->self)[i].share.value >= report->row_limit)
			return true;
	return false;
}

bool joint_view_has(const struct joint_view *view, const struct sp_profile *profile)
{
	for (size_t i = 0; i < view->group->profile_count; i++)
		if (view->profiles[i] == profile)
			return true;
	return false;
}

bool report_is_grouped(const struct report *report, const struct sp_profile *profile)
{
	for (size_t i = 0; i < report->group_count; i++)
		if (joint_view_has(&report->groups[i], profile))
			return true;
	return false;
}

/* Returns how many rows reach `row_limit`: the first ones, because rows are ordered. */
static size_t rows_of_share(const struct report *report, const struct sp_profile *profile)
{
	size_t count = 0;
	while (count < profile->row_count &&
	       row_order_weight(report, sp_profile_row(profile, count))->share.value >=
		       report->row_limit)
		count++;
	return count;
}

/* Returns how many of the first rows make up `row_coverage` of all rows' self weight. */
static size_t covering_rows(const struct report *report, const struct sp_profile *profile,
			    size_t count)
{
	double all = 0, left;
	for (size_t i = 0; i < count; i++)
		all += (double)sp_profile_row(profile, i)->self.weight;
	left = all;
	for (size_t i = 0; i < count; i++) {
		left -= (double)sp_profile_row(profile, i)->self.weight;
		if (left <= all * (1 - report->row_coverage))
			return i + 1;
	}
	return count;
}

/* Returns `count`, or `most` if that is a limit (not 0) and smaller. */
static size_t at_most(size_t count, size_t most)
{
	return most && count > most ? most : count;
}

size_t report_row_count(const struct report *report, const struct sp_profile *profile)
{
	return at_most(rows_of_share(report, profile), report->row_most);
}

size_t report_text_row_count(const struct report *report, const struct sp_profile *profile)
{
	size_t count = report_by_time(report) ? profile->row_count : rows_of_share(report, profile);
	if (report->row_coverage > 0)
		count = covering_rows(report, profile, count);
	return at_most(count, report->row_most);
}

struct share_list {
	LIST(double);
};

/* Adds the shares from `least` of all nodes below `root`, which may be thousands deep. */
static void add_shares(const struct sp_tree_node *root, double least, struct share_list *shares)
{
	LIST(const struct sp_tree_node *) open = {0};
	const struct sp_tree_node *node = root;
	while (node) {
		for (size_t i = 0; i < node->child_count; i++) {
			const struct sp_tree_node *child = sp_tree_child(node, i);
			if (child->total.share.value < least)
				break;
			*list_push(shares) = child->total.share.value;
			*list_push(&open) = child;
		}
		node = open.count ? open.items[--open.count] : NULL;
	}
	free(open.items);
}

static int heavier_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

void report_limit_tree(const struct report *report, const struct sp_tree_node *root,
		       double *least_ret, size_t *hidden_ret)
{
	struct share_list shares = {0};
	*least_ret = report->tree_limit;
	*hidden_ret = 0;
	if (!report->tree_most)
		return;
	add_shares(root, report->tree_limit, &shares);
	if (shares.count > report->tree_most) {
		size_t shown = report->tree_most;
		qsort(shares.items, shares.count, sizeof(*shares.items), heavier_first);
		double hidden = shares.items[shown];
		while (shown && shares.items[shown - 1] <= hidden)
			shown--;
		/* A chain of calls is shown, or there would be nothing. */
		*least_ret = shown ? shares.items[shown - 1] : hidden;
		while (shown < shares.count && shares.items[shown] >= *least_ret)
			shown++;
		*hidden_ret = shares.count - shown;
	}
	free(shares.items);
}

const char *node_name(const struct sp_tree_node *node)
{
	return node->function ? node->function : node->symbol;
}

enum term_style node_style(const struct sp_tree_node *node)
{
	if (node->truncated)
		return TERM_WARNING;
	if (!node->symbol_known)
		return TERM_DIM;
	return node->level == SP_LEVEL_USER ? TERM_PLAIN : TERM_KERNEL;
}

bool report_has_totals(const struct report *report, const struct sp_profile *profile)
{
	return report->children || !profile->has_callchains;
}

char *report_command(const struct report *report, const char *command)
{
	bool several = report->recording_count > 1;
	char *text = input_command(command, report->live || several ? NULL : report->path);
	for (size_t i = 0; several && i < report->recording_count; i++)
		text = text_append_word(text, sp_reader_info(report->recordings[i].reader)->path);
	return text;
}
