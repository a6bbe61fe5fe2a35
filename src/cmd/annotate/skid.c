/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/annotate/annotate.h"

#include <linux/hw_breakpoint.h>
#include <string.h>

const char *annotate_skid(const struct sp_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool clock = attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
							  attr->config == PERF_COUNT_SW_TASK_CLOCK);
	/* PMUs of probes have other numbers on each machine. */
	bool probe = attr->type >= PERF_TYPE_MAX && (!strncmp(event->name, "kprobe", 6) ||
						     !strncmp(event->name, "uprobe", 6));
	if (attr->type == PERF_TYPE_BREAKPOINT && attr->bp_type != HW_BREAKPOINT_X)
		return "Skid: on x86, samples are at the instruction after the access.";
	if (attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT || probe ||
	    (attr->type == PERF_TYPE_SOFTWARE && !clock))
		return "No skid: the event is caused by the sampled instruction.";
	if (clock)
		return "Skid: a timer's interrupt comes after a slow instruction, so that its time "
		       "is "
		       "often at the next one.";
	switch (attr->precise_ip) {
	case 0:
		return "Skid: samples may be some instructions late; ':pp' after the event's name "
		       "records precise ones.";
	case 1:
		return "Skid: samples are late by a constant distance (precise level 1).";
	case 2:
		return "The CPU was asked for samples without skid (precise level 2).";
	default:
		return "No skid: samples are at the instruction (precise level 3).";
	}
}
