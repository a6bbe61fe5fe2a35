/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tokenizer and a recursive-descent parser. Tokens are words and single
 * punctuation characters; the parser knows the grammar, and the tables of names
 * and modifiers say what words mean. To add a kind of event: one more
 * alternative in parse_event().
 */
#include "event/parse.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "event/names.h"
#include "proc/text.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_PUNCTUATION };

struct token {
	enum token_kind kind;
	const char *text; /* into the parser's */
	size_t size;
};

struct parser {
	struct event_specs *specs;
	const struct sp_ctx *ctx;
	const char *text;
	struct cursor cursor; /* behind `token` */
	struct token token;
};

/* What a modifier does to an event. */
struct modifier_state {
	struct event_spec *spec;
	unsigned int precise;
};

typedef void modifier_fn(struct modifier_state *state);

static bool is_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr("_-.*?!", c);
}

/* To the next token. */
static void advance(struct parser *parser)
{
	struct cursor *cursor = &parser->cursor;
	text_blanks(cursor);
	const uint8_t *start = cursor->pos;
	parser->token = (struct token){TOKEN_END, (const char *)start, 0};
	if (!cursor_left(cursor))
		return;
	while (cursor_left(cursor) && *cursor->pos && is_word(*cursor->pos))
		cursor->pos++;
	parser->token.kind = TOKEN_WORD;
	if (cursor->pos == start) {
		cursor->pos++;
		parser->token.kind = TOKEN_PUNCTUATION;
	}
	parser->token.size = (size_t)(cursor->pos - start);
}

static bool at(const struct parser *parser, char punctuation)
{
	return parser->token.kind == TOKEN_PUNCTUATION && *parser->token.text == punctuation;
}

/* Human beings count from 1. */
static size_t column(const struct parser *parser, const char *place)
{
	return (size_t)(place - parser->text) + 1;
}

static struct sp_error *unknown_event(const struct parser *parser, const struct token *name)
{
	CLEANUP_FREE char *near = NULL;
	struct sp_error *error = event_name_near(name->text, name->size, &near);
	if (error)
		return error;
	error = error_new(SP_ERROR_INVALID, "event \"%s\": unknown event '%.*s' at character %zu",
			  parser->text, (int)name->size, name->text, column(parser, name->text));
	if (near)
		return error_set_remedy(error, "did you mean %s?", near);
	return error_set_remedy(error, "names are those of `perf list hw sw cache`, as cycles, "
				       "cpu-clock or L1-dcache-load-misses; or rHEX");
}

/* What perf takes and this parser does not. */
static struct sp_error *unsupported(const struct parser *parser, const char *place,
				    const char *what)
{
	struct sp_error *error = error_new(SP_ERROR_UNSUPPORTED,
					   "event \"%s\": %s at character %zu is not supported",
					   parser->text, what, column(parser, place));
	return error_set_remedy(error, "take hardware, software, cache or raw (rHEX) events");
}

static void only_modes(struct modifier_state *state)
{
	if (state->spec->modes_given)
		return;
	state->spec->modes_given = true;
	state->spec->attr.exclude_user = 1;
	state->spec->attr.exclude_kernel = 1;
	state->spec->attr.exclude_hv = 1;
}

static void modify_user(struct modifier_state *state)
{
	only_modes(state);
	state->spec->attr.exclude_user = 0;
}

static void modify_kernel(struct modifier_state *state)
{
	only_modes(state);
	state->spec->attr.exclude_kernel = 0;
}

static void modify_hypervisor(struct modifier_state *state)
{
	only_modes(state);
	state->spec->attr.exclude_hv = 0;
}

static void only_guest_or_host(struct modifier_state *state)
{
	if (state->spec->guest_given)
		return;
	state->spec->guest_given = true;
	state->spec->attr.exclude_guest = 1;
	state->spec->attr.exclude_host = 1;
}

static void modify_guest(struct modifier_state *state)
{
	only_guest_or_host(state);
	state->spec->attr.exclude_guest = 0;
}

static void modify_host(struct modifier_state *state)
{
	only_guest_or_host(state);
	state->spec->attr.exclude_host = 0;
}

static void modify_idle(struct modifier_state *state)
{
	state->spec->attr.exclude_idle = 1;
}

static void modify_precise(struct modifier_state *state)
{
	state->precise++;
}

static void modify_precise_max(struct modifier_state *state)
{
	state->spec->precise_max = true;
}

static void modify_pinned(struct modifier_state *state)
{
	state->spec->attr.pinned = 1;
}

static void modify_exclusive(struct modifier_state *state)
{
	state->spec->attr.exclusive = 1;
}

static const struct modifier {
	char letter;
	unsigned char times; /* that it may be given */
	modifier_fn *apply;
} modifiers[] = {
	{'u', 1, modify_user},	    {'k', 1, modify_kernel},	  {'h', 1, modify_hypervisor},
	{'G', 1, modify_guest},	    {'H', 1, modify_host},	  {'I', 1, modify_idle},
	{'p', 3, modify_precise},   {'P', 1, modify_precise_max}, {'D', 1, modify_pinned},
	{'e', 1, modify_exclusive},
};
#define MODIFIER_COUNT (sizeof(modifiers) / sizeof(*modifiers))

static struct sp_error *modifier_error(const struct parser *parser, const char *place,
				       const char *what)
{
	struct sp_error *error =
		error_new(SP_ERROR_INVALID, "event \"%s\": %s modifier '%c' at character %zu",
			  parser->text, what, *place, column(parser, place));
	return error_set_remedy(error,
				"modifiers are u k h (user, kernel, hypervisor), G H (guest, "
				"host), I (not idle), p pp ppp P (precise), D e");
}

static struct sp_error *apply_modifier(const struct parser *parser, const char *place,
				       struct modifier_state *state, unsigned char *times)
{
	/* Sample-read, weak groups, BPF counters: of groups, which are not there. */
	if (strchr("SWb", *place))
		return unsupported(parser, place, "a modifier of groups");
	for (size_t i = 0; i < MODIFIER_COUNT; i++) {
		if (modifiers[i].letter != *place)
			continue;
		if (times[i]++ == modifiers[i].times)
			return modifier_error(parser, place, "too many of");
		modifiers[i].apply(state);
		return NULL;
	}
	return modifier_error(parser, place, "unknown");
}

/* modifiers, behind the ':'. */
static struct sp_error *parse_modifiers(struct parser *parser, struct event_spec *spec)
{
	unsigned char times[MODIFIER_COUNT] = {0};
	struct modifier_state state = {.spec = spec};
	struct token token = parser->token;
	if (token.kind != TOKEN_WORD) {
		struct sp_error *error =
			error_new(SP_ERROR_INVALID, "event \"%s\": no modifier at character %zu",
				  parser->text, column(parser, token.text));
		return error_set_remedy(error, "put u, k or another modifier behind the ':'");
	}
	for (size_t i = 0; i < token.size; i++) {
		struct sp_error *error = apply_modifier(parser, token.text + i, &state, times);
		if (error)
			return error;
	}
	spec->attr.precise_ip = (spec->precise_max ? 3 : state.precise) & 3;
	advance(parser);
	return NULL;
}

/* rHEX, r0xHEX: the number that the processor's manual gives the event. */
static bool parse_raw(const struct token *name, struct event_code *ret)
{
	struct cursor cursor = cursor_make(name->text, name->size, false, NULL, 0);
	if (!text_char(&cursor, 'r'))
		return false;
	struct cursor prefixed = cursor;
	if (text_char(&prefixed, '0') && text_char(&prefixed, 'x'))
		cursor = prefixed;
	ret->type = PERF_TYPE_RAW;
	return text_hex(&cursor, &ret->config) && !cursor_left(&cursor);
}

/* A kind of event that has a place in perf's grammar and none in ours; NULL: none of them. */
static const char *foreign_kind(const struct parser *parser, const struct token *name)
{
	if (at(parser, '/'))
		return "a PMU's event";
	if (at(parser, '@'))
		return "an event of that kind";
	if (!at(parser, ':'))
		return NULL;
	if (name->size == 3 && memcmp(name->text, "mem", 3) == 0)
		return "a breakpoint";
	/* "sched:sched_switch", but not "cycels:u". */
	struct parser ahead = *parser;
	advance(&ahead);
	for (size_t i = 0; i < ahead.token.size; i++)
		if (!strchr("ukhpPGHSDIWeb", ahead.token.text[i]))
			return "a tracepoint";
	return NULL;
}

static struct sp_error *parse_name(struct parser *parser, struct event_spec *spec)
{
	struct token name = parser->token;
	struct event_code code;
	if (name.kind == TOKEN_END || at(parser, ',')) {
		struct sp_error *error =
			error_new(SP_ERROR_INVALID, "event \"%s\": no event at character %zu",
				  parser->text, column(parser, name.text));
		return error_set_remedy(error, "put an event's name there, as cycles");
	}
	if (at(parser, '{'))
		return unsupported(parser, name.text, "a group");
	if (name.kind != TOKEN_WORD)
		return unknown_event(parser, &name);
	advance(parser);
	if (!event_name_find(name.text, name.size, &code) && !parse_raw(&name, &code)) {
		const char *kind = foreign_kind(parser, &name);
		return kind ? unsupported(parser, name.text, kind) : unknown_event(parser, &name);
	}
	spec->attr.type = code.type;
	spec->attr.config = code.config;
	return NULL;
}

static struct sp_error *parse_event(struct parser *parser)
{
	struct event_spec spec = {.leader = parser->specs->count, .scale = 1};
	const char *start = parser->token.text;
	struct sp_error *error = parse_name(parser, &spec);
	if (error)
		return error;
	const char *end = parser->token.text;
	if (at(parser, ':')) {
		advance(parser);
		end = parser->token.text + parser->token.size;
		error = parse_modifiers(parser, &spec);
		if (error)
			return error;
	}
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	spec.name = arena_copy_string(&parser->specs->arena, start, (size_t)(end - start));
	struct event_spec *slot = spec.name ? vec_push(parser->specs) : NULL;
	if (!slot)
		return error_no_memory();
	*slot = spec;
	return NULL;
}

static struct sp_error *parse_list(struct parser *parser)
{
	for (;;) {
		struct sp_error *error = parse_event(parser);
		if (error || parser->token.kind == TOKEN_END)
			return error;
		const char *place = parser->token.text;
		if (at(parser, '/'))
			return unsupported(parser, place, "a PMU's event");
		if (!at(parser, ',')) {
			error = error_new(
				SP_ERROR_INVALID,
				"event \"%s\": '%c' at character %zu does not belong there",
				parser->text, *place, column(parser, place));
			return error_set_remedy(error, "events are separated by commas, modifiers "
						       "follow one ':'");
		}
		advance(parser);
	}
}

struct sp_error *event_specs_parse(struct event_specs *specs, const struct sp_ctx *ctx,
				   const char *text)
{
	size_t before = specs->count;
	struct parser parser = {
		.specs = specs,
		.ctx = ctx,
		.text = text,
		.cursor = cursor_make(text, strlen(text), false, NULL, 0),
	};
	advance(&parser);
	struct sp_error *error = parse_list(&parser);
	if (error)
		specs->count = before;
	return error;
}

struct sp_error *event_specs_add_default(struct event_specs *specs, const struct sp_ctx *ctx)
{
	struct sp_error *error = event_specs_parse(specs, ctx, "cycles:P");
	if (error)
		return error;
	vec_last(specs)->name = "cycles";
	vec_last(specs)->is_default = true;
	return NULL;
}

void event_specs_deinit(struct event_specs *specs)
{
	vec_deinit(specs);
	arena_deinit(&specs->arena);
}
