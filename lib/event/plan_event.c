/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each event is opened once on trial, with all its attributes and for the scope that the recording
 * will have. What the kernel answers decides the next try:
 *
 *	ENOENT ENODEV EOPNOTSUPP   no such counter: cycles become cpu-clock
 *	EOPNOTSUPP EINVAL          first idle times not excluded (arm64's counters cannot),
 *	                           then less precise, then guests not excluded
 *	EACCES EPERM               without the kernel
 *
 * Steps that revoke a default (precision of `P`, exclude_guest, exclude_idle) are silent. Steps
 * that revoke an option of the user add a note.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "event/event_group.h"
#include "event/kind.h"
#include "event/open.h"
#include "event/planner.h"

/*
 * Attributes of one event that differ from those common to the recording: by the event's kind and
 * its terms.
 */

struct event_shape {
	const struct event_request *request;
	const struct event_spec *spec;
	uint64_t most_hz; /* highest sampling rate that the kernel allows, in samples per second */
	bool cpu_wide;
	bool is_member;       /* the event is in a group, and is not its leader */
	bool group_is_large;  /* the event leads a group of several events */
};

static void set_period(struct perf_event_attr *attr, uint64_t period)
{
	attr->freq = 0;
	attr->sample_period = period;
}

static struct sp_error *set_rate(const struct event_shape *shape, struct event_notes *notes,
				 struct perf_event_attr *attr)
{
	const struct event_terms *terms = &shape->spec->terms;
	if (terms->given & EVENT_TERM_PERIOD)
		set_period(attr, terms->period);
	if (!(terms->given & EVENT_TERM_FREQ))
		return NULL;
	attr->freq = 1;
	attr->sample_freq = terms->freq_hz < shape->most_hz ? terms->freq_hz : shape->most_hz;
	if (terms->freq_hz <= shape->most_hz)
		return NULL;
	char done[64], remedy[96];
	snprintf(done, sizeof(done), "sampling at %llu Hz", (unsigned long long)shape->most_hz);
	snprintf(remedy, sizeof(remedy), "sudo sysctl kernel.perf_event_max_sample_rate=%llu",
		 (unsigned long long)terms->freq_hz);
	return event_notes_add(notes, shape->spec->name, done, "above the kernel's limit", remedy);
}

static void set_dump(const struct event_shape *shape, struct perf_event_attr *attr)
{
	const struct event_terms *terms = &shape->spec->terms;
	attr->sample_type |= DUMPS | PERF_SAMPLE_CALLCHAIN;
	attr->sample_regs_user = shape->request->dump_registers;
	attr->sample_stack_user = shape->request->dump_stack_bytes;
	if (terms->given & EVENT_TERM_STACK_SIZE)
		attr->sample_stack_user = terms->stack_bytes;
	attr->exclude_callchain_user = !shape->request->user_callers;
}

static void set_lbr(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				   PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
}

/* Applies the term call-graph=, which replaces the recording's setting. */
static struct sp_error *set_call_graph(const struct event_shape *shape, struct event_notes *notes,
				       struct perf_event_attr *attr)
{
	const struct event_terms *terms = &shape->spec->terms;
	if (terms->given & EVENT_TERM_MAX_STACK)
		attr->sample_max_stack = terms->max_stack;
	if (terms->given & EVENT_TERM_STACK_SIZE && attr->sample_type & PERF_SAMPLE_STACK_USER)
		attr->sample_stack_user = terms->stack_bytes;
	if (!(terms->given & EVENT_TERM_CALL_GRAPH))
		return NULL;
	if (shape->request->asked.user_registers == 0)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_REGS_USER;
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN);
	attr->sample_stack_user = 0;
	attr->sample_regs_user = shape->request->asked.user_registers;
	attr->exclude_callchain_user = 0;
	attr->exclude_callchain_kernel = attr->exclude_kernel &&
					 terms->call_graph != EVENT_TERMS_CALL_GRAPH_NO;
	switch (terms->call_graph) {
	case EVENT_TERMS_CALL_GRAPH_NO:
		attr->sample_max_stack = 0;
		return NULL;
	case EVENT_TERMS_CALL_GRAPH_FP:
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		event_request_leaf(attr);
		return NULL;
	case EVENT_TERMS_CALL_GRAPH_LBR:
		set_lbr(attr);
		return NULL;
	default:
		break;
	}
	if (shape->request->dump_registers) {
		set_dump(shape, attr);
		return NULL;
	}
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	return event_notes_add(notes, shape->spec->name, "falling back to frame pointers",
			       "sprof cannot unwind stacks of this architecture", NULL);
}

/*
 * Sets attr.aux_action (Linux 6.13), which is after aux_sample_size, under any name in the headers.
 */
static void set_aux_action(struct perf_event_attr *attr, uint32_t action)
{
	memcpy((char *)attr + offsetof(struct perf_event_attr, aux_sample_size) +
	       sizeof(attr->aux_sample_size), &action, sizeof(action));
}

static void set_aux(const struct event_terms *terms, struct perf_event_attr *attr)
{
	if (terms->given & EVENT_TERM_AUX_OUTPUT)
		attr->aux_output = terms->aux_output;
	if (terms->given & EVENT_TERM_AUX_ACTION)
		set_aux_action(attr, terms->aux_action);
	if (!(terms->given & EVENT_TERM_AUX_SAMPLE_SIZE))
		return;
	attr->aux_sample_size = terms->aux_sample_bytes;
	if (terms->aux_sample_bytes)
		attr->sample_type |= PERF_SAMPLE_AUX;
}

/* Adds notes for accepted terms that have no effect here. */
static struct sp_error *note_idle_terms(const struct event_shape *shape, struct event_notes *notes)
{
	const struct event_terms *terms = &shape->spec->terms;
	const struct {
		bool asked;
		const char *done, *why;
	} idle[] = {
		{terms->given & EVENT_TERM_TIME && !terms->time, "samples have times",
		 "needed to match samples with mappings"},
		{terms->given & EVENT_TERM_OVERWRITE && terms->overwrite, "all samples are kept",
		 "ring buffers are drained continuously"},
		{terms->given & EVENT_TERM_MAX_EVENTS, "all samples are kept",
		 "nr= is for perf trace only"},
		{terms->given & EVENT_TERM_PERCORE && terms->percore,
		 "CPUs are recorded separately", "percore is for sprof stat only"},
	};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(idle) && !error; i++)
		if (idle[i].asked)
			error = event_notes_add(notes, shape->spec->name, idle[i].done, idle[i].why,
						NULL);
	return error;
}

static void set_group(const struct event_shape *shape, struct perf_event_attr *attr)
{
	const struct event_spec *spec = shape->spec;
	if (shape->is_member) {
		/* Members of a group run when their leader runs. */
		attr->disabled = 0;
		attr->enable_on_exec = 0;
	}
	if (!spec->group_read)
		return;
	if (shape->is_member) {
		/* The leader's samples contain the members' counts. */
		set_period(attr, 0);
		return;
	}
	attr->sample_type |= PERF_SAMPLE_READ;
	if (shape->group_is_large)
		attr->read_format |= PERF_FORMAT_GROUP;
}

/*
 * *attr has the common attributes and the spec's type, config and modes; this function adds the
 * rest. Adds a note for each deviation from the request. Fails when out of memory, or if a term
 * cannot be applied.
 */
static struct sp_error *event_attr_build(const struct event_shape *shape, struct event_notes *notes,
					 struct perf_event_attr *attr)
{
	const struct event_terms *terms = &shape->spec->terms;

	/* Apply perf's defaults for these kinds. */
	const struct event_spec *spec = shape->spec;
	if (event_takes_raw(spec, shape->is_member))
		attr->sample_type |= PERF_SAMPLE_RAW;
	attr->context_switch = spec->use == EVENT_USE_SWITCHES;
	/*
	 * A reader that each switch wakes would preempt the thread, which is another switch. So
	 * only on request.
	 */
	if (spec->use == EVENT_USE_WAITS)
		attr->wakeup_events = shape->request->asked.wakeup_waits;
	if (event_is_bpf_output(spec) ||
	    (event_is_occurrence(spec) && !shape->request->rate_given &&
	     !shape->request->asked.no_samples))
		set_period(attr, 1);

	TRY(set_rate(shape, notes, attr));
	TRY(set_call_graph(shape, notes, attr));
	TRY(note_idle_terms(shape, notes));
	if (terms->given & EVENT_TERM_INHERIT && !shape->cpu_wide)
		attr->inherit = terms->inherit;
	if (attr->inherit && event_is_not_inherited(shape->spec)) {
		attr->inherit = 0;
		TRY(event_notes_add(notes, shape->spec->name,
				    "new threads and children are not sampled",
				    "the kernel cannot inherit probes", "omit --scope task"));
	}
	if (terms->given & EVENT_TERM_BRANCH_TYPE) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = terms->branch_type;
	}
	set_aux(terms, attr);
	set_group(shape, attr);
	if (event_omits_period(shape->spec, attr->freq ? 0 : attr->sample_period))
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	return NULL;
}

/* Returns the CPU on which to try the event, because some PMUs do not count on all CPUs. */
static uint32_t place_cpu(const struct planner *planner, const struct event_planned *event)
{
	for (size_t i = 0; i < event->cpu_count; i++)
		if (event->cpus[i] == planner->request->cpu)
			return planner->request->cpu;
	return event->cpu_count ? event->cpus[0] : planner->request->cpu;
}

/* Tries a planned event, including its tail. */
static int try_planned(const struct planner *planner, struct event_planned *event)
{
	bool cpu_wide = planner->plan->cpu_wide;
	event->attr.size = event_attr_size(&event->attr);
	const struct event_target target = {
		cpu_wide ? -1 : 0, cpu_wide ? (int32_t)place_cpu(planner, event) : -1, -1, 0};
	int fd = event_open_planned(planner->kernel, event, &event->attr, &target);
	if (fd < 0)
		return -fd;
	planner->kernel->close(planner->kernel->arg, fd);
	return 0;
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
	attr->exclude_callchain_user = !planner->request->user_callers &&
				       (planner->callchain == EVENT_CALLCHAIN_KERNEL ||
					planner->callchain == EVENT_CALLCHAIN_NOTHING);
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

/* Combines the spec's attributes with those of the recording. */
static struct sp_error *whole_attr(const struct planner *planner, const struct event_spec *spec,
				   struct perf_event_attr *ret)
{
	const struct event_specs *specs = planner->request->specs;
	size_t index = spec - specs->items;
	const struct event_shape shape = {
		.request = planner->request,
		.spec = spec,
		.most_hz = planner_most_hz(planner->plan),
		.cpu_wide = planner->plan->cpu_wide,
		.is_member = spec->leader != index,
		.group_is_large =
			index + 1 < specs->count && specs->items[index + 1].leader == index,
	};
	struct perf_event_attr attr = planner->sampling;
	attr.type = spec->attr.type;
	attr.config = spec->attr.config;
	attr.config1 = spec->attr.config1; /* config1 may be an address or a pointer to a name */
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
	attr.aux_watermark = spec->attr.aux_watermark;
	/* Addresses in guests cannot be resolved on the host. */
	attr.exclude_guest = spec->guest_given ? spec->attr.exclude_guest : is_hardware(&attr);
	set_callchain(planner, spec, &attr);
	struct sp_error *error = event_attr_build(&shape, &planner->plan->notes, &attr);
	if (!error)
		*ret = attr;
	return error;
}

/*
 * Returns the name of the clock event that replaces an event: "cpu-clock" or "cpu-clock:u". Precision
 * modifiers are dropped, because clocks have none.
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
		 spec->guest_given && !spec->attr.exclude_host ? "H" : "",
		 spec->guest_given && !spec->attr.exclude_guest ? "G" : "",
		 spec->attr.exclude_idle ? "I" : "");
	return arena_strdup(&plan->arena, name);
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
	NEED(event->name);
	if (planner->asked.no_samples)
		snprintf(done, sizeof(done), "%s counts instead", event->name);
	else if (event->attr.freq)
		snprintf(done, sizeof(done), "sampling %s instead", event->name);
	else
		snprintf(done, sizeof(done), "sampling %s instead, every %llu ns", event->name,
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
	TRY(event_notes_add(&plan->notes, event->name, "sampling user code only",
			    rights_kernel_mode(&plan->rights)
				    ? "the kernel cannot be sampled"
				    : "kernel.perf_event_paranoid forbids sampling the kernel",
			    sp_error_remedy(why)));
	event->name = event_name_with_mode(&plan->arena, event->name, 'u');
	return event->name ? NULL : error_no_memory();
}

/* Keeps the place of an event that fires in the kernel only: without the kernel it would never fire. */
static bool become_dummy(const struct planner *planner, const struct event_spec *spec, int errnum,
			 struct event_planned *event)
{
	struct perf_event_attr *attr = &event->attr;
	if (spec->use != EVENT_USE_WAITS || !is_refusal(errnum) ||
	    attr->config == PERF_COUNT_SW_DUMMY)
		return false;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	set_callchain(planner, spec, attr);
	return true;
}

static bool is_missing(int errnum)
{
	return errnum == ENOENT || errnum == ENODEV || errnum == EOPNOTSUPP;
}

/* Reduces attributes in a way that needs no note; false if there is nothing left to reduce. */
static bool step_quietly(const struct event_spec *spec, int errnum, struct perf_event_attr *attr)
{
	if (errnum != EINVAL && errnum != EOPNOTSUPP)
		return false;
	/* Idle samples are dropped later, by the filter of recorded processes. */
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

/* Whether cycles are unavailable as such, not just with the other attributes. */
static bool cycles_are_missing(const struct planner *planner, const struct event_spec *spec,
			       const struct perf_event_attr *attr, int errnum)
{
	if (!is_missing(errnum) || !is_cycles(attr) ||
	    (attr->precise_ip && !spec->precise_max && errnum != ENOENT))
		return false;
	const struct event_refusal refusal = planner_refusal(planner, spec->name, attr,
							     &spec->tail, errnum);
	return errnum == ENOENT || !event_field_find_refused(&refusal);
}

/*
 * Copies a spec's data into the plan's memory: names, CPUs, and the text to which a probe's attr
 * points. event->attr must be set before.
 */
static struct sp_error *copy_spec(struct event_plan *plan, const struct event_spec *spec,
				  struct event_planned *event)
{
	event->name = arena_strdup(&plan->arena, spec->name);
	event->tail = spec->tail;
	event->leader = spec->leader;
	if (spec->group_name)
		event->group_name = arena_strdup(&plan->arena, spec->group_name);
	event->cpu_count = spec->cpus ? spec->cpu_count : 0;
	uint32_t *cpus =
		spec->cpus ? arena_alloc(&plan->arena, spec->cpu_count * sizeof(*cpus)) : NULL;
	if (cpus)
		memcpy(cpus, spec->cpus, spec->cpu_count * sizeof(*cpus));
	event->cpus = cpus;
	/* The attr points to names of functions and files, which the kernel reads. */
	if (event_is_probe(spec) && spec->attr.config1) {
		event->has_pointer = true;
		event->attr.config1 = (uint64_t)(uintptr_t)arena_strdup(
			&plan->arena, (const char *)(uintptr_t)spec->attr.config1);
		NEED(event->attr.config1);
	}
	return event->name && (cpus || !spec->cpus) && (event->group_name || !spec->group_name)
		       ? NULL
		       : error_no_memory();
}

/* Before Linux 6.12, counts in samples (PERF_SAMPLE_READ) exclude inheritance. */
static bool step_down_inheritance(int errnum, struct perf_event_attr *attr)
{
	if (errnum != EINVAL || !attr->inherit || !(attr->sample_type & PERF_SAMPLE_READ))
		return false;
	attr->inherit = 0;
	attr->inherit_stat = 0;
	attr->inherit_thread = 0;
	return true;
}

/* Clears `inherit` if the leader's is clear: Linux requires equality in a group. */
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
			       "new threads and children are not sampled",
			       "before Linux 6.12 a group with S counts one task only",
			       "use -a or omit S");
}

/*
 * Only a glob's first tracepoint is tried: closing one takes the kernel 30 ms, and there may be
 * hundreds.
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

struct sp_error *planner_plan_event(struct planner *planner, const struct event_spec *spec,
				    struct event_planned *event)
{
	TRY(event_kind_check(planner->request, spec));
	TRY(whole_attr(planner, spec, &event->attr));
	struct sp_error *error = copy_spec(planner->plan, spec, event);
	if (error)
		return error;
	follow_leader(planner, event);
	event->attr.size = event_attr_size(&event->attr);
	while (!error) {
		int errnum = is_tried(planner, event) ? 0 : try_planned(planner, event);
		if (!errnum && event->attr.size < spec->attr.size)
			event->attr.size = spec->attr.size;
		if (!errnum)
			return event_notes_breakpoint(&planner->plan->notes, planner->kernel,
						      event->name, &event->attr);
		if (step_quietly(spec, errnum, &event->attr) ||
		    become_dummy(planner, spec, errnum, event))
			continue;
		if (cycles_are_missing(planner, spec, &event->attr, errnum))
			error = become_clock(planner, spec, event);
		else if (step_down_inheritance(errnum, &event->attr))
			error = note_no_inheritance(planner, spec);
		else if (is_refusal(errnum) && !event->attr.exclude_kernel &&
			 !event->attr.exclude_user &&
			 !event_is_of_kernel(spec) &&
			 (!event_is_occurrence(spec) || event->attr.type == PERF_TYPE_BREAKPOINT))
			error = give_up_kernel(planner, spec, errnum, event);
		else
			error = planner_event_error(planner, spec, &event->attr, errnum);
	}
	return error;
}
