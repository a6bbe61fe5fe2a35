/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms between slashes. A term is applied by the first that knows it: the table below, then the PMU's
 * events and fields (pmu_terms.c).
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sprof/private/fields.h>
#include "event/parser.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "record/types.h"

static const struct {
	const char *name;
	uint64_t bit;
} types[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
	{"counter", RECORD_BRANCH_COUNTERS},
};

static uint64_t find(const char *name, size_t size)
{
	for (size_t i = 0; i < count_of(types); i++)
		if (strlen(types[i].name) == size && strncasecmp(types[i].name, name, size) == 0)
			return types[i].bit;
	return 0;
}

const char *sp_branch_types_parse(const char *text, size_t size, char separator, uint64_t *ret)
{
	const uint64_t levels = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				PERF_SAMPLE_BRANCH_HV;
	const char *next, *end = text + size;
	*ret = 0;
	for (;; text = next + 1) {
		next = memchr(text, separator, end - text);
		uint64_t bit = find(text, (next ? next : end) - text);
		if (!bit)
			return text;
		*ret |= bit;
		if (!next)
			break;
	}
	/* perf does this, too. */
	if (!(*ret & ~levels))
		*ret |= PERF_SAMPLE_BRANCH_ANY;
	return NULL;
}

/* Form of a term's value, and its use. */
enum term_kind {
	TERM_NUMBER, /* a number; the default is 1 */
	TERM_TEXT,
	TERM_FLAG,   /* no value, 0 or 1 */
};

struct applying {
	struct parser *parser;
	struct event_spec *spec;
	const struct parsed_term *term;
	uint64_t number;
};

static struct sp_error *bad_value(const struct applying *applying, const char *valid)
{
	const struct parsed_term *term = applying->term;
	struct sp_error *error = parser_error(
		applying->parser, term->value.text ? term->value.text : term->name.text,
		"'%.*s' is no value of %.*s", (int)term->value.size,
		term->value.text ? term->value.text : "", (int)term->name.size, term->name.text);
	return error_set_remedy(error, "%s", valid);
}

static struct sp_error *fits_u32(const struct applying *applying, uint32_t most, uint32_t *ret)
{
	char valid[64];
	snprintf(valid, sizeof(valid), "it goes up to %u", most);
	if (applying->number > most)
		return bad_value(applying, valid);
	*ret = applying->number;
	return NULL;
}

static struct sp_error *apply_config(struct applying *applying)
{
	applying->spec->attr.config = applying->number;
	return NULL;
}

static struct sp_error *apply_config1(struct applying *applying)
{
	applying->spec->attr.config1 = applying->number;
	return NULL;
}

static struct sp_error *apply_config2(struct applying *applying)
{
	applying->spec->attr.config2 = applying->number;
	return NULL;
}

static struct sp_error *apply_config3(struct applying *applying)
{
	applying->spec->tail.config3 = applying->number;
	return NULL;
}

static struct sp_error *apply_config4(struct applying *applying)
{
	applying->spec->tail.config4 = applying->number;
	return NULL;
}

static struct sp_error *apply_period(struct applying *applying)
{
	if (!applying->number)
		return bad_value(applying, "a period in events: 1 or more");
	applying->spec->terms.period = applying->number;
	return NULL;
}

static struct sp_error *apply_freq(struct applying *applying)
{
	if (!applying->number)
		return bad_value(applying, "a frequency in Hz: 1 or more");
	applying->spec->terms.freq_hz = applying->number;
	return NULL;
}

static struct sp_error *apply_time(struct applying *applying)
{
	applying->spec->terms.time = applying->number;
	return NULL;
}

static struct sp_error *apply_call_graph(struct applying *applying)
{
	static const char *const names[] = {"no", "fp", "dwarf", "lbr"};
	for (uint32_t i = 0; i < count_of(names); i++)
		if (slice_is(applying->term->value, names[i])) {
			applying->spec->terms.call_graph = (enum event_terms_call_graph)i;
			return NULL;
		}
	return bad_value(applying, "it is fp, dwarf, lbr or no");
}

static struct sp_error *apply_stack_size(struct applying *applying)
{
	struct sp_error *error = fits_u32(applying, 65528, &applying->spec->terms.stack_bytes);
	applying->spec->terms.stack_bytes &= ~7u;
	return error;
}

static struct sp_error *apply_max_stack(struct applying *applying)
{
	return fits_u32(applying, UINT16_MAX, &applying->spec->terms.max_stack);
}

static struct sp_error *apply_inherit(struct applying *applying)
{
	applying->spec->terms.inherit = applying->number;
	return NULL;
}

static struct sp_error *apply_no_inherit(struct applying *applying)
{
	applying->spec->terms.inherit = !applying->number;
	return NULL;
}

static struct sp_error *apply_overwrite(struct applying *applying)
{
	applying->spec->terms.overwrite = applying->number;
	return NULL;
}

static struct sp_error *apply_no_overwrite(struct applying *applying)
{
	applying->spec->terms.overwrite = !applying->number;
	return NULL;
}

static struct sp_error *apply_branch_type(struct applying *applying)
{
	const struct text_slice value = applying->term->value;
	if (!sp_branch_types_parse(value.text, value.size, '+', &applying->spec->terms.branch_type))
		return NULL;
	return bad_value(applying, "it is one or more, with + between, of " SP_BRANCH_TYPE_NAMES);
}

static struct sp_error *apply_name(struct applying *applying)
{
	applying->spec->name = parser_copy_slice(applying->parser, applying->term->value);
	return applying->spec->name ? NULL : error_no_memory();
}

static struct sp_error *apply_percore(struct applying *applying)
{
	applying->spec->terms.percore = applying->number;
	return NULL;
}

static struct sp_error *apply_aux_output(struct applying *applying)
{
	applying->spec->terms.aux_output = applying->number;
	return NULL;
}

static struct sp_error *apply_aux_action(struct applying *applying)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} actions[] = {{"start-paused", 1}, {"pause", 2}, {"resume", 4}};
	for (size_t i = 0; i < count_of(actions); i++)
		if (slice_is(applying->term->value, actions[i].name)) {
			applying->spec->terms.aux_action |= actions[i].bit;
			return NULL;
		}
	return bad_value(applying, "it is start-paused, pause or resume");
}

static struct sp_error *apply_aux_sample_size(struct applying *applying)
{
	return fits_u32(applying, UINT16_MAX & ~7u, &applying->spec->terms.aux_sample_bytes);
}

/* Accepts a term without effect: notes, or names of metrics in perf stat. */
static struct sp_error *apply_nothing(struct applying *applying)
{
	(void)applying;
	return NULL;
}

static struct sp_error *apply_cpu(struct applying *applying)
{
	uint32_t cpu = 0;
	struct sp_error *error = fits_u32(applying, UINT16_MAX, &cpu);
	uint32_t *cpus = arena_alloc(&applying->parser->specs->arena, sizeof(*cpus));
	if (error)
		return error;
	NEED(cpus);
	*cpus = cpu;
	applying->spec->cpus = cpus;
	applying->spec->cpu_count = 1;
	return NULL;
}

static const struct general_term {
	const char *name;
	enum term_kind kind;
	uint32_t given; /* bit of enum event_term; 0: the term sets the attr */
	struct sp_error *(*apply)(struct applying *applying);
} general_terms[] = {
	{"config", TERM_NUMBER, 0, apply_config},
	{"config1", TERM_NUMBER, 0, apply_config1},
	{"config2", TERM_NUMBER, 0, apply_config2},
	{"config3", TERM_NUMBER, 0, apply_config3},
	{"config4", TERM_NUMBER, 0, apply_config4},
	{"name", TERM_TEXT, EVENT_TERM_NAME, apply_name},
	{"period", TERM_NUMBER, EVENT_TERM_PERIOD, apply_period},
	{"freq", TERM_NUMBER, EVENT_TERM_FREQ, apply_freq},
	{"branch_type", TERM_TEXT, EVENT_TERM_BRANCH_TYPE, apply_branch_type},
	{"time", TERM_FLAG, EVENT_TERM_TIME, apply_time},
	{"call-graph", TERM_TEXT, EVENT_TERM_CALL_GRAPH, apply_call_graph},
	{"stack-size", TERM_NUMBER, EVENT_TERM_STACK_SIZE, apply_stack_size},
	{"max-stack", TERM_NUMBER, EVENT_TERM_MAX_STACK, apply_max_stack},
	{"nr", TERM_NUMBER, EVENT_TERM_MAX_EVENTS, apply_nothing},
	{"inherit", TERM_FLAG, EVENT_TERM_INHERIT, apply_inherit},
	{"no-inherit", TERM_FLAG, EVENT_TERM_INHERIT, apply_no_inherit},
	{"overwrite", TERM_FLAG, EVENT_TERM_OVERWRITE, apply_overwrite},
	{"no-overwrite", TERM_FLAG, EVENT_TERM_OVERWRITE, apply_no_overwrite},
	{"percore", TERM_FLAG, EVENT_TERM_PERCORE, apply_percore},
	{"aux-output", TERM_FLAG, EVENT_TERM_AUX_OUTPUT, apply_aux_output},
	{"aux-action", TERM_TEXT, EVENT_TERM_AUX_ACTION, apply_aux_action},
	{"aux-sample-size", TERM_NUMBER, EVENT_TERM_AUX_SAMPLE_SIZE, apply_aux_sample_size},
	{"metric-id", TERM_TEXT, 0, apply_nothing},
	{"cpu", TERM_NUMBER, EVENT_TERM_CPU, apply_cpu},
};
#define GENERAL_COUNT (count_of(general_terms))

/* Reads a quoted text, in which commas and slashes have no meaning. */
static struct sp_error *read_quoted(struct parser *parser, struct text_slice *ret)
{
	const char *begin = parser->pos++;
	const char *close = strchr(parser->pos, '\'');
	if (!close)
		return error_set_remedy(parser_error(parser, begin, "unclosed quote"),
					"put ' after the name");
	*ret = slice_between(parser->pos, close);
	parser->pos = close + 1;
	return NULL;
}

static struct sp_error *read_term(struct parser *parser, struct parsed_term *term)
{
	const char *begin = parser->pos;
	*term = (struct parsed_term){.name = parser_read_until(parser, "=,/'")};
	if (!term->name.size)
		return error_set_remedy(parser_error(parser, begin, "no term"),
					"use NAME or NAME=VALUE, separated by commas");
	/* cs_etm/@tmc_etr0/ is a setting of the driver. */
	if (*term->name.text == '@') {
		parser->pos = begin;
		term->name = parser_read_until(parser, ",/");
		return NULL;
	}
	if (!parser_take(parser, '='))
		return NULL;
	if (parser_at(parser) == '\'')
		return read_quoted(parser, &term->value);
	term->value = parser_read_until(parser, ",/");
	if (term->value.size)
		return NULL;
	return error_set_remedy(parser_error(parser, parser->pos, "no value"),
				"put a value after the '='");
}

struct sp_error *terms_read(struct parser *parser, struct terms *terms)
{
	const char *begin = parser->pos;
	if (parser_take(parser, '/'))
		return NULL;
	for (;;) {
		struct parsed_term *term = vec_push(terms);
		NEED(term);
		TRY(read_term(parser, term));
		if (parser_take(parser, '/'))
			return NULL;
		if (!parser_take(parser, ','))
			break;
	}
	return error_set_remedy(parser_error(parser, begin, "unclosed terms"),
				"put / after the last term");
}

static struct sp_error *apply_one(struct applying *applying, const struct general_term *general)
{
	const struct text_slice value = applying->term->value;
	applying->number = 1;
	if (general->kind == TERM_TEXT && !value.text)
		return bad_value(applying, "it takes a word: NAME=WORD");
	if (general->kind != TERM_TEXT && value.text && !slice_number(value, &applying->number))
		return bad_value(applying, "it takes a number, as 10 or 0xa");
	if (general->kind == TERM_FLAG && applying->number > 1)
		return bad_value(applying, "it is 0 or 1");
	applying->spec->terms.given |= general->given;
	return general->apply(applying);
}

struct sp_error *terms_apply_general(struct parser *parser, struct terms *terms,
				     struct event_spec *spec)
{
	vec_each (term, terms) {
		struct applying applying = {parser, spec, term, 0};
		for (size_t j = 0; j < GENERAL_COUNT; j++) {
			if (!slice_is(term->name, general_terms[j].name))
				continue;
			TRY(apply_one(&applying, &general_terms[j]));
			term->used = true;
		}
	}
	return NULL;
}

/* Lists valid terms, "event, umask, config, config1, …", the PMU's own first. */
static char *valid_terms(const struct pmu *pmu)
{
	char *list = strdup("");
	for (size_t i = 0; pmu && i < pmu->format_count && list; i++) {
		char *longer = format_text("%s%s%s", list, i ? ", " : "", pmu->formats[i].name);
		free(list);
		list = longer;
	}
	for (size_t i = 0; i < GENERAL_COUNT && list; i++) {
		char *longer =
			format_text("%s%s%s", list, *list ? ", " : "", general_terms[i].name);
		free(list);
		list = longer;
	}
	return list;
}

struct sp_error *terms_check_used(struct parser *parser, const struct terms *terms,
				  const struct pmu *pmu)
{
	vec_each (term, terms) {
		if (term->used)
			continue;
		if (*term->name.text == '@')
			return error_set_remedy(
				parser_error(parser, term->name.text,
					     "'%.*s' is a setting of a driver",
					     (int)term->name.size, term->name.text),
				"CoreSight's cs_etm has them: where its trace goes to, as "
				"cs_etm/@tmc_etr0/");
		CLEANUP_FREE char *valid = valid_terms(pmu);
		NEED(valid);
		struct sp_error *error =
			parser_error(parser, term->name.text, "unknown term '%.*s'%s%s",
				     (int)term->name.size, term->name.text, pmu ? " of PMU " : "",
				     pmu ? pmu->name : "");
		return error_set_remedy(error, "valid terms: %s%s", valid,
					pmu ? ", and the PMU's events (sprof list pmu)" : "");
	}
	return NULL;
}
