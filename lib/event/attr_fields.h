/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of perf_event_attr: since when there are which, what asks for them, what they
 * need. By this table a refusal is taken apart into what the kernel does not know, or the
 * machine does not have.
 */
#ifndef EVENT_ATTR_FIELDS_H
#define EVENT_ATTR_FIELDS_H

#include "event/kernel.h"
#include "event/rights.h"
#include "record/attr.h"

/* Flags by their bit, as a 64-bit word with the first flag in bit 0. */
#define EVENT_FLAG_DEFER_CALLCHAIN 38 /* Linux 6.19; no header that this is built with has them */
#define EVENT_FLAG_DEFER_OUTPUT 39

/* Newer than the oldest uapi header that this is built with. */
#define EVENT_BRANCH_COUNTERS (UINT64_C(1) << 19) /* Linux 6.8 */

enum event_field_place {
	EVENT_FIELD_FLAG,   /* `at`: its lowest bit, `size`: how many */
	EVENT_FIELD_SAMPLE, /* `at`: the bit of sample_type */
	EVENT_FIELD_BRANCH, /* the same of branch_sample_type */
	EVENT_FIELD_FORMAT, /* the same of read_format */
	EVENT_FIELD_VALUE,  /* `at`: its offset in the attr, `size`: in bytes */
};

struct event_field {
	const char *name, *option, *since, *needs; /* see struct sp_attr_field */
	enum event_field_place place;
	uint8_t at, size;
};

/* By age, the oldest first. */
const struct event_field *event_fields(size_t *count_ret);

/* "PERF_SAMPLE_ADDR"; NULL if there is none of that name. */
const struct event_field *event_field_find(const char *name);

/* event_field_set() sets single bits, and values to 1. */
bool event_field_is_set(const struct event_field *field, const struct long_attr *attr);
void event_field_set(const struct event_field *field, struct long_attr *attr);
/* With what means nothing without it: registers' masks without registers. */
void event_field_clear(const struct event_field *field, struct long_attr *attr);

/* Whether the kernel knows it, by asking with a dummy event; hardware is not asked for. */
bool event_field_known(const struct event_kernel *kernel, const struct rights *rights,
		       const struct event_field *field);

/* The refused event. */
struct event_refusal {
	const struct event_kernel *kernel;
	const struct rights *rights;
	const char *event;                   /* its name */
	struct long_attr whole;              /* its attr */
	int32_t pid, cpu;                    /* it is tried there, for itself */
	unsigned long flags;                 /* PERF_FLAG_* */
	int errnum;
};

/* The refused field, found by trying without each; NULL: no field alone, nor several. */
const struct event_field *event_field_blame(const struct event_refusal *refusal);

/*
 * The error for a refused field: the kernel does not know it (and which Linux does), the machine
 * lacks what it needs, or this user may not use it.
 */
struct sp_error *event_field_error(const struct event_refusal *refusal,
				   const struct event_field *field);

/*
 * The error if the event itself is wrong: a breakpoint's size or alignment, or modes of a PMU that
 * has none. NULL: none is known.
 */
struct sp_error *event_misfit(const struct event_refusal *refusal);

#endif
