/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event's format as tracefs has it, read before libtraceevent reads it:
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
 * That library follows NULL where a format ends early or names no field, divides by the zeros
 * that it finds, and goes as deep as parentheses do. So it is given only what this grammar has,
 * which is all that it understands of what kernels write.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

struct format_facts {
	int id;
	const char *name; /* in the text, without a NUL */
	size_t name_size;
	size_t print;     /* offset of "print fmt"; the text before it is valid */
	bool printable;   /* the text from there on is valid, too */
};

/*
 * False: it is no format, or none whose fields are sound. A format's first field is the id
 * that each of its samples begins with: 2 bytes. The text has no NUL in it.
 * What it has as sizeof(…) is made a number, as libtraceevent 1.7 reads words of it that it has
 * freed; a long has `long_size` bytes.
 */
bool format_read(char *text, size_t size, unsigned int long_size, struct format_facts *ret);

#endif
