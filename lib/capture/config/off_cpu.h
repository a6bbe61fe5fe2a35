/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events for waits (`--off-cpu`): offcpu-time, which samples context switches, and a dummy event
 * for SWITCH records; preempted-time is its name in the file. They are the last of the plan's
 * sampling events. sched:sched_waking precedes them, if wanted.
 */
#pragma once

#include "capture/config/capture_options.h"
#include "capture/notes/notes.h"
#include "event/open.h"
#include "event/parse.h"
#include "trace/event_format.h"

/* The event of wake-ups, sched:sched_waking. Zeroed: there is none. */
struct wakeup_event {
	bool on;
	bool was_named;               /* -e has the event: samples of all woken threads are wanted */
	size_t event;                 /* index in the plan's samples */
	struct trace_field pid, comm;  /* the woken thread's; size 0: unknown */
	struct trace_field flags;      /* common_flags */
};

/* Zeroed: waits are not recorded. */
struct off_cpu {
	bool on;
	uint64_t thin_ns;
	size_t event; /* index of offcpu-time in the plan's samples; the next is the dummy event */
	struct wakeup_event wakeups;
};

/*
 * Size of a ring buffer, if memory permits: 100,000 SWITCH records a second for 0.8 s, or 1,000 stack
 * copies.
 */
#define OFF_CPU_RING_BYTES (UINT64_C(8) << 20)

/* Fails with SP_ERROR_INVALID where other options exclude waits. */
struct sp_error *off_cpu_check(const struct capture_options *options, bool everyone) SP_MUST_CHECK;

/* Appends the events. Fails as event_specs_parse(). */
struct sp_error *off_cpu_add_events(struct event_specs *specs, const struct sp_ctx *ctx,
				    const struct capture_options *options,
				    struct off_cpu *ret) SP_MUST_CHECK;

/*
 * Returns whether wake-ups by threads outside the target can be identified: events are per task,
 * and the position of the wakee in samples is known.
 */
bool off_cpu_has_outside_wakers(const struct off_cpu *off_cpu, const struct event_plan *plan);

/* Returns whether the kernel refuses stacks of context switches. */
bool off_cpu_is_refused(const struct off_cpu *off_cpu, const struct event_plan *plan);

/* Interval of stack snapshots. */
#define OFF_CPU_SNAPSHOT_NS UINT64_C(10000000)

/* Notes the source of the waits' stacks. `live`: stacks are unwound while recording, also snapshots. */
struct sp_error *off_cpu_note(const struct off_cpu *off_cpu, const struct event_plan *plan, bool live,
			      struct notes *notes) SP_MUST_CHECK;
