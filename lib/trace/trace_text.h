/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text of a sample by its event's format, as perf script shows it. */
#pragma once

#include "base/vec.h"
#include "trace/value.h"

/* Limit of the text of an empty sample. */
#define TEXT_LEAST 65536

/* Text that grows up to a limit. */
struct trace_text {
	VEC(char) chars; /* with a final NUL */
	size_t most;     /* limit of the characters */
	bool invalid;    /* the format asks for what the sample lacks, or for too much */
	bool no_memory;
};

/* Begins a text with room for what kernels print of a sample of `size` bytes. */
void text_begin(struct trace_text *text, size_t size);

void text_add(struct trace_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds what the format prints of a sample. Its fields fit (value_fields_fit()). A sample that the
 * format cannot print gets "[FAILED TO PARSE]" and the fields.
 */
void text_add_sample(struct trace_text *text, const struct trace_sample *sample,
		     const struct format *format);

/*
 * Adds " NAME=VALUE" of each of the event's own fields. `by_format`: with the conversions of the
 * format, else by the fields' declarations.
 */
void text_add_fields(struct trace_text *text, const struct trace_sample *sample,
		     const struct format *format, bool by_format);

/*
 * Adds a field's value. With `at`, the conversion that prints it is searched from that piece on,
 * and *at is then the piece after it.
 */
void text_add_field(struct trace_text *text, const struct trace_sample *sample,
		    const struct format *format, const struct format_field *field, size_t *at);
