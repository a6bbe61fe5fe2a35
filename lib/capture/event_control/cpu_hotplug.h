/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU hotplug: CPUs that go offline while they are recorded, and come back. The kernel then detaches
 * the CPU's events for good and reports no error: they count nothing, and their ring buffers stay
 * empty, also when the CPU is back (6.12; perf record -a loses the CPU). Per-task events continue.
 *
 * Detection: an event's enabled time stops when its CPU goes offline, and the metadata event is never
 * disabled. Its time is read when the kernel reports a CPU switch to listeners for devices
 * (NETLINK_KOBJECT_UEVENT), and every 5 s, as suspend is not reported; twice a second while a CPU is
 * offline, or if reports are unavailable (some containers).
 *
 * This part detects and notes; event_control.h reopens the events. Times are CLOCK_MONOTONIC.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "capture/notes/notes.h"
#include "event/set.h"

/* A watched CPU. Its event is the metadata event, or the outside event if events are per task. */
struct hotplug_cpu {
	uint64_t read_ns;    /* last reading of the event while the CPU was online */
	uint64_t enabled_ns; /* the event's enabled time at that reading */
	uint64_t gone_ns;    /* when the CPU went offline */
	uint64_t tried_ns;   /* the last attempt to reopen the events */
	bool gone;           /* offline, or its events were not opened again yet */
	bool unopenable;     /* never had an event, or has AUX areas: events are not opened again */
};

/* Function that returns a CPU's enabled time as event_set_enabled_time() does, and its first argument. */
struct cpu_clock {
	bool (*enabled_time)(const void *arg, size_t cpu_index, uint64_t *ns_ret);
	const void *arg;
};

/* After cpu_hotplug_init(), no CPU is watched. */
struct cpu_hotplug {
	struct hotplug_cpu *cpus; /* by index in the recorded CPUs; NULL: no CPU is watched */
	size_t count;
	struct cpu_clock clock;
	int fd;               /* readable when the kernel reports a switch; -1: no reports */
	uint64_t checked_ns;  /* time of the last check */
	bool waiting;         /* a CPU is gone that may come back: checks are frequent */
	uint32_t noted;       /* number of notes */
};

/*
 * Returns whether the enabled time of a CPU's event, now enabled_ns, stopped after the last
 * reading. Tolerates the rate at which clocks are adjusted. *since_ns_ret: when it stopped.
 */
bool hotplug_cpu_stopped(const struct hotplug_cpu *cpu, uint64_t now_ns, uint64_t enabled_ns,
			 uint64_t *since_ns_ret);

void cpu_hotplug_init(struct cpu_hotplug *cpu_hotplug);
void cpu_hotplug_deinit(struct cpu_hotplug *cpu_hotplug);

/*
 * Starts to watch for hotplug. All events of the CPUs must be open. Fails only when out of memory.
 */
struct sp_error *cpu_hotplug_watch(struct cpu_hotplug *cpu_hotplug, const struct cpu_clock *clock,
				   size_t cpu_count) SP_MUST_CHECK;

/* Reads the enabled time of a CPU's event. Returns false if it cannot be read. */
bool cpu_hotplug_enabled_time(const struct cpu_hotplug *cpu_hotplug, size_t index,
			      uint64_t *ns_ret);

/* Returns whether a check is due, and then begins the next interval. `now`: one always is. */
bool cpu_hotplug_check_is_due(struct cpu_hotplug *cpu_hotplug, bool now);

/*
 * Returns whether the CPU has gone offline since the last reading, and then sets its gone_ns; the
 * caller sets `gone`. If the CPU is online, keeps the reading.
 */
bool cpu_hotplug_went_offline(struct cpu_hotplug *cpu_hotplug, size_t index);

/* Destination of notes; their times count from begin_ns. */
struct hotplug_notes {
	struct notes *notes;
	const uint32_t *cpus; /* numbers, by index */
	uint64_t begin_ns;
};

/*
 * Notes that a CPU is offline, or that its events were reopened at now_ns. After a limit, a last
 * note states that more switches are not noted. Fail only when out of memory.
 */
struct sp_error *cpu_hotplug_note_gone(struct cpu_hotplug *cpu_hotplug, size_t index,
				       const struct hotplug_notes *to) SP_MUST_CHECK;
struct sp_error *cpu_hotplug_note_back(struct cpu_hotplug *cpu_hotplug, size_t index, uint64_t now_ns,
				       const struct hotplug_notes *to) SP_MUST_CHECK;
