/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the text after "print fmt:", C expressions. libtraceevent knows these:
 *
 *	expression: {~ ! + -} operand {[operand]} {operator …}, … ? … : …
 *	operand: string, character, number or words, REC->field, (expression), (type) operand,
 *		 function(…)
 *
 * libtraceevent's precedence of operators is its own. So operands are checked later, in the tree
 * that it builds (trace/validate.h). Values that it computes while it parses are checked here.
 */
#include "trace/lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limits of nesting (parentheses, functions and conditions), and of operators and operands in an
 * argument.
 */
#define DEEPEST 64
#define MOST_NODES 512
/* Limit of words in a type, such as "unsigned long long int". */
#define MOST_WORDS 8

static bool read_expression(struct lexer *lexer);
static bool read_operand(struct lexer *lexer);

static bool take_field_name(struct lexer *lexer, bool own_only)
{
	return lexer_field(lexer, own_only) && lexer_next(lexer);
}

/* Reads "->" and a field's name after REC. */
static bool read_field(struct lexer *lexer)
{
	return lexer_accept(lexer, "->") && take_field_name(lexer, false);
}

/* Reads a list of values with names: {1 << 2, "name"}, … */
static bool read_list(struct lexer *lexer)
{
	unsigned int nodes = lexer->nodes;
	do {
		if (!lexer_accept(lexer, "{") || !read_expression(lexer) || !lexer_accept(lexer, ",") ||
		    !read_operand(lexer) || !lexer_accept(lexer, "}"))
			return false;
		/*
		 * libtraceevent evaluates list items one at a time, so each item has the whole limit.
		 */
		lexer->nodes = nodes;
	} while (lexer_accept(lexer, ","));
	return true;
}

static bool read_flags(struct lexer *lexer)
{
	return read_expression(lexer) && lexer_accept(lexer, ",") &&
	       (lexer->kind == LEXER_STRING || lexer->kind == LEXER_ITEM || lexer->kind == LEXER_CHAR) &&
	       lexer_next(lexer) && lexer_accept(lexer, ",") && read_list(lexer);
}

static bool read_symbols(struct lexer *lexer)
{
	return read_expression(lexer) && lexer_accept(lexer, ",") && read_list(lexer);
}

static bool read_two(struct lexer *lexer)
{
	return read_expression(lexer) && lexer_accept(lexer, ",") && read_expression(lexer);
}

static bool read_three(struct lexer *lexer)
{
	return read_two(lexer) && lexer_accept(lexer, ",") && read_expression(lexer);
}

static bool read_any_name(struct lexer *lexer)
{
	return take_field_name(lexer, false);
}

static bool read_own_name(struct lexer *lexer)
{
	return take_field_name(lexer, true);
}

/*
 * Reads __builtin_expect's arguments. libtraceevent accepts only an operand as the first one, not an
 * expression with operators; unary ! and ~ are allowed.
 */
static bool read_expectation(struct lexer *lexer)
{
	while (lexer_is(lexer, "!") || lexer_is(lexer, "~"))
		if (++lexer->nodes > MOST_NODES || !lexer_next(lexer))
			return false;
	return read_operand(lexer) && lexer_accept(lexer, ",") && lexer_accept_kind(lexer, LEXER_ITEM);
}

/* Returns sizeof's value for a type or field; 0: unknown. */
static unsigned int size_of(struct lexer *lexer)
{
	static const struct {
		const char *type;
		unsigned int size;
	} types[] = {{"char", 1}, {"u8", 1}, {"s8", 1}, {"__u8", 1}, {"__s8", 1},
		     {"short", 2}, {"u16", 2}, {"s16", 2}, {"__u16", 2}, {"__s16", 2},
		     {"int", 4}, {"u32", 4}, {"s32", 4}, {"__u32", 4}, {"__s32", 4},
		     {"u64", 8}, {"s64", 8}, {"__u64", 8}, {"__s64", 8}};
	if (lexer_accept(lexer, "REC")) {
		const struct lexer_field *field = lexer_accept(lexer, "->") ? lexer_field(lexer, false)
									  : NULL;
		return field && !field->is_array && lexer_next(lexer) ? (unsigned int)field->size : 0;
	}
	if (lexer_accept(lexer, "unsigned") && lexer_is(lexer, ")"))
		return 4;
	if (lexer_accept(lexer, "long"))
		return lexer_accept(lexer, "long") ? 8 : lexer->long_size;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (lexer_accept(lexer, types[i].type))
			return types[i].size;
	return 0;
}

/* Reads sizeof(…) and replaces it by its number. */
static bool read_size(struct lexer *lexer)
{
	char *begin = lexer->at, number[16];
	unsigned int size = lexer_next(lexer) && lexer_accept(lexer, "(") ? size_of(lexer) : 0;
	char *end = lexer->pos;
	if (!size || !lexer_accept(lexer, ")"))
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
	bool (*read)(struct lexer *lexer);
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

/* Reads a call of a function. Unknown functions are refused: libtraceevent cannot print them either. */
static bool read_function(struct lexer *lexer)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (!lexer_is(lexer, functions[i].name))
			continue;
		return lexer_next(lexer) && lexer_accept(lexer, "(") && functions[i].read(lexer) &&
		       lexer_accept(lexer, ")");
	}
	return false;
}

static bool is_called(const struct lexer *lexer)
{
	struct lexer next = *lexer;
	return lexer_next(&next) && lexer_is(&next, "(");
}

static bool read_words(struct lexer *lexer)
{
	size_t count = 0;
	while (lexer->kind == LEXER_ITEM)
		if (lexer_is(lexer, "REC") || count++ == MOST_WORDS || !lexer_next(lexer))
			return false;
	return true;
}

static bool read_item(struct lexer *lexer)
{
	if (lexer_is(lexer, "REC"))
		return lexer_next(lexer) && read_field(lexer);
	if (!is_called(lexer))
		return read_words(lexer);
	return lexer_is(lexer, "sizeof") ? read_size(lexer) : read_function(lexer);
}

static bool begins_operand(const struct lexer *lexer)
{
	return lexer->kind == LEXER_ITEM || lexer->kind == LEXER_STRING || lexer->kind == LEXER_CHAR ||
	       lexer_is(lexer, "(");
}

/*
 * Skips a type in parentheses, as "(unsigned long)" or "(void *)". False if the token begins no type.
 */
static bool take_type(struct lexer *lexer)
{
	struct lexer begin = *lexer;
	if (lexer->kind == LEXER_ITEM && !is_called(lexer) && read_words(lexer)) {
		bool pointer = lexer_accept(lexer, "*");
		if (lexer_accept(lexer, ")") && (pointer || begins_operand(lexer)))
			return true;
	}
	*lexer = begin;
	return false;
}

/* Reads the rest of a parenthesized operand or a cast, after the opening parenthesis. */
static bool read_paren(struct lexer *lexer)
{
	if (take_type(lexer))
		return read_operand(lexer);
	/* "(REC)->field" */
	if (lexer_is(lexer, "REC")) {
		struct lexer next = *lexer;
		if (lexer_next(&next) && lexer_is(&next, ")"))
			return lexer_next(lexer) && lexer_next(lexer) && read_field(lexer);
	}
	/* No operand may follow, or libtraceevent would take the parenthesis for a type. */
	return read_expression(lexer) && lexer_accept(lexer, ")") && !begins_operand(lexer);
}

static bool read_operand(struct lexer *lexer)
{
	bool good = false;
	if (++lexer->nodes > MOST_NODES || lexer->depth == DEEPEST)
		return false;
	lexer->depth++;
	if (lexer->kind == LEXER_STRING || lexer->kind == LEXER_CHAR)
		good = lexer_next(lexer);
	else if (lexer->kind == LEXER_ITEM)
		good = read_item(lexer);
	else if (lexer_is(lexer, "("))
		good = lexer_next(lexer) && read_paren(lexer);
	lexer->depth--;
	return good;
}

static bool is_one_of(const struct lexer *lexer, const char *const *ones)
{
	while (*ones && !lexer_is(lexer, *ones))
		ones++;
	return *ones;
}

/* Whether libtraceevent would read the token as a number other than 0. */
static bool is_number(const struct lexer *lexer)
{
	char copy[32];
	if (lexer->kind != LEXER_ITEM || lexer->length >= sizeof(copy))
		return false;
	memcpy(copy, lexer->at, lexer->length);
	copy[lexer->length] = '\0';
	return strtoull(copy, NULL, 0) != 0;
}

/*
 * Reads a divisor. libtraceevent may divide while it parses, so a divisor must be a number other than
 * 0, or sizeof(…). No operator may follow that libtraceevent would apply to the divisor first.
 */
static bool read_divisor(struct lexer *lexer)
{
	static const char *const binding[] = {"*", "/", "%", "[", NULL};
	if (!lexer_is(lexer, "sizeof") && !is_number(lexer))
		return false;
	if (is_number(lexer) ? is_called(lexer) : !is_called(lexer))
		return false;
	return read_operand(lexer) && !is_one_of(lexer, binding);
}

/* Reads the rest of a conditional expression after "?". */
static bool read_choice(struct lexer *lexer)
{
	if (++lexer->nodes > MOST_NODES || lexer->depth == DEEPEST)
		return false;
	lexer->depth++;
	bool good = read_expression(lexer) && lexer_accept(lexer, ":") && read_expression(lexer);
	lexer->depth--;
	return good;
}

static bool read_signed_operand(struct lexer *lexer)
{
	static const char *const signs[] = {"~", "!", "+", "-", NULL};
	while (is_one_of(lexer, signs))
		if (++lexer->nodes > MOST_NODES || !lexer_next(lexer))
			return false;
	if (!read_operand(lexer))
		return false;
	while (lexer_is(lexer, "["))
		if (!lexer_next(lexer) || !read_operand(lexer) || !lexer_accept(lexer, "]"))
			return false;
	return true;
}

static bool read_expression(struct lexer *lexer)
{
	static const char *const divisions[] = {"/", "%", NULL};
	static const char *const operators[] = {"+", "-", "*", "&", "|", "^", "&&", "||", "<<", ">>",
						"<", ">", "<=", ">=", "==", "!=", NULL};
	if (!read_signed_operand(lexer))
		return false;
	for (;;) {
		bool divides = is_one_of(lexer, divisions);
		if (lexer_accept(lexer, "?"))
			return read_choice(lexer);
		if (!divides && !is_one_of(lexer, operators))
			return true;
		if (++lexer->nodes > MOST_NODES || !lexer_next(lexer))
			return false;
		if (divides ? !read_divisor(lexer) : !read_signed_operand(lexer))
			return false;
	}
}

bool print_read(struct lexer *lexer)
{
	if (!lexer_accept_kind(lexer, LEXER_STRING))
		return false;
	while (lexer_accept(lexer, ",")) {
		lexer->depth = lexer->nodes = 0;
		if (!read_expression(lexer))
			return false;
	}
	while (lexer->kind == LEXER_NEWLINE)
		if (!lexer_next(lexer))
			return false;
	return lexer->kind == LEXER_END;
}
