/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events by the names of processor vendors, through libpfm. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>

enum vendor_answer {
	VENDOR_FOUND,
	VENDOR_UNKNOWN,
	VENDOR_BAD_ATTRIBUTE, /* the event exists, but not one of its attributes */
	VENDOR_NO_LIBRARY,    /* libpfm is not installed, or this build cannot use it */
};

/*
 * Finds "skl::INST_RETIRED:ANY_P:u" with libpfm's modifiers. Sets the attr's type, config*, exclude_*,
 * precise_ip and similar members; others are 0. *why_ret is libpfm's message, a static string. Not
 * thread-safe, because libpfm has global state.
 */
enum vendor_answer libpfm_event_find(const char *name, struct perf_event_attr *ret,
				     const char **why_ret);

/*
 * Callback for one event, "pmu::NAME" or "pmu::NAME:UMASK", and its description. False ends the list.
 */
typedef bool vendor_event_fn(void *arg, const char *name, const char *description);

/*
 * Lists all events that libpfm has for this CPU. VENDOR_BAD_ATTRIBUTE if the callback ended the list.
 */
enum vendor_answer libpfm_events_list(vendor_event_fn *event, void *arg);
