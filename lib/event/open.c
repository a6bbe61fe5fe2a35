/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each event is opened once on trial, with all its attributes and for the scope
 * that the recording will have. What the kernel answers decides the next try:
 *
 *	ENOENT ENODEV EOPNOTSUPP   no such counter: cycles become cpu-clock
 *	EOPNOTSUPP EINVAL          first idle times not excluded (arm64's counters cannot),
 *	                           then less precise, then guests not excluded
 *	EACCES EPERM               without the kernel
 *
 * A step that nobody typed the opposite of (precision of `P`, exclude_guest, exclude_idle)
 * is silent; the others are notes.
 */
#include "event/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "event/fields.h"
#include "event/group.h"
#include "event/kind.h"
#include "event/planner.h"
#include "event/shape.h"

/* What is assumed where the kernel does not say; its own default. */
#define DEFAULT_MAX_HZ 100000

/* What a kernel follows that was told nothing else. */
#define DEFAULT_MAX_STACK 127

DEFINE_CLEANUP(struct event_plan *, event_plan_free)

/* Opens and closes for the plan's scope: 0, or the errno. */
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

/* Where an event is tried on whole CPUs: some are not of all. */
static uint32_t place_cpu(const struct planner *planner, const struct event_planned *event)
{
	for (size_t i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == planner->request->cpu)
			return planner->request->cpu;
	return event->cpu_count ? event->cpus[0] : planner->request->cpu;
}

/* The same of an event, with what its attr has no room for. */
static int try_planned(const struct planner *planner, struct event_planned *event)
{
	bool cpu_wide = planner->plan->cpu_wide;
	event->attr.size = event_attr_size(&event->attr);
	int fd = event_open_planned(planner->kernel, event, &event->attr, cpu_wide ? -1 : 0,
				    cpu_wide ? (int32_t)place_cpu(planner, event) : -1, -1, 0);
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
	event_ask_all(&planner->asked, support, base);
	if (request->callchain == EVENT_CALLCHAIN_ALL || request->callchain == EVENT_CALLCHAIN_USER)
		event_ask_leaf(base);
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
	/* It counts nothing, in either mode; without rights only this is allowed. */
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

static void set_watermark(struct perf_event_attr *attr, uint32_t bytes)
{
	attr->watermark = bytes != 0;
	attr->wakeup_watermark = bytes;
}

static void set_holders(struct planner *planner)
{
	struct perf_event_attr *holders = planner->plan->holders;
	for (size_t role = 0; role < EVENT_ROLE_COUNT; role++) {
		set_dummy(planner, &holders[role]);
		holders[role].disabled = 1;
	}
	set_watermark(&holders[EVENT_ROLE_SAMPLES], planner->request->sample_watermark_bytes);
	set_watermark(&holders[EVENT_ROLE_SIDEBAND], planner->request->sideband_watermark_bytes);
	/* Events and the one whose ring they share agree in this. */
	holders[EVENT_ROLE_SAMPLES].write_backward = planner->request->asked.write_backward;
	for (size_t role = 0; role < EVENT_ROLE_COUNT; role++)
		holders[role].size = event_attr_size(&holders[role]);
}

static void set_start(const struct planner *planner, struct perf_event_attr *attr)
{
	attr->disabled = planner->request->start != EVENT_START_NOW;
	attr->enable_on_exec =
		planner->request->start == EVENT_START_ON_EXEC && !planner->plan->cpu_wide;
	attr->inherit = planner->request->inherit && !planner->plan->cpu_wide;
}

static bool samples_kernel(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (!plan->samples[i].attr.exclude_kernel)
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
	event_ask_sideband(&planner->asked, support, samples_kernel(planner->plan), attr);
	attr->size = event_attr_size(attr);
	planner->plan->sideband.name = "dummy:u";
}

static const char *keep(struct event_plan *plan, const char *text)
{
	return arena_copy_string(&plan->arena, text, strlen(text));
}

static uint64_t most_hz(const struct event_plan *plan)
{
	return plan->rights.max_sample_hz ? plan->rights.max_sample_hz : DEFAULT_MAX_HZ;
}

static struct sp_error *too_fast(uint64_t freq_hz, uint64_t most)
{
	return error_set_remedy(
		error_new(SP_ERROR_LIMIT, "--strict-freq: %llu Hz are more than the %llu that the kernel "
			  "allows", (unsigned long long)freq_hz, (unsigned long long)most),
		"a lower -F, or sudo sysctl kernel.perf_event_max_sample_rate=%llu",
		(unsigned long long)freq_hz);
}

/* The rate that is allowed, and a note where it is less than was asked. */
static struct sp_error *set_rate(struct planner *planner)
{
	const struct event_request *request = planner->request;
	struct event_plan *plan = planner->plan;
	uint64_t most = most_hz(plan);
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
	if (request->freq_hz <= most || request->freq_hz == EVENT_FREQ_MAX)
		return NULL;
	if (planner->asked.strict_freq)
		return too_fast(request->freq_hz, most);
	char asked[32], done[64], remedy[96];
	snprintf(asked, sizeof(asked), "%llu Hz", (unsigned long long)request->freq_hz);
	snprintf(remedy, sizeof(remedy), "sudo sysctl kernel.perf_event_max_sample_rate=%llu",
		 (unsigned long long)request->freq_hz);
	snprintf(done, sizeof(done), "sampling at %llu Hz", (unsigned long long)most);
	return event_notes_add(&plan->notes, asked, done, "more than the kernel allows", remedy);
}

static void set_callchain(const struct planner *planner, const struct event_spec *spec,
			  struct perf_event_attr *attr)
{
	bool own = spec->terms.given & EVENT_TERM_CALL_GRAPH;
	if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
		return;
	attr->exclude_callchain_kernel =
		(planner->callchain == EVENT_CALLCHAIN_USER && !own) ||
		(planner->callchain == EVENT_CALLCHAIN_NOTHING && !own) || attr->exclude_kernel;
	if (own)
		return;
	attr->exclude_callchain_user = planner->callchain == EVENT_CALLCHAIN_KERNEL ||
				       planner->callchain == EVENT_CALLCHAIN_NOTHING;
}

static bool is_cycles(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES;
}

static bool wants_no_idle(const struct planner *planner, const struct event_spec *spec)
{
	return spec->attr.exclude_idle ||
	       (planner->request->exclude_idle && planner->plan->cpu_wide);
}

/* The spec's attributes together with those of the recording. */
static struct sp_error *whole_attr(const struct planner *planner, const struct event_spec *spec,
				   struct perf_event_attr *ret)
{
	const struct event_specs *specs = planner->request->specs;
	size_t index = (size_t)(spec - specs->items);
	const struct event_shape shape = {
		.request = planner->request, .spec = spec, .most_hz = most_hz(planner->plan),
		.cpu_wide = planner->plan->cpu_wide, .is_member = spec->leader != index,
		.group_is_large = index + 1 < specs->count && specs->items[index + 1].leader == index,
	};
	struct perf_event_attr attr = planner->sampling;
	attr.type = spec->attr.type;
	attr.config = spec->attr.config;
	attr.config1 = spec->attr.config1; /* or an address, or a name */
	attr.config2 = spec->attr.config2;
	attr.bp_type = spec->attr.bp_type;
	attr.exclude_user = spec->attr.exclude_user;
	attr.exclude_kernel = spec->attr.exclude_kernel;
	attr.exclude_hv = spec->attr.exclude_hv;
	attr.exclude_host = spec->attr.exclude_host;
	attr.exclude_idle = wants_no_idle(planner, spec);
	attr.precise_ip = spec->attr.precise_ip;
	attr.pinned = spec->attr.pinned;
	attr.exclusive = spec->attr.exclusive;
	/* Guests' cycles have addresses that mean nothing here. */
	attr.exclude_guest = spec->guest_given ? spec->attr.exclude_guest : is_hardware(&attr);
	set_callchain(planner, spec, &attr);
	struct sp_error *error = event_shape_attr(&shape, &planner->plan->notes, &attr);
	if (!error)
		*ret = attr;
	return error;
}

/*
 * "cpu-clock", "cpu-clock:u": the name that says what is left of an event that was
 * typed otherwise. Precision is not mentioned: clocks have none.
 */
static const char *clock_name(struct event_plan *plan, const struct event_spec *spec,
			      const struct perf_event_attr *attr)
{
	char name[32];
	bool modes = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	snprintf(name, sizeof(name), "cpu-clock%s%s%s%s%s%s%s",
		 modes || spec->guest_given || spec->attr.exclude_idle ? ":" : "",
		 modes && !attr->exclude_user ? "u" : "", modes && !attr->exclude_kernel ? "k" : "",
		 modes && !attr->exclude_hv ? "h" : "",
		 spec->guest_given && !spec->attr.exclude_guest ? "G" : "",
		 spec->guest_given && !spec->attr.exclude_host ? "H" : "",
		 spec->attr.exclude_idle ? "I" : "");
	return keep(plan, name);
}

static struct sp_error *become_clock(struct planner *planner, const struct event_spec *spec,
				     struct event_planned *event)
{
	char done[96];
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	event->attr.precise_ip = 0;
	event->attr.exclude_guest = spec->attr.exclude_guest;
	event->attr.exclude_idle = wants_no_idle(planner, spec);
	event->name = clock_name(planner->plan, spec, &event->attr);
	if (!event->name)
		return error_no_memory();
	if (planner->asked.no_samples)
		snprintf(done, sizeof(done), "%s counts instead", event->name);
	else if (event->attr.freq)
		snprintf(done, sizeof(done), "sampling %s instead", event->name);
	else
		snprintf(done, sizeof(done), "sampling %s instead, each %llu ns", event->name,
			 (unsigned long long)event->attr.sample_period);
	return event_notes_add(&planner->plan->notes, spec->name, done,
			       "this machine has no hardware counters", NULL);
}

static struct sp_error *give_up_kernel(struct planner *planner, const struct event_spec *spec,
				       int errnum, struct event_planned *event)
{
	struct event_plan *plan = planner->plan;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *why = rights_explain(&plan->rights, RIGHTS_KERNEL, event->name, errnum);
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	set_callchain(planner, spec, &event->attr);
	struct sp_error *error =
		event_notes_add(&plan->notes, event->name, "sampling user code only",
				rights_kernel_mode(&plan->rights)
					? "the kernel may not be sampled"
					: "kernel.perf_event_paranoid forbids sampling the kernel",
				sp_error_remedy(why));
	if (error)
		return error;
	event->name = event_name_with_mode(&plan->arena, event->name, 'u');
	return event->name ? NULL : error_no_memory();
}

static bool is_missing(int errnum)
{
	return errnum == ENOENT || errnum == ENODEV || errnum == EOPNOTSUPP;
}

/* A step that needs no word; false if there is none left. */
static bool step_quietly(const struct event_spec *spec, int errnum, struct perf_event_attr *attr)
{
	if (errnum != EINVAL && errnum != EOPNOTSUPP)
		return false;
	/* Who is idle is no part of a recording of some processes: their filter drops it. */
	if (attr->exclude_idle && !spec->attr.exclude_idle &&
	    (is_hardware(attr) || spec->pmu)) {
		attr->exclude_idle = 0;
		return true;
	}
	if (spec->precise_max && attr->precise_ip) {
		attr->precise_ip--;
		return true;
	}
	if (attr->exclude_guest && !spec->guest_given) {
		attr->exclude_guest = 0;
		return true;
	}
	return false;
}

/* Cycles there may be, but not with all that was asked for beside them. */
static bool cycles_are_missing(const struct planner *planner, const struct event_spec *spec,
			       const struct perf_event_attr *attr, int errnum)
{
	if (!is_missing(errnum) || !is_cycles(attr) ||
	    (attr->precise_ip && !spec->precise_max && errnum != ENOENT))
		return false;
	const struct event_refusal refusal = planner_refusal(planner, spec->name, attr,
							     &spec->tail, errnum);
	return errnum == ENOENT || !event_field_blame(&refusal);
}

/* What the plan keeps of a spec besides its attributes. */
static struct sp_error *keep_spec(struct event_plan *plan, const struct event_spec *spec,
				  struct event_planned *event)
{
	event->name = keep(plan, spec->name);
	event->tail = spec->tail;
	event->leader = spec->leader;
	if (spec->group_name)
		event->group_name = keep(plan, spec->group_name);
	event->cpu_count = spec->cpus ? spec->cpu_count : 0;
	uint32_t *cpus = spec->cpus ? arena_alloc(&plan->arena, spec->cpu_count * sizeof(*cpus)) : NULL;
	if (cpus)
		memcpy(cpus, spec->cpus, spec->cpu_count * sizeof(*cpus));
	event->cpus = cpus;
	/* Names of functions and files for the kernel, which the attr points to. */
	if (event_is_probe(spec) && spec->attr.config1) {
		event->has_pointer = true;
		event->attr.config1 = (uint64_t)(uintptr_t)keep(
			plan, (const char *)(uintptr_t)spec->attr.config1);
		if (!event->attr.config1)
			return error_no_memory();
	}
	return event->name && (cpus || !spec->cpus) && (event->group_name || !spec->group_name)
		       ? NULL
		       : error_no_memory();
}

/* Before Linux 6.12 what is read with samples is of one task. */
static bool step_down_inheritance(int errnum, struct perf_event_attr *attr)
{
	if (errnum != EINVAL || !attr->inherit || !(attr->sample_type & PERF_SAMPLE_READ))
		return false;
	attr->inherit = 0;
	attr->inherit_stat = 0;
	attr->inherit_thread = 0;
	return true;
}

/* Linux has groups only of events that are all inherited, or none. */
static void follow_leader(const struct planner *planner, struct event_planned *event)
{
	const struct event_plan *plan = planner->plan;
	if (event->leader >= plan->sample_count || plan->samples[event->leader].attr.inherit)
		return;
	event->attr.inherit = 0;
	event->attr.inherit_stat = 0;
	event->attr.inherit_thread = 0;
}

static struct sp_error *note_no_inheritance(struct planner *planner, const struct event_spec *spec)
{
	return event_notes_add(&planner->plan->notes, spec->name,
			       "its threads and children are not sampled",
			       "before Linux 6.12 the counts of a group (S) are of one task alone",
			       "-a, or leave S out");
}

/*
 * Of the tracepoints of a glob the first is tried: to close one takes the kernel some 30 ms, and
 * there may be hundreds.
 */
static bool is_tried(const struct planner *planner, const struct event_planned *event)
{
	const struct event_plan *plan = planner->plan;
	if (!plan->sample_count || event->attr.type != PERF_TYPE_TRACEPOINT)
		return false;
	const struct event_planned *before = &plan->samples[plan->sample_count - 1];
	if (strncmp(event->name, before->name, strcspn(event->name, ":") + 1) != 0)
		return false;
	struct perf_event_attr attr = event->attr;
	attr.config = before->attr.config;
	return !memcmp(&attr, &before->attr, sizeof(attr));
}

static struct sp_error *plan_event(struct planner *planner, const struct event_spec *spec,
				   struct event_planned *event)
{
	struct sp_error *error = event_kind_check(planner->request, spec);
	if (!error)
		error = whole_attr(planner, spec, &event->attr);
	if (!error)
		error = keep_spec(planner->plan, spec, event);
	follow_leader(planner, event);
	event->attr.size = event_attr_size(&event->attr);
	while (!error) {
		int errnum = is_tried(planner, event) ? 0 : try_planned(planner, event);
		if (!errnum)
			return NULL;
		if (step_quietly(spec, errnum, &event->attr))
			continue;
		if (cycles_are_missing(planner, spec, &event->attr, errnum))
			error = become_clock(planner, spec, event);
		else if (step_down_inheritance(errnum, &event->attr))
			error = note_no_inheritance(planner, spec);
		else if (is_refusal(errnum) && !event->attr.exclude_kernel &&
			 !event->attr.exclude_user &&
			 (!event_is_occurrence(spec) || event->attr.type == PERF_TYPE_BREAKPOINT))
			error = give_up_kernel(planner, spec, errnum, event);
		else
			error = planner_refused(planner, spec, &event->attr, errnum);
	}
	return error;
}

/* What has no other result where this kernel does not know it: said, or not even that. */
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
			       "Linux 6.19 and later have this", NULL);
}

#define DUMPS (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Where the kernel does not copy registers and stacks, frame pointers are what is left. */
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
	attr.use_clockid = 0; /* which has its own check */
	attr.clockid = 0;
	int errnum = try_open(planner, &attr);
	if (errnum != EINVAL && errnum != EOPNOTSUPP && errnum != ENOSYS)
		return NULL; /* all is well, or it is not about them */
	planner->base.sample_type &= ~(uint64_t)DUMPS;
	planner->base.sample_regs_user = planner->base.sample_stack_user = 0;
	/* What was typed is refused, not left out. */
	event_ask_all(&planner->asked, &planner->plan->support, &planner->base);
	planner->callchain = EVENT_CALLCHAIN_ALL;
	return event_notes_add(&planner->plan->notes, "--call-graph dwarf",
			       "the kernel follows frame pointers",
			       "this kernel does not copy user registers and stacks", NULL);
}

/* All events must have one clock: where there is none to choose, it is the kernel's own. */
static struct sp_error *check_clock(struct planner *planner)
{
	struct event_plan *plan = planner->plan;
	struct perf_event_attr attr;
	plan->clock_id = plan->support.clock_id ? planner->request->clock_id : EVENT_CLOCK_KERNEL;
	if (!plan->support.clock_id)
		return event_notes_add(&plan->notes, "-k", "times are of the kernel's own clock",
				       "this kernel (before 4.1) gives no choice", NULL);
	set_dummy(planner, &attr);
	attr.disabled = 1;
	if (try_open(planner, &attr) != EINVAL)
		return NULL;
	struct sp_error *error = error_new(SP_ERROR_INVALID,
					   "the kernel does not time events by "
					   "clock %d",
					   (int)planner->request->clock_id);
	return error_set_remedy(error,
				"take CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME or "
				"CLOCK_TAI");
}

/* How many frames the kernel follows; said in the file where it is not its default. */
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

/* Whether whole CPUs are sampled. */
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
	return rights_explain(&plan->rights, RIGHTS_CPU_WIDE,
			      planner->request->cpus_for ?: "-a", errnum);
}

/* Fields that one event has, and others could do without. */
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

/* What it counts of, besides. */
static struct sp_error *set_bounds(struct planner *planner, size_t index,
				   struct event_planned *event)
{
	const struct event_request *request = planner->request;
	const char *filter = request->filters ? request->filters[index] : NULL;
	if (filter && !(event->filter = keep(planner->plan, filter)))
		return error_no_memory();
	if (index < request->cgroup_count && request->cgroups[index] >= 0) {
		event->in_cgroup = true;
		event->cgroup_fd = request->cgroups[index];
	}
	return NULL;
}

static struct sp_error *plan_samples(struct planner *planner)
{
	const struct event_specs *specs = planner->request->specs;
	struct event_plan *plan = planner->plan;
	plan->samples = arena_alloc(&plan->arena, (specs->count + 1) * sizeof(*plan->samples));
	if (!plan->samples)
		return error_no_memory();
	planner->sampling = planner->base;
	set_start(planner, &planner->sampling);
	planner->sampling.inherit_stat =
		planner->sampling.inherit && planner->request->inherit_stat;
	struct sp_error *error = set_rate(planner);
	if (error)
		return error;
	event_ask_sampling(&planner->asked, &planner->sampling);
	if (planner->request->uniform)
		make_uniform(planner);
	for (size_t i = 0; i < specs->count; i++) {
		error = plan_event(planner, &specs->items[i], &plan->samples[i]);
		if (!error)
			error = set_bounds(planner, i, &plan->samples[i]);
		if (error)
			return error;
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

/* Fields that nobody will fill. */
static struct sp_error *say_in_vain(struct planner *planner)
{
	struct event_plan *plan = planner->plan;
	bool all_software = true;
	for (size_t i = 0; i < plan->sample_count; i++)
		all_software &= plan->samples[i].attr.type == PERF_TYPE_SOFTWARE;
	const char *asked = event_ask_in_vain(&planner->asked, all_software);
	if (!asked)
		return NULL;
	return event_notes_add(&plan->notes, asked, "all will be 0", "software events do not tell it",
			       NULL);
}

/* What the side-band was asked for may be refused, too. */
static struct sp_error *plan_sideband(struct planner *planner)
{
	set_sideband(planner);
	struct perf_event_attr attr = planner->plan->sideband.attr;
	int errnum = try_open(planner, &attr);
	/* What is not about a field is told where it is opened. */
	const struct sp_attr_tail none = {0};
	return errnum ? planner_refused_field(planner, "side-band", &attr, &none, errnum) : NULL;
}

struct sp_error *event_plan_make(const struct event_kernel *kernel, const struct rights *rights,
				 const struct event_request *request, struct event_plan **ret)
{
	CLEANUP(cleanup_event_plan_free) struct event_plan *plan = calloc(1, sizeof(*plan));
	if (!plan)
		return error_no_memory();
	plan->rights = *rights;
	int errnum = event_support_probe(kernel, &plan->support);
	if (errnum)
		return rights_explain(rights, RIGHTS_ANY_EVENT, "perf_event_open", errnum);
	struct planner planner = {.kernel = kernel, .request = request, .plan = plan,
				  .callchain = request->callchain, .asked = request->asked};
	struct sp_error *error = check_asked(&planner);
	if (error)
		return error;
	set_base(&planner);
	error = check_dumps(&planner);
	if (!error)
		error = check_clock(&planner);
	if (!error)
		error = choose_scope(&planner);
	if (!error)
		error = set_depth(&planner);
	if (error)
		return error;
	set_holders(&planner);
	error = plan_samples(&planner);
	if (!error)
		error = say_in_vain(&planner);
	if (!error)
		error = plan_sideband(&planner);
	if (error)
		return error;
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
