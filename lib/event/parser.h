/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared parts of the event string's parsers. Private to lib/event. */
#pragma once

#include <string.h>
#include "event/parse.h"
#include "event/pmu.h"
#include "proc/tracefs.h"

/* Part of the event string. */
struct text_slice {
	const char *text;
	size_t size;
};

static inline struct text_slice slice_between(const char *begin, const char *end)
{
	return (struct text_slice){begin, (size_t)(end - begin)};
}

static inline bool slice_is(struct text_slice slice, const char *text)
{
	return strlen(text) == slice.size && memcmp(slice.text, text, slice.size) == 0;
}

struct parser {
	struct event_specs *specs;
	const struct sp_ctx *ctx;
	const char *text, *end; /* the whole event string; *end is NUL */
	const char *pos;
	struct pmus pmus;       /* read on first use */
	bool pmus_there;
	struct tracefs tracefs; /* read on first use */
	bool tracefs_there;
};

/* Returns the next character; NUL at the end. */
static inline char parser_at(const struct parser *parser)
{
	return parser->pos < parser->end ? *parser->pos : 0;
}

static inline bool parser_take(struct parser *parser, char c)
{
	if (parser_at(parser) != c || !c)
		return false;
	parser->pos++;
	return true;
}

void parser_skip_blanks(struct parser *parser);

/* Returns whether a name or a list of modifiers may contain the character. */
bool parser_is_word_char(char c);

/* Returns the word at parser->pos, and moves past it; it may be empty. */
struct text_slice parser_read_word(struct parser *parser);

/* Reads up to one of the characters `stops`, or to the end. A backslash escapes the next character. */
struct text_slice parser_read_until(struct parser *parser, const char *stops);

/* Copies a slice to the specs' arena; NULL when out of memory. */
char *parser_copy_slice(struct parser *parser, struct text_slice slice);

/* Copies a slice without its backslashes to the specs' arena; NULL when out of memory. */
char *parser_copy_unescaped(struct parser *parser, struct text_slice slice);

/* Returns SP_ERROR_INVALID with `event "TEXT": MESSAGE at character N`. The caller adds the remedy. */
struct sp_error *parser_error(const struct parser *parser, const char *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prefixes errors of other folders with `event "TEXT"`. */
struct sp_error *parser_prefix_error(const struct parser *parser, const char *place,
				     struct sp_error *error);

/* Returns a spec with defaults: in no group, of no PMU. The specs then have room for it. */
struct event_spec event_spec_make(const struct parser *parser);
struct sp_error *parser_add(struct parser *parser, const struct event_spec *spec) SP_MUST_CHECK;

/* Reads the PMUs, or tracefs, on first use. */
struct sp_error *parser_load_pmus(struct parser *parser) SP_MUST_CHECK;
struct sp_error *parser_find_tracefs(struct parser *parser) SP_MUST_CHECK;

/* Converts a whole slice: a decimal number, or a hexadecimal one with 0x. */
bool slice_number(struct text_slice slice, uint64_t *ret);

/* A term between slashes, as typed: NAME[=VALUE]. */
struct parsed_term {
	struct text_slice name, value; /* without quotes; value.text is NULL if there is no value */
	bool used;
};

struct terms {
	VEC(struct parsed_term);
};

static inline void cleanup_terms(struct terms *terms)
{
	vec_deinit(terms);
}

/* Reads the terms "a=b,c/" after a slash, including the closing slash. */
struct sp_error *terms_read(struct parser *parser, struct terms *terms) SP_MUST_CHECK;

/* Applies the terms that all PMUs have (config=, period=, name=, …), and marks them as used. */
struct sp_error *terms_apply_general(struct parser *parser, struct terms *terms,
				     struct event_spec *spec) SP_MUST_CHECK;

/*
 * Returns the error for the first unused term, with the terms of `pmu` if there is one; NULL if all are
 * used.
 */
struct sp_error *terms_check_used(struct parser *parser, const struct terms *terms,
				  const struct pmu *pmu) SP_MUST_CHECK;

/* Reads the modifiers after a colon or a slash: at least one. */
struct sp_error *modifiers_read(struct parser *parser, struct text_slice *ret) SP_MUST_CHECK;
/*
 * Applies modifiers to the specs from index `first`. `group`: they are a group's, "{…}:modifiers", not
 * an event's.
 */
struct sp_error *modifiers_apply(struct parser *parser, struct text_slice text, size_t first,
				 bool group) SP_MUST_CHECK;
/* Returns whether the word can only be modifiers. */
bool modifiers_only(struct text_slice word);

/*
 * Each function parses one form and appends its specs. parser->pos is after the characters of `name`.
 */
struct sp_error *parse_pmu_event(struct parser *parser, struct text_slice name) SP_MUST_CHECK;
struct sp_error *parse_tracepoint(struct parser *parser, struct text_slice system) SP_MUST_CHECK;
/*
 * Whether tracefs has the system, or the system is a pattern. False without a readable tracefs.
 */
struct sp_error *tracepoint_system_exists(struct parser *parser, struct text_slice system,
					  bool *ret) SP_MUST_CHECK;
struct sp_error *parse_breakpoint(struct parser *parser) SP_MUST_CHECK;
struct sp_error *parse_probe(struct parser *parser, struct text_slice kind) SP_MUST_CHECK;

/*
 * Appends the event `name` of all PMUs that have it, given without slashes. *found_ret is false if none
 * has it.
 */
struct sp_error *parse_plain_pmu_event(struct parser *parser, struct text_slice name,
				       bool *found_ret) SP_MUST_CHECK;

/*
 * Appends a generic hardware or cache event, once for each kind of CPU of a hybrid machine. *found_ret
 * is false, and nothing is appended, if there is only one kind.
 */
struct sp_error *parse_hybrid_event(struct parser *parser, struct text_slice name,
				    const struct event_spec *spec, bool *found_ret) SP_MUST_CHECK;
