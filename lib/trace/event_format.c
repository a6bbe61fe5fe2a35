/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/event_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "trace/lexer.h"

/* A field is "field:TYPE NAME;	offset:N;	size:N;". */
struct trace_field trace_field_find(const char *format, const char *name)
{
	struct trace_field field = {0};
	char wanted[32];
	snprintf(wanted, sizeof(wanted), " %s;", name);
	const char *at = strstr(format, wanted);
	if (!at ||
	    sscanf(at + strlen(wanted), " offset:%u; size:%u;", &field.offset, &field.size) != 2 ||
	    (field.size != 1 && field.size != 4 && field.size != 8 && field.size != 16))
		return (struct trace_field){0};
	return field;
}

/* Reads a decimal number of up to 9 digits. */
static bool take_number(struct lexer *lexer, size_t *ret)
{
	size_t number = 0;
	if (lexer->kind != LEXER_ITEM || lexer->length > 9)
		return false;
	for (size_t i = 0; i < lexer->length; i++) {
		if (lexer->at[i] < '0' || lexer->at[i] > '9')
			return false;
		number = number * 10 + (size_t)(lexer->at[i] - '0');
	}
	*ret = number;
	return lexer_next(lexer);
}

static bool take_labelled(struct lexer *lexer, const char *label, size_t *ret)
{
	return lexer_accept(lexer, label) && lexer_accept(lexer, ":") && take_number(lexer, ret);
}

static bool contains(const char *text, size_t size, const char *word)
{
	return memmem(text, size, word, strlen(word));
}

static bool begins(const char *text, size_t size, const char *word)
{
	return size >= strlen(word) && !memcmp(text, word, strlen(word));
}

static unsigned int flags_of_type(const char *type, size_t size, bool array)
{
	unsigned int flags = array ? FIELD_ARRAY : 0;
	if (array && (contains(type, size, "char") || contains(type, size, "u8") ||
		      contains(type, size, "s8")))
		flags |= FIELD_STRING;
	if (begins(type, size, "__data_loc"))
		flags |= FIELD_DYNAMIC;
	if (begins(type, size, "__rel_loc"))
		flags |= FIELD_DYNAMIC | FIELD_RELATIVE;
	if (contains(type, size, "long"))
		flags |= FIELD_LONG;
	return contains(type, size, "*") ? flags | FIELD_POINTER : flags;
}

/* Returns the size of a dynamic array's element by the last word of its type; 0: unknown. */
static size_t size_of_word(const char *word, size_t length)
{
	static const struct {
		const char *word;
		size_t size;
	} words[] = {{"u8", 1},	 {"s8", 1},  {"char", 1}, {"u16", 2}, {"s16", 2},
		     {"u32", 4}, {"s32", 4}, {"u64", 8},  {"s64", 8}};
	for (size_t i = 0; i < count_of(words); i++)
		if (strlen(words[i].word) == length && begins(word, length, words[i].word))
			return words[i].size;
	return 0;
}

struct declaration {
	const char *word; /* last word of the type, if the name is behind brackets */
	size_t word_size;
	size_t length; /* the number in brackets; 0: none */
};

/*
 * Reads a field's declaration: "unsigned short common_type", "char comm[16]", "__data_loc char[]
 * name", "void * p"
 */
static bool take_declaration(struct lexer *lexer, struct format_field *field,
			     struct declaration *ret)
{
	const char *type = lexer->at, *word = lexer->at;
	size_t items = 0, word_size = 0;
	bool named = false, array = false;
	while (lexer->kind == LEXER_ITEM || lexer_is(lexer, "*")) {
		named = lexer->kind == LEXER_ITEM;
		word = lexer->at;
		word_size = lexer->length;
		if (named && !(field->name = lexer_copy(lexer)))
			return false;
		if (items++ == 32 || !lexer_next(lexer))
			return false;
	}
	if (items < 2 || !named)
		return false;
	const char *end = word;
	if (lexer_is(lexer, "[")) {
		array = true;

		/*
		 * Reads an array's length: "[16]", "[]", "[A + 1]". Its number is the last token.
		 */
		size_t inside = 0;
		ret->length = 0;
		if (!lexer_accept(lexer, "["))
			return false;
		while (!lexer_is(lexer, "]")) {
			if ((lexer->kind != LEXER_ITEM && lexer->kind != LEXER_OP) ||
			    inside++ == 16)
				return false;
			/* The digits end at another character of the text. */
			ret->length = strtoul(lexer->at, NULL, 0);
			if (!lexer_next(lexer))
				return false;
		}
		if (!lexer_next(lexer))
			return false;
		if (lexer->kind == LEXER_ITEM) {
			end = word + word_size;
			ret->word = word;
			ret->word_size = word_size;
			if (!(field->name = lexer_copy(lexer)) || !lexer_next(lexer))
				return false;
		}
	}
	field->flags = flags_of_type(type, end - type, array);
	return true;
}

static size_t element_of(const struct lexer *lexer, const struct format_field *field,
			 const struct declaration *declared)
{
	if (!(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC)))
		return field->size;
	if (declared->length)
		return field->size / declared->length;
	if (field->flags & FIELD_DYNAMIC)
		return declared->word ? size_of_word(declared->word, declared->word_size) : 0;
	if (field->flags & FIELD_STRING)
		return 1;
	return field->flags & FIELD_LONG ? lexer->long_size : 0;
}

static bool take_field(struct lexer *lexer)
{
	struct format *format = lexer->format;
	size_t sign = 0;
	if (format->field_count == lexer->most_fields || !lexer_accept(lexer, "field") ||
	    !lexer_accept(lexer, ":"))
		return false;
	struct format_field *field = &format->fields[format->field_count];
	struct declaration declared = {0};
	if (!take_declaration(lexer, field, &declared) || !lexer_accept(lexer, ";") ||
	    !take_labelled(lexer, "offset", &field->offset) || !lexer_accept(lexer, ";") ||
	    !take_labelled(lexer, "size", &field->size) || !lexer_accept(lexer, ";"))
		return false;
	if (lexer->kind == LEXER_ITEM &&
	    (!take_labelled(lexer, "signed", &sign) || !lexer_accept(lexer, ";")))
		return false;
	field->flags |= sign ? FIELD_SIGNED : 0;
	field->element = element_of(lexer, field, &declared);
	if (!format->field_count &&
	    (strcmp(field->name, "common_type") != 0 || field->offset || field->size != 2))
		return false;
	format->field_count++;
	return lexer_accept_kind(lexer, LEXER_NEWLINE);
}

/* Reads fields up to an empty line. */
static bool take_fields(struct lexer *lexer)
{
	while (lexer->kind != LEXER_NEWLINE)
		if (!take_field(lexer))
			return false;
	return lexer_next(lexer);
}

static bool take_head(struct lexer *lexer, size_t *id_ret)
{
	return lexer_next(lexer) && lexer_accept(lexer, "name") && lexer_accept(lexer, ":") &&
	       lexer_accept_kind(lexer, LEXER_ITEM) && lexer_accept_kind(lexer, LEXER_NEWLINE) &&
	       take_labelled(lexer, "ID", id_ret) && lexer_accept_kind(lexer, LEXER_NEWLINE) &&
	       lexer_accept(lexer, "format") && lexer_accept(lexer, ":") &&
	       lexer_accept_kind(lexer, LEXER_NEWLINE);
}

/* Makes room for all fields: one a line. */
static bool make_fields(struct lexer *lexer)
{
	size_t lines = 0;
	for (const char *at = lexer->pos; at < lexer->end; at++)
		lines += *at == '\n';
	lexer->most_fields = lines < LEXER_FIELDS ? lines : LEXER_FIELDS;
	lexer->format->fields =
		lexer_alloc(lexer, lexer->most_fields * sizeof(struct format_field));
	return lexer->format->fields;
}

static bool take_all(struct lexer *lexer)
{
	struct format *format = lexer->format;
	size_t id;
	if (!take_head(lexer, &id) || !make_fields(lexer) || !take_fields(lexer))
		return false;
	format->common_count = format->field_count;
	if (!format->common_count || !take_fields(lexer))
		return false;
	format->printable = lexer_accept(lexer, "print") && lexer_accept(lexer, "fmt") &&
			    lexer_accept(lexer, ":") && print_read(lexer);
	return !lexer->no_memory;
}

bool format_id(const char *text, size_t size, uint64_t *ret)
{
	struct lexer lexer = {.pos = text, .end = text + size};
	size_t id;
	bool good = size <= LEXER_LIMIT && take_head(&lexer, &id);
	if (good)
		*ret = id;
	return good;
}

bool format_read(const char *text, size_t size, unsigned int long_size, struct arena *arena,
		 struct format *ret, bool *no_memory)
{
	struct lexer lexer = {.pos = text,
			      .end = text + size,
			      .format = ret,
			      .arena = arena,
			      .long_size = long_size};
	*ret = (struct format){0};
	bool good = size <= LEXER_LIMIT && take_all(&lexer);
	*no_memory = lexer.no_memory;
	return good;
}
