/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of rows that are fields of tracepoints, as in perf: FIELD, EVENT.FIELD, EVENT.* and
 * trace_fields, each with an optional suffix /raw. The parser only saves these words: which fields
 * exist is known when the recording is open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/report/report_arguments.h"
#include "command.h"
#include "diag.h"
#include "memory.h"

/* State while the words of one option (--sort or --fields) are replaced by keys. */
struct expanding {
	struct report_arguments *arguments;
	const struct sp_reader *reader;
	struct sp_trace *trace;
	const char *title; /* name of the option, for errors */
	unsigned int *to;  /* result: the keys */
	size_t count;
};

/* A word split into event and field, which point into `text`: do not copy this struct. */
struct typed_field {
	char text[256];
	const char *event; /* event's name; NULL: all events */
	const char *field;
	bool raw;
};

bool report_fields_add_word(struct report_arguments *arguments, const char *title, const char *word,
			    unsigned int *key_ret)
{
	size_t index = 0;
	while (index < arguments->word_count && strcmp(arguments->words[index], word) != 0)
		index++;
	if (index == SP_FIELDS_MAX || strlen(word) >= sizeof(((struct typed_field *)NULL)->text)) {
		diag_print("%s: '%s' is one field too many, or too long", title, word);
		return false;
	}
	if (index == arguments->word_count)
		arguments->words[arguments->word_count++] = xstrdup(word);
	*key_ret = SP_KEY_FIELD + (unsigned int)index;
	return true;
}

void report_fields_deinit(struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->word_count; i++)
		free(arguments->words[i]);
	for (size_t i = 0; i < arguments->field_count; i++) {
		free(arguments->field_own_names[i]);
		free(arguments->field_names[i]);
	}
	arguments->word_count = arguments->field_count = 0;
}

static bool is_tracepoint(const struct sp_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT;
}

static bool has_tracepoints(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (is_tracepoint(sp_reader_event(reader, i)))
			return true;
	return false;
}

/* Returns whether a row already has a member of this name: then the field's name gets a prefix. */
static bool is_taken(const char *name)
{
	enum sp_key key;
	return sp_key_parse(name, &key) || !strcmp(name, "build_id") ||
	       !strncmp(name, "self", 4) || !strncmp(name, "total", 5);
}

/* Returns the field's name as rows show it: "FIELD", "EVENT.FIELD/raw". */
static char *shown_name(const struct sp_reader *reader, const struct sp_field *field)
{
	const char *event = field->event >= 0 ?
				    sp_reader_event(reader, (size_t)field->event)->name :
			    is_taken(field->name) ? "*" : "";
	return xasprintf("%s%s%s%s", event, *event ? "." : "", field->name,
			 field->raw ? "/raw" : "");
}

/*
 * Adds the field to arguments->fields, and its key to of->to, unless they are there. event -1: the
 * field of all events. Returns false after printing an error.
 */
static bool take_field(struct expanding *of, int32_t event, const char *name, bool raw)
{
	struct report_arguments *a = of->arguments;
	size_t i = 0;
	for (; i < a->field_count; i++)
		if (a->fields[i].event == event && a->fields[i].raw == raw &&
		    !strcmp(a->fields[i].name, name))
			break;
	if (i == SP_FIELDS_MAX) {
		diag_print("%s: these are more than %d fields of tracepoints", of->title,
			   (int)SP_FIELDS_MAX);
		return false;
	}
	if (i == a->field_count) {
		char *copy = xstrdup(name);
		a->field_own_names[i] = copy;
		a->fields[i] = (struct sp_field){copy, event, raw};
		a->field_names[i] = shown_name(of->reader, &a->fields[i]);
		a->field_count++;
	}
	for (size_t j = 0; j < of->count; j++)
		if (of->to[j] == SP_KEY_FIELD + (unsigned int)i)
			return true;
	of->to[of->count++] = SP_KEY_FIELD + (unsigned int)i;
	return true;
}

static bool event_has_name(const struct sp_event *event, const char *name)
{
	return strchr(name, ':') ? !strcmp(event->name, name) : strstr(event->name, name) != NULL;
}

/*
 * Finds an event by "%2" (its number), "sched:sched_switch", or a part of its name. Returns its index,
 * or -1 after printing an error.
 */
static int32_t find_event(const struct expanding *of, const char *name)
{
	size_t count = sp_reader_event_count(of->reader);
	int32_t found = -1;
	char *end;
	unsigned long number = *name == '%' ? strtoul(name + 1, &end, 10) : 0;
	if (number >= 1 && number <= count && !*end)
		return (int32_t)(number - 1);
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *event = sp_reader_event(of->reader, i);
		if (!event_has_name(event, name))
			continue;
		if (found >= 0) {
			diag_print("%s: '%s' may be %s and %s", of->title, name,
				   sp_reader_event(of->reader, (size_t)found)->name, event->name);
			return -1;
		}
		found = (int32_t)i;
	}
	if (found < 0)
		diag_print("%s: the recording has no event '%s'", of->title, name);
	return found;
}

/*
 * Adds all fields that an event defines. `as`: the index of this event to limit the keys to it, or -1
 * for all events that have such a field.
 */
static bool take_all(struct expanding *of, size_t event, int32_t as, bool raw)
{
	const struct sp_event *from = sp_reader_event(of->reader, event);
	size_t count = sp_trace_field_count(of->trace, from);
	for (size_t i = 0; i < count; i++)
		if (!take_field(of, as, sp_trace_field_name(of->trace, from, i), raw))
			return false;
	return true;
}

/*
 * Adds the fields for EVENT.FIELD or EVENT.*. Returns -1, or the exit status after printing an error.
 */
static int take_of_event(struct expanding *of, const struct typed_field *word)
{
	int32_t event = find_event(of, word->event);
	if (event < 0)
		return EXIT_USAGE;
	const struct sp_event *from = sp_reader_event(of->reader, (size_t)event);
	if (!sp_trace_field_count(of->trace, from)) {
		diag_print(is_tracepoint(from) ? "%s: the recording has no list of the fields of %s"
					       : "%s: %s is no tracepoint, and has no fields",
			   of->title, from->name);
		return EXIT_USAGE;
	}
	if (!strcmp(word->field, "*"))
		return take_all(of, (size_t)event, event, word->raw) ? -1 : EXIT_USAGE;
	if (sp_trace_has_field(of->trace, from, word->field))
		return take_field(of, event, word->field, word->raw) ? -1 : EXIT_USAGE;
	diag_print("%s: %s has no field '%s'", of->title, from->name, word->field);
	return EXIT_USAGE;
}

/*
 * Adds the fields for FIELD, *.FIELD or trace_fields. Returns -1, or the exit status after printing an
 * error.
 */
static int take_of_all(struct expanding *of, const struct typed_field *word)
{
	bool all = !strcmp(word->field, "trace_fields"), found = false;
	for (size_t i = 0; i < sp_reader_event_count(of->reader); i++) {
		const struct sp_event *event = sp_reader_event(of->reader, i);
		bool here = all ? sp_trace_field_count(of->trace, event) > 0
				: sp_trace_has_field(of->trace, event, word->field);
		if (here && all && !take_all(of, i, -1, word->raw))
			return EXIT_USAGE;
		found |= here;
	}
	if (!found && all) {
		diag_print("%s: the recording has no lists of its tracepoints' fields",
			   of->title);
		return EXIT_USAGE;
	}
	if (!found)
		return report_key_reject(of->title, word->text);
	return all || take_field(of, -1, word->field, word->raw) ? -1 : EXIT_USAGE;
}

static void take_apart(const char *text, struct typed_field *word)
{
	snprintf(word->text, sizeof(word->text), "%s", text);
	char *slash = strrchr(word->text, '/'), *dot = strchr(word->text, '.');
	word->raw = slash && !strcmp(slash, "/raw");
	if (word->raw)
		*slash = '\0';
	if (dot)
		*dot = '\0';
	word->event = dot && strcmp(word->text, "*") != 0 ? word->text : NULL;
	word->field = dot ? dot + 1 : word->text;
}

/*
 * Copies keys to of->to, but replaces keys that stand for a saved word by the fields that it names.
 * Returns -1, or the exit status after printing an error.
 */
static int expand(struct expanding *of, const unsigned int *from, size_t count)
{
	of->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (from[i] < SP_KEY_FIELD || from[i] >= SP_KEY_LIMIT) {
			of->to[of->count++] = from[i];
			continue;
		}
		struct typed_field word;
		take_apart(of->arguments->words[from[i] - SP_KEY_FIELD], &word);
		int status = word.event ? take_of_event(of, &word) : take_of_all(of, &word);
		if (status >= 0)
			return status;
	}
	return -1;
}

/*
 * Replaces all saved words by the fields that they name, in a recording with tracepoint samples.
 * Returns -1, or the exit status after printing an error.
 */
static int expand_all(struct report_arguments *a, const struct sp_reader *reader,
		      struct sp_trace *trace)
{
	unsigned int from[REPORT_COLUMN_END], to[REPORT_COLUMN_END];
	struct expanding of = {.arguments = a, .reader = reader, .trace = trace, .to = to,
			       .title = "--sort"};
	for (size_t i = 0; i < a->key_count; i++)
		from[i] = a->keys[i];
	int status = expand(&of, from, a->key_count);
	if (status >= 0)
		return status;
	a->key_count = 0;
	for (size_t i = 0; i < of.count; i++)
		report_key_add(a, (enum sp_key)to[i]);
	of.title = "-F, --fields";
	memcpy(from, a->columns, a->column_count * sizeof(*from));
	status = expand(&of, from, a->column_count);
	if (status >= 0)
		return status;
	memcpy(a->columns, to, of.count * sizeof(*to));
	a->column_count = of.count;
	return -1;
}

/* Returns the option that a saved word was given with. */
static const char *option_of(const struct report_arguments *arguments, size_t word)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (arguments->keys[i] == SP_KEY_FIELD + word)
			return "--sort";
	return "-F, --fields";
}

static bool asks_for_traces(const struct report_arguments *arguments)
{
	bool any = arguments->word_count > 0;
	for (size_t i = 0; i < arguments->key_count; i++)
		any |= arguments->keys[i] == SP_KEY_TRACE;
	for (size_t i = 0; i < arguments->column_count; i++)
		any |= arguments->columns[i] == SP_KEY_TRACE;
	return any;
}

int report_fields_resolve(struct report_arguments *arguments, struct sp_ctx *ctx,
			  const struct sp_reader *reader)
{
	struct sp_trace *trace = NULL;
	if (!asks_for_traces(arguments))
		return -1;
	if (!has_tracepoints(reader)) {
		for (size_t i = 0; i < arguments->word_count; i++)
			if (strcmp(arguments->words[i], "trace_fields") != 0 &&
			    !strchr(arguments->words[i], '.'))
				return report_key_reject(option_of(arguments, i), arguments->words[i]);
		diag_print("%s has no tracepoints; 'record -e sched:sched_switch' records one",
			   sp_reader_info(reader)->path);
		return 1;
	}
	struct sp_error *error = sp_trace_new(ctx, reader, &trace);
	if (error) {
		diag_error(error);
		return 1;
	}
	int status = expand_all(arguments, reader, trace);
	sp_trace_free(trace);
	return status;
}
