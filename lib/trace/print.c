/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the text after "print fmt:", C expressions. libtraceevent knows these:
 *
 *	expression: {~ ! + -} operand {[operand]} {operator …}, … ? … : …
 *	operand: string, character, number or words, REC->field, (expression), (type) operand,
 *		 function(…)
 *
 * libtraceevent's precedence of operators is its own. So operands are checked later, in the tree
 * that it builds (trace/vet.h). Values that it computes while it parses are checked here.
 */
#include "trace/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses, functions and conditions in each other; operators and operands of an argument. */
#define DEEPEST 64
#define MOST_NODES 512
/* Words of a type: "unsigned long long int" */
#define MOST_WORDS 8

static bool read_expression(struct words *words);
static bool read_operand(struct words *words);

static bool take_field_name(struct words *words, bool own_only)
{
	return words_field(words, own_only) && words_next(words);
}

/* Reads the field after REC. */
static bool read_field(struct words *words)
{
	return words_take(words, "->") && take_field_name(words, false);
}

/* {1 << 2, "name"}, … */
static bool read_list(struct words *words)
{
	unsigned int nodes = words->nodes;
	do {
		if (!words_take(words, "{") || !read_expression(words) || !words_take(words, ",") ||
		    !read_operand(words) || !words_take(words, "}"))
			return false;
		/* It makes words of them at once, one after the other. */
		words->nodes = nodes;
	} while (words_take(words, ","));
	return true;
}

static bool read_flags(struct words *words)
{
	return read_expression(words) && words_take(words, ",") &&
	       (words->kind == WORDS_STRING || words->kind == WORDS_ITEM || words->kind == WORDS_CHAR) &&
	       words_next(words) && words_take(words, ",") && read_list(words);
}

static bool read_symbols(struct words *words)
{
	return read_expression(words) && words_take(words, ",") && read_list(words);
}

static bool read_two(struct words *words)
{
	return read_expression(words) && words_take(words, ",") && read_expression(words);
}

static bool read_three(struct words *words)
{
	return read_two(words) && words_take(words, ",") && read_expression(words);
}

static bool read_any_name(struct words *words)
{
	return take_field_name(words, false);
}

static bool read_own_name(struct words *words)
{
	return take_field_name(words, true);
}

/* Its first is no expression to libtraceevent, but for what is before an operand. */
static bool read_expectation(struct words *words)
{
	while (words_is(words, "!") || words_is(words, "~"))
		if (++words->nodes > MOST_NODES || !words_next(words))
			return false;
	return read_operand(words) && words_take(words, ",") && words_take_kind(words, WORDS_ITEM);
}

/* 0: of what it is, is not known here. */
static unsigned int size_of(struct words *words)
{
	static const struct {
		const char *type;
		unsigned int size;
	} types[] = {{"char", 1}, {"u8", 1}, {"s8", 1}, {"__u8", 1}, {"__s8", 1},
		     {"short", 2}, {"u16", 2}, {"s16", 2}, {"__u16", 2}, {"__s16", 2},
		     {"int", 4}, {"u32", 4}, {"s32", 4}, {"__u32", 4}, {"__s32", 4},
		     {"u64", 8}, {"s64", 8}, {"__u64", 8}, {"__s64", 8}};
	if (words_take(words, "REC")) {
		const struct words_field *field = words_take(words, "->") ? words_field(words, false)
									  : NULL;
		return field && !field->is_array && words_next(words) ? (unsigned int)field->size : 0;
	}
	if (words_take(words, "unsigned") && words_is(words, ")"))
		return 4;
	if (words_take(words, "long"))
		return words_take(words, "long") ? 8 : words->long_size;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (words_take(words, types[i].type))
			return types[i].size;
	return 0;
}

/* sizeof(…), which is made its number. */
static bool read_size(struct words *words)
{
	char *begin = words->at, number[16];
	unsigned int size = words_next(words) && words_take(words, "(") ? size_of(words) : 0;
	char *end = words->pos;
	if (!size || !words_take(words, ")"))
		return false;
	size_t digits = (size_t)snprintf(number, sizeof(number), "%u", size);
	if (digits > (size_t)(end - begin))
		return false;
	memset(begin, ' ', (size_t)(end - begin));
	memcpy(begin, number, digits);
	return true;
}

static const struct function {
	const char *name;
	bool (*read)(struct words *words);
} functions[] = {
	{"__print_flags", read_flags},
	{"__print_symbolic", read_symbols},
	{"__print_hex", read_two},
	{"__print_hex_str", read_two},
	{"__print_array", read_three},
	{"__get_str", read_any_name},
	{"__get_rel_str", read_any_name},
	{"__get_bitmask", read_any_name},
	{"__get_rel_bitmask", read_any_name},
	{"__get_cpumask", read_any_name},
	{"__get_rel_cpumask", read_any_name},
	{"__get_dynamic_array", read_own_name},
	{"__get_rel_dynamic_array", read_own_name},
	{"__get_sockaddr", read_own_name},
	{"__get_sockaddr_rel", read_own_name},
	{"__get_dynamic_array_len", read_own_name},
	{"__get_rel_dynamic_array_len", read_own_name},
	{"__builtin_expect", read_expectation},
};

/* At the name, which a parenthesis follows; one that it does not know would be no loss. */
static bool read_function(struct words *words)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (!words_is(words, functions[i].name))
			continue;
		return words_next(words) && words_take(words, "(") && functions[i].read(words) &&
		       words_take(words, ")");
	}
	return false;
}

static bool is_called(const struct words *words)
{
	struct words next = *words;
	return words_next(&next) && words_is(&next, "(");
}

static bool read_words(struct words *words)
{
	size_t count = 0;
	while (words->kind == WORDS_ITEM)
		if (words_is(words, "REC") || count++ == MOST_WORDS || !words_next(words))
			return false;
	return true;
}

static bool read_item(struct words *words)
{
	if (words_is(words, "REC"))
		return words_next(words) && read_field(words);
	if (!is_called(words))
		return read_words(words);
	return words_is(words, "sizeof") ? read_size(words) : read_function(words);
}

static bool begins_operand(const struct words *words)
{
	return words->kind == WORDS_ITEM || words->kind == WORDS_STRING || words->kind == WORDS_CHAR ||
	       words_is(words, "(");
}

/* "(unsigned long)", "(void *)": over it, if it is one. */
static bool take_type(struct words *words)
{
	struct words begin = *words;
	if (words->kind == WORDS_ITEM && !is_called(words) && read_words(words)) {
		bool pointer = words_take(words, "*");
		if (words_take(words, ")") && (pointer || begins_operand(words)))
			return true;
	}
	*words = begin;
	return false;
}

/* Reads what follows the opening parenthesis. */
static bool read_paren(struct words *words)
{
	if (take_type(words))
		return read_operand(words);
	/* "(REC)->field" */
	if (words_is(words, "REC")) {
		struct words next = *words;
		if (words_next(&next) && words_is(&next, ")"))
			return words_next(words) && words_next(words) && read_field(words);
	}
	/* Then it is the whole of it: what follows makes no type of it. */
	return read_expression(words) && words_take(words, ")") && !begins_operand(words);
}

static bool read_operand(struct words *words)
{
	bool good = false;
	if (++words->nodes > MOST_NODES || words->depth == DEEPEST)
		return false;
	words->depth++;
	if (words->kind == WORDS_STRING || words->kind == WORDS_CHAR)
		good = words_next(words);
	else if (words->kind == WORDS_ITEM)
		good = read_item(words);
	else if (words_is(words, "("))
		good = words_next(words) && read_paren(words);
	words->depth--;
	return good;
}

static bool is_one_of(const struct words *words, const char *const *ones)
{
	while (*ones && !words_is(words, *ones))
		ones++;
	return *ones;
}

/* Whether libtraceevent would find another number there than 0. */
static bool is_number(const struct words *words)
{
	char copy[32];
	if (words->kind != WORDS_ITEM || words->length >= sizeof(copy))
		return false;
	memcpy(copy, words->at, words->length);
	copy[words->length] = '\0';
	return strtoull(copy, NULL, 0) != 0;
}

/*
 * It may divide while it reads: by a number that is none of 0, or a size, and not by what other
 * operators would make of it, which it takes first where they bind no less.
 */
static bool read_divisor(struct words *words)
{
	static const char *const binding[] = {"*", "/", "%", "[", NULL};
	if (!words_is(words, "sizeof") && !is_number(words))
		return false;
	if (is_number(words) ? is_called(words) : !is_called(words))
		return false;
	return read_operand(words) && !is_one_of(words, binding);
}

/* Reads the rest of a condition after its question mark. */
static bool read_choice(struct words *words)
{
	if (++words->nodes > MOST_NODES || words->depth == DEEPEST)
		return false;
	words->depth++;
	bool good = read_expression(words) && words_take(words, ":") && read_expression(words);
	words->depth--;
	return good;
}

static bool read_signed_operand(struct words *words)
{
	static const char *const signs[] = {"~", "!", "+", "-", NULL};
	while (is_one_of(words, signs))
		if (++words->nodes > MOST_NODES || !words_next(words))
			return false;
	if (!read_operand(words))
		return false;
	while (words_is(words, "["))
		if (!words_next(words) || !read_operand(words) || !words_take(words, "]"))
			return false;
	return true;
}

static bool read_expression(struct words *words)
{
	static const char *const divisions[] = {"/", "%", NULL};
	static const char *const operators[] = {"+", "-", "*", "&", "|", "^", "&&", "||", "<<", ">>",
						"<", ">", "<=", ">=", "==", "!=", NULL};
	if (!read_signed_operand(words))
		return false;
	for (;;) {
		bool divides = is_one_of(words, divisions);
		if (words_take(words, "?"))
			return read_choice(words);
		if (!divides && !is_one_of(words, operators))
			return true;
		if (++words->nodes > MOST_NODES || !words_next(words))
			return false;
		if (divides ? !read_divisor(words) : !read_signed_operand(words))
			return false;
	}
}

bool print_read(struct words *words)
{
	if (!words_take_kind(words, WORDS_STRING))
		return false;
	while (words_take(words, ",")) {
		words->depth = words->nodes = 0;
		if (!read_expression(words))
			return false;
	}
	while (words->kind == WORDS_NEWLINE)
		if (!words_next(words))
			return false;
	return words->kind == WORDS_END;
}
