/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dithering: the periods of clock events change at random times, so that no program stays in step
 * with its samples. It is for events of whole CPUs: their timers always run. The kernel restarts
 * the timer at each change, and its samples keep the period of the opened event (6.18). This part
 * therefore logs the changes; the filter writes the logged period into each sample.
 *
 * The first sample after a change comes a whole period later, so that half a period has no sample
 * on average. That sample, the nearest one, has one and a half periods: the sum of all periods is
 * the time. A change that takes longer than half a period may give a sample of that time the next
 * period.
 *
 * All functions belong to one thread. Times are those of the records.
 */
#pragma once

#include <sprof/reader.h>
#include "base/hash.h"
#include "capture/config/config.h"
#include "ring/ring.h"

/* Size of a log. Earlier samples keep the period of the opened event, which is the mean. */
#define DITHER_CHANGES 1024

struct dither_change {
	uint64_t from_ns; /* half a period before the first sample */
	uint64_t period_ns;
};

/* A found period: it holds for samples of an event's id on a CPU, in [from_ns, until_ns). */
struct dither_found {
	uint64_t id, from_ns, until_ns, period_ns;
	uint32_t cpu;
};

/* Changes of an event on one CPU. */
struct dither_log {
	uint32_t event, cpu_index; /* index in the plan, and in the CPUs */
	uint64_t turn;       /* the last drawn rate, as a fraction of the range */
	uint64_t mean_ns;    /* period of the opened event */
	uint64_t head;       /* head of the ring at the last change */
	uint32_t quiet;      /* consecutive intervals without a record */
	uint64_t count;      /* changes so far */
	struct dither_change changes[DITHER_CHANGES];
};

/* dither_init()ed: no event is dithered. */
struct dither {
	const struct ring *rings; /* rings of samples, one for each CPU; borrowed */
	struct dither_log *logs;
	size_t count;
	struct u64map ids;   /* id in the file -> index of the event's first log */
	struct u64map cpus;  /* number of a CPU -> its index, which is added to it */
	double spread;       /* see plan_dither_spread() */
	uint64_t mean_ns;    /* mean time between changes */
	uint64_t interval_ns; /* from the last change to the next; 0: all CPUs are quiet */
	bool is_drawn;       /* the interval is new: the session sets its timer */
	uint64_t random;
	clockid_t clock;
	uint64_t shift_ns;   /* time of the records minus time of the clock */
};

/* A zeroed one dithers no event, and needs no deinit. */
void dither_deinit(struct dither *dither);

/*
 * Creates a log for each dithered event and CPU. `events` as in event_set_events(). Nothing if the
 * configuration dithers no event.
 */
struct sp_error *dither_open(struct dither *dither, const struct capture_config *config,
			     const struct sp_event *events, const struct ring *rings,
			     uint64_t shift_ns) SP_MUST_CHECK;

/* Draws the time until the next change of all events. */
void dither_draw_interval(struct dither *dither);

/* Draws a period for the event of a log: samples are `mean_ns` apart on average. */
uint64_t dither_draw_period(const struct dither *dither, struct dither_log *log, double mean_ns);

/*
 * Draws a new period for the event of a log, and logs it. `fd`: the event's descriptor; `slower`:
 * its mean period is N times that of the log. After 10 intervals without samples, a CPU is not
 * interrupted any more, unless `always`: then returns false.
 */
bool dither_change(struct dither *dither, struct dither_log *log, int fd, uint32_t slower,
		   bool always);

/* Adds a change. Changes that would have begun later had no sample, and are void. */
void dither_log_add(struct dither_log *log, uint64_t from_ns, uint64_t period_ns);

/*
 * Finds the period of samples around a time, and since and until when it holds. False: the log does
 * not reach back to it, so that the samples' recorded period stays.
 */
bool dither_log_find(const struct dither_log *log, uint64_t time_ns, struct dither_found *ret);

/*
 * The same for a sample of an event, by one of its ids in the file, on a CPU. `last`: the result of
 * the last call; zero it before the first call, and after each change of a period.
 */
bool dither_find(const struct dither *dither, uint64_t id, uint32_t cpu, uint64_t time_ns,
		 struct dither_found *last);
