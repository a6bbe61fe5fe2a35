/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks before libtraceevent prints an event's samples. libtraceevent trusts the format: it reads at
 * any offset, any number of times, divides by zero, and confuses types of arguments. The checks read
 * the expression tree that libtraceevent built, once for the event and then for each sample.
 */
#ifndef TRACE_VALIDATE_H
#define TRACE_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tep_event;
struct tep_format_field;

/* Number of zeros after a sample's bytes, because strings may not end in the sample. */
#define VALIDATE_SPARE 64

struct validate_sample {
	const uint8_t *bytes; /* `size` bytes, then VALIDATE_SPARE zeros */
	size_t size;
	bool swap; /* its byte order is not the host's */
};

/*
 * Finds a field's bytes. The bytes of a dynamic field (__data_loc) are where it points. False if they
 * are not all in the sample.
 */
bool validate_extent(const struct validate_sample *sample, const struct tep_format_field *field,
		     size_t *offset_ret, size_t *size_ret);
/*
 * Whether all fields of an event are in its sample. Dynamic fields may overlap, but not so often that
 * their text would become huge.
 */
bool validate_fields(const struct validate_sample *sample, const struct tep_event *event);

/* Whether samples of the event may be printed if validate_print() accepts them. */
bool validate_event(struct tep_event *event);
/*
 * Whether a sample may be printed. The event has passed validate_event(), the sample validate_fields().
 */
bool validate_print(const struct validate_sample *sample, struct tep_event *event);

#endif
