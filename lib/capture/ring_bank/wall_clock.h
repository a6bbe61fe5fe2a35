/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of a clock that can be set, computed from CLOCK_MONOTONIC: see capture/ring_bank/rewrite.h.
 * They are the wall clock's until it is set; from then on, notes have the difference.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "base/error.h"
#include "capture/notes/notes.h"

struct wall_clock {
	bool on;
	clockid_t clock;    /* CLOCK_REALTIME or CLOCK_TAI */
	uint64_t ahead_ns;  /* added to times: `clock` minus CLOCK_MONOTONIC at the start, modulo
			       2^64 */
	uint64_t now_ns;    /* the same difference at the last note */
	uint64_t asleep_ns; /* the part of it that the machine has slept */
	uint64_t noted;     /* notes so far */
};

/* Starts the comparison; false: there is no such clock. */
bool wall_clock_start(struct wall_clock *wall, clockid_t clock);

/* Change between two checks. */
struct wall_clock_change {
	int64_t set_ns;   /* set forward, or back (negative) */
	int64_t slept_ns; /* suspended: CLOCK_MONOTONIC stood still */
	int64_t off_ns;   /* the clock minus recorded times */
};

/*
 * Compares the clocks with the last change; arguments as in struct wall_clock. Returns whether they
 * changed by a millisecond or more.
 */
bool wall_clock_changes(struct wall_clock *wall, uint64_t ahead_ns, uint64_t asleep_ns,
			struct wall_clock_change *ret);

/* Compares the clocks, and notes a change. */
struct sp_error *wall_clock_check(struct wall_clock *wall, struct notes *notes) SP_MUST_CHECK;
