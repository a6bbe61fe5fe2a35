/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predicates for events that are recorded in a special way. */
#pragma once

#include <string.h>
#include "base/arena.h"
#include "event/parse.h"
#include "record/types.h"

/* PERF_COUNT_SW_CGROUP_SWITCHES of Linux 5.13; the headers of this build may be older. */
#define EVENT_CGROUP_SWITCHES 11

/* Returns whether the event is of the PMU kprobe or uprobe. */
static inline bool event_is_probe(const struct event_spec *spec)
{
	return spec->pmu && (!strcmp(spec->pmu, "kprobe") || !strcmp(spec->pmu, "uprobe"));
}

static inline bool event_is_bpf_output(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_SOFTWARE &&
	       spec->attr.config == PERF_COUNT_SW_BPF_OUTPUT && !spec->pmu;
}

/*
 * Returns whether its samples have raw fields (PERF_SAMPLE_RAW). A group member sampled by its
 * leader has none, because perf would read them from the leader's samples.
 */
static inline bool event_takes_raw(const struct event_spec *spec, bool is_member)
{
	return !(is_member && spec->group_read) &&
	       (event_is_bpf_output(spec) || spec->attr.type == PERF_TYPE_TRACEPOINT);
}

/*
 * Returns whether the event happens at a place in code or data. Then every occurrence is sampled.
 */
static inline bool event_is_occurrence(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_TRACEPOINT || spec->attr.type == PERF_TYPE_BREAKPOINT ||
	       event_is_probe(spec);
}

/*
 * Returns whether samples of such an event with this fixed period (0: by frequency) must not have
 * PERF_SAMPLE_PERIOD. If Linux counts the occurrences itself, without a hardware counter or a timer,
 * that bit makes it sample each of them, and write its count as the period. Without the bit, each
 * sample stands for attr.sample_period.
 */
static inline bool event_omits_period(const struct event_spec *spec, uint64_t period)
{
	bool is_software = spec->attr.type == PERF_TYPE_SOFTWARE && !spec->pmu &&
			   !record_is_clock(spec->attr.type, spec->attr.config);
	return period > 1 && (is_software || event_is_occurrence(spec));
}

/*
 * Returns whether the event occurs in kernel mode only, as if called from there: events that
 * exclude the kernel count nothing.
 */
static inline bool event_is_of_kernel(const struct event_spec *spec)
{
	uint64_t config = spec->attr.config;
	return spec->attr.type == PERF_TYPE_SOFTWARE && !spec->pmu &&
	       (config == PERF_COUNT_SW_CONTEXT_SWITCHES || config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		config == EVENT_CGROUP_SWITCHES);
}

/*
 * Returns whether the event must be opened per task with inheritance, although CPU-wide events are
 * permitted. A new task then samples from its first occurrence, addresses are of one process, and
 * group counts are of the recorded tasks.
 */
static inline bool event_is_for_tasks(const struct event_spec *spec)
{
	return !event_is_probe(spec) &&
	       (event_is_occurrence(spec) || spec->group_read);
}

/*
 * Returns whether the event must not be inherited. At fork(2), the kernel reads the probe's name
 * again from the task's memory; if another program runs there, fork(2) fails.
 */
static inline bool event_is_not_inherited(const struct event_spec *spec)
{
	return event_is_probe(spec) && spec->attr.config1;
}

/*
 * Returns the name of an event reduced to the mode `mode` ('u' or 'k'): "cycles:u" for "cycles",
 * "cycles:upp" for "cycles:ukpp". Tracepoints keep their name. NULL when out of memory.
 */
const char *event_name_with_mode(struct arena *arena, const char *name, char mode);
