/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/wall_clock.h"

#include <stdlib.h>
#include "base/clock.h"

/* Smaller shifts are within the error of reading two clocks. More notes would not help. */
#define STEP_NS 1000000
#define NOTES_MAX 20

/* Clocks are read up to READINGS_MAX times, until one reading takes at most READING_NS. */
#define READING_NS 20000
#define READINGS_MAX 5

/* Returns `clock` minus CLOCK_MONOTONIC, modulo 2^64, by the fastest of some readings. */
static uint64_t ahead_of_monotonic(clockid_t clock)
{
	uint64_t best_ns = UINT64_MAX, ahead_ns = 0;
	for (int i = 0; i < READINGS_MAX && best_ns > READING_NS; i++) {
		uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), now_ns = clock_ns(clock);
		uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;
		if (took_ns >= best_ns)
			continue;
		best_ns = took_ns;
		ahead_ns = now_ns - before_ns - took_ns / 2;
	}
	return ahead_ns;
}

bool wall_clock_start(struct wall_clock *wall, clockid_t clock)
{
	if (!clock_ns(clock))
		return false;
	*wall = (struct wall_clock){.on = true, .clock = clock};
	wall->ahead_ns = wall->now_ns = ahead_of_monotonic(clock);
	wall->asleep_ns = ahead_of_monotonic(CLOCK_BOOTTIME);
	return true;
}

bool wall_clock_changes(struct wall_clock *wall, uint64_t ahead_ns, uint64_t asleep_ns,
			struct wall_clock_change *ret)
{
	int64_t moved_ns = ahead_ns - wall->now_ns;
	int64_t slept_ns = asleep_ns - wall->asleep_ns;
	if (llabs(slept_ns) < STEP_NS)
		slept_ns = 0;
	/* A suspend advances the wall clock, too, but does not set it. */
	int64_t set_ns = moved_ns - slept_ns;
	if (llabs(set_ns) < STEP_NS)
		set_ns = 0;
	if (!set_ns && !slept_ns)
		return false;
	wall->now_ns = ahead_ns;
	wall->asleep_ns = asleep_ns;
	*ret = (struct wall_clock_change){set_ns, slept_ns, (int64_t)(ahead_ns - wall->ahead_ns)};
	return true;
}

struct sp_error *wall_clock_check(struct wall_clock *wall, struct notes *notes)
{
	struct wall_clock_change change;
	if (!wall->on || wall->noted >= NOTES_MAX ||
	    !wall_clock_changes(wall, ahead_of_monotonic(wall->clock),
				ahead_of_monotonic(CLOCK_BOOTTIME), &change))
		return NULL;
	wall->noted++;
	const char *name = wall->clock == CLOCK_TAI ? "CLOCK_TAI" : "CLOCK_REALTIME";
	struct sp_error *error = NULL;
	if (change.set_ns)
		error = notes_add(notes, NOTE_CLOCK_SET, name, change.set_ns, change.off_ns);
	if (!error && change.slept_ns)
		error = notes_add(notes, NOTE_SLEPT, name, change.slept_ns, change.off_ns);
	if (!error && wall->noted == NOTES_MAX)
		error = notes_add(notes, NOTE_CLOCK_UNSTABLE, name);
	return error;
}
