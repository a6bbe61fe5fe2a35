/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of PMUs. A term is a field, or a named event in sysfs. The event's file has terms itself
 * ("event=0x3c,umask=1", or "event=0x13,core=?": then the user gives core=1). As in perf, config=
 * and similar terms are applied first, and fields are added to them.
 */
#include "event/parser.h"

#include "base/cleanup.h"
#include "base/format.h"
#include "event/event_names.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

struct pmu_event_parser {
	struct parser *parser;
	const struct pmu *pmu;
	struct event_spec *spec;
	struct terms *terms;
};

static void set_field(struct event_spec *spec, const struct pmu_format *format, uint64_t value)
{
	uint64_t bits = pmu_format_encode(format, value);
	switch (format->config) {
	case 0:
		spec->attr.config |= bits;
		break;
	case 1:
		spec->attr.config1 |= bits;
		break;
	case 2:
		spec->attr.config2 |= bits;
		break;
	case 3:
		spec->tail.config3 |= bits;
		break;
	default:
		spec->tail.config4 |= bits;
	}
}

static struct sp_error *apply_field(const struct pmu_event_parser *event,
				    const struct pmu_format *format, struct parsed_term *term)
{
	uint64_t value = 1;
	struct sp_error *error;
	const char *place = term->value.text ? term->value.text : term->name.text;
	term->used = true;
	if (term->value.text && !slice_number(term->value, &value)) {
		error = parser_error(event->parser, place, "'%.*s' is no value of %s",
				     (int)term->value.size, term->value.text, format->name);
		return error_set_remedy(error, "use a number, for example 10 or 0xa");
	}
	if (value > pmu_format_max(format)) {
		error = parser_error(event->parser, place, "0x%llx is too large for %s of PMU %s",
				     (unsigned long long)value, format->name, event->pmu->name);
		return error_set_remedy(error, "the maximum is 0x%llx",
					(unsigned long long)pmu_format_max(format));
	}
	set_field(event->spec, format, value);
	return NULL;
}

static struct parsed_term *find_term(const struct terms *terms, struct text_slice name)
{
	vec_each (term, terms)
		if (term->name.size == name.size &&
		    memcmp(term->name.text, name.text, name.size) == 0)
			return term;
	return NULL;
}

static struct sp_error *bad_event_file(const struct pmu_event_parser *event,
				       const struct pmu_event *named)
{
	struct sp_error *error = error_new(SP_ERROR_FORMAT, PMU_DEVICES "/%s/events/%s: "
					   "unknown syntax \"%s\"", event->pmu->name, named->name,
					   named->terms);
	return error_set_remedy(error, "use the event's fields: %s/FIELD=NUMBER,…/",
				event->pmu->name);
}

/* Applies one "NAME[=VALUE]" of an event's file. */
static struct sp_error *apply_named_term(const struct pmu_event_parser *event,
					 const struct pmu_event *named, struct text_slice text)
{
	const char *equals = memchr(text.text, '=', text.size);
	struct text_slice name = equals ? slice_between(text.text, equals) : text;
	struct text_slice value = equals ? slice_between(equals + 1, text.text + text.size) :
			     (struct text_slice){"1", 1};
	const struct pmu_format *format = pmu_format_find(event->pmu, name.text, name.size);
	uint64_t number;
	if (slice_is(value, "?")) {
		struct parsed_term *given = find_term(event->terms, name);
		if (given && format)
			return apply_field(event, format, given);
		return error_set_remedy(parser_error(event->parser, event->parser->pos,
						     "event %s needs a value for %.*s", named->name,
						     (int)name.size, name.text),
					"add %.*s=NUMBER", (int)name.size, name.text);
	}
	/* Fields for raw configs, in PMUs without formats. */
	static const struct pmu_format whole[] = {
		{"config", 0, ~UINT64_C(0)}, {"config1", 1, ~UINT64_C(0)},
		{"config2", 2, ~UINT64_C(0)}, {"config3", 3, ~UINT64_C(0)},
		{"config4", 4, ~UINT64_C(0)},
	};
	for (size_t i = 0; i < PMU_CONFIG_COUNT && !format; i++)
		if (slice_is(name, whole[i].name))
			format = &whole[i];
	if (slice_is(name, "period") && slice_number(value, &number)) {
		if (!(event->spec->terms.given & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ))) {
			event->spec->terms.given |= EVENT_TERM_PERIOD;
			event->spec->terms.period = number;
		}
		return NULL;
	}
	if (!format || !slice_number(value, &number) || number > pmu_format_max(format))
		return bad_event_file(event, named);
	set_field(event->spec, format, number);
	return NULL;
}

static struct sp_error *apply_named(const struct pmu_event_parser *event,
				    const struct pmu_event *named)
{
	const char *text = named->terms;
	struct sp_error *error = NULL;
	while (*text && !error) {
		size_t size = strcspn(text, ",");
		error = apply_named_term(event, named, (struct text_slice){text, size});
		text += size + (text[size] == ',');
	}
	event->spec->unit = named->unit;
	event->spec->scale = named->scale;
	event->spec->snapshot = named->snapshot;
	event->spec->per_package = named->per_package;
	return error;
}

/*
 * Applies NAME, or event=NAME, of an event that the PMU names. Fields of the same name have precedence.
 */
static struct sp_error *try_named(const struct pmu_event_parser *event, struct parsed_term *term)
{
	struct pmu_event named;
	struct text_slice name = term->name;
	uint64_t number;
	if (term->value.text) {
		if (!slice_is(name, "event") || slice_number(term->value, &number))
			return NULL;
		name = term->value;
	} else if (pmu_format_find(event->pmu, name.text, name.size)) {
		return NULL;
	}
	struct sp_error *error =
		pmu_event_find(&event->parser->pmus, event->pmu, name.text, name.size, &named);
	if (error || !named.name)
		return error;
	term->used = true;
	return apply_named(event, &named);
}

/*
 * Applies a generic event of one kind of CPU, cpu_core/cycles/: the PMU's type is in the config's upper
 * half. Linux before 5.13 refuses it, and "cpu", the only kind of CPU, needs none.
 */
static bool try_generic(const struct pmu_event_parser *event, struct parsed_term *term)
{
	struct event_code code;
	if (term->value.text || !event->pmu->is_core ||
	    !event_name_find(term->name.text, term->name.size, &code) ||
	    code.type == PERF_TYPE_SOFTWARE)
		return false;
	event->spec->attr.type = code.type;
	event->spec->attr.config |= code.config;
	if (strcmp(event->pmu->name, "cpu"))
		event->spec->attr.config |= (uint64_t)event->pmu->type << 32;
	return term->used = true;
}

/*
 * Applies "@tmc_etr0" of CoreSight: the sink of the trace. The driver identifies sinks by hashes, in
 * the lower half of config2, and has files with them (drivers/hwtracing/coresight).
 */
static struct sp_error *apply_sink(const struct pmu_event_parser *event, struct parsed_term *term)
{
	const struct text_slice name = {term->name.text + 1, term->name.size - 1};
	CLEANUP_FREE char *path = format_text(PMU_DEVICES "/%s/sinks/%.*s", event->pmu->name,
					      (int)name.size, name.text);
	CLEANUP_FREE char *text = NULL;
	unsigned int hash;
	NEED(path);
	if (!name.size || memchr(name.text, '/', name.size) ||
	    sysfs_read(event->parser->ctx, path, &text, NULL) || sscanf(text, "%x", &hash) != 1)
		return error_set_remedy(parser_error(event->parser, term->name.text,
						     "%s has no sink '%.*s'", event->pmu->name,
						     (int)name.size, name.text),
					"its sinks are the files of " PMU_DEVICES "/%s/sinks",
					event->pmu->name);
	event->spec->attr.config2 |= hash;
	term->used = true;
	return NULL;
}

/* Whether the PMU's driver has settings that are not fields. */
static bool has_sinks(const struct pmu *pmu)
{
	return !strcmp(pmu->name, "cs_etm");
}

static struct sp_error *apply_terms(const struct pmu_event_parser *event)
{
	struct sp_error *error = terms_apply_general(event->parser, event->terms, event->spec);
	for (size_t i = 0; i < event->terms->count && !error; i++) {
		struct parsed_term *term = &event->terms->items[i];
		if (term->used)
			continue;
		if (*term->name.text == '@' && has_sinks(event->pmu)) {
			error = apply_sink(event, term);
			continue;
		}
		error = try_named(event, term);
		if (error || term->used)
			continue;
		const struct pmu_format *format =
			pmu_format_find(event->pmu, term->name.text, term->name.size);
		if (format)
			error = apply_field(event, format, term);
		else
			try_generic(event, term);
	}
	return error ? error : terms_check_used(event->parser, event->terms, event->pmu);
}

static void take_pmu(struct event_spec *spec, const struct pmu *pmu)
{
	spec->pmu = pmu->name;
	spec->attr.type = pmu->type;
	spec->cpus_only = pmu->is_uncore;
	if (pmu->cpus && !spec->cpus) {
		spec->cpus = pmu->cpus;
		spec->cpu_count = pmu->cpu_count;
	}
}

/* Adds the event of one selected PMU. Marks of used terms begin anew for each PMU. */
static struct sp_error *add_of_pmu(struct parser *parser, struct pmu *pmu, struct terms *terms)
{
	struct event_spec spec = event_spec_make(parser);
	const struct pmu_event_parser event = {parser, pmu, &spec, terms};
	struct sp_error *error = pmu_load(&parser->pmus, pmu);
	if (error)
		return error_set_remedy(parser_prefix_error(parser, parser->pos, error),
					"use an event of another PMU");
	vec_each (term, terms)
		term->used = false;
	take_pmu(&spec, pmu);
	TRY(apply_terms(&event));
	return parser_add(parser, &spec);
}

/* Returns the error, with the existing PMUs: "cpu, msr, software". */
static struct sp_error *unknown_pmu(struct parser *parser, struct text_slice name)
{
	CLEANUP_FREE char *list = strdup("");
	for (size_t i = 0; i < parser->pmus.count && list; i++) {
		char *longer = format_text("%s%s%s", list, i ? ", " : "", parser->pmus.items[i].name);
		free(list);
		list = longer;
	}
	NEED(list);
	struct sp_error *error = parser_error(parser, name.text, "unknown event or PMU '%.*s'",
					      (int)name.size, name.text);
	if (!*list)
		return error_set_remedy(error, "no PMU is known: /sys/bus/event_source does not exist");
	return error_set_remedy(error, "PMUs of this machine: %s", list);
}

/* Names a spec by its PMU if several PMUs were selected by one name. */
static struct sp_error *name_of_pmu(struct parser *parser, size_t index, struct text_slice typed)
{
	struct event_spec *spec = &parser->specs->items[index];
	if (spec->name)
		return NULL;
	CLEANUP_FREE char *name =
		format_text("%s%.*s", spec->pmu, (int)(parser->pos - typed.text - typed.size),
			    typed.text + typed.size);
	spec->name =
		name ? parser_copy_slice(parser, (struct text_slice){name, strlen(name)}) : NULL;
	return spec->name ? NULL : error_no_memory();
}

struct sp_error *parse_pmu_event(struct parser *parser, struct text_slice name)
{
	CLEANUP(cleanup_terms) struct terms terms = {0};
	size_t before = parser->specs->count;
	TRY(parser_load_pmus(parser));
	struct sp_error *error = terms_read(parser, &terms);
	if (error)
		return error;
	struct pmu *exact = pmus_find(&parser->pmus, name.text, name.size);
	if (exact)
		return add_of_pmu(parser, exact, &terms);
	for (size_t i = 0; i < parser->pmus.count && !error; i++)
		if (pmu_matches(&parser->pmus.items[i], name.text, name.size))
			error = add_of_pmu(parser, &parser->pmus.items[i], &terms);
	for (size_t i = before; i < parser->specs->count && !error; i++)
		error = name_of_pmu(parser, i, name);
	if (error || parser->specs->count > before)
		return error;
	return unknown_pmu(parser, name);
}

static struct sp_error *add_named(struct parser *parser, struct pmu *pmu,
				  const struct pmu_event *named)
{
	struct terms none = {0};
	struct event_spec spec = event_spec_make(parser);
	const struct pmu_event_parser event = {parser, pmu, &spec, &none};
	TRY(pmu_load(&parser->pmus, pmu));
	take_pmu(&spec, pmu);
	TRY(apply_named(&event, named));
	return parser_add(parser, &spec);
}

struct sp_error *parse_plain_pmu_event(struct parser *parser, struct text_slice name,
				       bool *found_ret)
{
	struct sp_error *error = parser_load_pmus(parser);
	*found_ret = false;
	for (size_t i = 0; i < parser->pmus.count && !error; i++) {
		struct pmu *pmu = &parser->pmus.items[i];
		struct pmu_event named;
		error = pmu_event_find(&parser->pmus, pmu, name.text, name.size, &named);
		if (error || !named.name)
			continue;
		error = add_named(parser, pmu, &named);
		*found_ret = true;
	}
	return error;
}

struct sp_error *parse_hybrid_event(struct parser *parser, struct text_slice name,
				    const struct event_spec *spec, bool *found_ret)
{
	size_t kinds = 0;
	*found_ret = false;
	struct sp_error *error = parser_load_pmus(parser);
	for (size_t i = 0; i < parser->pmus.count && !error; i++)
		kinds += parser->pmus.items[i].is_core;
	for (size_t i = 0; i < parser->pmus.count && !error && kinds > 1; i++) {
		struct pmu *pmu = &parser->pmus.items[i];
		struct event_spec own = *spec;
		if (!pmu->is_core)
			continue;
		TRY(pmu_load(&parser->pmus, pmu));
		own.leader = parser->specs->count;
		take_pmu(&own, pmu);
		own.attr.type = spec->attr.type;
		if (spec->attr.type == PERF_TYPE_RAW)
			own.attr.type = pmu->type;
		else
			own.attr.config |= (uint64_t)pmu->type << 32;
		CLEANUP_FREE char *whole =
			format_text("%s/%.*s/", pmu->name, (int)name.size, name.text);
		own.name =
			whole ? parser_copy_slice(parser, (struct text_slice){whole, strlen(whole)})
			      : NULL;
		error = own.name ? parser_add(parser, &own) : error_no_memory();
		*found_ret = true;
	}
	return error;
}
