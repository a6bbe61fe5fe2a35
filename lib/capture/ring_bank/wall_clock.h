/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times by a clock that may be set meanwhile, noted by one that may not: see capture/ring_bank/rewrite.h.
 * A time so is that of the wall's clock until this is set; how far it is off from then on is said.
 */
#ifndef CAPTURE_RING_BANK_WALL_CLOCK_H
#define CAPTURE_RING_BANK_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "base/error.h"
#include "capture/notes/notes.h"

struct wall_clock {
	bool on;
	clockid_t clock;    /* CLOCK_REALTIME or CLOCK_TAI */
	uint64_t ahead_ns;  /* of CLOCK_MONOTONIC at the start, modulo 2^64; what times are shifted by, */
	uint64_t now_ns;    /* and its value at the last note */
	uint64_t asleep_ns; /* the part of it that the machine has slept */
	uint64_t noted;     /* notes so far */
};

/* From now on; false: there is no such clock. */
bool wall_clock_start(struct wall_clock *wall, clockid_t clock);

/* What became of it between two looks. */
struct wall_clock_change {
	int64_t set_ns;   /* that far forward, or back */
	int64_t slept_ns; /* so long CLOCK_MONOTONIC stood still */
	int64_t off_ns;   /* so far it is now ahead of what times say */
};

/*
 * What the clocks are like now, as struct wall_clock has it. True: that is other than when it was
 * last true, by a millisecond and more.
 */
bool wall_clock_changes(struct wall_clock *wall, uint64_t ahead_ns, uint64_t asleep_ns,
			struct wall_clock_change *ret);

/* Compares the clocks, and notes a change. */
struct sp_error *wall_clock_check(struct wall_clock *wall, struct notes *notes) SP_MUST_CHECK;

#endif
