/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPUs that go offline while they are recorded, and come back: switched off by hand or by a
 * governor, or all but one of them while the machine sleeps. The kernel then takes the events of the
 * CPU off it for good, and tells nobody: they are off, reading them is no error, and their rings
 * stay empty also when the CPU is back (seen with 6.12; perf record -a loses the CPU so). Events of
 * tasks go on by themselves.
 *
 * What tells is for how long an event has been on: that of the side-band is never switched off, so
 * where its time stands still, its CPU went, and it says when. Then events are opened once more, as
 * soon as the kernel takes them, and tasks are looked for in /proc again. It is looked at when a
 * CPU is switched, of which the kernel tells those who listen for devices (NETLINK_KOBJECT_UEVENT),
 * and every 5 s, as it tells nobody of sleep; twice a second where it does not tell (not in every
 * container), and while one is gone.
 */
#ifndef CAPTURE_EVENT_CONTROL_ABSENCE_H
#define CAPTURE_EVENT_CONTROL_ABSENCE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"

struct absence {
	uint64_t seen_ns;   /* CLOCK_MONOTONIC, when its event */
	uint64_t time_on_ns; /* had been on for so long */
	uint64_t tried_ns;  /* when it was last found to be offline */
	uint64_t gone_ns;   /* when it went */
	bool gone, lost;    /* lost: there is nothing to be opened again */
};

struct absences {
	struct absence *cpus; /* as the capture's; NULL: nothing is recorded by CPUs */
	int fd;               /* readable when it is to be looked at CPUs; -1: nobody tells */
	uint64_t checked_ns;
	bool waiting; /* for one that may come back */
	uint32_t told;
};

/*
 * Whether its event has stood still: by what was seen last, and what is there now. Clocks differ
 * by what they are steered by; `since_ns` is when it stopped.
 */
bool absence_is_short(const struct absence *absence, uint64_t now_ns, uint64_t time_on_ns,
		      uint64_t *since_ns_ret);

void absences_init(struct absences *absences);
void absences_deinit(struct absences *absences);

#endif
