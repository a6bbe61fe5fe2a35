/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/lexer.h"

#include <string.h>

static bool is_item(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

/*
 * Returns the end of a quoted text, after its closing quote. NULL if there is no closing quote, or
 * the text has characters that no kernel writes.
 */
static const char *quoted_end(const char *pos, const char *end, char quote)
{
	for (; pos < end; pos++) {
		if (*pos == quote)
			return pos + 1;
		if (*pos == '\\' && (++pos == end || !is_printable(*pos)))
			return NULL;
		if (!is_printable(*pos) && !(quote == '"' && *pos == '\n'))
			return NULL;
	}
	return NULL;
}

static bool next_string(struct lexer *lexer)
{
	const char *pos = lexer->at;
	while (pos < lexer->end && *pos == '"') {
		lexer->pos = quoted_end(pos + 1, lexer->end, '"');
		if (!lexer->pos)
			return false;
		for (pos = lexer->pos; pos < lexer->end && strchr(" \t\n", *pos); pos++)
			;
	}
	lexer->kind = LEXER_STRING;
	return true;
}

static bool next_char(struct lexer *lexer)
{
	lexer->kind = LEXER_CHAR;
	lexer->pos = quoted_end(lexer->at + 1, lexer->end, '\'');
	return lexer->pos && lexer->pos - lexer->at >= 3 && lexer->pos - lexer->at <= 4;
}

static void next_op(struct lexer *lexer)
{
	char first = *lexer->at;
	char second = lexer->pos < lexer->end ? *lexer->pos : '\0';
	lexer->kind = LEXER_OP;
	if ((first == '-' && second == '>') || (second == '=' && strchr("+-|&<>!=", first))) {
		lexer->pos++;
	} else if (second == first && strchr("+-|&<>", first)) {
		lexer->pos++;
		if (strchr("<>", first) && lexer->pos < lexer->end && *lexer->pos == '=')
			lexer->pos++;
	}
}

static bool next_word(struct lexer *lexer)
{
	char first = *lexer->pos++;
	if (first == '"')
		return next_string(lexer);
	if (first == '\'')
		return next_char(lexer);
	if (first == '\n') {
		lexer->kind = LEXER_NEWLINE;
	} else if (is_item(first)) {
		lexer->kind = LEXER_ITEM;
		while (lexer->pos < lexer->end && is_item(*lexer->pos))
			lexer->pos++;
	} else if (strchr("(),", first)) {
		lexer->kind = LEXER_DELIM;
	} else if (is_printable(first)) {
		next_op(lexer);
	} else {
		return false;
	}
	return true;
}

bool lexer_next(struct lexer *lexer)
{
	while (lexer->pos < lexer->end && (*lexer->pos == ' ' || *lexer->pos == '\t'))
		lexer->pos++;
	lexer->at = lexer->pos;
	lexer->length = 0;
	lexer->kind = LEXER_END;
	if (lexer->pos == lexer->end)
		return true;
	if (!*lexer->pos || !next_word(lexer)) {
		lexer->kind = LEXER_BAD;
		return false;
	}
	lexer->length = lexer->pos - lexer->at;
	return true;
}

bool lexer_is(const struct lexer *lexer, const char *word)
{
	return lexer->length == strlen(word) && !memcmp(lexer->at, word, lexer->length);
}

bool lexer_accept(struct lexer *lexer, const char *word)
{
	return lexer_is(lexer, word) && lexer_next(lexer);
}

bool lexer_accept_kind(struct lexer *lexer, enum lexer_kind kind)
{
	return lexer->kind == kind && lexer_next(lexer);
}

void *lexer_alloc(struct lexer *lexer, size_t size)
{
	void *memory = arena_alloc(lexer->arena, size);
	lexer->no_memory |= !memory;
	return memory;
}

char *lexer_copy(struct lexer *lexer)
{
	char *copy = lexer_alloc(lexer, lexer->length + 1), *to = copy;
	bool quoted = lexer->kind == LEXER_STRING || lexer->kind == LEXER_CHAR;
	char quote = *lexer->at;
	bool inside = !quoted;
	for (size_t i = 0; copy && i < lexer->length; i++) {
		if (quoted && lexer->at[i] == quote) {
			inside = !inside;
			continue;
		}
		if (!inside)
			continue;
		*to++ = lexer->at[i];
		if (quoted && lexer->at[i] == '\\')
			*to++ = lexer->at[++i];
	}
	return copy;
}
