/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schedule of sampling: time ranges (--delay), and events that are disabled at run time. Decides which
 * events shall be on, and when that changes; event_control.h switches them. Times are CLOCK_MONOTONIC.
 */
#pragma once

#include <stddef.h>
#include "capture/config/capture_options.h"

/* All events, in place of an index. */
#define SCHEDULE_ALL SIZE_MAX

struct schedule {
	bool later;         /* sampling does not begin by itself */
	struct sp_capture_span *spans;
	size_t span_count;
	size_t next;        /* next change: 2 * span, + 1 for its end */
	uint64_t begin_ns;  /* time 0 of the spans */
	int fd;             /* a timer; -1: none */
	bool *on;           /* whether each event shall be on */
	size_t event_count;
	bool turned;        /* some event was off for a part of the recording */
};

/*
 * Copies the schedule's ranges, or its delay. Fails with SP_ERROR_INVALID if ranges overlap or are not
 * in order. Also after an error, schedule_deinit() is allowed.
 */
struct sp_error *schedule_init(struct schedule *schedule,
			       const struct sp_capture_schedule *options) SP_MUST_CHECK;
void schedule_deinit(struct schedule *schedule);

/* Adds the events, once their number is known: before the functions below. Fails only without memory. */
struct sp_error *schedule_add_events(struct schedule *schedule, size_t count) SP_MUST_CHECK;

/* Returns whether all events shall have the state `on`. */
bool schedule_all_are(const struct schedule *schedule, bool on);

/* Sets whether an event shall be on; index SCHEDULE_ALL: all. Returns whether that changes any. */
bool schedule_set(struct schedule *schedule, size_t index, bool on);

/* Creates the timer, if there are ranges. */
struct sp_error *schedule_open_timer(struct schedule *schedule, uint64_t now_ns) SP_MUST_CHECK;

/* Begins the first range's time now, unless its sampling has begun. */
struct sp_error *schedule_restart(struct schedule *schedule, uint64_t now_ns) SP_MUST_CHECK;

/* Returns when the next change is; 0: never. */
uint64_t schedule_next_ns(const struct schedule *schedule);

/* Returns whether the next change enables events. */
static inline bool schedule_next_is_on(const struct schedule *schedule)
{
	return !(schedule->next & 1);
}

/* Returns true once for each time that the timer has expired. */
bool schedule_expired(const struct schedule *schedule);

/* Sets the timer for the change after the next. */
struct sp_error *schedule_advance(struct schedule *schedule) SP_MUST_CHECK;
