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
 * libtraceevent dereferences NULL if a format ends early or names no field, divides by zero, and
 * recurses without a limit. So it gets only formats that match this grammar. The grammar covers all
 * kernel formats that libtraceevent can print.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

struct format_facts {
	int id;
	const char *name; /* in the text, without a final NUL */
	size_t name_size;
	size_t print;     /* offset of "print fmt"; the text before it is valid */
	bool printable;   /* the text from `print` on is valid, too */
};

/*
 * Checks a format. False if its syntax or its fields are invalid. The first field must be the event's
 * id, with 2 bytes, because each sample begins with it. The text must not contain NULs. Each sizeof(…)
 * in it is replaced by its number, because libtraceevent 1.7 reads freed memory there; a long has
 * `long_size` bytes.
 */
bool format_read(char *text, size_t size, unsigned int long_size, struct format_facts *ret);

#endif
