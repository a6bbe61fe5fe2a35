/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/dither.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include "base/clock.h"
#include "capture/config/plan_facts.h"
#include "record/types.h"

/*
 * Mean time between changes, in periods and ns. More changes would cost more interrupts. With
 * fewer, a program that is in step for one interval is in step for too large a part of a second.
 */
#define PERIODS_LEAST 10
#define PERIODS_MOST 100
#define INTERVAL_MOST_NS 50000000
#define INTERVAL_LEAST_NS 10000000

/* Intervals without a record after which a CPU is left alone. */
#define QUIET_INTERVALS 10

/*
 * Step between rates: the golden section of the range. A program is in step near a few rates. Steps
 * of this size spread the rates evenly, so that consecutive intervals avoid the same one;
 * independent draws would not.
 */
#define TURN UINT64_C(0x9e3779b97f4a7c15)

void dither_deinit(struct dither *dither)
{
	u64map_deinit(&dither->ids);
	u64map_deinit(&dither->cpus);
	free(dither->logs);
	*dither = (struct dither){0};
}

static uint64_t mean_interval_ns(uint64_t period_ns)
{
	uint64_t ns = PERIODS_MOST * period_ns;
	ns = ns > INTERVAL_MOST_NS ? INTERVAL_MOST_NS : ns;
	ns = ns < INTERVAL_LEAST_NS ? INTERVAL_LEAST_NS : ns;
	return ns < PERIODS_LEAST * period_ns ? PERIODS_LEAST * period_ns : ns;
}

struct sp_error *dither_open(struct dither *dither, const struct capture_config *config,
			     const struct sp_event *events, const struct ring *rings,
			     uint64_t shift_ns)
{
	const struct event_plan *plan = config->plan;
	const struct cpu_list *cpus = &config->cpus;
	if (config->dither <= 0)
		return NULL;
	dither->random = clock_ns(CLOCK_MONOTONIC);
	dither->logs = calloc(plan->sample_count * cpus->count, sizeof(*dither->logs));
	NEED(dither->logs);
	for (size_t j = 0; j < cpus->count; j++)
		NEED(u64map_put(&dither->cpus, cpus->items[j], j, NULL));
	for (size_t i = 0; i < plan->sample_count; i++) {
		uint64_t mean_ns = record_clock_period_ns(&plan->samples[i].attr);
		if (!plan_event_dithers(plan, i))
			continue;
		for (size_t j = 0; j < events[i].id_count; j++)
			NEED(u64map_put(&dither->ids, events[i].ids[j], dither->count, NULL));
		for (size_t j = 0; j < cpus->count; j++)
			dither->logs[dither->count++] =
				(struct dither_log){.event = i,
						    .cpu_index = j,
						    .turn = hash_u64(++dither->random),
						    .mean_ns = mean_ns};
		if (dither->mean_ns < mean_interval_ns(mean_ns))
			dither->mean_ns = mean_interval_ns(mean_ns);
	}
	dither->rings = rings;
	dither->spread = config->dither;
	dither->clock = plan->clock_id;
	dither->shift_ns = shift_ns;
	return NULL;
}

/* Returns a number in [1 - spread, 1 + spread), from a fraction of 2^64. */
static double in_range(uint64_t fraction, double spread)
{
	return 1 + spread * ((double)fraction * 0x1p-63 - 1);
}

void dither_draw_interval(struct dither *dither)
{
	dither->interval_ns = (double)dither->mean_ns * in_range(hash_u64(++dither->random), 0.5);
	dither->is_drawn = true;
}

void dither_log_add(struct dither_log *log, uint64_t from_ns, uint64_t period_ns)
{
	uint64_t oldest = log->count > DITHER_CHANGES ? log->count - DITHER_CHANGES : 0;
	for (uint64_t i = log->count; i > oldest; i--) {
		struct dither_change *earlier = &log->changes[(i - 1) % DITHER_CHANGES];
		if (earlier->from_ns <= from_ns)
			break;
		earlier->from_ns = from_ns;
	}
	log->changes[log->count++ % DITHER_CHANGES] = (struct dither_change){from_ns, period_ns};
}

bool dither_log_find(const struct dither_log *log, uint64_t time_ns, struct dither_found *ret)
{
	const uint64_t first = log->count > DITHER_CHANGES ? log->count - DITHER_CHANGES : 0;
	uint64_t low = first, high = log->count;
	/* The changes before `low` are not later than the sample, those from `high` on are. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (log->changes[middle % DITHER_CHANGES].from_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return false;
	const struct dither_change *change = &log->changes[(low - 1) % DITHER_CHANGES];
	const uint64_t next_ns =
		low < log->count ? log->changes[low % DITHER_CHANGES].from_ns : UINT64_MAX;
	const uint64_t second_ns = change->from_ns + change->period_ns;
	const bool is_first = time_ns < second_ns;
	ret->from_ns = is_first ? change->from_ns : second_ns;
	ret->until_ns = is_first && second_ns < next_ns ? second_ns : next_ns;
	ret->period_ns = change->period_ns + (is_first ? change->period_ns / 2 : 0);
	return true;
}

bool dither_find(const struct dither *dither, uint64_t id, uint32_t cpu, uint64_t time_ns,
		 struct dither_found *last)
{
	if (id == last->id && cpu == last->cpu && time_ns >= last->from_ns &&
	    time_ns < last->until_ns)
		return true;
	const uint32_t *first = dither->count ? u64map_find(&dither->ids, id) : NULL;
	const uint32_t *index = first ? u64map_find(&dither->cpus, cpu) : NULL;
	*last = (struct dither_found){.id = id, .cpu = cpu};
	return index && dither_log_find(&dither->logs[*first + *index], time_ns, last);
}

/* Whether the event's CPU had no record for a while. */
static bool is_quiet(const struct dither *dither, struct dither_log *log)
{
	uint64_t head = ring_head(&dither->rings[log->cpu_index]);
	log->quiet = head == log->head ? log->quiet + 1 : 0;
	log->head = head;
	return log->quiet >= QUIET_INTERVALS;
}

uint64_t dither_draw_period(const struct dither *dither, struct dither_log *log, double mean_ns)
{
	/* The opened event's rate is the mean, although each change drops half a sample. */
	double rate = in_range(log->turn += TURN, dither->spread) *
		      (1 + mean_ns / (2 * (double)dither->mean_ns));
	return mean_ns / rate;
}

bool dither_change(struct dither *dither, struct dither_log *log, int fd, uint32_t slower,
		   bool always)
{
	if (always)
		log->quiet = 0;
	else if (is_quiet(dither, log))
		return false;
	uint64_t period_ns = dither_draw_period(dither, log, (double)log->mean_ns * slower);
	uint64_t now_ns = clock_ns(dither->clock) + dither->shift_ns;
	/* It fails if the CPU is offline. */
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_PERIOD, &period_ns) >= 0)
		dither_log_add(log, now_ns + period_ns / 2, period_ns);
	return true;
}
