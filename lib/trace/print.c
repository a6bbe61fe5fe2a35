/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the text after "print fmt:": a format string, and C expressions.
 *
 *	expression: {~ ! + -} operand {[operand]} {operator …}, … ? … : …
 *	operand: string, character, number or words, REC->field, (expression), (type) operand,
 *		 function(…)
 */
#include "trace/lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "trace/value.h"

/*
 * Limits of nesting (parentheses, functions and conditions), and of operators and operands in an
 * argument.
 */
#define DEEPEST 64
#define MOST_NODES 512
/* Limit of words in a type, such as "unsigned long long int". */
#define MOST_WORDS 8
/* Limit of symbol names in an event's arguments: each is looked up in all kernel symbols. */
#define MOST_SYMBOLS 256

static struct format_node *read_expression(struct lexer *lexer);
static struct format_node *read_operand(struct lexer *lexer);

static struct format_node *make_node(struct lexer *lexer, enum node_kind kind)
{
	struct format_node *node =
		++lexer->nodes <= MOST_NODES ? lexer_alloc(lexer, sizeof(*node)) : NULL;
	if (node)
		node->kind = kind;
	return node;
}

/* Reads a field's name. Functions of dynamic fields take no common field. */
static const struct format_field *take_field_name(struct lexer *lexer, bool dynamic)
{
	const struct format *format = lexer->format;
	char *name = lexer->kind == LEXER_ITEM ? lexer_copy(lexer) : NULL;
	const struct format_field *field = name ? format_field(format, name) : NULL;
	if (!field || !lexer_next(lexer))
		return NULL;
	return !dynamic || (field->flags & FIELD_DYNAMIC && field->size == 4) ? field : NULL;
}

static struct format_node *make_field(struct lexer *lexer, enum node_kind kind, bool dynamic)
{
	struct format_node *node = make_node(lexer, kind);
	return node && (node->field = take_field_name(lexer, dynamic)) ? node : NULL;
}

/*
 * Values of names that no format replaces by a number. Others are unknown: no value equals them,
 * as in libtraceevent.
 */
static int64_t value_of_word(const char *word)
{
	static const struct {
		const char *word;
		int64_t value;
	} words[] = {{"HI_SOFTIRQ", 0},	     {"TIMER_SOFTIRQ", 1},     {"NET_TX_SOFTIRQ", 2},
		     {"NET_RX_SOFTIRQ", 3},  {"BLOCK_SOFTIRQ", 4},     {"IRQ_POLL_SOFTIRQ", 5},
		     {"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},     {"HRTIMER_SOFTIRQ", 8},
		     {"RCU_SOFTIRQ", 9},     {"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1}};
	for (size_t i = 0; i < count_of(words); i++)
		if (!strcmp(words[i].word, word))
			return words[i].value;
	return -1;
}

static struct format_node *without_casts(struct format_node *node)
{
	while (node && node->kind == NODE_CAST)
		node = node->left;
	return node;
}

/* Makes an expression constant: words are 0. False if it reads a sample. */
static bool make_constant(struct format_node *node)
{
	if (!node)
		return true;
	node->is_word = false;
	return (node->kind == NODE_ATOM || node->kind == NODE_CAST || node->kind == NODE_UNARY ||
		node->kind == NODE_BINARY || node->kind == NODE_CHOICE) &&
	       make_constant(node->left) && make_constant(node->right) &&
	       make_constant(node->third);
}

/* Computes a list's value. Negative values and unknown names are -1. */
static bool read_value(struct lexer *lexer, int64_t *ret)
{
	struct format_node *node = without_casts(read_expression(lexer));
	uint64_t value;
	if (!node)
		return false;
	if (node->kind == NODE_ATOM && node->is_word) {
		*ret = value_of_word(node->text);
		return true;
	}
	if (!make_constant(node) || !value_of(NULL, node, &value))
		return false;
	*ret = value > INT64_MAX ? -1 : (int64_t)value;
	return true;
}

/* Reads a list of values with names: {1 << 2, "name"}, … */
static bool read_list(struct lexer *lexer, struct node_name **end)
{
	unsigned int nodes = lexer->nodes;
	do {
		struct node_name *name = lexer_alloc(lexer, sizeof(*name));
		struct format_node *text = NULL;
		if (!name || !lexer_accept(lexer, "{") || !read_value(lexer, &name->value) ||
		    !lexer_accept(lexer, ",") || !(text = without_casts(read_operand(lexer))) ||
		    text->kind != NODE_ATOM || !lexer_accept(lexer, "}"))
			return false;
		name->text = text->text;
		*end = name;
		end = &name->next;
		lexer->nodes = nodes; /* the limit is for each */
	} while (lexer_accept(lexer, ","));
	return true;
}

static bool read_flags(struct lexer *lexer, struct format_node *node)
{
	if (!(node->left = read_expression(lexer)) || !lexer_accept(lexer, ",") ||
	    (lexer->kind != LEXER_STRING && lexer->kind != LEXER_ITEM &&
	     lexer->kind != LEXER_CHAR) ||
	    !(node->text = lexer_copy(lexer)))
		return false;
	return lexer_next(lexer) && lexer_accept(lexer, ",") && read_list(lexer, &node->list);
}

static bool read_symbols(struct lexer *lexer, struct format_node *node)
{
	return (node->left = read_expression(lexer)) && lexer_accept(lexer, ",") &&
	       read_list(lexer, &node->list);
}

/* Reads bytes, a field or a dynamic array, and their count. */
static bool read_two(struct lexer *lexer, struct format_node *node)
{
	if (!(node->left = read_expression(lexer)) || !lexer_accept(lexer, ","))
		return false;
	bool is_field =
		node->left->kind == NODE_FIELD && !(node->left->field->flags & FIELD_DYNAMIC);
	return (is_field || node->left->kind == NODE_DYNAMIC) &&
	       (node->right = read_expression(lexer));
}

static bool read_three(struct lexer *lexer, struct format_node *node)
{
	return read_two(lexer, node) && lexer_accept(lexer, ",") &&
	       (node->third = read_expression(lexer));
}

static bool read_dynamic(struct lexer *lexer, struct format_node *node)
{
	return (node->field = take_field_name(lexer, true));
}

/* Reads __builtin_expect's arguments; the value is the first. */
static bool read_expectation(struct lexer *lexer, struct format_node *node)
{
	struct format_node *value = read_expression(lexer);
	if (!value || !lexer_accept(lexer, ",") || !lexer_accept_kind(lexer, LEXER_ITEM))
		return false;
	*node = *value;
	return true;
}

/* Returns sizeof's value for a type or field; 0: unknown. */
static size_t size_of(struct lexer *lexer)
{
	static const struct {
		const char *type;
		unsigned int size;
	} types[] = {{"char", 1},  {"u8", 1},  {"s8", 1},    {"__u8", 1},  {"__s8", 1},
		     {"short", 2}, {"u16", 2}, {"s16", 2},   {"__u16", 2}, {"__s16", 2},
		     {"int", 4},   {"u32", 4}, {"s32", 4},   {"__u32", 4}, {"__s32", 4},
		     {"u64", 8},   {"s64", 8}, {"__u64", 8}, {"__s64", 8}};
	if (lexer_accept(lexer, "REC")) {
		const struct format_field *field =
			lexer_accept(lexer, "->") ? take_field_name(lexer, false) : NULL;
		return field && !(field->flags & FIELD_ARRAY) ? field->size : 0;
	}
	if (lexer_accept(lexer, "unsigned") && lexer_is(lexer, ")"))
		return 4;
	if (lexer_accept(lexer, "long"))
		return lexer_accept(lexer, "long") ? 8 : lexer->long_size;
	for (size_t i = 0; i < count_of(types); i++)
		if (lexer_accept(lexer, types[i].type))
			return types[i].size;
	return 0;
}

static struct format_node *make_number(struct lexer *lexer, uint64_t value)
{
	char digits[24];
	struct format_node *node = make_node(lexer, NODE_ATOM);
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	char *text = node ? lexer_alloc(lexer, (size_t)length + 1) : NULL;
	if (!text)
		return NULL;
	memcpy(text, digits, length);
	node->text = text;
	node->value = value;
	return node;
}

static bool read_size(struct lexer *lexer, struct format_node *node)
{
	size_t size = size_of(lexer);
	struct format_node *number = size ? make_number(lexer, size) : NULL;
	if (number)
		*node = *number;
	return number;
}

static const struct function {
	const char *name;
	enum node_kind kind;
	bool (*read)(struct lexer *lexer, struct format_node *node);
} functions[] = {
	{"__print_flags", NODE_FLAGS, read_flags},
	{"__print_symbolic", NODE_SYMBOL, read_symbols},
	{"__print_hex", NODE_HEX, read_two},
	{"__print_hex_str", NODE_HEX_STR, read_two},
	{"__print_array", NODE_ARRAY, read_three},
	{"__get_str", NODE_STRING, read_dynamic},
	{"__get_rel_str", NODE_STRING, read_dynamic},
	{"__get_bitmask", NODE_BITMASK, read_dynamic},
	{"__get_rel_bitmask", NODE_BITMASK, read_dynamic},
	{"__get_cpumask", NODE_CPUMASK, read_dynamic},
	{"__get_rel_cpumask", NODE_CPUMASK, read_dynamic},
	{"__get_dynamic_array", NODE_DYNAMIC, read_dynamic},
	{"__get_rel_dynamic_array", NODE_DYNAMIC, read_dynamic},
	{"__get_sockaddr", NODE_DYNAMIC, read_dynamic},
	{"__get_sockaddr_rel", NODE_DYNAMIC, read_dynamic},
	{"__get_dynamic_array_len", NODE_LENGTH, read_dynamic},
	{"__get_rel_dynamic_array_len", NODE_LENGTH, read_dynamic},
	{"__builtin_expect", NODE_ATOM, read_expectation},
	{"sizeof", NODE_ATOM, read_size},
};

static struct format_node *read_function(struct lexer *lexer)
{
	for (size_t i = 0; i < count_of(functions); i++) {
		if (!lexer_is(lexer, functions[i].name))
			continue;
		struct format_node *node = make_node(lexer, functions[i].kind);
		return node && lexer_next(lexer) && lexer_accept(lexer, "(") &&
				       functions[i].read(lexer, node) && lexer_accept(lexer, ")")
			       ? node
			       : NULL;
	}
	return NULL;
}

static bool is_called(const struct lexer *lexer)
{
	struct lexer next = *lexer;
	return lexer_next(&next) && lexer_is(&next, "(");
}

/* Reads a number, or words of a type, with one blank between them. */
static char *read_words(struct lexer *lexer)
{
	const char *begin = lexer->at, *end = begin;
	size_t count = 0;
	while (lexer->kind == LEXER_ITEM) {
		end = lexer->at + lexer->length;
		if (lexer_is(lexer, "REC") || count++ == MOST_WORDS || !lexer_next(lexer))
			return NULL;
	}
	char *words = lexer_alloc(lexer, (size_t)(end - begin) + 1), *to = words;
	for (const char *at = begin; words && at < end; at++) {
		bool blank = *at == ' ' || *at == '\t';
		if (!blank || to[-1] != ' ')
			*to++ = blank ? ' ' : *at;
	}
	return words;
}

static struct format_node *make_atom(struct lexer *lexer, const char *text, bool string)
{
	struct format_node *node = text ? make_node(lexer, NODE_ATOM) : NULL;
	if (!node)
		return NULL;
	node->text = text;
	node->value = strtoull(text, NULL, 0);
	node->is_word = !string && (*text < '0' || *text > '9');
	return !node->is_word || ++lexer->words <= MOST_SYMBOLS ? node : NULL;
}

static struct format_node *read_field(struct lexer *lexer)
{
	return lexer_accept(lexer, "->") ? make_field(lexer, NODE_FIELD, false) : NULL;
}

static struct format_node *read_item(struct lexer *lexer)
{
	if (lexer_is(lexer, "REC"))
		return lexer_next(lexer) ? read_field(lexer) : NULL;
	return is_called(lexer) ? read_function(lexer) : make_atom(lexer, read_words(lexer), false);
}

static bool begins_operand(const struct lexer *lexer)
{
	return lexer->kind == LEXER_ITEM || lexer->kind == LEXER_STRING ||
	       lexer->kind == LEXER_CHAR || lexer_is(lexer, "(");
}

/* Returns the bits that a cast to a type keeps, of those types that libtraceevent knows. */
static uint64_t mask_of(const char *type)
{
	static const struct {
		const char *type;
		uint64_t mask;
	} types[] = {{"u8", UINT8_MAX},	  {"s8", UINT8_MAX},   {"char", UINT8_MAX},
		     {"u16", UINT16_MAX}, {"s16", UINT16_MAX}, {"short", UINT16_MAX},
		     {"u32", UINT32_MAX}, {"s32", UINT32_MAX}, {"int", UINT32_MAX}};
	type += strncmp(type, "unsigned ", 9) ? 0 : 9;
	for (size_t i = 0; i < count_of(types); i++)
		if (!strcmp(type, types[i].type))
			return types[i].mask;
	return UINT64_MAX;
}

/*
 * Reads a type in parentheses, as "(unsigned long)" or "(void *)". Moves nothing and returns NULL
 * if the token begins no type.
 */
static struct format_node *take_type(struct lexer *lexer)
{
	struct lexer begin = *lexer;
	char *words = lexer->kind == LEXER_ITEM && !is_called(lexer) ? read_words(lexer) : NULL;
	bool pointer = words && lexer_accept(lexer, "*");
	if (words && lexer_accept(lexer, ")") && (pointer || begins_operand(lexer))) {
		struct format_node *node = make_node(lexer, NODE_CAST);
		if (node) {
			node->value = mask_of(words);
			node->pointer = pointer;
		}
		return node;
	}
	bool no_memory = lexer->no_memory;
	*lexer = begin;
	lexer->no_memory = no_memory;
	return NULL;
}

/* Reads the rest of a parenthesized operand or a cast, after the opening parenthesis. */
static struct format_node *read_paren(struct lexer *lexer)
{
	struct format_node *cast = take_type(lexer);
	if (cast)
		return (cast->left = read_operand(lexer)) ? cast : NULL;
	/* "(REC)->field" */
	if (lexer_is(lexer, "REC")) {
		struct lexer next = *lexer;
		if (lexer_next(&next) && lexer_is(&next, ")"))
			return lexer_next(lexer) && lexer_next(lexer) ? read_field(lexer) : NULL;
	}
	struct format_node *node = read_expression(lexer);
	return node && lexer_accept(lexer, ")") ? node : NULL;
}

static struct format_node *read_operand(struct lexer *lexer)
{
	struct format_node *node = NULL;
	if (lexer->depth == DEEPEST)
		return NULL;
	lexer->depth++;
	if (lexer->kind == LEXER_STRING) {
		node = make_atom(lexer, lexer_copy(lexer), true);
		node = node && lexer_next(lexer) ? node : NULL;
	} else if (lexer->kind == LEXER_CHAR) {
		node = make_number(lexer, lexer->at[1]);
		node = node && lexer_next(lexer) ? node : NULL;
	} else if (lexer->kind == LEXER_ITEM) {
		node = read_item(lexer);
	} else if (lexer_is(lexer, "(") && lexer_next(lexer)) {
		node = read_paren(lexer);
	}
	lexer->depth--;
	return node;
}

/* Reads signs, an operand and its indices: "!REC->args[1]". Indices bind first. */
static struct format_node *read_signed_operand(struct lexer *lexer)
{
	static const char signs[] = "~!+-";
	struct format_node *top = NULL, **end = &top;
	while (lexer->length == 1 && strchr(signs, *lexer->at)) {
		if (!(*end = make_node(lexer, NODE_UNARY)))
			return NULL;
		(*end)->op = *lexer->at;
		end = &(*end)->left;
		if (!lexer_next(lexer))
			return NULL;
	}
	if (!(*end = read_operand(lexer)))
		return NULL;
	while (lexer_is(lexer, "[")) {
		struct format_node *index = make_node(lexer, NODE_INDEX);
		if (!index || !lexer_next(lexer) || !(index->right = read_operand(lexer)) ||
		    !lexer_accept(lexer, "]"))
			return NULL;
		index->left = *end;
		*end = index;
	}
	return top;
}

/* Returns how tightly the operator binds: 10 as "*", 1 as "||"; 0: it is no binary operator. */
static int level_of(const struct lexer *lexer)
{
	static const struct {
		const char *op;
		int level;
	} ops[] = {{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},  {"<<", 8},
		   {">>", 8}, {"<", 7},	 {">", 7},  {"<=", 7}, {">=", 7}, {"==", 6},
		   {"!=", 6}, {"&", 5},	 {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
	for (size_t i = 0; lexer->kind == LEXER_OP && i < count_of(ops); i++)
		if (lexer_is(lexer, ops[i].op))
			return ops[i].level;
	return 0;
}

/* Reads operators of at least `level`, from left to right. */
static struct format_node *read_binary(struct lexer *lexer, int level)
{
	struct format_node *left = read_signed_operand(lexer);
	int found;
	while (left && (found = level_of(lexer)) >= level && found) {
		struct format_node *node = make_node(lexer, NODE_BINARY);
		if (!node)
			return NULL;
		node->op = OP(lexer->at[0], lexer->length > 1 ? lexer->at[1] : 0);
		node->left = left;
		if (!lexer_next(lexer) || !(node->right = read_binary(lexer, found + 1)))
			return NULL;
		left = node;
	}
	return left;
}

static struct format_node *read_expression(struct lexer *lexer)
{
	struct format_node *node = read_binary(lexer, 1);
	if (!node || !lexer_is(lexer, "?"))
		return node;
	struct format_node *choice = lexer->depth < DEEPEST ? make_node(lexer, NODE_CHOICE) : NULL;
	if (!choice || !lexer_next(lexer))
		return NULL;
	lexer->depth++;
	choice->left = node;
	bool good = (choice->right = read_expression(lexer)) && lexer_accept(lexer, ":") &&
		    (choice->third = read_expression(lexer));
	lexer->depth--;
	return good ? choice : NULL;
}

/* Reads the arguments into a list by `next`, each with its own limits. */
static bool read_arguments(struct lexer *lexer, struct format_node **list)
{
	while (lexer_accept(lexer, ",")) {
		lexer->depth = lexer->nodes = 0;
		if (!(*list = read_expression(lexer)))
			return false;
		list = &(*list)->next;
	}
	while (lexer->kind == LEXER_NEWLINE)
		if (!lexer_next(lexer))
			return false;
	return lexer->kind == LEXER_END;
}

bool print_read(struct lexer *lexer)
{
	struct format_node *args = NULL;
	char *text = lexer->kind == LEXER_STRING ? lexer_copy(lexer) : NULL;
	return text && lexer_next(lexer) && read_arguments(lexer, &args) &&
	       pieces_read(lexer, text, args);
}
