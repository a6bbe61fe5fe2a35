/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predicates of events that are recorded in a special way. */
#ifndef EVENT_KIND_H
#define EVENT_KIND_H

#include <string.h>
#include "base/arena.h"
#include "event/parse.h"

/* A kprobe or uprobe of the PMUs of that name. */
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
 * Its samples have fields of their own (PERF_SAMPLE_RAW). A member that its leader's samples speak
 * for has none: perf would look for them in those of its leader.
 */
static inline bool event_takes_raw(const struct event_spec *spec, bool is_member)
{
	return !(is_member && spec->group_read) &&
	       (event_is_bpf_output(spec) || spec->attr.type == PERF_TYPE_TRACEPOINT);
}

/* Something that happens at a place in code or data: each time is a sample, not one in many. */
static inline bool event_is_occurrence(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_TRACEPOINT || spec->attr.type == PERF_TYPE_BREAKPOINT ||
	       event_is_probe(spec);
}

/*
 * It is for tasks, and inherited, although whole CPUs might be had: there is no period that a new
 * task would have to live through before its first sample, addresses are of one process, and what
 * is read of a group shall be of those who are recorded.
 */
static inline bool event_is_for_tasks(const struct event_spec *spec)
{
	return !event_is_probe(spec) &&
	       (event_is_occurrence(spec) || spec->group_read);
}

/*
 * It must not be inherited: the kernel reads the name of what it probes again, from the memory of
 * the task that forks, and where that is another program fork(2) fails.
 */
static inline bool event_is_not_inherited(const struct event_spec *spec)
{
	return event_is_probe(spec) && spec->attr.config1;
}

/*
 * The name of an event of which one mode alone ('u', 'k') is left: "cycles:u" of "cycles",
 * "cycles:upp" of "cycles:ukpp", "cpu/event=1/u"; a tracepoint's stays. NULL when out of memory.
 */
const char *event_name_with_mode(struct arena *arena, const char *name, char mode);

#endif
