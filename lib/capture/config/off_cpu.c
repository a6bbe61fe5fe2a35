/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/off_cpu.h"

#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "capture/config/plan_facts.h"
#include "proc/tracefs.h"
#include "record/note.h"

/* Default of off_cpu_thin_ns, and its limit. */
#define THIN_NS UINT64_C(1000000)
#define THIN_NS_MAX UINT64_C(4000000000)

struct sp_error *off_cpu_check(const struct capture_options *options, bool everyone)
{
	const struct sp_capture_sampling *sampling = &options->sampling;
	if (!sampling->off_cpu)
		return NULL;
	const struct {
		bool excluded;
		const char *other, *remedy;
	} cases[] = {
		{sampling->samples == SP_OFF, "recording without samples", "omit -n (--no-samples)"},
		{options->buffers.overwrite, "overwrite mode",
		 "--switch-output=SIZE bounds the files' size, too; --switch-max-files their number"},
		{options->target.cgroups, "control groups",
		 "record the group's processes (-p PID,...), or all (-a)"},
		{!everyone && options->target.scope == SP_CAPTURE_SCOPE_CPU,
		 "CPU-wide events of some processes", "omit --scope cpu, or record all processes (-a)"},
	};
	for (size_t i = 0; i < count_of(cases); i++)
		if (cases[i].excluded)
			return error_set_remedy(error_new(SP_ERROR_INVALID,
							  "off-CPU time and %s exclude each other",
							  cases[i].other), "%s", cases[i].remedy);
	if (sampling->off_cpu_thin_ns > THIN_NS_MAX)
		return error_new(SP_ERROR_INVALID, "the threshold of waits is more than 4 s");
	return NULL;
}

static bool is_wakeup(const struct event_spec *spec)
{
	return !strcmp(spec->name, "sched:sched_waking");
}

/* The initial PID namespace in /proc: its number is constant, Linux's PROC_PID_INIT_INO. */
#define INITIAL_NAMESPACE "pid:[4026531836]"

/* Returns whether the recorder's PIDs are known to be other than those of the initial namespace. */
static bool has_own_pids(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *path = format_text("%s/proc/self/ns/pid", ctx_root(ctx));
	char name[sizeof(INITIAL_NAMESPACE)];
	ssize_t size = path ? readlink(path, name, sizeof(name)) : -1;
	bool same = size == sizeof(name) - 1 && memcmp(name, INITIAL_NAMESPACE, size) == 0;
	return size > 0 && !same;
}

/* Finds the fields of wake-ups. Without them, wake-ups by the recorded threads are sampled as they are. */
static struct sp_error *find_fields(const struct sp_ctx *ctx, struct wakeup_event *ret)
{
	CLEANUP(tracefs_deinit) struct tracefs tracefs;
	CLEANUP_FREE char *format = NULL;
	size_t size;
	struct sp_error *error = tracefs_init(&tracefs, ctx);
	/* The woken thread's number is of the initial namespace. */
	if (error || has_own_pids(ctx) || !tracefs.path ||
	    tracefs_format(&tracefs, "sched", "sched_waking", &format, &size))
		return error;
	ret->pid = trace_field_find(format, "pid");
	ret->comm = trace_field_find(format, "comm[16]");
	ret->flags = trace_field_find(format, "common_flags");
	return NULL;
}

/* Adds the event of wake-ups, unless it was named. -F and -c are for the other events. */
static struct sp_error *add_wakeups(struct event_specs *specs, const struct sp_ctx *ctx,
				    struct wakeup_event *ret)
{
	size_t first = 0;
	while (first < specs->count && !is_wakeup(&specs->items[first]))
		first++;
	*ret = (struct wakeup_event){.on = true, .was_named = first < specs->count, .event = first};
	struct sp_error *error = ret->was_named ? NULL : event_specs_parse(specs, ctx, "sched:sched_waking");
	if (!error)
		error = find_fields(ctx, ret);
	if (error || specs->items[first].terms.given & (EVENT_TERM_PERIOD | EVENT_TERM_FREQ))
		return error;
	specs->items[first].terms.given |= EVENT_TERM_PERIOD;
	specs->items[first].terms.period = 1;
	return NULL;
}

struct sp_error *off_cpu_add_events(struct event_specs *specs, const struct sp_ctx *ctx,
				    const struct capture_options *options, struct off_cpu *ret)
{
	if (!options->sampling.off_cpu)
		return NULL;
	struct wakeup_event wakeups = {0};
	struct sp_error *error = options->sampling.wakers ? add_wakeups(specs, ctx, &wakeups) : NULL;
	size_t first = specs->count;
	if (!error)
		error = event_specs_parse(specs, ctx, "context-switches,dummy:u");
	if (error)
		return error;
	specs->items[first].name = "offcpu-time";
	specs->items[first].use = EVENT_USE_WAITS;
	specs->items[first + 1].name = "preempted-time";
	specs->items[first + 1].use = EVENT_USE_SWITCHES;
	/* -F and -c are for the other events. */
	for (size_t i = first; i < specs->count; i++) {
		specs->items[i].terms.given |= EVENT_TERM_PERIOD;
		specs->items[i].terms.period = 1;
	}
	*ret = (struct off_cpu){.on = true, .event = first,
				.thin_ns = options->sampling.off_cpu_thin_ns ?: THIN_NS,
				.wakeups = wakeups};
	return NULL;
}

bool off_cpu_has_outside_wakers(const struct off_cpu *off_cpu, const struct event_plan *plan)
{
	const struct wakeup_event *wakeups = &off_cpu->wakeups;
	/* Counts of groups would be before the raw data. */
	return wakeups->on && !plan->cpu_wide && wakeups->pid.size == 4 && wakeups->flags.size == 1 &&
	       !(plan->samples[wakeups->event].attr.sample_type & PERF_SAMPLE_READ);
}

bool off_cpu_is_refused(const struct off_cpu *off_cpu, const struct event_plan *plan)
{
	return plan->samples[off_cpu->event].attr.config == PERF_COUNT_SW_DUMMY;
}

struct sp_error *off_cpu_note(const struct off_cpu *off_cpu, const struct event_plan *plan, bool live,
			      struct notes *notes)
{
	if (!off_cpu->on)
		return NULL;
	enum note_off_cpu source = !off_cpu_is_refused(off_cpu, plan) ? OFF_CPU_SWITCHES
				   : plan_is_unwound(plan, live)	? OFF_CPU_SNAPSHOTS
									: OFF_CPU_NONE;
	return notes_add(notes, NOTE_OFF_CPU, NULL, source, off_cpu->thin_ns,
			 (uint64_t)(int64_t)plan->rights.paranoid, OFF_CPU_SNAPSHOT_NS / 1000000);
}
