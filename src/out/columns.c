/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/columns.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"

bool column_is_number(const struct column *column)
{
	return column->kind < COLUMN_KEY ||
	       sp_key_is_number((enum sp_key)(column->kind - COLUMN_KEY));
}

bool column_is_side(const struct column *column)
{
	return column->kind == COLUMN_KEY + SP_KEY_SYMBOL_FROM ||
	       column->kind == COLUMN_KEY + SP_KEY_SYMBOL_TO ||
	       column->kind == COLUMN_KEY + SP_KEY_SYMBOL_DADDR;
}

bool column_is_code(const struct column *column)
{
	return column->kind == COLUMN_KEY + SP_KEY_SYMBOL ||
	       column->kind == COLUMN_KEY + SP_KEY_FUNCTION || column_is_side(column);
}

char column_mark(const struct column *column)
{
	switch (column->kind - COLUMN_KEY) {
	case SP_KEY_SRCLINE:
	case SP_KEY_SRCLINE_FROM:
	case SP_KEY_SRCLINE_TO:
		return ':';
	case SP_KEY_WAKER:
	case SP_KEY_WAKEE:
		return '[';
	case SP_KEY_COMM:
		return '('; /* "worker-* (16 threads)" */
	default:
		return '\0';
	}
}

const char *column_title(const struct row_table *table, const struct column *column)
{
	switch (column->kind) {
	case COLUMN_EVENT:
		return table->view->profiles[column->index]->event;
	case COLUMN_RATIO:
		return sp_group_ratio(table->view->group, column->index)->name;
	case COLUMN_TOTAL:
		return "total";
	case COLUMN_SELF:
		return "self";
	case COLUMN_TOTAL_RANGE:
	case COLUMN_SELF_RANGE:
	case COLUMN_EVENT_RANGE:
	case COLUMN_RATIO_RANGE:
		return term_glyph(table->term, "low–high", "low-high");
	case COLUMN_SAMPLES:
		return table->branches ? "branches" : "samples";
	case COLUMN_PERIOD:
		return "period";
	case COLUMN_ON:
		return "on";
	case COLUMN_RUNNABLE:
		return "runnable";
	case COLUMN_BLOCKED:
		return "blocked";
	case COLUMN_WAITS:
		return table->report->mode == SP_MODE_WAKERS ? "wake-ups" : "waits";
	case COLUMN_LONGEST:
		return "longest";
	default:
		return report_key_name(table->report, (enum sp_key)(column->kind - COLUMN_KEY));
	}
}

const char *key_text(const struct sp_row *row, enum sp_key key, char buffer[FORMAT_SIZE])
{
	int64_t number;
	const char *text;
	if (!sp_key_is_number(key)) {
		text = row_text(row, key);
		return text                     ? text
		       : key == SP_KEY_SRCLINE ? "[no source line]"
		       : key == SP_KEY_SRCFILE ? "[no source file]"
					       : NULL;
	}
	if (!row_number(row, key, &number))
		return NULL;
	snprintf(buffer, FORMAT_SIZE, "%lld", (long long)number);
	return buffer;
}

const struct sp_share *event_share(const struct row_table *table, const struct table_line *cells,
				   size_t index)
{
	const struct sp_joint_row *joint = cells->joint;
	return &(report_by_total(table->report) ? joint->total : joint->self)[index].share;
}

static const char *ratio_text(const struct row_table *table, const struct table_line *cells,
			      const struct column *column, char buffer[FORMAT_SIZE])
{
	const struct sp_joint_row *joint = cells->joint;
	const struct sp_ratio *ratio =
		&(report_by_total(table->report) ? joint->total_ratios : joint->ratios)[column->index];
	bool percent = sp_group_ratio(table->view->group, column->index)->percent;
	if (column->kind == COLUMN_RATIO_RANGE)
		return ratio->bounded ? format_ratio_range(table->term, ratio, percent, buffer) : NULL;
	return ratio->known ? format_ratio(ratio->value, percent, buffer) : NULL;
}

/* Formats the time in a state in ms, or the number of waits. Times of 0 are blank. */
static const char *time_text(const struct row_table *table, const struct sp_row *row, int kind,
			     char buffer[FORMAT_SIZE])
{
	const struct sp_times *times = report_by_total(table->report) ? row->total_times : row->self_times;
	uint64_t ns = !times ? 0 :
		      kind == COLUMN_ON ? times->running_ns :
		      kind == COLUMN_RUNNABLE ? times->runnable_ns :
		      kind == COLUMN_BLOCKED ? times->blocked_ns : times->longest_wait_ns;
	if (kind == COLUMN_WAITS)
		return times && times->waits ? format_count(times->waits, buffer) : "";
	return ns ? format_ms(ns, buffer) : "";
}

const char *cell_text(const struct row_table *table, const struct table_line *cells,
		      const struct column *column, char buffer[FORMAT_SIZE])
{
	const struct sp_row *row = cells->row;
	switch (column->kind) {
	case COLUMN_EVENT:
		return format_share(event_share(table, cells, column->index)->value, buffer);
	case COLUMN_EVENT_RANGE:
		return format_range(table->term, event_share(table, cells, column->index),
				    table->decimals, buffer);
	case COLUMN_RATIO:
	case COLUMN_RATIO_RANGE:
		return ratio_text(table, cells, column, buffer);
	case COLUMN_TOTAL:
		return format_share(row->total.share.value, buffer);
	case COLUMN_TOTAL_RANGE:
		return report_range(table->report, &row->total, row->total_between,
				    table->decimals, buffer);
	case COLUMN_SELF:
		return format_share(row->self.share.value, buffer);
	case COLUMN_SELF_RANGE:
		return !row->self.samples && !row->self.weight ? "" :
		       report_range(table->report, &row->self, row->self_between,
				    table->decimals, buffer);
	case COLUMN_SAMPLES:
		return format_count(row->self.samples, buffer);
	case COLUMN_PERIOD:
		return format_count(row->self.weight, buffer);
	case COLUMN_ON:
	case COLUMN_RUNNABLE:
	case COLUMN_BLOCKED:
	case COLUMN_WAITS:
	case COLUMN_LONGEST:
		return time_text(table, row, column->kind, buffer);
	default:
		return key_text(row, (enum sp_key)(column->kind - COLUMN_KEY), buffer);
	}
}

int column_level_width(const struct row_table *table, size_t index)
{
	const struct column *columns = table->columns;
	if (!column_is_code(&columns[index]))
		return 0;
	for (size_t i = 0; i < index && !column_is_side(&columns[index]); i++)
		if (column_is_code(&columns[i]) && !column_is_side(&columns[i]))
			return 0;
	return 4;
}

int cell_suffix_width(const struct sp_row *row, const struct column *column)
{
	bool function = column->kind == COLUMN_KEY + SP_KEY_FUNCTION;
	return function && row->inlined ? (int)strlen(COLUMN_INLINED) : 0;
}

static void add_column(struct row_table *table, int kind, size_t index)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i].kind == kind && table->columns[i].index == index)
			return;
	table->columns[table->count++] = (struct column){.kind = kind, .index = index};
}

static void choose_group_columns(struct row_table *table)
{
	const struct sp_group *group = table->view->group;
	for (size_t i = 0; i < group->profile_count; i++) {
		add_column(table, COLUMN_EVENT, i);
		if (report_has_intervals(table->report))
			add_column(table, COLUMN_EVENT_RANGE, i);
	}
	for (size_t i = 0; i < group->ratio_count; i++) {
		add_column(table, COLUMN_RATIO, i);
		add_column(table, COLUMN_RATIO_RANGE, i);
	}
}

/* Adds the columns that the user named by -F. */
static void choose_named_columns(struct row_table *table)
{
	static const int kinds[] = {
		[REPORT_COLUMN_SELF - SP_KEY_LIMIT] = COLUMN_SELF,
		[REPORT_COLUMN_TOTAL - SP_KEY_LIMIT] = COLUMN_TOTAL,
		[REPORT_COLUMN_SELF_RANGE - SP_KEY_LIMIT] = COLUMN_SELF_RANGE,
		[REPORT_COLUMN_TOTAL_RANGE - SP_KEY_LIMIT] = COLUMN_TOTAL_RANGE,
		[REPORT_COLUMN_SAMPLES - SP_KEY_LIMIT] = COLUMN_SAMPLES,
		[REPORT_COLUMN_PERIOD - SP_KEY_LIMIT] = COLUMN_PERIOD,
		[REPORT_COLUMN_ON - SP_KEY_LIMIT] = COLUMN_ON,
		[REPORT_COLUMN_RUNNABLE - SP_KEY_LIMIT] = COLUMN_RUNNABLE,
		[REPORT_COLUMN_BLOCKED - SP_KEY_LIMIT] = COLUMN_BLOCKED,
		[REPORT_COLUMN_WAITS - SP_KEY_LIMIT] = COLUMN_WAITS,
		[REPORT_COLUMN_LONGEST - SP_KEY_LIMIT] = COLUMN_LONGEST,
	};
	const struct report *report = table->report;
	for (size_t i = 0; i < report->column_count; i++) {
		unsigned int column = report->columns[i];
		add_column(table, column < SP_KEY_LIMIT ? COLUMN_KEY + (int)column :
				  kinds[column - SP_KEY_LIMIT], 0);
	}
}

/* Adds the columns of time by state that the mode has. */
static void choose_time_columns(struct row_table *table)
{
	enum sp_mode mode = table->report->mode;
	if (mode == SP_MODE_WALL || mode == SP_MODE_LATENCY)
		add_column(table, COLUMN_ON, 0);
	if (mode != SP_MODE_WAKERS)
		add_column(table, COLUMN_RUNNABLE, 0);
	if (mode == SP_MODE_LATENCY)
		return;
	add_column(table, COLUMN_BLOCKED, 0);
	add_column(table, COLUMN_WAITS, 0);
	add_column(table, COLUMN_LONGEST, 0);
	if (mode == SP_MODE_WAKERS)
		add_column(table, COLUMN_RUNNABLE, 0);
}

/*
 * Adds the default columns. Only the share that orders the rows has an interval column. Wake-ups are no
 * samples: all are recorded.
 */
static void choose_usual_columns(struct row_table *table)
{
	const struct report *report = table->report;
	bool by_total = report_by_total(report);
	add_column(table, by_total ? COLUMN_TOTAL : COLUMN_SELF, 0);
	if (report->mode != SP_MODE_WAKERS && report_has_intervals(report))
		add_column(table, by_total ? COLUMN_TOTAL_RANGE : COLUMN_SELF_RANGE, 0);
	if (report->mode != SP_MODE_CPU)
		choose_time_columns(table);
	else if (report->children)
		add_column(table, by_total ? COLUMN_SELF : COLUMN_TOTAL, 0);
}

/* Returns an upper limit on the number of columns, to allocate them. */
static size_t columns_most(const struct joint_view *view)
{
	size_t numbers = view ? 2 * (view->group->profile_count + view->group->ratio_count) : 0;
	return COLUMN_KEY + numbers + SP_KEY_LIMIT;
}

/*
 * Returns whether a column is empty in all shown rows: that of a tracepoint field, because the field belongs
 * to another event, or of blocked time if context switches were not recorded.
 */
static bool is_void(const struct row_table *table, const struct column *column)
{
	char buffer[FORMAT_SIZE];
	bool of_wakers = table->report->mode == SP_MODE_WAKERS && column->kind >= COLUMN_ON &&
			 column->kind <= COLUMN_LONGEST;
	if (!of_wakers && (column->kind < COLUMN_KEY + SP_KEY_TRACE ||
			   column->kind >= COLUMN_KEY + SP_KEY_LIMIT))
		return false;
	for (size_t i = 0; i < table->row_count; i++) {
		const char *text = cell_text(table, &table->rows[i], column, buffer);
		if (text && *text)
			return false;
	}
	return true;
}

void columns_choose(struct row_table *table)
{
	const struct report *report = table->report;
	table->columns = xcalloc(columns_most(table->view), sizeof(*table->columns));
	bool named = report->column_count && !table->view;
	if (table->view)
		choose_group_columns(table);
	else if (named)
		choose_named_columns(table);
	else
		choose_usual_columns(table);
	if (report->show_samples && !named)
		add_column(table, COLUMN_SAMPLES, 0);
	for (size_t i = 0; i < report->key_count; i++)
		add_column(table, COLUMN_KEY + (int)report->keys[i], 0);
	for (size_t i = table->count; i-- > 0 && table->count > 1;)
		if (is_void(table, &table->columns[i]))
			columns_drop(table, i);
}

void columns_drop(struct row_table *table, size_t index)
{
	memmove(&table->columns[index], &table->columns[index + 1],
		(table->count - index - 1) * sizeof(*table->columns));
	table->count--;
}

bool column_is_constant(const struct row_table *table, const struct column *column)
{
	char first_buffer[FORMAT_SIZE], buffer[FORMAT_SIZE];
	if (column->kind < COLUMN_KEY || column_is_code(column) || table->row_count < 2)
		return false;
	const char *first = cell_text(table, &table->rows[0], column, first_buffer);
	for (size_t i = 1; i < table->row_count; i++) {
		const char *text = cell_text(table, &table->rows[i], column, buffer);
		if (text != first && (!text || !first || strcmp(text, first) != 0))
			return false;
	}
	return true;
}
