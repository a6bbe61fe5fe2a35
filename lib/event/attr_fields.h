/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Table of the fields of perf_event_attr: the first Linux version that has each, the option that uses
 * it, and its requirements. It explains which field of a refused event the kernel or the machine lacks.
 */
#ifndef EVENT_ATTR_FIELDS_H
#define EVENT_ATTR_FIELDS_H

#include "event/kernel_calls.h"
#include "event/rights.h"
#include "record/attr.h"

/* Flags by bit number, counted from the first flag of the attr's flag word (bit 0). */
#define EVENT_FLAG_DEFER_CALLCHAIN 38 /* Linux 6.19; missing in the headers of this build */
#define EVENT_FLAG_DEFER_OUTPUT 39

/* Constants that are missing in the oldest kernel headers supported by the build. */
#define EVENT_BRANCH_COUNTERS (UINT64_C(1) << 19) /* Linux 6.8 */

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

/*
 * Whether the kernel knows the field. Tries it with a dummy event, so missing hardware does not matter.
 */
bool event_field_known(const struct event_kernel *kernel, const struct rights *rights,
		       const struct event_field *field);

/* An event that the kernel refused. */
struct event_refusal {
	const struct event_kernel *kernel;
	const struct rights *rights;
	const char *event;                   /* its name */
	struct long_attr whole;              /* its attr */
	int32_t pid, cpu;                    /* task and CPU on which the event is tried */
	unsigned long flags;                 /* PERF_FLAG_* */
	int errnum;
};

/*
 * Finds the refused field by trying the event without each field. NULL if no single field and no
 * combination explains the refusal.
 */
const struct event_field *event_field_find_refused(const struct event_refusal *refusal);

/*
 * Returns the error for a refused field: the kernel is too old (with the version that has it), the
 * machine lacks a requirement, or the user lacks the permission.
 */
struct sp_error *event_field_error(const struct event_refusal *refusal,
				   const struct event_field *field);

/*
 * Returns the error if the event's own values are wrong: a breakpoint's size or alignment, or modes of
 * a PMU without modes. NULL if no such fault is known.
 */
struct sp_error *event_value_error(const struct event_refusal *refusal);

#endif
