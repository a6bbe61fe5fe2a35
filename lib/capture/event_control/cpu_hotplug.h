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

/* A CPU. */
struct offline_cpu {
	uint64_t seen_ns;   /* when its event's enabled time */
	uint64_t time_on_ns; /* was this */
	uint64_t tried_ns;  /* when it was last found to be offline */
	uint64_t gone_ns;   /* when it went offline */
	bool gone, lost;    /* lost: it has no event to reopen */
};

/* Function that returns a CPU's enabled time as event_set_enabled_time() does, and its first argument. */
struct cpu_clock {
	bool (*enabled_time)(const void *arg, size_t cpu_index, uint64_t *ns_ret);
	const void *arg;
};

/* cpu_hotplug_init()ed: no CPU is watched. */
struct cpu_hotplug {
	struct offline_cpu *cpus; /* by index in the recorded CPUs; NULL: events are per task */
	size_t count;
	struct cpu_clock clock;
	int fd;               /* readable when the kernel reports a switch; -1: no reports */
	uint64_t checked_ns;
	bool waiting;         /* for a CPU that may come back */
	uint32_t noted;
};

/*
 * Returns whether an event's enabled time is behind the clock. Allows for the rate at which clocks are
 * adjusted. *since_ns_ret: when it stopped.
 */
bool offline_cpu_is_short(const struct offline_cpu *offline_cpu, uint64_t now_ns, uint64_t time_on_ns,
			  uint64_t *since_ns_ret);

void cpu_hotplug_init(struct cpu_hotplug *cpu_hotplug);
void cpu_hotplug_deinit(struct cpu_hotplug *cpu_hotplug);

/*
 * Starts to watch for hotplug. All events of the CPUs must be open. Fails only when out of memory.
 */
struct sp_error *cpu_hotplug_watch(struct cpu_hotplug *cpu_hotplug, const struct cpu_clock *clock,
				   size_t cpu_count) SP_MUST_CHECK;

/* Returns the enabled time of a CPU's events now. */
bool cpu_hotplug_time(const struct cpu_hotplug *cpu_hotplug, size_t index, uint64_t *ns_ret);

/* Returns whether the CPUs must be checked, and then begins the next interval. `now`: always. */
bool cpu_hotplug_are_due(struct cpu_hotplug *cpu_hotplug, bool now);

/* Returns whether the CPU has gone offline since the last check. */
bool cpu_hotplug_goes(struct cpu_hotplug *cpu_hotplug, size_t index);

/* For notes: times count from begin_ns. */
struct offline_cpu_notes {
	struct notes *notes;
	const uint32_t *cpus; /* numbers, by index */
	uint64_t begin_ns;
};

/*
 * Notes that a CPU is offline, or that its events were reopened at now_ns. After many notes there is a
 * last one, and no more. Fail only without memory.
 */
struct sp_error *cpu_hotplug_note_gone(struct cpu_hotplug *cpu_hotplug, size_t index,
				       const struct offline_cpu_notes *to) SP_MUST_CHECK;
struct sp_error *cpu_hotplug_note_back(struct cpu_hotplug *cpu_hotplug, size_t index, uint64_t now_ns,
				       const struct offline_cpu_notes *to) SP_MUST_CHECK;
