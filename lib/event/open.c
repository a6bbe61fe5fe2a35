/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a plan from a request: the events' common attributes, those that the kernel supports, and where
 * events are opened. plan_event.c plans each event.
 */
#include "event/open.h"

#include <errno.h>
#include <stdio.h>
#include "base/cleanup.h"
#include "event/attr_refusal.h"
#include "event/event_group.h"
#include "event/kind.h"
#include "event/planner.h"
#include "record/types.h"

/* The kernel's default of attr.sample_max_stack. */
#define DEFAULT_MAX_STACK 127

DEFINE_CLEANUP(struct event_plan *, event_plan_free)

/* Opens and closes an event for the plan's scope. Returns 0, or the errno. */
static int try_open(const struct planner *planner, struct perf_event_attr *attr)
{
	bool cpu_wide = planner->plan->cpu_wide;
	attr->size = event_attr_size(attr);
	int fd = planner->kernel->open(planner->kernel->arg, attr, cpu_wide ? -1 : 0,
				       cpu_wide ? (int32_t)planner->request->cpu : -1, -1, 0);
	if (fd < 0)
		return -fd;
	planner->kernel->close(planner->kernel->arg, fd);
	return 0;
}

static void set_base(struct planner *planner)
{
	const struct event_support *support = &planner->plan->support;
	const struct event_request *request = planner->request;
	struct perf_event_attr *base = &planner->base;
	base->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			    request->extra_sample_type;
	base->sample_regs_user = request->user_registers;
	base->sample_stack_user = request->user_stack_bytes;
	if (request->callchain != EVENT_CALLCHAIN_NONE)
		base->sample_type |= PERF_SAMPLE_CALLCHAIN;
	base->sample_id_all = 1;
	base->read_format = PERF_FORMAT_ID | (support->format_lost ? EVENT_FORMAT_LOST : 0);
	event_attr_set_options(&planner->asked, support, base);
	if (request->callchain == EVENT_CALLCHAIN_ALL || request->callchain == EVENT_CALLCHAIN_USER)
		event_request_leaf(base);
	base->use_clockid = support->clock_id && request->clock_id != EVENT_CLOCK_KERNEL;
	if (base->use_clockid)
		base->clockid = request->clock_id;
}

static void set_dummy(const struct planner *planner, struct perf_event_attr *attr)
{
	*attr = planner->base;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type &= EVENT_DUMMY_SAMPLE_TYPE;
	attr->branch_sample_type = attr->sample_regs_user = attr->sample_regs_intr = 0;
	attr->sample_stack_user = 0;
	/* The event counts nothing in any mode, and without permissions only this is allowed. */
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

static void set_watermark(struct perf_event_attr *attr, uint32_t bytes)
{
	attr->watermark = bytes != 0;
	attr->wakeup_watermark = bytes;
}

bool event_plan_samples_kernel(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (!plan->samples[i].attr.exclude_kernel)
			return true;
	return false;
}

bool event_plan_samples_user(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (!plan->samples[i].attr.exclude_user)
			return true;
	return false;
}

static void set_sideband(struct planner *planner)
{
	const struct event_support *support = &planner->plan->support;
	struct perf_event_attr *attr = &planner->plan->sideband.attr;
	set_dummy(planner, attr);
	attr->mmap = 1;
	attr->mmap2 = support->mmap2;
	attr->build_id = support->build_id;
	attr->comm = 1;
	attr->comm_exec = support->comm_exec;
	attr->task = 1;
	attr->ksymbol = support->ksymbol;
	attr->bpf_event = support->bpf_event;
	attr->sample_period = 1;
	attr->inherit = planner->request->inherit && !planner->plan->cpu_wide;
	/* event_set_enabled_time() finds with this that a CPU went offline. */
	if (planner->plan->cpu_wide)
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED;
	event_attr_set_sideband(&planner->asked, support, event_plan_samples_kernel(planner->plan),
				attr);
	attr->size = event_attr_size(attr);
	planner->plan->sideband.name = "dummy:u";
}

static struct sp_error *too_fast(uint64_t freq_hz, uint64_t most)
{
	return error_set_remedy(
		error_new(SP_ERROR_LIMIT, "--strict-freq: %llu Hz exceed the kernel's limit of %llu "
			  "Hz", (unsigned long long)freq_hz, (unsigned long long)most),
		"use a lower -F, or sudo sysctl kernel.perf_event_max_sample_rate=%llu",
		(unsigned long long)freq_hz);
}

/*
 * Samples a second from which programs are slowed by half or more: a sample with a copy of the
 * stack takes some microseconds.
 */
#define SLOWING_HZ 20000

static struct sp_error *note_slowing(struct event_plan *plan, bool max)
{
	char asked[48], why[80];
	unsigned long long rate_hz = plan->freq_hz;
	if (rate_hz < SLOWING_HZ)
		return NULL;
	snprintf(asked, sizeof(asked), max ? "-F max" : "-F %llu", rate_hz);
	snprintf(why, sizeof(why), "%llu samples a second slow the program", rate_hz);
	return event_notes_add(&plan->notes, asked, "its times include that", why,
			       "-F 4999 slows it less");
}

/* Sets the permitted rate, with a note if it is lower than requested. */
static struct sp_error *set_rate(struct planner *planner)
{
	const struct event_request *request = planner->request;
	struct event_plan *plan = planner->plan;
	uint64_t most = planner_most_hz(plan);
	plan->freq_hz = request->freq_hz;
	if (planner->asked.no_samples)
		return NULL;
	if (!request->freq_hz) {
		planner->sampling.sample_period = request->period;
		return NULL;
	}
	if (request->freq_hz > most)
		plan->freq_hz = most;
	planner->sampling.freq = 1;
	planner->sampling.sample_freq = plan->freq_hz;
	char asked[32], done[64], remedy[96];
	if (request->freq_hz <= most || request->freq_hz == EVENT_FREQ_MAX)
		return note_slowing(plan, request->freq_hz == EVENT_FREQ_MAX);
	if (planner->asked.strict_freq)
		return too_fast(request->freq_hz, most);
	snprintf(asked, sizeof(asked), "%llu Hz", (unsigned long long)request->freq_hz);
	snprintf(remedy, sizeof(remedy), "sudo sysctl kernel.perf_event_max_sample_rate=%llu",
		 (unsigned long long)request->freq_hz);
	snprintf(done, sizeof(done), "sampling at %llu Hz", (unsigned long long)most);
	return event_notes_add(&plan->notes, asked, done, "above the kernel's limit", remedy);
}

/* Adapt options without substitute to the kernel's support; some silently. */
static struct sp_error *check_asked(struct planner *planner)
{
	struct event_plan *plan = planner->plan;
	struct event_asked *asked = &planner->asked;
	const struct event_field *deferring = event_field_find("defer_callchain");
	const struct event_field *index = event_field_find("PERF_SAMPLE_BRANCH_HW_INDEX");
	if (asked->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK &&
	    event_field_known(planner->kernel, &plan->rights, index))
		asked->branch_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
	if (!asked->defer_callchain ||
	    event_field_known(planner->kernel, &plan->rights, deferring))
		return NULL;
	asked->defer_callchain = false;
	return event_notes_add(&plan->notes, deferring->option, "user frames are read at once",
			       "needs Linux 6.19 or later", NULL);
}

/* Fall back to frame pointers if the kernel copies no registers and stacks. */
static struct sp_error *check_dumps(struct planner *planner)
{
	struct perf_event_attr attr;
	if (!(planner->base.sample_type & PERF_SAMPLE_STACK_USER))
		return NULL;
	set_dummy(planner, &attr);
	attr.sample_type |= DUMPS;
	attr.sample_regs_user = planner->base.sample_regs_user;
	attr.sample_stack_user = planner->base.sample_stack_user;
	attr.disabled = 1;
	attr.use_clockid = 0; /* check_clock() checks the clock */
	attr.clockid = 0;
	int errnum = try_open(planner, &attr);
	if (errnum != EINVAL && errnum != EOPNOTSUPP && errnum != ENOSYS)
		return NULL; /* these options are supported, or another cause is reported later */
	planner->base.sample_type &= ~DUMPS;
	planner->base.sample_regs_user = planner->base.sample_stack_user = 0;
	/* Requested options are an error if unsupported; they are not left out. */
	event_attr_set_options(&planner->asked, &planner->plan->support, &planner->base);
	planner->callchain = EVENT_CALLCHAIN_ALL;
	return event_notes_add(&planner->plan->notes, "--call-graph dwarf",
			       "falling back to frame pointers",
			       "this kernel cannot copy user registers and stacks", NULL);
}

/* All events must have the same clock. If the kernel has no use_clockid, it is the kernel's own. */
static struct sp_error *check_clock(struct planner *planner)
{
	struct event_plan *plan = planner->plan;
	struct perf_event_attr attr;
	plan->clock_id = plan->support.clock_id ? planner->request->clock_id : EVENT_CLOCK_KERNEL;
	if (!plan->support.clock_id)
		return event_notes_add(&plan->notes, "-k", "using the kernel's own clock",
				       "needs Linux 4.1 or later", NULL);
	set_dummy(planner, &attr);
	attr.disabled = 1;
	if (try_open(planner, &attr) != EINVAL)
		return NULL;
	struct sp_error *error = error_new(SP_ERROR_INVALID,
					   "the kernel cannot time events by "
					   "clock %d",
					   planner->request->clock_id);
	return error_set_remedy(error,
				"use monotonic, monotonic_raw, boottime, realtime or "
				"tai");
}

/* Sets how many frames the kernel follows. The file states it if it is not the default. */
static struct sp_error *set_depth(struct planner *planner)
{
	const struct event_request *request = planner->request;
	uint32_t most = planner->plan->rights.max_stack;
	if (planner->callchain == EVENT_CALLCHAIN_NONE || planner->callchain == EVENT_CALLCHAIN_KERNEL ||
	    (!request->max_stack && (!most || most == DEFAULT_MAX_STACK)))
		return NULL;
	uint32_t depth = request->max_stack && request->max_stack < most ? request->max_stack : most;
	planner->base.sample_max_stack = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
	if (request->max_stack <= most)
		return NULL;
	char asked[48], done[48], remedy[80];
	snprintf(asked, sizeof(asked), "--max-stack %u", request->max_stack);
	snprintf(done, sizeof(done), "following %u frames", most);
	snprintf(remedy, sizeof(remedy), "sudo sysctl kernel.perf_event_max_stack=%u",
		 request->max_stack);
	return event_notes_add(&planner->plan->notes, asked, done,
			       "the kernel's limit for all users is lower", remedy);
}

/*
 * Sets plan->cpu_wide if the kernel opens a CPU-wide event. Fails if it refuses and the request requires
 * whole CPUs.
 */
static struct sp_error *choose_scope(struct planner *planner)
{
	struct event_plan *plan = planner->plan;
	if (planner->request->scope == EVENT_SCOPE_TASKS)
		return NULL;
	struct perf_event_attr attr;
	set_dummy(planner, &attr);
	attr.disabled = 1;
	plan->cpu_wide = true;
	int errnum = try_open(planner, &attr);
	if (!errnum)
		return NULL;
	plan->cpu_wide = false;
	if (planner->request->scope == EVENT_SCOPE_CPUS_IF_ALLOWED)
		return NULL;
	if (errnum == ENODEV || errnum == EINVAL)
		return error_new(SP_ERROR_INVALID, "CPU %u is not online", planner->request->cpu);
	bool probes = false;
	vec_each (spec, planner->request->specs)
		probes |= event_is_probe(spec);
	return rights_explain(&plan->rights, probes ? RIGHTS_PROBE : RIGHTS_CPU_WIDE,
			      planner->request->cpus_for ?: "-a", errnum);
}

/* Requests fields of one event for all events. */
static void make_uniform(struct planner *planner)
{
	const struct event_specs *specs = planner->request->specs;
	for (size_t i = 0; i < specs->count; i++) {
		const struct event_spec *spec = &specs->items[i];
		if (event_takes_raw(spec, spec->leader != i))
			planner->sampling.sample_type |= PERF_SAMPLE_RAW;
		if (!spec->group_read)
			continue;
		planner->sampling.sample_type |= PERF_SAMPLE_READ;
		planner->sampling.read_format |= PERF_FORMAT_GROUP;
	}
}

static bool samples_by_rate(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (plan->samples[i].attr.freq)
			return true;
	return false;
}

/* Replaces a clock's rate by the fixed period, unless it is dithered or the kernel allows less. */
static void set_clock_period(const struct planner *planner, const struct event_spec *spec,
			     struct perf_event_attr *attr)
{
	uint64_t period_ns = planner->request->clock_period_ns;
	if (!period_ns || (planner->plan->cpu_wide && planner->request->dithers) || !attr->freq ||
	    spec->terms.given & EVENT_TERM_FREQ || !record_is_clock(attr->type, attr->config) ||
	    record_clock_period_ns(attr) > period_ns)
		return;
	attr->freq = 0;
	attr->sample_period = period_ns;
}

static struct sp_error *plan_samples(struct planner *planner)
{
	const struct event_specs *specs = planner->request->specs;
	struct event_plan *plan = planner->plan;
	plan->samples = arena_alloc(&plan->arena, (specs->count + 1) * sizeof(*plan->samples));
	NEED(plan->samples);
	planner->sampling = planner->base;
	planner->sampling.disabled = planner->request->start != EVENT_START_NOW;
	planner->sampling.enable_on_exec =
		planner->request->start == EVENT_START_ON_EXEC && !planner->plan->cpu_wide;
	planner->sampling.inherit = planner->request->inherit && !planner->plan->cpu_wide;
	planner->sampling.inherit_stat =
		planner->sampling.inherit && planner->request->inherit_stat;
	TRY(set_rate(planner));
	event_attr_set_sampling(&planner->asked, &planner->sampling);
	if (planner->request->uniform)
		make_uniform(planner);
	for (size_t i = 0; i < specs->count; i++) {
		TRY(planner_plan_event(planner, &specs->items[i], &plan->samples[i]));
		set_clock_period(planner, &specs->items[i], &plan->samples[i].attr);
		/* Set the event's filter and control group. */
		struct event_planned *event = &plan->samples[i];
		const struct event_request *request = planner->request;
		const char *filter = request->filters ? request->filters[i] : NULL;
		if (filter && !(event->filter = arena_strdup(&planner->plan->arena, filter)))
			return error_no_memory();
		if (i < request->cgroup_count && request->cgroups[i] >= 0) {
			event->in_cgroup = true;
			event->cgroup_fd = request->cgroups[i];
		}
		plan->sample_count++;
	}
	if (!samples_by_rate(plan))
		plan->freq_hz = 0;
	const struct event_grouping grouping = {
		.kernel = planner->kernel, .plan = plan, .specs = specs,
		.pid = plan->cpu_wide ? -1 : 0,
		.cpu = plan->cpu_wide ? (int32_t)planner->request->cpu : -1,
	};
	return event_groups_plan(&grouping);
}

/* Adds notes on fields that stay empty, because no event has them. */
static struct sp_error *note_empty_fields(struct planner *planner)
{
	struct event_plan *plan = planner->plan;
	bool all_software = true;
	for (size_t i = 0; i < plan->sample_count; i++)
		all_software &= plan->samples[i].attr.type == PERF_TYPE_SOFTWARE;
	const char *asked = event_option_without_effect(&planner->asked, all_software);
	if (!asked)
		return NULL;
	return event_notes_add(&plan->notes, asked, "all will be 0", "software events do not have it",
			       NULL);
}

static struct sp_error *fill_plan(struct planner *planner)
{
	TRY(check_asked(planner));
	set_base(planner);
	TRY(check_dumps(planner));
	TRY(check_clock(planner));
	TRY(choose_scope(planner));
	TRY(set_depth(planner));

	struct perf_event_attr *holders = planner->plan->holders;
	for (size_t role = 0; role < EVENT_ROLE_COUNT; role++) {
		set_dummy(planner, &holders[role]);
		holders[role].disabled = 1;
	}
	set_watermark(&holders[EVENT_ROLE_SAMPLES], planner->request->sample_watermark_bytes);
	set_watermark(&holders[EVENT_ROLE_SIDEBAND], planner->request->sideband_watermark_bytes);
	/* Events must agree with the holder of their ring in this attribute. */
	holders[EVENT_ROLE_SAMPLES].write_backward = planner->request->asked.write_backward;
	for (size_t role = 0; role < EVENT_ROLE_COUNT; role++)
		holders[role].size = event_attr_size(&holders[role]);

	TRY(plan_samples(planner));
	TRY(note_empty_fields(planner));

	/* Plans the metadata event. The kernel may refuse its options, too. */
	set_sideband(planner);
	struct perf_event_attr attr = planner->plan->sideband.attr;
	int errnum = try_open(planner, &attr);
	/* Errors that concern no field are reported when the event is opened. */
	const struct sp_attr_tail none = {0};
	return errnum ? planner_field_error(planner, "side-band", &attr, &none, errnum) : NULL;
}

struct sp_error *event_plan_make(const struct event_kernel *kernel, const struct rights *rights,
				 const struct event_request *request, struct event_plan **ret)
{
	CLEANUP(cleanup_event_plan_free) struct event_plan *plan = calloc(1, sizeof(*plan));
	NEED(plan);
	plan->rights = *rights;
	int errnum = event_support_probe(kernel, &plan->support);
	if (errnum)
		return rights_explain(rights, RIGHTS_ANY_EVENT, "perf_event_open", errnum);
	struct planner planner = {.kernel = kernel, .request = request, .plan = plan,
				  .callchain = request->callchain, .asked = request->asked};
	TRY(fill_plan(&planner));
	*ret = take_ptr(plan);
	return NULL;
}

void event_plan_free(struct event_plan *plan)
{
	if (!plan)
		return;
	event_notes_deinit(&plan->notes);
	arena_deinit(&plan->arena);
	free(plan);
}
