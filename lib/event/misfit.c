/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events that the kernel refuses although it knows each field of their attr. */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include "event/attr_fields.h"

/* Hardware watches 1, 2, 4 or 8 bytes, aligned to their number. */
static struct sp_error *breakpoint_misfit(const struct event_refusal *refusal)
{
	const struct perf_event_attr *attr = &refusal->whole.attr;
	uint64_t size = attr->bp_len, address = attr->bp_addr;
	bool power = size == 1 || size == 2 || size == 4 || size == 8;
	if (attr->bp_type == HW_BREAKPOINT_X && size != sizeof(long))
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "%s: execution breakpoints have a length of "
					"%zu bytes, not %llu",
				  refusal->event, sizeof(long), (unsigned long long)size),
			"omit the length");
	if (attr->bp_type == HW_BREAKPOINT_X || (power && !(address & (size - 1))))
		return NULL;
	if (power)
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "%s: a watchpoint of %llu bytes must be "
					"aligned to %llu bytes; "
				  "%#llx is not", refusal->event, (unsigned long long)size,
				  (unsigned long long)size, (unsigned long long)address),
			"use two events, or a shorter length");
	return error_set_remedy(error_new(SP_ERROR_INVALID,
					  "%s: watchpoints have 1, 2, 4 or 8 bytes, not %llu",
					  refusal->event, (unsigned long long)size),
				"use one of these, or several events");
}

/* PMUs of what is not a processor's know no modes (PERF_PMU_CAP_NO_EXCLUDE). */
static struct sp_error *modes_misfit(const struct event_refusal *refusal)
{
	struct long_attr whole = refusal->whole;
	struct perf_event_attr *attr = &whole.attr;
	const struct sp_attr_tail tail = attr_tail_of(&whole);
	attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = attr->exclude_idle = 0;
	attr->exclude_host = attr->exclude_guest = 0;
	/* Most of these cannot sample either, which is another matter. */
	attr->freq = 0;
	attr->sample_period = 0;
	int fd = event_open_attr(refusal->kernel, attr, &tail, refusal->pid, refusal->cpu, -1,
				 refusal->flags);
	if (fd < 0)
		return NULL;
	refusal->kernel->close(refusal->kernel->arg, fd);
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "%s: its PMU cannot separate user, kernel and guest mode",
					  refusal->event),
				"omit the modifiers, --all-user and --all-kernel");
}

static bool leaves_modes_out(const struct perf_event_attr *attr)
{
	return attr->exclude_user || attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle ||
	       attr->exclude_host || attr->exclude_guest;
}

struct sp_error *event_misfit(const struct event_refusal *refusal)
{
	if (refusal->errnum != EINVAL && refusal->errnum != EOPNOTSUPP)
		return NULL;
	struct sp_error *error = refusal->whole.attr.type == PERF_TYPE_BREAKPOINT
					 ? breakpoint_misfit(refusal) : NULL;
	return error || !leaves_modes_out(&refusal->whole.attr) ? error : modes_misfit(refusal);
}
