/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks before libtraceevent prints an event's samples. Its printer trusts the format: it reads at
 * any offset, any number of times, divides by zero, and mixes up kinds of arguments. The checks look
 * at the tree that it built from the format, then at each sample.
 */
#ifndef TRACE_VALIDATE_H
#define TRACE_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tep_event;
struct tep_format_field;

/* Number of zeros after a sample's bytes: strings need not end in the sample. */
#define VALIDATE_SPARE 64

struct validate_sample {
	const uint8_t *bytes; /* `size`, and VALIDATE_SPARE zeros */
	size_t size;
	bool swap; /* its byte order is not the host's */
};

/*
 * Finds a field's bytes, following its pointer if it has one. False if they are not all in the
 * sample.
 */
bool validate_extent(const struct validate_sample *sample, const struct tep_format_field *field,
		     size_t *offset_ret, size_t *size_ret);
/*
 * True if all fields of an event lie in its sample. Fields of variable length may overlap, but not
 * so often that their text would become huge.
 */
bool validate_fields(const struct validate_sample *sample, const struct tep_event *event);

/* True if samples of the event may be printed after validate_print() accepted them. */
bool validate_event(struct tep_event *event);
/* Checks printing: the event has passed validate_event(), the sample validate_fields(). */
bool validate_print(const struct validate_sample *sample, struct tep_event *event);

#endif
