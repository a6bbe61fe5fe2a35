/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/report.h"

#include <string.h>

/* Least width of a terminal for columns of intervals. */
#define INTERVALS_WIDTH 70

uint64_t report_period(const struct report *report, size_t profile)
{
	if (!report->events)
		return 0;
	const struct perf_event_attr *attr = &report->events[profile]->attr;
	if (!attr->freq)
		return attr->sample_period;
	return report->profiles[profile]->weight_is_time && attr->sample_freq ?
		       1000000000 / attr->sample_freq : 0;
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

bool report_has_intervals(const struct report *report)
{
	return !report->term.width || report->term.width >= INTERVALS_WIDTH;
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

size_t report_row_count(const struct report *report, const struct sp_profile *profile)
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

size_t report_text_row_count(const struct report *report, const struct sp_profile *profile)
{
	size_t count = report_row_count(report, profile);
	if (report->row_coverage > 0)
		count = covering_rows(report, profile, count);
	return report->row_most && count > report->row_most ? report->row_most : count;
}

const char *node_name(const struct sp_tree_node *node)
{
	return node->function ? node->function : node->symbol;
}

bool report_has_totals(const struct report *report, const struct sp_profile *profile)
{
	return report->children || !profile->has_callchains;
}
