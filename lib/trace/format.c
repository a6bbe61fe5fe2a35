/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/format.h"

#include <stdint.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "trace/words.h"

/* A name's length is that of a token; it is in the words. */
static bool take_name(struct words *words, struct format_facts *facts)
{
	facts->name = words->at;
	facts->name_size = words->length;
	return words_take_kind(words, WORDS_ITEM) && words_take_kind(words, WORDS_NEWLINE);
}

/* Decimal: a zero in front would make it octal to others. */
static bool take_number(struct words *words, int *ret)
{
	int number = 0;
	if (words->kind != WORDS_ITEM || words->length > 9 || (words->length > 1 && *words->at == '0'))
		return false;
	for (size_t i = 0; i < words->length; i++) {
		if (words->at[i] < '0' || words->at[i] > '9')
			return false;
		number = number * 10 + (words->at[i] - '0');
	}
	*ret = number;
	return words_next(words);
}

static bool take_labelled(struct words *words, const char *label, int *ret)
{
	return words_take(words, label) && words_take(words, ":") && take_number(words, ret);
}

/* "[16]", "[]", "[A + 1]" */
static bool take_brackets(struct words *words)
{
	size_t inside = 0;
	if (!words_take(words, "["))
		return false;
	while (!words_is(words, "]")) {
		if ((words->kind != WORDS_ITEM && words->kind != WORDS_OP) || inside++ == 16 ||
		    !words_next(words))
			return false;
	}
	return words_next(words);
}

static void name_field(struct words *words, struct words_field *field)
{
	field->name = words->at;
	field->length = words->length;
}

/* "unsigned short common_type", "char comm[16]", "__data_loc char[] name", "void * p" */
static bool take_declaration(struct words *words, struct words_field *field)
{
	size_t items = 0;
	bool named = false;
	while (words->kind == WORDS_ITEM || words_is(words, "*")) {
		named = words->kind == WORDS_ITEM;
		name_field(words, field);
		if (items++ == 32 || !words_next(words))
			return false;
	}
	if (items < 2 || !named)
		return false;
	if (!words_is(words, "["))
		return true;
	field->is_array = true;
	if (!take_brackets(words))
		return false;
	if (words->kind != WORDS_ITEM)
		return true;
	name_field(words, field);
	return words_next(words);
}

static bool take_field(struct words *words)
{
	int offset, sign;
	if (words->field_count == WORDS_FIELDS || !words_take(words, "field") || !words_take(words, ":"))
		return false;
	struct words_field *field = &words->fields[words->field_count];
	*field = (struct words_field){0};
	if (!take_declaration(words, field) || !words_take(words, ";") ||
	    !take_labelled(words, "offset", &offset) || !words_take(words, ";") ||
	    !take_labelled(words, "size", &field->size) || !words_take(words, ";"))
		return false;
	if (words->kind == WORDS_ITEM &&
	    (!take_labelled(words, "signed", &sign) || !words_take(words, ";")))
		return false;
	/* libtraceevent knows a sample's event by one place for all events. */
	if (!words->field_count && (!words_field_is(field, "common_type", 11) || offset ||
				   field->size != 2))
		return false;
	words->field_count++;
	return words_take_kind(words, WORDS_NEWLINE);
}

/* Up to an empty line. */
static bool take_fields(struct words *words)
{
	while (words->kind != WORDS_NEWLINE)
		if (!take_field(words))
			return false;
	return words_next(words);
}

static bool take_head(struct words *words, struct format_facts *facts)
{
	return words_next(words) && words_take(words, "name") && words_take(words, ":") &&
	       take_name(words, facts) && take_labelled(words, "ID", &facts->id) &&
	       words_take_kind(words, WORDS_NEWLINE) && words_take(words, "format") &&
	       words_take(words, ":") && words_take_kind(words, WORDS_NEWLINE);
}

bool format_read(char *bytes, size_t size, unsigned int long_size, struct format_facts *ret)
{
	struct words words = {.pos = bytes, .end = bytes + size, .long_size = long_size};
	CLEANUP_FREE struct words_field *fields = NULL;
	*ret = (struct format_facts){0};
	if (size > WORDS_LIMIT || !(fields = calloc(WORDS_FIELDS, sizeof(*fields))))
		return false;
	words.fields = fields;
	if (!take_head(&words, ret) || !take_fields(&words))
		return false;
	words.common_count = words.field_count;
	if (!words.common_count || !take_fields(&words))
		return false;
	ret->print = (size_t)(words.at - bytes);
	ret->printable = words_take(&words, "print") && words_take(&words, "fmt") &&
			 words_take(&words, ":") && print_read(&words);
	return true;
}
