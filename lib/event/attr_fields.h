/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of the fields of perf_event_attr: the first Linux version that has each, the option that uses
 * it, and its requirements.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "record/attr.h"

/* Flags by bit number, counted from the first flag of the attr's flag word (bit 0). */
#define EVENT_FLAG_DEFER_CALLCHAIN 38 /* Linux 6.19; missing in the headers of this build */
#define EVENT_FLAG_DEFER_OUTPUT 39

enum event_field_place {
	EVENT_FIELD_FLAG,   /* a bit field: `at` is its lowest bit, `size` its number of bits */
	EVENT_FIELD_SAMPLE, /* a bit of sample_type: `at` is its number */
	EVENT_FIELD_BRANCH, /* a bit of branch_sample_type: `at` is its number */
	EVENT_FIELD_FORMAT, /* a bit of read_format: `at` is its number */
	EVENT_FIELD_VALUE,  /* a whole member: `at` is its offset in the attr, `size` its bytes */
};

struct event_field {
	const char *name, *option, *since, *needs; /* see struct sp_attr_field */
	enum event_field_place place;
	uint8_t at, size;
};

/* Returns the table, ordered by Linux version, oldest first. */
const struct event_field *event_fields(size_t *count_ret);

/* Returns the field of that name, as "PERF_SAMPLE_ADDR"; NULL if there is none. */
const struct event_field *event_field_find(const char *name);

/* Returns whether the field is set, and sets it: single bits, and whole members to 1. */
bool event_field_is_set(const struct event_field *field, const struct long_attr *attr);
void event_field_set(const struct event_field *field, struct long_attr *attr);
/* Clears the field, and fields that depend on it (a register mask without registers). */
void event_field_clear(const struct event_field *field, struct long_attr *attr);
