/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event's format as tracefs has it:
 *
 *	name: sched_waking
 *	ID: 315
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		…
 *
 *		field:char comm[16];	offset:8;	size:16;	signed:0;
 *		…
 *
 *	print fmt: "comm=%s pid=%d", REC->comm, REC->pid
 *
 * format_read() makes fields of the declarations, and of "print fmt" pieces with a tree of each
 * argument. The text may be hostile: fields need not lie in a sample (value.h), and trees have a
 * limited depth.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"

/* Flags of a field by its declaration, read as by libtraceevent. */
#define FIELD_ARRAY 0x1
#define FIELD_DYNAMIC 0x2  /* __data_loc, __rel_loc: it holds a size << 16 | offset */
#define FIELD_RELATIVE 0x4 /* __rel_loc: the offset begins after the field */
#define FIELD_STRING 0x8
#define FIELD_POINTER 0x10
#define FIELD_LONG 0x20
#define FIELD_SIGNED 0x40

struct format_field {
	const char *name;
	size_t offset, size; /* bytes */
	size_t element;      /* bytes of an array's element; 0: unknown */
	unsigned int flags;
};

/* Kinds of expressions. */
enum node_kind {
	NODE_ATOM,    /* string, number or words */
	NODE_FIELD,   /* REC->field */
	NODE_FLAGS,   /* __print_flags(left, text, list) */
	NODE_SYMBOL,  /* __print_symbolic(left, list) */
	NODE_HEX,     /* __print_hex(left, right) */
	NODE_HEX_STR, /* the same without blanks */
	NODE_ARRAY,   /* __print_array(left, right, third) */
	NODE_STRING,  /* __get_str(field) */
	NODE_BITMASK,
	NODE_CPUMASK,
	NODE_DYNAMIC,
	NODE_LENGTH,  /* __get_dynamic_array_len(field) */
	NODE_CAST,
	NODE_UNARY,   /* op left */
	NODE_BINARY,  /* left op right */
	NODE_INDEX,   /* left[right] */
	NODE_CHOICE,  /* left ? right : third */
};

/* A two-character operator as one number. */
#define OP(first, second) ((first) | (second) << 8)

/* {value, "text"} */
struct node_name {
	struct node_name *next;
	int64_t value; /* -1: a word of the kernel's source, or any negative value */
	const char *text;
};

struct format_node {
	enum node_kind kind;
	int op;
	bool is_word;   /* ATOM: the name of a symbol, to be looked up */
	bool pointer;   /* CAST: to a pointer */
	uint64_t value; /* ATOM: its number; CAST: mask of the type (of the pointed-to one) */
	const char *text;
	const struct format_field *field;
	struct format_node *left, *right, *third;
	struct format_node *next; /* next argument */
	struct node_name *list;
};

enum piece_kind {
	PIECE_LITERAL,
	PIECE_NUMBER,
	PIECE_TEXT,
	PIECE_POINTER,
};

/* A literal, or a conversion such as "%-08.*ld". */
struct format_piece {
	enum piece_kind kind;
	const char *text;       /* LITERAL: the text; POINTER: the letters after "%p" */
	char flags[6];
	int width, precision;   /* -1: none */
	char letter;            /* d u i x X o c s p */
	char star;              /* '*' is the 'w'idth or 'p'recision; 0: there is none */
	unsigned int bytes;     /* NUMBER: size of its type */
	struct format_node *star_arg, *arg;
};

struct format {
	struct format_field *fields; /* common fields are first */
	size_t field_count, common_count;
	bool printable;              /* `pieces` are valid */
	struct format_piece *pieces;
	size_t piece_count;
};

/* Reads a format's id, of up to 9 digits; false if there is none. The text ends with a NUL. */
bool format_id(const char *text, size_t size, uint64_t *ret);

/*
 * Reads a format, which ends with a NUL, into an arena. `long_size`: bytes of a long. The first
 * field must be the event's id, with 2 bytes, because each sample begins with it. Returns false if
 * the syntax or the fields are invalid, or when out of memory; then *no_memory is true.
 */
bool format_read(const char *text, size_t size, unsigned int long_size, struct arena *arena,
		 struct format *ret, bool *no_memory);

/* Finds a field, common ones first; NULL if there is none. */
static inline const struct format_field *format_field(const struct format *format, const char *name)
{
	for (size_t i = 0; i < format->field_count; i++)
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	return NULL;
}

/* Places of a tracepoint's fields in its raw data, as its format in tracefs states them. */

/* Size 0: the format has no such field. */
struct trace_field {
	uint32_t offset, size; /* bytes */
};

/* Bits of common_flags: the tracepoint was reached in such a context. */
#define TRACE_FLAGS_INTERRUPT 0x48 /* HARDIRQ, NMI */

#define TRACE_FLAGS_SOFTIRQ 0x10

/*
 * Finds a field of 1, 4, 8 or 16 bytes in a format, which ends with a NUL. An array is
 * "NAME[SIZE]".
 */
struct trace_field trace_field_find(const char *format, const char *name);
