/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/open.h"

#include "event/attr_fields.h"

void event_attr_set_options(const struct event_asked *asked, const struct event_support *support,
			    struct perf_event_attr *attr)
{
	attr->sample_type |= asked->sample_type;
	if (asked->weight)
		attr->sample_type |= support->weight_struct ? PERF_SAMPLE_WEIGHT_STRUCT
							    : PERF_SAMPLE_WEIGHT;
	if (asked->branch_type) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = asked->branch_type;
	}
	if (asked->user_registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= asked->user_registers;
	}
	if (asked->interrupt_registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = asked->interrupt_registers;
	}
	attr->read_format |= asked->read_format;
}

static void set_flag(const char *name, struct perf_event_attr *attr)
{
	const struct sp_attr_tail none = {0};
	struct long_attr whole = attr_whole(attr, &none);
	event_field_set(event_field_find(name), &whole);
	*attr = whole.attr;
}

void event_attr_set_sampling(const struct event_asked *asked, struct perf_event_attr *attr)
{
	attr->wakeup_events = asked->wakeup_events;
	attr->inherit_thread = attr->inherit && asked->inherit_thread;
	attr->remove_on_exec = asked->remove_on_exec;
	attr->write_backward = asked->write_backward;
	if (asked->defer_callchain)
		set_flag("defer_callchain", attr);
	if (!asked->no_samples)
		return;
	attr->freq = 0;
	attr->sample_period = 0;
	attr->wakeup_events = 0;
}

void event_attr_set_sideband(const struct event_asked *asked, const struct event_support *support,
			     bool kernel, struct perf_event_attr *attr)
{
	attr->mmap_data = asked->mmap_data;
	attr->context_switch = asked->context_switch;
	attr->namespaces = asked->namespaces;
	attr->cgroup = asked->cgroup;
	attr->bpf_event &= !asked->no_bpf_event;
	attr->text_poke = support->text_poke && kernel;
	attr->inherit_thread = attr->inherit && asked->inherit_thread;
	if (asked->defer_callchain)
		set_flag("defer_output", attr);
}

const char *event_option_without_effect(const struct event_asked *asked, bool all_software)
{
	if (!all_software)
		return NULL;
	if (asked->weight)
		return "-W";
	if (asked->sample_type & PERF_SAMPLE_TRANSACTION)
		return "--transaction";
	return NULL;
}
