/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of rows as aligned text:
 *
 *	  self  low–high   total  function          dso
 *	62.31% 60.9–63.6  62.31%  [.] hash_words    demo
 *	 9.54%  8.3–10.9  35.89%  [k] copy_page     [kernel.kallsyms]
 *
 * Keys with one value in all rows stand once, above the table.
 */
#include "out/table.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/columns.h"
#include "out/row_words.h"

/* Least width of a name that is cut for its suffix. In narrower columns, the suffix is left out. */
#define LEAST_BEFORE_SUFFIX 24

/* Least width of a name in the list of functions of all stacks. */
#define LEAST_NAME 8

static enum term_style cell_style(const struct row_table *table, const struct table_line *cells,
				  const struct column *column)
{
	const struct sp_row *row = cells->row;
	int kind = column->kind;
	switch (kind) {
	case COLUMN_EVENT:
		return share_style(event_share(table, cells, column->index)->value);
	case COLUMN_TOTAL:
		return share_style(row->total.share.value);
	case COLUMN_SELF:
		return row->self.samples ? share_style(row->self.share.value) : TERM_DIM;
	case COLUMN_TOTAL_RANGE:
	case COLUMN_SELF_RANGE:
	case COLUMN_EVENT_RANGE:
	case COLUMN_RATIO_RANGE:
		return TERM_DIM;
	case COLUMN_KEY + SP_KEY_SYMBOL:
	case COLUMN_KEY + SP_KEY_FUNCTION:
		return row->symbol_known ? TERM_PLAIN : TERM_DIM;
	case COLUMN_KEY + SP_KEY_SYMBOL_FROM:
	case COLUMN_KEY + SP_KEY_SYMBOL_TO:
	case COLUMN_KEY + SP_KEY_SYMBOL_DADDR:
		return sp_row_value(row, (enum sp_key)(kind - COLUMN_KEY))->known ? TERM_PLAIN
										    : TERM_DIM;
	default:
		return TERM_PLAIN;
	}
}

/* Writes the privilege level in front of a name: "[k] ". */
static void write_level(const struct term *term, enum sp_level level, FILE *out)
{
	enum term_style style = level == SP_LEVEL_USER ? TERM_DIM : TERM_KERNEL;
	term_begin(term, style, out);
	fputs(format_level(level), out);
	putc(' ', out);
	term_end(term, style, out);
}

static enum sp_level level_of(const struct sp_row *row, const struct column *column)
{
	return column_is_side(column) ?
		       sp_row_value(row, (enum sp_key)(column->kind - COLUMN_KEY))->level :
		       row->level;
}

/*
 * Writes a text in `width` columns (0: no limit), with the end that column_mark() begins. Returns
 * the columns written.
 */
static int put_text(const struct term *term, const struct column *column, const char *text,
		    int width, FILE *out)
{
	char mark = column_mark(column), *head = NULL;
	const char *end =
		mark && width && term_text_width(term, text) > width ? strrchr(text, mark) : NULL;
	int room = end ? width - term_text_width(term, end) : 0;
	if (end && end > text && room > 1)
		head = xstrndup(text, (size_t)(end - text));
	if (!head)
		return term_put(term, text, width, out);
	int used = term_put(term, head, room, out) + term_put(term, end, 0, out);
	free(head);
	return used;
}

/* Returns a short form of a dso: "[kernel]", "libpython3.11" for "libpython3.11.so.1.0". */
static char *short_dso(const char *dso)
{
	const char *version = strstr(dso, ".so");
	return !strcmp(dso, "[kernel.kallsyms]") ? xstrdup("[kernel]")
	       : version && version > dso	 ? xstrndup(dso, (size_t)(version - dso))
						 : xstrdup(dso);
}

static void write_cell(const struct row_table *table, const struct table_line *cells, size_t index,
		       FILE *out)
{
	const struct sp_row *row = cells->row;
	const struct column *column = &table->columns[index];
	const struct term *term = table->term;
	char buffer[FORMAT_SIZE], *made = NULL;
	const char *text = cell_text(table, cells, column, buffer);
	int suffix = cell_suffix_width(row, column);
	int width = column->width - column_level_width(table, index);
	bool last = index + 1 == table->count;
	if (!text)
		text = "?";
	/* On a narrow terminal, drops the suffix if name and suffix do not fit. */
	if (term->width && suffix + LEAST_BEFORE_SUFFIX > width &&
	    suffix + term_text_width(term, text) > width)
		suffix = 0;
	width -= suffix;
	if (column_level_width(table, index))
		write_level(term, level_of(row, column), out);
	if (column_is_code(column))
		text = name_shorten(term, text, term->width ? width : 0, &made);
	else if (column->kind == COLUMN_KEY + SP_KEY_DSO && term->width &&
		 term_text_width(term, text) > width)
		text = made = short_dso(text);
	if (column_is_number(column))
		term_pad(width - term_text_width(term, text), out);
	enum term_style style = cell_style(table, cells, column);
	term_begin(term, style, out);
	int used = put_text(term, column, text, term->width ? width : 0, out);
	term_end(term, style, out);
	if (suffix) {
		term_begin(term, TERM_DIM, out);
		fputs(COLUMN_INLINED, out);
		term_end(term, TERM_DIM, out);
	}
	bool pads = !column_is_number(column) && width > used;
	if (!last)
		term_pad((pads ? width - used : 0) + COLUMN_GAP, out);
	free(made);
}

void table_write_titles(const struct row_table *table, FILE *out)
{
	term_begin(table->term, TERM_DIM, out);
	for (size_t i = 0; i < table->count; i++) {
		const struct column *column = &table->columns[i];
		const char *title = column_title(table, column);
		int room = column->width - term_text_width(table->term, title);
		if (column_is_number(column))
			term_pad(room, out);
		term_put(table->term, title, 0, out);
		if (i + 1 < table->count)
			term_pad((column_is_number(column) ? 0 : room) + COLUMN_GAP, out);
	}
	term_end(table->term, TERM_DIM, out);
	putc('\n', out);
}

/*
 * Writes the keys that have one value in all rows, and removes their columns: "All rows: comm demo,
 * dso demo". Returns false if there are none.
 */
static bool write_constants(struct row_table *table, FILE *out)
{
	char buffer[FORMAT_SIZE];
	const char *before = "All rows: ";
	for (size_t i = 0; i < table->count && table->count > 1;) {
		const struct column *column = &table->columns[i];
		if (!column_is_constant(table, column)) {
			i++;
			continue;
		}
		const char *text = cell_text(table, &table->rows[0], column, buffer);
		fputs(before, out);
		term_put(table->term, column_title(table, column), 0, out);
		putc(' ', out);
		term_put(table->term, text ? text : "?", 0, out);
		columns_drop(table, i);
		before = ", ";
	}
	if (*before == ',')
		putc('\n', out);
	return *before == ',';
}

void table_choose_columns(struct row_table *table, FILE *out)
{
	columns_choose(table);
	bool headed = !table->report->keep_keys && write_constants(table, out);
	if (!table->report->quiet && !headed)
		putc('\n', out);
}

void table_write_row(const struct row_table *table, const struct table_line *cells, FILE *out)
{
	for (size_t i = 0; i < table->count; i++)
		write_cell(table, cells, i, out);
	putc('\n', out);
}

static void write_rows(struct row_table *table, FILE *out)
{
	table_choose_columns(table, out);
	columns_fit(table);
	table_write_titles(table, out);
	for (size_t i = 0; i < table->row_count; i++)
		table_write_row(table, &table->rows[i], out);
	free(table->columns);
}

/* Writes how many rows are hidden, and the share of self that they have together (`rest`). */
static void write_left_out(const struct report *report, size_t count, double rest, FILE *out)
{
	char rows[FORMAT_SIZE], share[FORMAT_SIZE], limit[FORMAT_SIZE], text[6 * FORMAT_SIZE];
	const char *dots = term_glyph(&report->term, "…", "..."), *plural = count == 1 ? "" : "s";
	if (!count)
		return;
	bool below = !report->row_coverage && !report->row_most, summed = !report_by_total(report);
	snprintf(text, sizeof(text), "%s %s%s row%s%s%s%s%s%s%s", dots, format_count(count, rows),
		 below ? "" : " more", plural, below ? " below " : "",
		 below ? format_share(report->row_limit, limit) : "",
		 !summed ? "" : rest > 0 ? ", " : " without self time",
		 summed && rest > 0 ? format_share_short(rest, share) : "",
		 summed && rest > 0 ? " in all" : "",
		 report->live ? "; --limit 0 shows them" :
		 below ? "; report with --percent-limit 0 shows them" :
		 report->row_coverage > 0 || report->row_limit > 0 ?
			 "; --percent-limit 0 shows them" : "");
	term_begin(&report->term, TERM_DIM, out);
	term_wrap(&report->term, text, 0, 0, 0, out);
	term_end(&report->term, TERM_DIM, out);
}

/* Most lines of functions in all of a thread's stacks, and room for a thread's name in
 * them. */
#define ENTRY_LINES 3
#define COMM_ROOM 20

/*
 * Share of time with stacks below which functions of all stacks have rows: shares are not exact
 * enough.
 */
#define LEAST_STACKS 0.05

/* Returns the share of the time that has stacks. Rows without samples have the other time. */
static double share_of_stacks(const struct sp_profile *profile)
{
	double share = 1;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (!row->total.samples)
			share -= row->self.share.value;
	}
	return share;
}

/*
 * Returns whether a row's function only calls others, and is in all stacks, as far as is printed.
 * In mode cpu it is in most stacks, as functions that start a program or a runtime are.
 */
static bool is_entry(const struct report *report, const struct sp_row *row, double stacks)
{
	double least = report->mode == SP_MODE_CPU ? stacks / 2 : stacks - 0.00005;
	return row->total.samples && row->total.share.value > least &&
	       row->self.share.value < 0.005 * stacks;
}

static bool is_of(const struct sp_row *row, const char *comm)
{
	return !comm || !strcmp(row->comm ?: "", comm);
}

/*
 * Moves the functions in all stacks of a thread (NULL: of all threads) to the front of the rows,
 * which are ordered by total. Returns their number; 0 if there are less than two, or no others. In
 * mode cpu, the last one stays: it calls several functions, as main does.
 */
static size_t find_entries(const struct report *report, struct table_line *rows, size_t count,
			   const char *comm, double stacks)
{
	size_t entries = 0, end = 0;
	bool others = false;
	for (size_t i = 0; i < count; i++) {
		bool counts = is_of(rows[i].row, comm) && (!comm || rows[i].row->total.samples);
		/* Functions in all stacks are in order of their names. */
		bool entry = counts && is_entry(report, rows[i].row, stacks) &&
			     (!end || report->mode != SP_MODE_CPU);
		others |= counts && !entry;
		entries += entry;
		if (counts && !entry && rows[i].row->total.samples && !end)
			end = i + 1;
	}
	entries -= entries && report->mode == SP_MODE_CPU;
	if (entries < 2 || !others)
		return 0;
	for (size_t i = 0, moved = 0; moved < entries; i++) {
		const struct table_line found = rows[i];
		if (!is_of(found.row, comm) || !is_entry(report, found.row, stacks))
			continue;
		memmove(rows + moved + 1, rows + moved, (i - moved) * sizeof(*rows));
		rows[moved++] = found;
	}
	return entries;
}

static const char *entry_name(const struct table_line *line)
{
	return line->row->function ?: line->row->symbol;
}

/* Returns whether a function starts each program or thread, so that its name says little. */
static bool is_start(const char *name)
{
	return !strcmp(name, "_start") || !strcmp(name, "main") || !strcmp(name, "start_thread") ||
	       !strncmp(name, "__libc_start_", 13) || !strncmp(name, "clone", 5);
}

/*
 * Writes names after `used` columns. Without room for all, the start of the program gives way, then
 * the outermost functions.
 */
static void put_entry_names(const struct term *term, const struct table_line *rows, size_t entries,
			    int used, FILE *out)
{
	bool *shown = xcalloc(entries, sizeof(*shown));
	int room = term->width - used - (int)strlen(", 1000 more");
	size_t count = 0, written = 0;
	for (int starts = 0; starts < 2; starts++)
		for (size_t i = entries; i-- > 0;) {
			const char *name = entry_name(&rows[i]);
			int width = term_text_width(term, name) + 2;
			shown[i] |= is_start(name) == starts &&
				    (!term->width || !count || width <= room);
			if (shown[i] && is_start(name) == starts) {
				room -= width;
				count++;
			}
		}
	for (size_t i = 0; i < entries; i++) {
		if (!shown[i])
			continue;
		fputs(written++ ? ", " : " ", out);
		/* A single name may be wider than the line. */
		bool cut = term->width && room < 0;
		term_put(term, entry_name(&rows[i]), cut ? term->width - used - 14 : 0, out);
	}
	if (count < entries)
		fprintf(out, ", %zu more", entries - count);
	free(shown);
}

/*
 * Writes functions in one line: "in all stacks (total 100.00%): _start, main", or "in all stacks of
 * worker (total 48.10%): ...". In mode cpu: "in most stacks (total 69.7–87.9%): ...". Rows do not
 * have their order in the stacks.
 */
static void write_entries(const struct report *report, const struct table_line *rows,
			  size_t entries, const char *comm, double stacks, FILE *out)
{
	char buffer[FORMAT_SIZE], range[2 * FORMAT_SIZE];
	const char *share = format_share(stacks, buffer);
	bool most = report->mode == SP_MODE_CPU;
	int used = fprintf(out, most ? "in most stacks " : "in all stacks ");
	if (comm) {
		used += fprintf(out, "of ");
		used += term_put(&report->term, comm, report->term.width ? COMM_ROOM : 0, out);
		used += fprintf(out, " ");
	}
	const struct sp_share *last = &rows[entries - 1].row->total.share;
	if (most && rows[0].row->total.share.value - last->value >= 0.0005) {
		snprintf(range, sizeof(range), "%.1f%s%.1f%%",
			 100 * last->value, term_glyph(&report->term, "–", "-"),
			 100 * rows[0].row->total.share.value);
		share = range;
	} else if (most) {
		share = format_share(last->value, buffer);
	}
	fprintf(out, "(total %s):", share);
	used += (int)strlen("(total ):") + term_text_width(&report->term, share);
	put_entry_names(&report->term, rows, entries, used, out);
	putc('\n', out);
}

/*
 * Writes the functions in all stacks, of all threads or else of the heaviest ones, in place of
 * rows. They are moved to the front of the `count` rows. Returns their number.
 */
static size_t write_entry_rows(const struct report *report, const struct sp_profile *profile,
			       struct table_line *rows, size_t count, FILE *out)
{
	size_t lines = 0;
	bool by_function =
		report_has_key(report, SP_KEY_FUNCTION) || report_has_key(report, SP_KEY_SYMBOL);
	/* All stacks of --callers and --callees have its function. */
	bool cut = report->mode == SP_MODE_CPU && (report->callers || report->callees);
	if (!by_function || report->keep_keys || !report_by_total(report) || cut)
		return 0;
	const double stacks = share_of_stacks(profile);
	size_t first = stacks < LEAST_STACKS ? 0 : find_entries(report, rows, count, NULL, stacks);
	if (first || !report_has_key(report, SP_KEY_COMM)) {
		if (first)
			write_entries(report, rows, first, NULL, stacks, out);
		return first;
	}
	/* Rows are ordered by total: the first one of each thread has the weight of its stacks. */
	for (size_t i = 0; i < count && lines < ENTRY_LINES; i++) {
		const char *comm = rows[i].row->comm;
		double share = rows[i].row->total.share.value;
		if (share < LEAST_STACKS)
			break;
		bool again = !comm || !rows[i].row->total.samples;
		for (size_t j = 0; j < i && !again; j++)
			again = rows[j].row->total.samples && is_of(rows[j].row, comm);
		size_t entries =
			again ? 0
			      : find_entries(report, rows + first, count - first, comm, share);
		if (!entries)
			continue;
		write_entries(report, rows + first, entries, comm, share, out);
		lines++;
		first += entries;
		i = first - 1;
	}
	return first;
}

/*
 * Moves rows of interrupts to the end, in mode wakers: most of them are timers, and the question is
 * which thread woke another.
 */
static void put_threads_first(const struct report *report, struct table_line *rows, size_t count)
{
	if (report->mode != SP_MODE_WAKERS || !report_has_key(report, SP_KEY_WAKER))
		return;
	for (size_t i = 0, threads = 0; i < count; i++) {
		const struct table_line found = rows[i];
		const char *waker = row_text(found.row, SP_KEY_WAKER);
		if (!waker || *waker == '[')
			continue;
		memmove(rows + threads + 1, rows + threads, (i - threads) * sizeof(*rows));
		rows[threads++] = found;
	}
}

/* Orders by place: the rows of a profile are one array. */
static int compare_places(const void *a, const void *b)
{
	const struct table_line *x = a, *y = b;
	return (x->row > y->row) - (x->row < y->row);
}

static int compare_shares(const void *a, const void *b, void *report)
{
	const struct table_line *x = a, *y = b;
	double of_x = row_order_weight(report, x->row)->share.value;
	double of_y = row_order_weight(report, y->row)->share.value;
	return of_x != of_y ? (of_x < of_y ? 1 : -1) : compare_places(a, b);
}

/*
 * Moves the heaviest of the rows, as far as the limits show them, to the front, in order of time.
 * Returns their number.
 */
static size_t limit_by_time(const struct report *report, struct table_line *rows, size_t count)
{
	size_t shown = 0, most = report->row_most && report->row_most < count ? report->row_most
									       : count;
	qsort_r(rows, count, sizeof(*rows), compare_shares, (void *)(uintptr_t)report);
	while (shown < most &&
	       row_order_weight(report, rows[shown].row)->share.value >= report->row_limit)
		shown++;
	qsort(rows, shown, sizeof(*rows), compare_places);
	return shown;
}

void table_write(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct table_line *rows = xcalloc(profile->row_count + 1, sizeof(*rows));
	struct report more = *report;
	double rest = 0;
	bool by_time = report_by_time(report);
	for (size_t i = 0; i < profile->row_count; i++)
		rows[i].row = sp_profile_row(profile, i);
	more.row_most = 0;
	size_t count = by_time ? limit_by_time(report, rows, profile->row_count)
			       : report_text_row_count(&more, profile);
	put_threads_first(report, rows, count);
	size_t first = write_entry_rows(report, profile, rows, count, out);
	/* Rows in lines give way to others. */
	more.row_most = report->row_most ? report->row_most + first : 0;
	if (!by_time)
		count = report_text_row_count(&more, profile);
	for (size_t i = count; i < profile->row_count; i++)
		rest += rows[i].row->self.share.value;
	struct row_table table = {.report = report, .term = &report->term, .rows = rows + first,
				  .row_count = count - first, .branches = profile->of_branches,
				  .decimals = range_decimals(profile->samples)};
	write_rows(&table, out);
	write_left_out(report, profile->row_count - count, rest, out);
	row_words_write(report, rows, count, out);
	free(rows);
}

/* Returns how many of the first rows cover enough of the self weight of each event. */
static size_t covering_joint_rows(const struct report *report, const struct table_line *rows,
				  size_t count, size_t events)
{
	size_t most = 0;
	for (size_t event = 0; event < events && report->row_coverage > 0; event++) {
		double all = 0;
		for (size_t i = 0; i < count; i++)
			all += (double)rows[i].joint->self[event].weight;
		double left = all;
		size_t needed = 0;
		while (needed < count && left > all * (1 - report->row_coverage))
			left -= (double)rows[needed++].joint->self[event].weight;
		most = needed > most ? needed : most;
	}
	count = most && most < count ? most : count;
	return report->row_most && count > report->row_most ? report->row_most : count;
}

void table_write_group(const struct report *report, const struct joint_view *view, FILE *out)
{
	const struct sp_group *group = view->group;
	struct table_line *rows = xcalloc(group->row_count + 1, sizeof(*rows));
	size_t count = 0;
	double rest = 0;
	for (size_t i = 0; i < group->row_count; i++) {
		const struct sp_joint_row *row = sp_group_row(group, i);
		if (report_shows(report, group, row))
			rows[count++] = (struct table_line){row->row, row};
		else
			rest += row->self[0].share.value;
	}
	size_t shown = covering_joint_rows(report, rows, count, group->profile_count);
	for (size_t i = shown; i < count; i++)
		rest += rows[i].joint->self[0].share.value;
	struct row_table table = {.report = report,
				  .term = &report->term,
				  .view = view,
				  .rows = rows,
				  .row_count = shown,
				  .branches = view->profiles[0]->of_branches,
				  .decimals = range_decimals(view->profiles[0]->samples)};
	write_rows(&table, out);
	write_left_out(report, group->row_count - shown, rest, out);
	row_words_write(report, rows, shown, out);
	free(rows);
}
