/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schedule of sampling: time ranges (--delay), and events that are disabled at run time. Decides which
 * events shall be on, and when that changes; event_control.h switches them. Times are CLOCK_MONOTONIC.
 */
#ifndef CAPTURE_EVENT_CONTROL_TURNS_H
#define CAPTURE_EVENT_CONTROL_TURNS_H

#include <stddef.h>
#include "capture/config/options.h"

/* All events, in place of an index. */
#define TURNS_ALL SIZE_MAX

struct turns {
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
 * in order. Also after an error, turns_deinit() is allowed.
 */
struct sp_error *turns_init(struct turns *turns,
			    const struct sp_capture_schedule *schedule) SP_MUST_CHECK;
void turns_deinit(struct turns *turns);

/* Adds the events, once their number is known: before the functions below. Fails only without memory. */
struct sp_error *turns_add_events(struct turns *turns, size_t count) SP_MUST_CHECK;

/* Whether all events shall be `on`. */
bool turns_all_are(const struct turns *turns, bool on);

/* Sets whether an event shall be on; index TURNS_ALL: all. Returns whether that changes any. */
bool turns_set(struct turns *turns, size_t index, bool on);

/* Creates the timer, if there are ranges. */
struct sp_error *turns_open_timer(struct turns *turns, uint64_t now_ns) SP_MUST_CHECK;

/* Lets the first range's time begin now, unless its sampling has begun already. */
struct sp_error *turns_restart(struct turns *turns, uint64_t now_ns) SP_MUST_CHECK;

/* Returns when the next change is; 0: never. */
uint64_t turns_next_ns(const struct turns *turns);

/* Whether the next change enables events. */
static inline bool turns_next_is_on(const struct turns *turns)
{
	return !(turns->next & 1);
}

/* Returns whether the time of the next change has come: once, as the timer is read. */
bool turns_expired(const struct turns *turns);

/* Sets the timer for the change after the next. */
struct sp_error *turns_advance(struct turns *turns) SP_MUST_CHECK;

#endif
