/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers and bytes of a sample by its event's format. Samples may be hostile: each read is
 * checked, and a text that would need a byte outside the sample is not made.
 */
#pragma once

#include "trace/event_format.h"

struct trace_sample {
	const uint8_t *bytes;
	size_t size;
	bool swap; /* its byte order is not the host's */
	unsigned int long_size;
	const struct kernel_names *names;
};

/* Bytes of a sample. */
struct extent {
	const uint8_t *bytes;
	size_t size;
};

/* Reads a number of 1, 2, 4 or 8 bytes; another size is 0. The bytes are the sample's. */
uint64_t value_read(const struct trace_sample *sample, const uint8_t *bytes, size_t size);

/*
 * Finds a field's bytes. The bytes of a dynamic field (__data_loc) are where it points. False if
 * they are not all in the sample.
 */
bool value_extent(const struct trace_sample *sample, const struct format_field *field,
		  struct extent *ret);

/*
 * Returns whether all fields of a format are in its sample. Dynamic fields may overlap, but not so
 * often that their text would become huge.
 */
bool value_fields_fit(const struct trace_sample *sample, const struct format *format);

/*
 * Computes an expression, with unsigned numbers of 64 bits. False for a division by zero, or an
 * index outside the sample. Names that no symbol has are 0.
 */
bool value_of(const struct trace_sample *sample, struct format_node *node, uint64_t *ret);
