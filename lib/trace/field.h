/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places of a tracepoint's fields in its raw data, as its format in tracefs states them. */
#ifndef TRACE_FIELD_H
#define TRACE_FIELD_H

#include <stdint.h>

/* Size 0: the format has no such field. */
struct trace_field {
	uint32_t offset, size; /* bytes */
};

/* Bits of common_flags: the tracepoint was reached in such a context. */
#define TRACE_FLAGS_INTERRUPT 0x48 /* HARDIRQ, NMI */
#define TRACE_FLAGS_SOFTIRQ 0x10

/* Finds a field of 1, 4, 8 or 16 bytes in a format, which ends with a NUL. An array is "NAME[SIZE]". */
struct trace_field trace_field_find(const char *format, const char *name);

#endif
