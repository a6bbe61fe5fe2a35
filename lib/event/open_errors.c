/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors for events that the kernel does not open. */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include "base/cleanup.h"
#include "event/attr_refusal.h"
#include "event/kind.h"
#include "event/planner.h"
#include "event/rights.h"

/* Whether NMI handlers can read the clock. Hardware counters need such a clock. */
static bool is_nmi_clock(clockid_t clock_id)
{
	return clock_id == CLOCK_MONOTONIC || clock_id == CLOCK_MONOTONIC_RAW;
}

struct event_refusal planner_refusal(const struct planner *planner, const char *name,
				     const struct perf_event_attr *attr,
				     const struct sp_attr_tail *tail, int errnum)
{
	bool cpu_wide = planner->plan->cpu_wide;
	return (struct event_refusal){
		.kernel = planner->kernel,
		.rights = &planner->plan->rights,
		.event = name,
		.whole = attr_whole(attr, tail),
		.pid = cpu_wide ? -1 : 0,
		.cpu = cpu_wide ? (int32_t)planner->request->cpu : -1,
		.errnum = errnum,
	};
}

struct sp_error *planner_field_error(const struct planner *planner, const char *name,
				     const struct perf_event_attr *attr,
				     const struct sp_attr_tail *tail, int errnum)
{
	const struct event_refusal refusal = planner_refusal(planner, name, attr, tail, errnum);
	const struct event_field *field = event_field_find_refused(&refusal);
	if (!field)
		return NULL;
	if (!strcmp(field->name, "precise_ip"))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED,
				  "%s: this machine cannot give instruction addresses "
				  "that precisely",
				  name),
			"omit p, or use P for the highest precision");
	return event_field_error(&refusal, field);
}

/* Whether the event opens for whole CPUs. */
static bool opens_on_cpu(const struct planner *planner, struct perf_event_attr attr,
			 const struct sp_attr_tail *tail)
{
	attr.inherit = attr.inherit_stat = attr.enable_on_exec = 0;
	attr.disabled = 1;
	int fd = event_open_attr(planner->kernel, &attr, tail,
				 &(struct event_target){-1, (int32_t)planner->request->cpu, -1, 0});
	if (fd >= 0)
		planner->kernel->close(planner->kernel->arg, fd);
	return fd >= 0;
}

/*
 * Returns the error if the PMU only counts whole CPUs, or cannot interrupt; many cannot. NULL: this
 * is not the cause.
 */
static struct sp_error *refused_pmu(const struct planner *planner, const struct event_spec *spec,
				    const struct perf_event_attr *attr)
{
	struct perf_event_attr counting = *attr;
	counting.freq = 0;
	counting.sample_period = 0;
	if (!planner->plan->cpu_wide && opens_on_cpu(planner, *attr, &spec->tail))
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
						  "%s: counts whole CPUs only", spec->name),
					"use -a");
	if (!opens_on_cpu(planner, counting, &spec->tail))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "%s: this PMU counts, but cannot sample", spec->name),
				"use sprof stat -a -e %s, or sample by another event: "
				"-e '{cpu-clock,%s}:S' -a", spec->name, spec->name);
}

/*
 * Returns the error for a breakpoint's size. Hardware watches 1, 2, 4 or 8 bytes, aligned to the size.
 */
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

/* Returns the error if a PMU has no modes (PERF_PMU_CAP_NO_EXCLUDE), as PMUs outside of the CPUs. */
static struct sp_error *modes_misfit(const struct event_refusal *refusal)
{
	struct long_attr whole = refusal->whole;
	struct perf_event_attr *attr = &whole.attr;
	const struct sp_attr_tail tail = attr_tail_of(&whole);
	attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = attr->exclude_idle = 0;
	attr->exclude_host = attr->exclude_guest = 0;
	/* Most of these PMUs cannot sample, either, which is another error. */
	attr->freq = 0;
	attr->sample_period = 0;
	const struct event_target target = {refusal->pid, refusal->cpu, -1, refusal->flags};
	int fd = event_open_attr(refusal->kernel, attr, &tail, &target);
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

struct sp_error *event_value_error(const struct event_refusal *refusal)
{
	if (refusal->errnum != EINVAL && refusal->errnum != EOPNOTSUPP)
		return NULL;
	struct sp_error *error = refusal->whole.attr.type == PERF_TYPE_BREAKPOINT
					 ? breakpoint_misfit(refusal) : NULL;
	return error || !leaves_modes_out(&refusal->whole.attr) ? error : modes_misfit(refusal);
}

struct sp_error *planner_event_error(const struct planner *planner, const struct event_spec *spec,
				const struct perf_event_attr *attr, int errnum)
{
	if (errnum == EINVAL && attr->use_clockid && is_hardware(attr) &&
	    !is_nmi_clock(planner->request->clock_id))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED,
				  "%s: hardware counters cannot be timed by clock %d", spec->name,
				  planner->request->clock_id),
			"use -k monotonic, monotonic_raw or realtime, or "
			"cpu-clock");
	TRY(planner_field_error(planner, spec->name, attr, &spec->tail, errnum));
	const struct event_refusal refusal =
		planner_refusal(planner, spec->name, attr, &spec->tail, errnum);
	TRY(event_value_error(&refusal));
	if (errnum == EINVAL && spec->pmu)
		TRY(refused_pmu(planner, spec, attr));
	enum rights_action action = !is_refusal(errnum)			? RIGHTS_ANY_EVENT
				    : event_is_probe(spec)		? RIGHTS_PROBE
				    : attr->type == PERF_TYPE_TRACEPOINT ? RIGHTS_TRACEPOINT
				    : attr->exclude_kernel		? RIGHTS_ANY_EVENT
				    : planner->plan->cpu_wide		? RIGHTS_CPU_WIDE
				    : event_is_of_kernel(spec)		? RIGHTS_KERNEL_EVENT
									: RIGHTS_KERNEL;
	return rights_explain(&planner->plan->rights, action, spec->name, errnum);
}
