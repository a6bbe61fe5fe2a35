/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens of an event's format, divided as by libtraceevent. */
#ifndef TRACE_LEXER_H
#define TRACE_LEXER_H

#include <stdbool.h>
#include <stddef.h>

/* Limits of a format. The kernel's have at most 6,000 characters and some 60 fields. */
#define LEXER_LIMIT 65536
#define LEXER_FIELDS 1024

enum lexer_kind {
	LEXER_END,
	LEXER_BAD,    /* text that no kernel writes */
	LEXER_NEWLINE,
	LEXER_ITEM,   /* letters, digits, _ */
	LEXER_STRING, /* "…" and the strings after it, joined */
	LEXER_CHAR,   /* '…' */
	LEXER_OP,
	LEXER_DELIM,  /* ( ) , */
};

struct lexer_field {
	const char *name;
	size_t length;
	int size;
	bool is_array;
};

struct lexer {
	char *pos, *end; /* text after the token */
	enum lexer_kind kind;
	char *at; /* the token */
	size_t length;
	struct lexer_field *fields; /* LEXER_FIELDS, borrowed */
	size_t field_count, common_count; /* common fields are first */
	unsigned int long_size;
	/* Nesting depth and size of the current argument. */
	unsigned int depth, nodes;
};

/* Moves to the next token, which is LEXER_END after the last. False if it is LEXER_BAD. */
bool lexer_next(struct lexer *lexer);
bool lexer_is(const struct lexer *lexer, const char *word);
/* Skips the token if it is `word`, or of that kind. False if it is not, or the next token is bad. */
bool lexer_accept(struct lexer *lexer, const char *word);
bool lexer_accept_kind(struct lexer *lexer, enum lexer_kind kind);

bool lexer_field_is(const struct lexer_field *field, const char *name, size_t length);
/* Returns the field that the token names; NULL if there is none. */
const struct lexer_field *lexer_field(const struct lexer *lexer, bool own_only);

/* Checks the text from the format string after "print fmt:" to the end (print.c). */
bool print_read(struct lexer *lexer);

#endif
