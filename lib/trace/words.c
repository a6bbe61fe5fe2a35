/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/words.h"

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
 * Returns the end of a quoted text, after its quote. NULL if it does not end, or holds characters
 * that no kernel writes.
 */
static char *quoted_end(char *pos, const char *end, char quote)
{
	for (; pos < end; pos++) {
		if (*pos == quote)
			return pos + 1;
		/* Versions of libtraceevent differ in two backslashes. */
		if (*pos == '\\' && (++pos == end || *pos == '\\' || !is_printable(*pos)))
			return NULL;
		if (!is_printable(*pos) && !(quote == '"' && *pos == '\n'))
			return NULL;
	}
	return NULL;
}

static bool next_string(struct words *words)
{
	char *pos = words->at;
	while (pos < words->end && *pos == '"') {
		words->pos = quoted_end(pos + 1, words->end, '"');
		if (!words->pos)
			return false;
		for (pos = words->pos; pos < words->end && strchr(" \t\n", *pos); pos++)
			;
	}
	words->kind = WORDS_STRING;
	return true;
}

static bool next_char(struct words *words)
{
	words->kind = WORDS_CHAR;
	words->pos = quoted_end(words->at + 1, words->end, '\'');
	return words->pos && words->pos - words->at >= 3 && words->pos - words->at <= 4;
}

static void next_op(struct words *words)
{
	char first = *words->at;
	char second = words->pos < words->end ? *words->pos : '\0';
	words->kind = WORDS_OP;
	if ((first == '-' && second == '>') || (second == '=' && strchr("+-|&<>!=", first))) {
		words->pos++;
	} else if (second == first && strchr("+-|&<>", first)) {
		words->pos++;
		if (strchr("<>", first) && words->pos < words->end && *words->pos == '=')
			words->pos++;
	}
}

static bool next_word(struct words *words)
{
	char first = *words->pos++;
	if (first == '"')
		return next_string(words);
	if (first == '\'')
		return next_char(words);
	if (first == '\n') {
		words->kind = WORDS_NEWLINE;
	} else if (is_item(first)) {
		words->kind = WORDS_ITEM;
		while (words->pos < words->end && is_item(*words->pos))
			words->pos++;
	} else if (strchr("(),", first)) {
		words->kind = WORDS_DELIM;
	} else if (is_printable(first)) {
		next_op(words);
	} else {
		return false;
	}
	return true;
}

bool words_next(struct words *words)
{
	while (words->pos < words->end && (*words->pos == ' ' || *words->pos == '\t'))
		words->pos++;
	words->at = words->pos;
	words->length = 0;
	words->kind = WORDS_END;
	if (words->pos == words->end)
		return true;
	if (!*words->pos || !next_word(words)) {
		words->kind = WORDS_BAD;
		return false;
	}
	words->length = (size_t)(words->pos - words->at);
	return true;
}

bool words_is(const struct words *words, const char *word)
{
	return words->length == strlen(word) && !memcmp(words->at, word, words->length);
}

bool words_take(struct words *words, const char *word)
{
	return words_is(words, word) && words_next(words);
}

bool words_take_kind(struct words *words, enum words_kind kind)
{
	return words->kind == kind && words_next(words);
}

bool words_field_is(const struct words_field *field, const char *name, size_t length)
{
	return field->length == length && !memcmp(field->name, name, length);
}

const struct words_field *words_field(const struct words *words, bool own_only)
{
	if (words->kind != WORDS_ITEM)
		return NULL;
	for (size_t i = own_only ? words->common_count : 0; i < words->field_count; i++)
		if (words_field_is(&words->fields[i], words->at, words->length))
			return &words->fields[i];
	return NULL;
}
