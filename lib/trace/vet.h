/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether libtraceevent may print an event's samples: it reads wherever an event's print format
 * tells it to, as often, divides by what stands there, and takes one kind of argument for another.
 * What is asked here is of the tree that it has made of the format, and then of each sample.
 */
#ifndef TRACE_VET_H
#define TRACE_VET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tep_event;
struct tep_format_field;

/* Zeros that must be behind a sample's bytes: strings need not end in it. */
#define VET_SPARE 64

struct vet_sample {
	const uint8_t *bytes; /* `size`, and VET_SPARE zeros */
	size_t size;
	bool swap; /* its byte order is not the host's */
};

/*
 * Finds a field's bytes, following its pointer if it has one. False if they are not all in the
 * sample.
 */
bool vet_extent(const struct vet_sample *sample, const struct tep_format_field *field,
		size_t *offset_ret, size_t *size_ret);
/*
 * Whether all fields of an event lie in its sample, and those behind the others, which are as long
 * as they say, not above one another so often that their text would have no end.
 */
bool vet_fields(const struct vet_sample *sample, const struct tep_event *event);

/* Whether its samples may be printed, of those that vet_print() lets pass. */
bool vet_event(struct tep_event *event);
/* Checks the text of an event that passed vet_event() and a sample that passed vet_fields(). */
bool vet_print(const struct vet_sample *sample, struct tep_event *event);

#endif
