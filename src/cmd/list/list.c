/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof list` prints the events of this machine and the limits of their use. */
#include <stdlib.h>
#include <string.h>
#include <sprof/private/fields.h>
#include "command.h"
#include "diag.h"
#include "json.h"
#include "options.h"
#include "pager.h"
#include "term.h"
#include "text.h"

#define NAME_WIDTH 50

enum list_format { LIST_TEXT, LIST_JSON };

struct list {
	enum list_format format;
	bool json; /* --json, equal to --format json */
	bool limits, long_desc, details, desc;
	const char *pmu;
	const char *output; /* output file; NULL: standard output, by the pager */
};

static void entry_text(FILE *out, const struct list *list, const struct sp_catalog_entry *entry)
{
	const struct term term = {.utf8 = text_form_shown() == TEXT_SHOWN};
	fputs("  ", out);
	int width = term_put(&term, entry->name, 0, out);
	if (entry->alias)
		width += fprintf(out, " OR ") + term_put(&term, entry->alias, 0, out);
	term_pad(NAME_WIDTH - width, out);
	fprintf(out, " [%s]\n", entry->type);
	if (list->desc && entry->description)
		fprintf(out, "       [%s]\n", entry->description);
	if (list->details && entry->encoding)
		fprintf(out, "        %s/%s/%s%s\n", entry->pmu, entry->encoding,
			entry->unit ? " in " : "", entry->unit ? entry->unit : "");
	if (list->long_desc && entry->details)
		fprintf(out, "       [%s]\n", entry->details);
}

/* Writes an event with the member names of `perf list --json`. */
static void entry_json(struct json *json, const struct sp_catalog_entry *entry)
{
	json_begin(json, NULL, '{');
	json_string(json, "Unit", entry->pmu);
	json_string(json, "EventName", entry->name);
	json_string(json, "EventAlias", entry->alias);
	json_string(json, "EventType", entry->type);
	json_string(json, "BriefDescription", entry->description);
	json_string(json, "PublicDescription", entry->details);
	json_string(json, "Encoding", entry->encoding);
	json_string(json, "ScaleUnit", entry->unit);
	json_end(json, '}');
}

/* Prints why no event matches, for example that the machine has no hardware counters. */
static void no_events_explain(const struct sp_catalog_options *options)
{
	static const struct {
		const char *kind, *why;
	} kinds[] = {
		{"hw", "the kernel has no hardware counters for this machine; a virtual machine has them "
		       "only if its host passes them on"},
		{"cache", "the kernel has no hardware counters for this machine"},
		{"tracepoint", "tracefs is not mounted, or this user may not read it"},
		{"pmu", "/sys/bus/event_source has no PMU that names events"},
		{"metric", "metrics are formulas in perf's own database; use 'perf list metric'"},
		{"metricgroup", "metrics are formulas in perf's own database; use 'perf list metric'"},
		{"sdt", "use -e uprobe:PROGRAM:FUNCTION"},
		{"pfm", "libpfm is not installed or has no events for this processor"},
	};
	for (size_t i = 0; i < options->patterns.count; i++)
		for (size_t j = 0; j < sizeof(kinds) / sizeof(*kinds); j++)
			if (!strcmp(options->patterns.items[i], kinds[j].kind)) {
				diag_print("%s: none: %s", kinds[j].kind, kinds[j].why);
				return;
			}
	diag_print("no event matches; 'sprof list' shows all");
}

static int show_events(struct sp_ctx *ctx, const struct list *list,
		       const struct sp_catalog_options *options)
{
	struct sp_catalog *catalog;
	struct sp_error *error = sp_catalog_new(ctx, options, &catalog);
	if (error) {
		diag_error(error);
		return 1;
	}
	struct pager pager = pager_open(list->output, list->format == LIST_TEXT);
	if (!pager.out) {
		sp_catalog_free(catalog);
		return 1;
	}
	struct json json = {.out = pager.out};
	size_t count = sp_catalog_entry_count(catalog);
	if (list->format == LIST_JSON)
		json_begin_lines(&json, NULL, '[');
	for (size_t i = 0; i < count; i++) {
		const struct sp_catalog_entry *entry = sp_catalog_entry(catalog, i);
		if (list->format == LIST_JSON)
			entry_json(&json, entry);
		else
			entry_text(pager.out, list, entry);
	}
	if (list->format == LIST_JSON)
		json_end_lines(&json, ']');
	int status = pager_close(&pager);
	const char *note;
	for (size_t i = 0; (note = sp_catalog_note(catalog, i)); i++)
		diag_print("%s", note);
	if (!count)
		no_events_explain(options);
	sp_catalog_free(catalog);
	return status ? status : !count;
}

static void limit_text(FILE *out, const struct term *term, const struct sp_limit *limit)
{
	fprintf(out, "%s: %s\n", limit->name, limit->value ? limit->value : "absent");
	term_pad(4, out);
	term_wrap(term, limit->meaning, 4, 4, 0, out);
	if (limit->remedy) {
		int column = fprintf(out, "    to allow more: ");
		term_wrap(term, limit->remedy, column, 6, 0, out);
	}
}

/* Returns the first field that has the need of the field at `index`. */
static size_t first_in_need(const struct sp_attr_field *fields, size_t index)
{
	size_t first = 0;
	while (!fields[first].needs || strcmp(fields[first].needs, fields[index].needs))
		first++;
	return first;
}

static void limits_text(FILE *out, const struct term *term, const struct sp_limits *limits,
			const struct sp_attr_field *fields, size_t field_count)
{
	for (size_t i = 0; i < sp_limits_entry_count(limits); i++)
		limit_text(out, term, sp_limits_entry(limits, i));
	fputs("\nperf_event_attr fields that this kernel supports, "
	      "with the first Linux that did:\n",
	      out);
	for (size_t i = 0; i < field_count; i++) {
		const struct sp_attr_field *field = &fields[i];
		size_t need = 0;
		for (size_t j = 0; field->needs && j <= first_in_need(fields, i); j++)
			need += fields[j].needs && first_in_need(fields, j) == j;
		fprintf(out, "  %-3s  %-30s %-*s", field->known ? "yes" : "no", field->name,
			field->option || need ? 6 : 0, field->since);
		if (field->option)
			fprintf(out, " %s", field->option);
		if (need)
			fprintf(out, " [%zu]", need);
		fputc('\n', out);
	}
	for (size_t i = 0, need = 0; i < field_count; i++) {
		if (!fields[i].needs || first_in_need(fields, i) != i)
			continue;
		int column = fprintf(out, "  [%zu] needs ", ++need);
		term_wrap(term, fields[i].needs, column, 6, 0, out);
	}
}

static void limits_json(FILE *out, const struct sp_limits *limits,
			const struct sp_attr_field *fields, size_t field_count)
{
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	json_unsigned(&json, "sprof", 1);
	json_begin_lines(&json, "limits", '[');
	for (size_t i = 0; i < sp_limits_entry_count(limits); i++) {
		const struct sp_limit *limit = sp_limits_entry(limits, i);
		json_begin(&json, NULL, '{');
		json_string(&json, "name", limit->name);
		json_string(&json, "path", limit->path);
		json_string(&json, "value", limit->value);
		json_string(&json, "meaning", limit->meaning);
		json_string(&json, "remedy", limit->remedy);
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	json_begin_lines(&json, "attr", '[');
	for (size_t i = 0; i < field_count; i++) {
		json_begin(&json, NULL, '{');
		json_string(&json, "name", fields[i].name);
		json_bool(&json, "known", fields[i].known);
		json_string(&json, "since", fields[i].since);
		json_string(&json, "option", fields[i].option);
		json_string(&json, "needs", fields[i].needs);
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
}

static int show_limits(struct sp_ctx *ctx, const struct list *list)
{
	struct sp_limits *limits = NULL;
	struct sp_attr_field *fields = NULL;
	size_t field_count = 0;
	struct sp_error *error = sp_limits_new(ctx, &limits);
	if (error) {
		diag_error(error);
		return 1;
	}
	/* An error here is no failure: the limits printed below explain missing events. */
	error = sp_attr_fields(ctx, &fields, &field_count);
	struct term term = term_of_output(list->output, TERM_COLOUR_NEVER);
	if (!term.width)
		term.width = 80;
	struct pager pager = pager_open(list->output, list->format == LIST_TEXT);
	if (!pager.out) {
		sp_error_free(error);
		free(fields);
		sp_limits_free(limits);
		return 1;
	}
	if (list->format == LIST_JSON)
		limits_json(pager.out, limits, fields, field_count);
	else
		limits_text(pager.out, &term, limits, fields, field_count);
	int status = pager_close(&pager);
	if (error)
		diag_error(error);
	free(fields);
	sp_limits_free(limits);
	return status;
}

static int list_run(struct sp_ctx *ctx, int argc, char **argv)
{
	struct list list = {.desc = true};
	const struct option options[] = {
		OPTION_FLAG(0, "limits", &list.limits,
			    "list the limits of recording on this machine, and the "
			    "perf_event_open(2) fields of this kernel"),
		OPTION_FLAG('v', "long-desc", &list.long_desc, "print tracepoints' fields, too"),
		OPTION_FLAG(0, "details", &list.details, "print the encoding of PMU events, too"),
		OPTION_FLAG('d', "desc", &list.desc,
			    "print descriptions (default; --no-desc: do not)"),
		OPTION_STRING(0, "unit", "PMU", &list.pmu, "list events of this PMU only"),
		OPTION_WORD(0, "format", "FORMAT", &list.format, "text or json",
			    "print text or json"),
		OPTION_FLAG('j', "json", &list.json, "same as --format json"),
		OPTION_STRING('o', "output", "FILE", &list.output, "write to FILE"),
		OPTION_END,
	};
	static const struct option_refusal refusals[] = {
		{0, "deprecated", "only kernel and libpfm events are listed"},
		{0, "debug", "problems are always reported"},
		{0, NULL, NULL},
	};
	static const char *const synopses[] = {"sprof list [OPTION]... [PATTERN]...",
					       "sprof list --limits", NULL};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Lists the events of this machine by their names for -e.",
		.example = "sprof list 'sched:*'",
		.options = options,
		.refusals = refusals,
		.footer = "PATTERN: a kind (hw, sw, cache, pmu, tracepoint, mem, probe, raw, tool, pfm),\n"
			  "a glob, or part of a name.",
	};
	int operand;
	int status = options_parse(&usage, argc, argv, &operand);
	if (status >= 0)
		return status;
	if (list.json)
		list.format = LIST_JSON;
	if (list.limits && operand < argc) {
		diag_print("--limits takes no pattern: '%s'", argv[operand]);
		return EXIT_USAGE;
	}
	if (list.limits)
		return show_limits(ctx, &list);
	const struct sp_catalog_options wanted = {
		.patterns = {(const char *const *)argv + operand, (size_t)(argc - operand)},
		.pmu = list.pmu,
		.details = list.long_desc || list.format == LIST_JSON,
	};
	return show_events(ctx, &list, &wanted);
}

const struct command command_list = {
	.name = "list",
	.summary = "list the events and the limits of this machine",
	.run = list_run,
};
