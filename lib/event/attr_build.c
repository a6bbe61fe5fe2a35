/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/attr_build.h"

#include <stddef.h>
#include <stdio.h>
#include "event/kind.h"

#define DUMPS ((uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER))

static void set_period(struct perf_event_attr *attr, uint64_t period)
{
	attr->freq = 0;
	attr->sample_period = period;
}

/* Apply perf's defaults for these kinds. */
static void set_habits(const struct event_shape *shape, struct perf_event_attr *attr)
{
	const struct event_spec *spec = shape->spec;
	if (event_takes_raw(spec, shape->is_member))
		attr->sample_type |= PERF_SAMPLE_RAW;
	attr->context_switch = spec->use == EVENT_USE_SWITCHES;
	/* A reader that each switch wakes preempts the thread: another switch. Only on request. */
	if (spec->use == EVENT_USE_WAITS)
		attr->wakeup_events = shape->request->asked.wakeup_waits;
	if (event_is_bpf_output(spec) ||
	    (event_is_occurrence(spec) && !shape->request->rate_given &&
	     !shape->request->asked.no_samples))
		set_period(attr, 1);
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
		attr->sample_max_stack = (uint16_t)terms->max_stack;
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
		event_ask_leaf(attr);
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

/* Sets attr.aux_action (Linux 6.13), which is after aux_sample_size, under any name in the headers. */
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
		{terms->given & EVENT_TERM_PERCORE && terms->percore, "CPUs are recorded separately",
		 "percore is for sprof stat only"},
	};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle) && !error; i++)
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

struct sp_error *event_attr_build(const struct event_shape *shape, struct event_notes *notes,
				  struct perf_event_attr *attr)
{
	const struct event_terms *terms = &shape->spec->terms;
	set_habits(shape, attr);
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
