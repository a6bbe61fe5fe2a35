/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of sprof stat: intervals, the counts of a run, and the means of several runs. */
#include "cmd/stat/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sprof/private/command.h>
#include "diag.h"

/* Number of intervals between two lines of column titles. */
#define INTERVALS_A_HEADING 25

bool counting_open_output(struct counting *counting)
{
	const struct stat_arguments *arguments = counting->arguments;
	uint64_t number;
	counting->style.out = stderr;
	if (arguments->log_fd) {
		int fd = option_text_number(arguments->log_fd, 0, INT32_MAX, &number)
				 ? fcntl((int)number, F_DUPFD_CLOEXEC, 3) : -1;
		counting->style.out = fd >= 0 ? fdopen(fd, "a") : NULL;
		if (!counting->style.out)
			diag_say("--log-fd: '%s' is not an open file descriptor", arguments->log_fd);
	} else if (arguments->output && strcmp(arguments->output, "-") != 0) {
		output_file_open_in_place(&counting->file, arguments->output, arguments->append);
		counting->style.out = counting->file.out;
	} else if (arguments->output) {
		counting->style.out = stdout;
	}
	if (counting->style.out && arguments->output) {
		time_t now = time(NULL);
		struct tm parts;
		char text[64] = "";
		if (localtime_r(&now, &parts))
			strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &parts);
		fprintf(counting->style.out, "# started on %s\n\n", text);
	}
	return counting->style.out;
}

/* Closes the output. Returns false after printing a write error. */
bool counting_close_output(struct counting *counting)
{
	FILE *out = counting->style.out;
	if (counting->file.out)
		return !output_file_close(&counting->file, true);
	bool good = !fflush(out) && !ferror(out);
	if (out != stderr && out != stdout)
		good = !fclose(out) && good;
	if (!good)
		diag_say("cannot write the counts: %s", strerror(errno));
	return good;
}

static void fill_table(const struct run *run, enum sp_stat_span span, struct stat_table *table)
{
	const struct sp_stat_row *rows = NULL;
	session_add_error(&run->counting->session, sp_stat_rows(run->stat, span, &rows));
	*table = (struct stat_table){.rows = rows};
	table->events = sp_stat_events(run->stat, &table->event_count);
	table->places = sp_stat_places(run->stat, &table->place_count);
	if (!rows)
		table->event_count = 0;
}

void stat_run_print_interval(struct run *run)
{
	struct counting *counting = run->counting;
	const struct stat_style *style = &counting->style;
	struct stat_table table;
	session_add_error(&counting->session, sp_stat_read(run->stat));
	uint64_t elapsed_ns = sp_stat_read_ns(run->stat);
	fill_table(run, SP_STAT_SINCE_MARK, &table);
	table.has_time = true;
	table.time_ns = (double)elapsed_ns;
	table.elapsed_ns = (double)(elapsed_ns - run->printed_ns);
	run->printed_ns = elapsed_ns;
	bool clear = counting->arguments->interval_clear;
	if (clear)
		fputs("\033[H\033[2J", style->out);
	bool first = clear || run->intervals % INTERVALS_A_HEADING == 0;
	if (style->kind == STAT_TEXT ? first : style->metric_only && !run->intervals)
		stat_put_columns(style, &table);
	stat_put_table(style, &table);
	run->has_metrics |= stat_has_metrics(&table);
	fflush(style->out);
	sp_stat_mark(run->stat);
	run->intervals++;
	if (counting->arguments->interval_count && run->intervals >= counting->arguments->interval_count)
		run->next_print_ns = 0;
}

static bool make_means(struct counting *counting, size_t count)
{
	if (counting->values)
		return counting->value_count == count;
	counting->value_count = count;
	counting->values = calloc(count + 1, sizeof(*counting->values));
	counting->enabled = calloc(count + 1, sizeof(*counting->enabled));
	counting->running = calloc(count + 1, sizeof(*counting->running));
	return counting->values && counting->enabled && counting->running;
}

/*
 * Adds the counts of a run to the means. Leaves out events that were not counted, because their value
 * is unknown.
 */
static void add_to_means(struct counting *counting, const struct stat_table *table)
{
	size_t count = table->event_count * table->place_count;
	if (!make_means(counting, count)) {
		diag_say("cannot compare the runs: CPUs went online or offline");
		counting->session.failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (!table->rows[i].counted)
			continue;
		sp_stat_mean_add(&counting->values[i], table->rows[i].value);
		sp_stat_mean_add(&counting->enabled[i], (double)table->rows[i].enabled_ns);
		sp_stat_mean_add(&counting->running[i], (double)table->rows[i].running_ns);
	}
}

/* Returns a copy of the last run's rows with the means as values; the caller frees it. */
static struct sp_stat_row *mean_rows(const struct counting *counting, const struct stat_table *table)
{
	size_t count = table->event_count * table->place_count;
	struct sp_stat_row *rows = calloc(count + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++) {
		rows[i] = table->rows[i];
		rows[i].counted = counting->values[i].count > 0;
		rows[i].value = counting->values[i].mean;
		rows[i].enabled_ns = (uint64_t)counting->enabled[i].mean;
		rows[i].running_ns = (uint64_t)counting->running[i].mean;
	}
	return rows;
}

/* Prints the total counts: of one run, or the means of all runs. */
static void print_whole(struct run *run)
{
	struct counting *counting = run->counting;
	const struct stat_arguments *arguments = counting->arguments;
	struct stat_table table;
	struct sp_stat_row *means = NULL;
	fill_table(run, SP_STAT_SINCE_START, &table);
	if (arguments->repeated && counting->values)
		table.rows = means = mean_rows(counting, &table);
	table.means = means ? counting->values : NULL;
	table.elapsed_ns = counting->elapsed.mean;
	table.summary = arguments->interval_ms && !arguments->no_csv_summary;
	if (counting->style.kind == STAT_TEXT)
		stat_put_header(&counting->style, counting->what, counting->elapsed.count);
	if (counting->style.metric_only && !table.summary)
		stat_put_columns(&counting->style, &table);
	run->has_metrics |= stat_has_metrics(&table);
	if (!arguments->repeated || means)
		stat_put_table(&counting->style, &table);
	free(means);
	if (counting->style.kind != STAT_TEXT)
		return;
	struct stat_times times = {.elapsed = &counting->elapsed,
				   .null_run = arguments->options.events.time_only,
				   .runs_ns = arguments->table ? counting->runs_ns : NULL};
	/* CPU times are printed only if the command itself is counted, not with -a, -C, -p or -t. */
	const struct sp_stat_target *target = &arguments->options.target;
	bool own = !target->system_wide && !target->cpus && !target->pids.count && !target->tids.count;
	times.has_usage = own && sp_stat_times(run->stat, &times.user_ns, &times.system_ns);
	stat_put_footer(&counting->style, &times);
}

/* Prints notes and explanations of missing counts. */
static void notes_print(const struct run *run)
{
	const struct stat_arguments *arguments = run->counting->arguments;
	size_t count;
	const struct sp_stat_event *events = sp_stat_events(run->stat, &count);
	fflush(run->counting->style.out);
	for (size_t i = 0; i < sp_stat_note_count(run->stat) && !arguments->quiet; i++)
		diag_say("%s", sp_stat_note(run->stat, i));
	if (arguments->metric_only && !run->has_metrics && !arguments->quiet)
		diag_say("--metric-only: no metrics for these events; try -e "
			 "cycles,instructions,branches,branch-misses");
	/*
	 * Explains missing counts of events that the user named. For default events, "<not supported>"
	 * in the row is enough.
	 */
	bool explain = arguments->verbose || (arguments->events.count && !arguments->quiet &&
					      run->counting->style.kind == STAT_TEXT);
	for (size_t i = 0; i < count && explain; i++)
		if (events[i].why)
			diag_say("%s: %s", events[i].name, events[i].why);
}

static bool keep_time(struct counting *counting, double elapsed_ns)
{
	sp_stat_mean_add(&counting->elapsed, elapsed_ns);
	size_t runs = counting->elapsed.count;
	double *grown = counting->arguments->table ? realloc(counting->runs_ns, runs * sizeof(*grown)) : NULL;
	if (grown) {
		counting->runs_ns = grown;
		grown[runs - 1] = elapsed_ns;
	}
	return grown || !counting->arguments->table;
}

/* Adds a finished run to the means, and after the last run prints the result. */
void stat_run_finish(struct run *run, bool last)
{
	struct counting *counting = run->counting;
	const struct stat_arguments *arguments = counting->arguments;
	struct stat_table table;
	if (!keep_time(counting, (double)sp_stat_elapsed_ns(run->stat))) {
		diag_say("out of memory");
		counting->session.failed = true;
	}
	if (arguments->repeated) {
		fill_table(run, SP_STAT_SINCE_START, &table);
		add_to_means(counting, &table);
	}
	if (arguments->interval_ms && !arguments->summary) {
		if (last)
			notes_print(run);
		return;
	}
	if (last || !arguments->runs) {
		print_whole(run);
		notes_print(run);
	}
	fflush(counting->style.out);
	/* With -r 0, each run is printed on its own, so the mean begins again. */
	if (!arguments->runs)
		counting->elapsed = (struct sp_stat_mean){0};
}
