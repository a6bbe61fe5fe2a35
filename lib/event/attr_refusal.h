/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Explains which field of a refused event the kernel, the machine or the user's rights lack. */
#pragma once

#include <errno.h>
#include "event/attr_fields.h"
#include "event/kernel_calls.h"
#include "event/rights.h"

/*
 * Returns whether the kernel knows the field, by a dummy event: missing hardware does not
 * matter. For fields of AUX areas the kernel's release decides.
 */
bool event_field_known(const struct event_kernel *kernel, const struct rights *rights,
		       const struct event_field *field);

/* Returns whether the errno means a lack of rights. */
static inline bool is_refusal(int errnum)
{
	return errnum == EACCES || errnum == EPERM;
}

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
 * Returns the error if the event's own values are wrong: a breakpoint's size or alignment, or modes
 * of a PMU without modes. NULL if no such fault is known.
 */
struct sp_error *event_value_error(const struct event_refusal *refusal);
