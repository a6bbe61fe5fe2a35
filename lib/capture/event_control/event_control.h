/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The open events. Only this part enables, disables or reopens them. Each place has up to three events
 * that sample it: the planned one, a large and a slow alternate (alternate.h). At most one of them is
 * enabled, as samples would count twice otherwise.
 *
 * Order: init; open_set; the caller maps ring buffers and opens the planned events in `set`;
 * open_alternates, begin, begin_alternates; the others in any order; deinit. All functions are the
 * session's thread's. Times named now_ns are CLOCK_MONOTONIC.
 */
#pragma once

#include "capture/config/config.h"
#include "capture/event_control/cpu_hotplug.h"
#include "capture/event_control/dither.h"
#include "capture/event_control/rate_control.h"
#include "capture/event_control/stack_need.h"
#include "capture/event_control/trigger.h"
#include "capture/event_control/schedule.h"
#include "capture/event_control/alternate.h"
#include "capture/notes/notes.h"
#include "event/set.h"
#include "record/encode.h"

/* The events that sample. The schedule, too, decides whether each is enabled. */
enum sampling_mode {
	SAMPLING_PLANNED,
	SAMPLING_LARGE, /* all events are on, and copy more of the stack */
	SAMPLING_SLOW,  /* all events are on, at a lower rate */
};

struct event_control {
	const struct capture_config *config;
	struct event_set *set;      /* the planned events */
	struct schedule schedule;
	struct cpu_hotplug cpu_hotplug;
	struct trigger trigger;
	struct alternate alternate;
	struct dither dither;       /* changes the events that are enabled now */
	enum sampling_mode mode;
	struct stack_need need;     /* decides between SAMPLING_PLANNED and SAMPLING_LARGE */
	struct rate_control rate_control;           /* decides on SAMPLING_SLOW */
	uint64_t cuts, until_ns; /* truncated stacks so far; time at which helpers are disabled */
	uint32_t switches_noted;
	int outside_errnum;         /* why the kernel refuses outside events of wake-ups; 0: it does not */
	uint64_t switches, switches_ns; /* context switches when they were last counted, and time */
	bool switches_off; /* the event of context switches is off, whatever the schedule says */
	bool suspended;             /* the event of waits is off, whatever the schedule says */
};

/* Afterwards, schedule_init() sets a schedule, and trigger_plan() a trigger. */
void event_control_init(struct event_control *control);
void event_control_deinit(struct event_control *control);

/* Opens the holders of ring buffers. The configuration is borrowed, its plan is complete. */
struct sp_error *event_control_open_set(struct event_control *control,
					const struct capture_config *config) SP_MUST_CHECK;

struct alternate_options {
	int32_t command_tid; /* 0: none */
	uint64_t ring_bytes; /* size of a CPU's ring buffer for samples */
	bool larger;         /* stacks are unwound while recording: large and helper events help */
	bool slower;         /* the rate may be lowered */
};

/*
 * Opens alternates of the planned events, which are all open; disabled. Events that the kernel refuses
 * are left out. Fails only without memory.
 */
struct sp_error *event_control_open_alternates(struct event_control *control,
					       const struct alternate_options *options) SP_MUST_CHECK;

/*
 * Opens the dithering of the planned events, which are all open. `events` as in event_set_events();
 * `rings`: the kernel's, of samples, one for each CPU, borrowed; `shift_ns`: times of records minus
 * those of the plan's clock.
 */
struct sp_error *event_control_open_dither(struct event_control *control,
					   const struct sp_event *events,
					   const struct ring *rings,
					   uint64_t shift_ns) SP_MUST_CHECK;

/* Changes the periods of dithered events, and draws when they change next (dither.h). */
void event_control_dither(struct event_control *control);

/*
 * Begins sampling: enables planned events that the exec does not enable. The caller drains the
 * rings from now on. `waits`: the session begins with a command.
 */
struct sp_error *event_control_begin(struct event_control *control, bool waits) SP_MUST_CHECK;

/*
 * Enables helpers, and large events if ring buffers have room. Planned events must be enabled, or
 * wait for the exec (`by_exec`). Does nothing if sampling begins later.
 */
struct sp_error *event_control_begin_alternates(struct event_control *control, bool by_exec,
						uint64_t now_ns) SP_MUST_CHECK;

/* Disables the events that sample while an AUX area is read, and enables them again. */
struct sp_error *event_control_pause(struct event_control *control) SP_MUST_CHECK;
struct sp_error *event_control_resume(struct event_control *control) SP_MUST_CHECK;

/* Pauses the kernel's writing to a CPU's ring buffer for samples, or ends the pause. */
void event_control_pause_ring(const struct event_control *control, size_t cpu_index, bool pause);

/*
 * Enables or disables a planned event, and notes it; index SCHEDULE_ALL: all. With the last event
 * of -e, the event of context switches changes, too, unless the user requested it: that is all.
 */
struct sp_error *event_control_switch(struct event_control *control, size_t index, bool on,
				      uint64_t now_ns, const struct note_records *to) SP_MUST_CHECK;

/*
 * Returns whether suspended waits leave out wake-ups with user stacks, too: outside events sample
 * all wake-ups, and -e does not name the event.
 */
bool event_control_thins_wakeups(const struct event_control *control);

/* Disables the event of waits (config->off_cpu), or leaves it to the schedule again. */
struct sp_error *event_control_suspend_waits(struct event_control *control, bool suspended) SP_MUST_CHECK;

/* Applies the schedule's change if its time has come, as the function above. */
struct sp_error *event_control_run_schedule(struct event_control *control, uint64_t now_ns,
					    const struct note_records *to) SP_MUST_CHECK;

/* Notes which events are disabled, for a new file. */
struct sp_error *event_control_note_off(const struct event_control *control,
					const struct note_records *to) SP_MUST_CHECK;

/* Uses larger copies and helpers, as stacks need them. `seen`: sums since the begin. */
struct sp_error *event_control_fit_copies(struct event_control *control,
					  const struct alternate_seen *seen, uint64_t now_ns) SP_MUST_CHECK;

/* Returns whether large events can be enabled as soon as a stack needs them. */
bool event_control_can_grow(const struct event_control *control, uint64_t now_ns);

/* Lowers the rate while too many samples are lost, and notes it. `seen`: sums since the begin. */
struct sp_error *event_control_fit_rate(struct event_control *control, const struct rate_control_seen *seen,
					uint64_t now_ns, struct notes *notes) SP_MUST_CHECK;

/*
 * Disables the event of context switches for some time while there are too many; `count` is their
 * sum. Nothing, if the user requested them.
 */
struct sp_error *event_control_fit_switches(struct event_control *control, uint64_t count,
					    uint64_t now_ns,
					    const struct note_records *to) SP_MUST_CHECK;

/*
 * Reads each planned event's lost samples, with those of its alternates, into lost[]. *known_ret:
 * the kernel counts them.
 */
struct sp_error *event_control_read_lost(const struct event_control *control, uint64_t *lost,
					 bool *known_ret) SP_MUST_CHECK;

/* Begins to detect CPU hotplug, if some events are CPU-wide; all are open. Fails only without memory. */
struct sp_error *event_control_watch_cpus(struct event_control *control) SP_MUST_CHECK;

struct cpu_check {
	bool now;           /* checks also before the interval has passed */
	bool is_mapped;     /* AUX areas are mapped from the events: a CPU's events cannot be reopened */
	struct notes *notes;
	uint64_t begin_ns;  /* the notes' times count from here */
};

/*
 * If a check is due, notes CPUs that went offline, and reopens the events of those that came back.
 * Adds the new ids to `renamed`: before the caller reads the ring buffers again, it gives records
 * with these ids the listed ones. *back_ret: some CPU is recorded again, and its metadata since
 * then may be missing.
 */
struct sp_error *event_control_check_cpus(struct event_control *control,
					  const struct cpu_check *check,
					  struct event_renamed_list *renamed,
					  bool *back_ret) SP_MUST_CHECK;
