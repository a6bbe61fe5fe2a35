/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens of an event's format, and the state of its reader. */
#pragma once

#include "trace/event_format.h"

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

struct lexer {
	const char *pos, *end; /* text after the token */
	enum lexer_kind kind;
	const char *at; /* the token */
	size_t length;
	struct format *format;
	struct arena *arena;
	bool no_memory;
	unsigned int long_size;
	size_t most_fields; /* room in format->fields */
	/* Nesting depth and size of the current argument; words of all arguments. */
	unsigned int depth, nodes, words;
};

/* Moves to the next token, which is LEXER_END after the last. False if it is LEXER_BAD. */
bool lexer_next(struct lexer *lexer);
bool lexer_is(const struct lexer *lexer, const char *word);
/* Skips the token if it is `word`, or of that kind. False if not, or if the next token is bad. */
bool lexer_accept(struct lexer *lexer, const char *word);
bool lexer_accept_kind(struct lexer *lexer, enum lexer_kind kind);

/*
 * Zeroed memory of the arena. NULL when out of memory; then `no_memory` is true, and the format is
 * refused.
 */
void *lexer_alloc(struct lexer *lexer, size_t size);
/* Copies the token, without quotes; escapes stay. NULL as lexer_alloc(). */
char *lexer_copy(struct lexer *lexer);

/* Divides a format string into pieces, which take their arguments (pieces.c). */
bool pieces_read(struct lexer *lexer, const char *text, struct format_node *args);

/* Reads the text from the format string after "print fmt:" to the end (print.c). */
bool print_read(struct lexer *lexer);
