/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/format.h"

#include <stdint.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "trace/lexer.h"

/* Reads the event's name, which points into the format's text. */
static bool take_name(struct lexer *lexer, struct format_facts *facts)
{
	facts->name = lexer->at;
	facts->name_size = lexer->length;
	return lexer_accept_kind(lexer, LEXER_ITEM) && lexer_accept_kind(lexer, LEXER_NEWLINE);
}

/* Reads a decimal number. A leading zero is refused, because libtraceevent would read it as octal. */
static bool take_number(struct lexer *lexer, int *ret)
{
	int number = 0;
	if (lexer->kind != LEXER_ITEM || lexer->length > 9 || (lexer->length > 1 && *lexer->at == '0'))
		return false;
	for (size_t i = 0; i < lexer->length; i++) {
		if (lexer->at[i] < '0' || lexer->at[i] > '9')
			return false;
		number = number * 10 + (lexer->at[i] - '0');
	}
	*ret = number;
	return lexer_next(lexer);
}

static bool take_labelled(struct lexer *lexer, const char *label, int *ret)
{
	return lexer_accept(lexer, label) && lexer_accept(lexer, ":") && take_number(lexer, ret);
}

/* Skips an array's length: "[16]", "[]", "[A + 1]" */
static bool take_brackets(struct lexer *lexer)
{
	size_t inside = 0;
	if (!lexer_accept(lexer, "["))
		return false;
	while (!lexer_is(lexer, "]")) {
		if ((lexer->kind != LEXER_ITEM && lexer->kind != LEXER_OP) || inside++ == 16 ||
		    !lexer_next(lexer))
			return false;
	}
	return lexer_next(lexer);
}

static void name_field(struct lexer *lexer, struct lexer_field *field)
{
	field->name = lexer->at;
	field->length = lexer->length;
}

/*
 * Reads a field's declaration: "unsigned short common_type", "char comm[16]", "__data_loc char[] name",
 * "void * p"
 */
static bool take_declaration(struct lexer *lexer, struct lexer_field *field)
{
	size_t items = 0;
	bool named = false;
	while (lexer->kind == LEXER_ITEM || lexer_is(lexer, "*")) {
		named = lexer->kind == LEXER_ITEM;
		name_field(lexer, field);
		if (items++ == 32 || !lexer_next(lexer))
			return false;
	}
	if (items < 2 || !named)
		return false;
	if (!lexer_is(lexer, "["))
		return true;
	field->is_array = true;
	if (!take_brackets(lexer))
		return false;
	if (lexer->kind != LEXER_ITEM)
		return true;
	name_field(lexer, field);
	return lexer_next(lexer);
}

static bool take_field(struct lexer *lexer)
{
	int offset, sign;
	if (lexer->field_count == LEXER_FIELDS || !lexer_accept(lexer, "field") || !lexer_accept(lexer, ":"))
		return false;
	struct lexer_field *field = &lexer->fields[lexer->field_count];
	*field = (struct lexer_field){0};
	if (!take_declaration(lexer, field) || !lexer_accept(lexer, ";") ||
	    !take_labelled(lexer, "offset", &offset) || !lexer_accept(lexer, ";") ||
	    !take_labelled(lexer, "size", &field->size) || !lexer_accept(lexer, ";"))
		return false;
	if (lexer->kind == LEXER_ITEM &&
	    (!take_labelled(lexer, "signed", &sign) || !lexer_accept(lexer, ";")))
		return false;
	/* libtraceevent assumes that all events have their id at one offset. */
	if (!lexer->field_count && (!lexer_field_is(field, "common_type", 11) || offset ||
				   field->size != 2))
		return false;
	lexer->field_count++;
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

static bool take_head(struct lexer *lexer, struct format_facts *facts)
{
	return lexer_next(lexer) && lexer_accept(lexer, "name") && lexer_accept(lexer, ":") &&
	       take_name(lexer, facts) && take_labelled(lexer, "ID", &facts->id) &&
	       lexer_accept_kind(lexer, LEXER_NEWLINE) && lexer_accept(lexer, "format") &&
	       lexer_accept(lexer, ":") && lexer_accept_kind(lexer, LEXER_NEWLINE);
}

bool format_read(char *bytes, size_t size, unsigned int long_size, struct format_facts *ret)
{
	struct lexer lexer = {.pos = bytes, .end = bytes + size, .long_size = long_size};
	CLEANUP_FREE struct lexer_field *fields = NULL;
	*ret = (struct format_facts){0};
	if (size > LEXER_LIMIT || !(fields = calloc(LEXER_FIELDS, sizeof(*fields))))
		return false;
	lexer.fields = fields;
	if (!take_head(&lexer, ret) || !take_fields(&lexer))
		return false;
	lexer.common_count = lexer.field_count;
	if (!lexer.common_count || !take_fields(&lexer))
		return false;
	ret->print = (size_t)(lexer.at - bytes);
	ret->printable = lexer_accept(&lexer, "print") && lexer_accept(&lexer, "fmt") &&
			 lexer_accept(&lexer, ":") && print_read(&lexer);
	return true;
}
