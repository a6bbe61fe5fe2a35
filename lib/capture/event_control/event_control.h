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
#ifndef CAPTURE_EVENT_CONTROL_EVENT_CONTROL_H
#define CAPTURE_EVENT_CONTROL_EVENT_CONTROL_H

#include "capture/config/config.h"
#include "capture/event_control/cpu_hotplug.h"
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
	enum sampling_mode mode;
	struct stack_need need;     /* decides between SAMPLING_PLANNED and SAMPLING_LARGE */
	struct rate_control rate_control;           /* decides on SAMPLING_SLOW */
	uint64_t cuts, until_ns;    /* truncated stacks so far; helpers are on until then */
	uint32_t switches_noted;
	int outside_errnum;         /* why the kernel refuses outside events of wake-ups; 0: it does not */
	uint64_t switches, switches_ns; /* context switches when they were last counted, and time */
	bool switches_off; /* the event of context switches is off, whatever the schedule says */
	bool suspended;             /* the event of waits is off, whatever the schedule says */
};

/* After that, schedule_init() sets a schedule, and trigger_plan() a trigger. */
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
 * Sampling begins: enables planned events that are not enabled by the exec. The rings are drained
 * from here on. `waits`: the session begins with a command.
 */
struct sp_error *event_control_begin(struct event_control *control, bool waits) SP_MUST_CHECK;

/*
 * Planned events have been enabled, or will be by the exec (`by_exec`): enables helpers, and large
 * events in their place if ring buffers have room. Nothing, if sampling begins later.
 */
struct sp_error *event_control_begin_alternates(struct event_control *control, bool by_exec,
						uint64_t now_ns) SP_MUST_CHECK;

/* Disables the events that sample while an AUX area is read, and enables them again. */
struct sp_error *event_control_pause(struct event_control *control) SP_MUST_CHECK;
struct sp_error *event_control_resume(struct event_control *control) SP_MUST_CHECK;

/* Pauses the kernel's writing to a CPU's ring buffer for samples, or ends the pause. */
void event_control_pause_ring(const struct event_control *control, size_t cpu_index, bool pause);

/* Enables or disables a planned event, and notes it; index SCHEDULE_ALL: all. */
struct sp_error *event_control_switch(struct event_control *control, size_t index, bool on,
				      uint64_t now_ns, const struct note_records *to) SP_MUST_CHECK;

/*
 * Whether suspended waits leave out wake-ups with user stacks, too: outside events sample all
 * wake-ups, and -e does not name the event.
 */
bool event_control_thins_wakeups(const struct event_control *control);

/* Disables the event of waits (config->off_cpu), or leaves it to the schedule again. */
struct sp_error *event_control_suspend_waits(struct event_control *control, bool suspended) SP_MUST_CHECK;

/* The same if the time of a change in the schedule has come. */
struct sp_error *event_control_run_schedule(struct event_control *control, uint64_t now_ns,
					    const struct note_records *to) SP_MUST_CHECK;

/* Notes for a file that begins which events are off. */
struct sp_error *event_control_note_off(const struct event_control *control,
					const struct note_records *to) SP_MUST_CHECK;

/* Uses larger copies, and helpers, as stacks need them; `seen` are sums. */
struct sp_error *event_control_fit_copies(struct event_control *control,
					  const struct alternate_seen *seen, uint64_t now_ns) SP_MUST_CHECK;

/* Whether large events can be enabled as soon as a stack needs them. */
bool event_control_can_grow(const struct event_control *control, uint64_t now_ns);

/* Lowers the rate while too many samples are lost, and notes that; `seen` are sums. */
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
 * Reads each planned event's lost samples, those of its alternates included, into lost[]. *known_ret: the
 * kernel counts them.
 */
struct sp_error *event_control_read_lost(const struct event_control *control, uint64_t *lost,
					 bool *known_ret) SP_MUST_CHECK;

/* Begins to detect CPU hotplug, if some events are CPU-wide; all are open. Fails only without memory. */
struct sp_error *event_control_watch_cpus(struct event_control *control) SP_MUST_CHECK;

struct cpu_check {
	bool now;           /* although it is not due */
	bool is_mapped;     /* AUX areas are mapped from the events: a CPU's events cannot be reopened */
	struct notes *notes;
	uint64_t begin_ns;  /* the notes' times count from here */
};

/*
 * If it is due: notes CPUs that went offline, and reopens the events of those that came back. Adds the
 * new ids to `renamed`: the caller gives records with them the listed ids, before it reads the ring
 * buffers again. *back_ret: some CPU is recorded again; its metadata since then may be missing.
 */
struct sp_error *event_control_check_cpus(struct event_control *control,
					  const struct cpu_check *check,
					  struct event_renamed_list *renamed,
					  bool *back_ret) SP_MUST_CHECK;

#endif
