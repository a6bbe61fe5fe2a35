/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof stat report` prints a file's counts as `sprof stat` would have printed them. */
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "cmd/stat/stat.h"
#include "command.h"
#include "diag.h"
#include "input.h"

struct report {
	const char *input, *separator;
	bool json, metric_only, has_aggregate;
	enum sp_stat_aggregate aggregate;
	int big_numbers;
};

static bool by_name(const struct option *option, const char *text)
{
	static const struct {
		const char *name;
		enum sp_stat_aggregate aggregate;
	} names[] = {
		{"no-aggr", SP_STAT_CPU},	{"per-core", SP_STAT_CORE}, {"per-die", SP_STAT_DIE},
		{"per-socket", SP_STAT_SOCKET}, {"per-node", SP_STAT_NODE}, {"per-thread", SP_STAT_THREAD},
	};
	struct report *report = option->value;
	(void)text;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(option->name, names[i].name))
			report->aggregate = names[i].aggregate;
	report->has_aggregate = true;
	return true;
}

static int parse(struct report *report, int argc, char **argv)
{
	const struct option table[] = {
		OPTION_STRING('i', "input", "FILE", &report->input,
			      "read FILE (default: sprof.data; -: stdin)"),
		OPTION_CALL('A', "no-aggr", NULL, report, by_name, "print counts per CPU"),
		OPTION_CALL(0, "per-core", NULL, report, by_name, "sum counts per core"),
		OPTION_CALL(0, "per-die", NULL, report, by_name, "sum counts per die"),
		OPTION_CALL(0, "per-socket", NULL, report, by_name, "sum counts per socket"),
		OPTION_CALL(0, "per-node", NULL, report, by_name, "sum counts per NUMA node"),
		OPTION_CALL(0, "per-thread", NULL, report, by_name, "sum counts per thread"),
		OPTION_STRING('x', "field-separator", "SEP", &report->separator,
			      "print CSV as perf does, with SEP between columns"),
		OPTION_FLAG('j', "json-output", &report->json, "print perf's JSON, one object per line"),
		OPTION_FLAG(0, "metric-only", &report->metric_only,
			    "print derived metrics (IPC, miss rates, ...) only"),
		OPTION_CHOICE('B', "big-num", &report->big_numbers,
			      "print thousands separators of the locale (default)"),
		OPTION_END,
	};
	const char *const synopses[] = {"sprof stat report [-i FILE] [OPTION]...", NULL};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Shows the counts in a file of sprof stat record or perf stat record.",
		.example = "sprof stat report -i counts.data",
		.options = table,
	};
	int operands = argc;
	int status = options_parse(&usage, argc, argv, &operands);
	if (status < 0 && operands < argc) {
		diag_say("unexpected operand '%s': use 'sprof stat report -i FILE'", argv[operands]);
		status = EXIT_USAGE;
	}
	return status;
}

static void fill(struct sp_stat *stat, struct stat_table *table)
{
	table->events = sp_stat_events(stat, &table->event_count);
	table->places = sp_stat_places(stat, &table->place_count);
}

/* Prints the header with the counted command, from the command line in the file. */
static void put_header(const struct stat_style *style, const struct sp_reader *reader)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	fputc('\'', out);
	for (const char *const *word = info->cmdline; word && *word; word++)
		fprintf(out, "%s%s", word == info->cmdline ? "" : " ", *word);
	fprintf(out, "%s'", info->cmdline ? "" : info->path);
	fclose(out);
	stat_put_header(style, text, 1);
	free(text);
}

/* Prints the counts of one round: of an interval, or at the end the total counts. */
static struct sp_error *put_round(struct sp_stat *stat, const struct stat_style *style, bool last,
				  uint64_t *before_ns, uint64_t number)
{
	struct stat_table table = {0};
	uint64_t elapsed_ns = sp_stat_elapsed_ns(stat);
	struct sp_error *error =
		sp_stat_rows(stat, last ? SP_STAT_SINCE_START : SP_STAT_SINCE_MARK, &table.rows);
	if (error)
		return error;
	fill(stat, &table);
	table.has_time = !last;
	table.time_ns = (double)elapsed_ns;
	table.elapsed_ns = (double)(last ? elapsed_ns : elapsed_ns - *before_ns);
	bool titled = style->kind == STAT_TEXT ? !last && number % 25 == 0
					       : style->metric_only && !number;
	if (titled || (style->metric_only && last && style->kind == STAT_TEXT))
		stat_put_columns(style, &table);
	stat_put_table(style, &table);
	sp_stat_mark(stat);
	*before_ns = elapsed_ns;
	return NULL;
}

static struct sp_error *put_all(struct sp_stat *stat, const struct sp_reader *reader,
				const struct stat_style *style)
{
	bool intervals = sp_stat_interval_ms(stat) > 0;
	uint64_t before_ns = 0, number = 0;
	enum sp_stat_step round;
	for (;;) {
		struct sp_error *error = sp_stat_next_round(stat, &round);
		if (error || round == SP_STAT_STEP_NONE)
			return error;
		bool last = round == SP_STAT_STEP_LAST;
		if (last && intervals)
			continue; /* intervals were printed; no total */
		if (last && style->kind == STAT_TEXT)
			put_header(style, reader);
		error = put_round(stat, style, last, &before_ns, number++);
		if (error)
			return error;
		if (!last || style->kind != STAT_TEXT)
			continue;
		struct sp_stat_mean elapsed = {0};
		sp_stat_mean_add(&elapsed, (double)sp_stat_elapsed_ns(stat));
		stat_put_footer(style, &(struct stat_times){.elapsed = &elapsed});
	}
}

int stat_report(struct sp_ctx *ctx, int argc, char **argv)
{
	struct report report = {.big_numbers = -1};
	struct sp_stat *stat = NULL;
	int status = parse(&report, argc, argv);
	if (status >= 0)
		return status;
	struct sp_reader *reader = input_open(ctx, report.input);
	if (!reader)
		return 1;
	struct sp_error *error =
		sp_stat_load(ctx, reader, report.has_aggregate ? &report.aggregate : NULL, &stat);
	if (!error) {
		const struct stat_style style = {
			.out = stdout,
			.kind = report.json ? STAT_JSON : report.separator ? STAT_CSV : STAT_TEXT,
			.separator = report.separator,
			.big_numbers = report.big_numbers != 0,
			.aggregate = sp_stat_aggregate(stat),
			.metric_only = report.metric_only,
		};
		error = put_all(stat, reader, &style);
	}
	status = error ? 1 : input_print_damage(reader);
	for (size_t i = 0; stat && i < sp_stat_note_count(stat); i++) {
		diag_say("%s: %s", sp_reader_info(reader)->path, sp_stat_note(stat, i));
		status = 1;
	}
	diag_error(error);
	sp_stat_free(stat);
	sp_reader_free(reader);
	return status;
}
