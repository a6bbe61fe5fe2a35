/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors for events that the kernel does not open. */
#include <string.h>
#include "event/planner.h"

/* Hardware counters interrupt where only these clocks can be read. */
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

struct sp_error *planner_refused_field(const struct planner *planner, const char *name,
				       const struct perf_event_attr *attr,
				       const struct sp_attr_tail *tail, int errnum)
{
	const struct event_refusal refusal = planner_refusal(planner, name, attr, tail, errnum);
	const struct event_field *field = event_field_blame(&refusal);
	if (!field)
		return NULL;
	if (!strcmp(field->name, "precise_ip"))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED,
				  "%s: this machine cannot give instruction addresses "
				  "that precisely",
				  name),
			"leave out p, or take P: as precise as there is");
	return event_field_error(&refusal, field);
}

/* Whether it opens on whole CPUs. */
static bool opens_on_cpu(const struct planner *planner, struct perf_event_attr attr,
			 const struct sp_attr_tail *tail)
{
	attr.inherit = attr.inherit_stat = attr.enable_on_exec = 0;
	attr.disabled = 1;
	int fd = event_open_attr(planner->kernel, &attr, tail, -1, (int32_t)planner->request->cpu, -1,
				 0);
	if (fd >= 0)
		planner->kernel->close(planner->kernel->arg, fd);
	return fd >= 0;
}

/* Many PMUs are of whole CPUs, or of more, and cannot interrupt. NULL: that is not it. */
static struct sp_error *refused_pmu(const struct planner *planner, const struct event_spec *spec,
				    const struct perf_event_attr *attr)
{
	struct perf_event_attr counting = *attr;
	counting.freq = 0;
	counting.sample_period = 0;
	if (!planner->plan->cpu_wide && opens_on_cpu(planner, *attr, &spec->tail))
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
						  "%s: counts whole CPUs only", spec->name),
					"take -a");
	if (!opens_on_cpu(planner, counting, &spec->tail))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "%s: this PMU counts, but cannot sample", spec->name),
				"use sprof stat -a -e %s, or sample by another event: "
				"-e '{cpu-clock,%s}:S' -a", spec->name, spec->name);
}

struct sp_error *planner_refused(const struct planner *planner, const struct event_spec *spec,
				const struct perf_event_attr *attr, int errnum)
{
	if (errnum == EINVAL && attr->use_clockid && is_hardware(attr) &&
	    !is_nmi_clock(planner->request->clock_id))
		return error_set_remedy(
			error_new(SP_ERROR_UNSUPPORTED,
				  "%s: hardware counters cannot be timed by clock %d", spec->name,
				  (int)planner->request->clock_id),
			"use -k monotonic, monotonic_raw or realtime, or "
			"cpu-clock");
	struct sp_error *error = planner_refused_field(planner, spec->name, attr, &spec->tail,
						       errnum);
	if (error)
		return error;
	const struct event_refusal refusal =
		planner_refusal(planner, spec->name, attr, &spec->tail, errnum);
	error = event_misfit(&refusal);
	if (!error && errnum == EINVAL && spec->pmu)
		error = refused_pmu(planner, spec, attr);
	if (error)
		return error;
	enum rights_action action = !is_refusal(errnum) || attr->exclude_kernel ? RIGHTS_ANY_EVENT
				    : planner->plan->cpu_wide			? RIGHTS_CPU_WIDE
										: RIGHTS_KERNEL;
	return rights_explain(&planner->plan->rights, action, spec->name, errnum);
}
