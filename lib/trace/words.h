/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of an event's format, as libtraceevent divides the words. */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Kernels' own are of 6,000 characters at most, and have some 60 fields. */
#define WORDS_LIMIT 65536
#define WORDS_FIELDS 1024

enum words_kind {
	WORDS_END,
	WORDS_BAD,    /* text that no kernel writes */
	WORDS_NEWLINE,
	WORDS_ITEM,   /* letters, digits, _ */
	WORDS_STRING, /* "…", with those that follow */
	WORDS_CHAR,   /* '…' */
	WORDS_OP,
	WORDS_DELIM,  /* ( ) , */
};

struct words_field {
	const char *name;
	size_t length;
	int size;
	bool is_array;
};

struct words {
	char *pos, *end; /* text after the word */
	enum words_kind kind;
	char *at; /* the word */
	size_t length;
	struct words_field *fields; /* WORDS_FIELDS, borrowed */
	size_t field_count, common_count; /* common ones are first */
	unsigned int long_size;
	/* State of the current argument. */
	unsigned int depth, nodes;
};

/* To the next word; false where it is WORDS_BAD. At the end: WORDS_END. */
bool words_next(struct words *words);
bool words_is(const struct words *words, const char *word);
/* Over this word, or one of this kind; false: it is another, or the next is none. */
bool words_take(struct words *words, const char *word);
bool words_take_kind(struct words *words, enum words_kind kind);

bool words_field_is(const struct words_field *field, const char *name, size_t length);
/* The field that the word names; NULL: none does. */
const struct words_field *words_field(const struct words *words, bool own_only);

/* From the string behind "print fmt:" to the end. */
bool print_read(struct words *words);

#endif
