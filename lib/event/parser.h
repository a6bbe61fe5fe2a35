/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared parts of the event string's parsers. Private to lib/event. */
#ifndef EVENT_PARSER_H
#define EVENT_PARSER_H

#include <string.h>
#include "event/parse.h"
#include "event/pmu.h"
#include "proc/tracefs.h"

/* Part of the text. */
struct slice {
	const char *text;
	size_t size;
};

static inline struct slice slice_between(const char *begin, const char *end)
{
	return (struct slice){begin, (size_t)(end - begin)};
}

static inline bool slice_is(struct slice slice, const char *text)
{
	return strlen(text) == slice.size && memcmp(slice.text, text, slice.size) == 0;
}

struct parser {
	struct event_specs *specs;
	const struct sp_ctx *ctx;
	const char *text, *end; /* the whole; *end is NUL */
	const char *pos;
	struct pmus pmus;       /* read when they are first asked for */
	bool pmus_there;
	struct tracefs tracefs; /* the same */
	bool tracefs_there;
};

/* The next character; NUL at the end. */
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

void parser_blanks(struct parser *parser);

/* Whether a name or a list of modifiers may contain the character. */
bool parser_in_word(char c);

/* The word at parser->pos; may be empty. */
struct slice parser_word(struct parser *parser);

/* Read up to one of `stops` or the end; a backslash escapes the next character. */
struct slice parser_until(struct parser *parser, const char *stops);

/* A copy in the specs' arena; NULL when out of memory. */
char *parser_keep(struct parser *parser, struct slice slice);

/* The same without backslashes. */
char *parser_keep_plain(struct parser *parser, struct slice slice);

/* SP_ERROR_INVALID: `event "TEXT": MESSAGE at character N`. The caller adds the remedy. */
struct sp_error *parser_error(const struct parser *parser, const char *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* `event "TEXT"`, for errors that are made elsewhere. */
struct sp_error *parser_prefix(const struct parser *parser, const char *place,
			       struct sp_error *error);

/* A new spec with the defaults: alone, of no PMU. Room for it is in the specs afterwards. */
struct event_spec event_spec_make(const struct parser *parser);
struct sp_error *parser_add(struct parser *parser, const struct event_spec *spec) SP_MUST_CHECK;

/* PMUs and tracefs, read when first asked for. */
struct sp_error *parser_pmus(struct parser *parser) SP_MUST_CHECK;
struct sp_error *parser_tracefs(struct parser *parser) SP_MUST_CHECK;

/* The whole slice: decimal, or hexadecimal with 0x. */
bool slice_number(struct slice slice, uint64_t *ret);

/* One of the terms between slashes, as typed: NAME[=VALUE]. */
struct term {
	struct slice name, value; /* value.text NULL: there is none; quotes are gone */
	bool used;
};

struct terms {
	VEC(struct term);
};

static inline void cleanup_terms(struct terms *terms)
{
	vec_deinit(terms);
}

/* Reads "a=b,c/" behind a '/', the second '/' included. */
struct sp_error *terms_read(struct parser *parser, struct terms *terms) SP_MUST_CHECK;

/*
 * Applies those terms that are not of one PMU alone (config=, period=, name=, …), and marks them
 * as used; others stay.
 */
struct sp_error *terms_apply_general(struct parser *parser, struct terms *terms,
				     struct event_spec *spec) SP_MUST_CHECK;

/* The error for the first term that nobody used, or NULL; with the PMU's own terms, if there is one. */
struct sp_error *terms_check_used(struct parser *parser, const struct terms *terms,
				  const struct pmu *pmu) SP_MUST_CHECK;

/* Modifiers behind a ':' or a '/': at least one. */
struct sp_error *modifiers_read(struct parser *parser, struct slice *ret) SP_MUST_CHECK;
/* To the specs from `first` to the last. `group`: of "{…}:modifiers", else of one event. */
struct sp_error *modifiers_apply(struct parser *parser, struct slice text, size_t first,
				 bool group) SP_MUST_CHECK;
/* Whether a word can be nothing but modifiers. */
bool modifiers_only(struct slice word);

/* Each appends the specs of one form, from parser->pos (behind what `name` was read from). */
struct sp_error *parse_pmu_event(struct parser *parser, struct slice name) SP_MUST_CHECK;
struct sp_error *parse_tracepoint(struct parser *parser, struct slice system) SP_MUST_CHECK;
/* Whether tracefs, as far as it can be read, has that system; of globs, always. */
struct sp_error *tracepoint_system_exists(struct parser *parser, struct slice system,
					  bool *ret) SP_MUST_CHECK;
struct sp_error *parse_breakpoint(struct parser *parser) SP_MUST_CHECK;
struct sp_error *parse_probe(struct parser *parser, struct slice kind) SP_MUST_CHECK;

/*
 * The event `name` of all PMUs that have it, without slashes; *found_ret is false, and nothing
 * appended, where none has.
 */
struct sp_error *parse_plain_pmu_event(struct parser *parser, struct slice name,
				       bool *found_ret) SP_MUST_CHECK;

/*
 * A generic hardware or cache event, once for each kind of processor where there are several
 * (hybrid); *found_ret is false, and nothing appended, where there is one kind.
 */
struct sp_error *parse_hybrid_event(struct parser *parser, struct slice name,
				    const struct event_spec *spec, bool *found_ret) SP_MUST_CHECK;

#endif
