/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events by the names that processors' vendors give them, through libpfm. */
#ifndef EVENT_VENDOR_H
#define EVENT_VENDOR_H

#include <linux/perf_event.h>
#include <stdbool.h>

enum vendor_answer {
	VENDOR_FOUND,
	VENDOR_UNKNOWN,
	VENDOR_BAD_ATTRIBUTE, /* the event is known, what stands behind it is not */
	VENDOR_NO_LIBRARY,    /* libpfm is not installed, or this build is without it */
};

/*
 * "skl::INST_RETIRED:ANY_P:u" with modifiers as libpfm has them. The attr has type, config*,
 * exclude_*, precise_ip and the like; all else is 0. *why_ret, libpfm's words, is static.
 * To be called by one thread at a time: libpfm has state of its own.
 */
enum vendor_answer vendor_event_find(const char *name, struct perf_event_attr *ret,
				     const char **why_ret);

/* One event, "pmu::NAME" or "pmu::NAME:UMASK", and what it counts; false ends the list. */
typedef bool vendor_event_fn(void *arg, const char *name, const char *description);

/*
 * All events that libpfm knows of this processor. VENDOR_BAD_ATTRIBUTE where the list was ended by
 * `event`.
 */
enum vendor_answer vendor_events_list(vendor_event_fn *event, void *arg);

#endif
