/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recursive descent over characters, because their meaning depends on the context: a '/' begins terms,
 * is part of a path, or precedes a breakpoint's length. Each kind of event has its own function
 * (parser.h). To add one, add a line in parse_what().
 */
#include "event/parse.h"

#include "base/cleanup.h"
#include "base/format.h"
#include "event/event_names.h"
#include "event/parser.h"
#include "event/vendor.h"
#include "proc/proc_text.h"

/* Parses rHEX or r0xHEX, the event's number in the CPU's manual. */
static bool parse_raw(struct text_slice name, struct event_code *ret)
{
	struct cursor cursor = cursor_make(name.text, name.size, false, NULL, 0);
	if (!text_char(&cursor, 'r'))
		return false;
	struct cursor prefixed = cursor;
	if (text_char(&prefixed, '0') && text_char(&prefixed, 'x'))
		cursor = prefixed;
	ret->type = PERF_TYPE_RAW;
	return text_hex(&cursor, &ret->config) && !cursor_left(&cursor);
}

/* Finds a value of perf stat that needs no kernel event. */
static enum event_tool find_tool(struct text_slice name)
{
	static const char *const tools[] = {
		[EVENT_TOOL_DURATION_TIME] = "duration_time",
		[EVENT_TOOL_USER_TIME] = "user_time",
		[EVENT_TOOL_SYSTEM_TIME] = "system_time",
	};
	for (size_t i = 1; i < count_of(tools); i++)
		if (slice_is(name, tools[i]))
			return (enum event_tool)i;
	return EVENT_TOOL_NONE;
}

static struct sp_error *unknown_event(const struct parser *parser, struct text_slice name)
{
	CLEANUP_FREE char *near = NULL;
	TRY(event_name_near(name.text, name.size, &near));
	struct sp_error *error =
		parser_error(parser, name.text, "unknown event '%.*s'", (int)name.size, name.text);
	if (near)
		return error_set_remedy(error, "did you mean %s?", near);
	return error_set_remedy(error, "see `sprof list`, for example cycles, "
				       "cpu-clock or L1-dcache-load-misses; or use rHEX");
}

static struct sp_error *bad_vendor_event(struct parser *parser, struct text_slice text,
					 const char *why)
{
	struct sp_error *error = parser_error(parser, text.text, "libpfm does not take '%.*s': %s",
					      (int)text.size, text.text, why);
	return error_set_remedy(error, "`sprof list pfm` shows its events");
}

/* Parses by libpfm. *found_ret is false if libpfm does not know the name, or is missing. */
static struct sp_error *parse_vendor_event(struct parser *parser, struct text_slice text,
					   bool *found_ret)
{
	struct event_spec spec = event_spec_make(parser);
	const char *name = parser_copy_slice(parser, text), *why = NULL;
	*found_ret = false;
	NEED(name);
	switch (libpfm_event_find(name, &spec.attr, &why)) {
	case VENDOR_FOUND:
		spec.name = name;
		spec.modes_given = spec.attr.exclude_user || spec.attr.exclude_kernel;
		*found_ret = true;
		return parser_add(parser, &spec);
	case VENDOR_BAD_ATTRIBUTE:
		return bad_vendor_event(parser, text, why);
	default:
		return NULL;
	}
}

/* An event's text and its properties. */
struct event_text {
	struct text_slice name;
	bool hybrid; /* its specs already have names, without modifiers */
};

/* Reads the terms "/NAME=VALUE,…/" at the parser's position, if any, and applies them to each spec. */
static struct sp_error *parse_general_terms(struct parser *parser, struct event_spec *specs,
					    size_t count)
{
	if (!parser_take(parser, '/'))
		return NULL;
	CLEANUP(cleanup_terms) struct terms terms = {0};
	struct sp_error *error = terms_read(parser, &terms);
	for (size_t i = 0; i < count && !error; i++)
		error = terms_apply_general(parser, &terms, &specs[i]);
	return error ? error : terms_check_used(parser, &terms, NULL);
}

/* Parses an event of the kernel's own tables (generic, raw, or a tool's), with its terms. */
static struct sp_error *parse_generic(struct parser *parser, struct event_text *event,
				      const struct event_code *code, enum event_tool tool)
{
	struct event_spec spec = event_spec_make(parser);
	spec.attr.type = code->type;
	spec.attr.config = code->config;
	spec.tool = tool;
	struct sp_error *error = parse_general_terms(parser, &spec, 1);
	if (error)
		return error;
	if (code->type != PERF_TYPE_SOFTWARE)
		error = parse_hybrid_event(parser, event->name, &spec, &event->hybrid);
	if (error || event->hybrid)
		return error;
	return parser_add(parser, &spec);
}

static bool find_generic(struct text_slice name, struct event_code *code, enum event_tool *tool)
{
	*tool = find_tool(name);
	if (*tool)
		*code = (struct event_code){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY};
	return *tool || event_name_find(name.text, name.size, code) || parse_raw(name, code);
}

/* Whether it has the form "sched:sched_switch"; not "cycels:u". */
static bool is_tracepoint(const struct parser *parser)
{
	struct parser ahead = *parser;
	ahead.pos++;
	struct text_slice word = parser_read_word(&ahead);
	return parser_at(parser) == ':' && (!modifiers_only(word) || !word.size);
}

/*
 * Parses a name that is in no table: an event of a PMU, a tracepoint's system, or an event of libpfm.
 */
static struct sp_error *parse_other(struct parser *parser, struct text_slice name)
{
	bool found = false;
	bool tracepoint = is_tracepoint(parser);
	struct sp_error *error;
	if (tracepoint)
		error = tracepoint_system_exists(parser, name, &found);
	else
		error = parse_plain_pmu_event(parser, name, &found);
	if (error || (found && !tracepoint))
		return error;
	struct parser ahead = *parser;
	struct text_slice whole = parser_read_until(&ahead, ",{}");
	whole = slice_between(name.text, whole.text + whole.size);
	if (!found) {
		error = parse_vendor_event(parser, whole, &found);
		if (error || found) {
			parser->pos = whole.text + whole.size;
			return error;
		}
	}
	if (!tracepoint)
		return unknown_event(parser, name);
	parser->pos++;
	return parse_tracepoint(parser, name);
}

/* Parses terms after a tracepoint, breakpoint or probe. */
static struct sp_error *parse_terms_behind(struct parser *parser, size_t first)
{
	struct event_specs *specs = parser->specs;
	return parse_general_terms(parser, specs->items + first, specs->count - first);
}

static bool is_probe(struct text_slice name)
{
	return slice_is(name, "kprobe") || slice_is(name, "kretprobe") ||
	       slice_is(name, "uprobe") || slice_is(name, "uretprobe");
}

static bool is_letters(struct text_slice name)
{
	for (size_t i = 0; i < name.size; i++)
		if (name.text[i] < 'a' || name.text[i] > 'z')
			return false;
	return true;
}

static struct sp_error *parse_what(struct parser *parser, struct event_text *event)
{
	struct event_code code;
	enum event_tool tool;
	size_t first = parser->specs->count;
	const char *place = parser->pos;
	event->name = parser_read_word(parser);
	struct text_slice name = event->name;
	if (!name.size && (!parser_at(parser) || strchr(",}", parser_at(parser))))
		return error_set_remedy(parser_error(parser, place, "no event"),
					"insert an event name, for example cycles");
	if (!name.size && parser_at(parser) == '{')
		return error_set_remedy(parser_error(parser, place, "nested group"),
					"close the first group");
	if (!name.size)
		return unknown_event(parser, (struct text_slice){place, 1});
	if (parser_at(parser) == ':' && (slice_is(name, "mem") || is_probe(name))) {
		parser->pos++;
		TRY(slice_is(name, "mem") ? parse_breakpoint(parser) : parse_probe(parser, name));
		return parse_terms_behind(parser, first);
	}
	/* "rbd:…" is a system of tracepoints, although it begins like rHEX. */
	if (find_generic(name, &code, &tool) &&
	    !(code.type == PERF_TYPE_RAW && parser_at(parser) == ':' && is_tracepoint(parser) &&
	      is_letters(name)))
		return parse_generic(parser, event, &code, tool);
	if (parser_take(parser, '/'))
		return parse_pmu_event(parser, name);
	TRY(parse_other(parser, name));
	return parse_terms_behind(parser, first);
}

/* Parses modifiers, after a ':' or after the last '/' of the terms. */
static struct sp_error *parse_event_modifiers(struct parser *parser, size_t first,
					      struct text_slice *modifiers)
{
	bool colon = parser_take(parser, ':');
	*modifiers = slice_between(parser->pos, parser->pos);
	if (!colon && (parser->pos[-1] != '/' || !parser_is_word_char(parser_at(parser))))
		return NULL;
	TRY(modifiers_read(parser, modifiers));
	return modifiers_apply(parser, *modifiers, first, false);
}

/* Sets names: as typed, except for tracepoints and the term name=. */
static struct sp_error *set_names(struct parser *parser, size_t first, struct text_slice typed,
				  struct text_slice modifiers, bool hybrid)
{
	while (typed.size && strchr(" \t", typed.text[typed.size - 1]))
		typed.size--;
	for (size_t i = first; i < parser->specs->count; i++) {
		struct event_spec *spec = &parser->specs->items[i];
		CLEANUP_FREE char *longer = NULL;
		if (spec->name && !(hybrid && modifiers.size && !(spec->terms.given & EVENT_TERM_NAME)))
			continue;
		if (spec->name) {
			longer = format_text("%s%.*s", spec->name, (int)modifiers.size,
					     modifiers.text);
			spec->name = longer ? parser_copy_slice(parser, (struct text_slice){longer,
								  strlen(longer)}) : NULL;
		} else {
			spec->name = parser_copy_slice(parser, typed);
		}
		NEED(spec->name);
	}
	return NULL;
}

static struct sp_error *parse_event(struct parser *parser)
{
	struct event_text event = {0};
	struct text_slice modifiers;
	size_t first = parser->specs->count;
	parser_skip_blanks(parser);
	const char *begin = parser->pos;
	TRY(parse_what(parser, &event));
	const char *behind = parser->pos;
	parser_skip_blanks(parser);
	if (parser_at(parser) != ':')
		parser->pos = behind;
	TRY(parse_event_modifiers(parser, first, &modifiers));
	struct sp_error *error = set_names(parser, first, slice_between(begin, parser->pos),
					   modifiers, event.hybrid);
	parser_skip_blanks(parser);
	return error;
}

static struct sp_error *misplaced(const struct parser *parser)
{
	struct sp_error *error =
		parser_error(parser, parser->pos, "unexpected '%c'", parser_at(parser));
	return error_set_remedy(error, "separate events by commas; put modifiers after one ':'");
}

/* Parses a group's members, from after the '{' to the '}'. */
static struct sp_error *parse_members(struct parser *parser, const char *begin)
{
	for (;;) {
		struct sp_error *error = parse_event(parser);
		if (error || parser_take(parser, '}'))
			return error;
		if (!parser_at(parser))
			return error_set_remedy(
				parser_error(parser, begin, "unclosed group"),
				"put } after its last event");
		if (!parser_take(parser, ','))
			return misplaced(parser);
	}
}

static struct sp_error *parse_group(struct parser *parser, struct text_slice name)
{
	struct event_specs *specs = parser->specs;
	struct text_slice modifiers;
	size_t first = specs->count;
	TRY(parse_members(parser, parser->pos - 1));
	for (size_t i = first; i < specs->count; i++) {
		struct event_spec *spec = &specs->items[i];
		spec->leader = first;
		if (i > first && (spec->attr.pinned || spec->attr.exclusive))
			return error_set_remedy(
				parser_error(parser, parser->pos, "%s: D and e apply to a whole group",
					     spec->name), "put them after the '}': {a,b}:D");
	}
	if (name.size) {
		specs->items[first].group_name = parser_copy_slice(parser, name);
		NEED(specs->items[first].group_name);
	}
	parser_skip_blanks(parser);
	if (!parser_take(parser, ':'))
		return NULL;
	TRY(modifiers_read(parser, &modifiers));
	struct sp_error *error = modifiers_apply(parser, modifiers, first, true);
	parser_skip_blanks(parser);
	return error;
}

static struct sp_error *parse_item(struct parser *parser)
{
	parser_skip_blanks(parser);
	struct parser ahead = *parser;
	struct text_slice name = parser_read_word(&ahead);
	if (parser_at(&ahead) != '{')
		return parse_event(parser);
	parser->pos = ahead.pos + 1;
	return parse_group(parser, name);
}

static struct sp_error *parse_list(struct parser *parser)
{
	for (;;) {
		struct sp_error *error = parse_item(parser);
		if (error || parser->pos == parser->end)
			return error;
		if (!parser_take(parser, ','))
			return misplaced(parser);
	}
}

/* Copy the PMUs' data in specs to the arena, which outlives the PMUs. */
static struct sp_error *copy_pmu_data(struct parser *parser, size_t first)
{
	struct arena *arena = &parser->specs->arena;
	for (size_t i = first; i < parser->specs->count; i++) {
		struct event_spec *spec = &parser->specs->items[i];
		const char *pmu = spec->pmu, *unit = spec->unit;
		uint32_t *cpus = spec->cpus ? arena_alloc(arena, spec->cpu_count * sizeof(*cpus)) : NULL;
		if (cpus)
			memcpy(cpus, spec->cpus, spec->cpu_count * sizeof(*cpus));
		if (pmu)
			spec->pmu = arena_strdup(arena, pmu);
		if (unit)
			spec->unit = arena_strdup(arena, unit);
		if ((pmu && !spec->pmu) || (unit && !spec->unit) || (spec->cpus && !cpus))
			return error_no_memory();
		spec->cpus = cpus;
	}
	return NULL;
}

static struct sp_error *parse_vendor_list(struct parser *parser)
{
	for (;;) {
		parser_skip_blanks(parser);
		const char *why = NULL;
		struct event_spec ignored = {0};
		struct text_slice text = parser_read_until(parser, ",{}");
		bool found = false;
		TRY(text.size ? parse_vendor_event(parser, text, &found) : NULL);
		if (!found && text.size &&
		    libpfm_event_find("", &ignored.attr, &why) == VENDOR_NO_LIBRARY)
			return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "--pfm-events: libpfm is "
							  "not there"),
						"install libpfm4 (and build with --with-libpfm=yes)");
		if (!found)
			return bad_vendor_event(parser, text, "event not found");
		if (parser->pos == parser->end)
			return NULL;
		if (!parser_take(parser, ','))
			return misplaced(parser);
	}
}

/* Appends the specs of `text` by one of the parsers of lists. On failure, *specs does not change.
 */
static struct sp_error *parse_text(struct event_specs *specs, const struct sp_ctx *ctx,
				   const char *text,
				   struct sp_error *(*parse)(struct parser *parser))
{
	size_t before = specs->count;
	struct parser parser = {
		.specs = specs, .ctx = ctx, .text = text, .end = text + strlen(text), .pos = text,
	};
	struct sp_error *error = parse(&parser);
	if (!error)
		error = copy_pmu_data(&parser, before);
	if (error)
		specs->count = before;
	pmus_deinit(&parser.pmus);
	if (parser.tracefs_there)
		tracefs_deinit(&parser.tracefs);
	return error;
}

struct sp_error *event_specs_parse(struct event_specs *specs, const struct sp_ctx *ctx,
				   const char *text)
{
	return parse_text(specs, ctx, text, parse_list);
}

struct sp_error *event_specs_parse_pfm(struct event_specs *specs, const struct sp_ctx *ctx,
				       const char *text)
{
	return parse_text(specs, ctx, text, parse_vendor_list);
}

struct sp_error *event_specs_add_default(struct event_specs *specs, const struct sp_ctx *ctx)
{
	size_t before = specs->count;
	TRY(event_specs_parse(specs, ctx, "cycles:P"));
	for (size_t i = before; i < specs->count; i++)
		if (!specs->items[i].pmu)
			specs->items[i].name = "cycles";
	return NULL;
}

void event_specs_deinit(struct event_specs *specs)
{
	vec_deinit(specs);
	arena_deinit(&specs->arena);
}
