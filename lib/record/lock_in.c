/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds clock events that sample in step with timers. The kernel samples clocks by a timer with a fixed
 * period (perf_swevent_init_hrtimer). So a program on a 1 ms timer may be sampled at the same phase for
 * the whole recording. Counters are no problem: their periods vary with the CPU's frequency and load.
 */
#include <sprof/private/words.h>

#include <stdio.h>
#include "record/types.h"

/* Rate of the usual timers of programs and language runtimes, which run at 1 ms and multiples of it. */
#define TIMER_HZ 1000
#define NS_PER_SEC UINT64_C(1000000000)

/* Returns whether the time between samples is a whole number of the timer's periods. */
static bool is_in_step(const struct perf_event_attr *attr, uint64_t timer_hz)
{
	uint64_t rate = attr->freq ? attr->sample_freq : attr->sample_period;
	if (!rate || !timer_hz || timer_hz > NS_PER_SEC)
		return false;
	return attr->freq ? timer_hz % rate == 0 : rate % (NS_PER_SEC / timer_hz) == 0;
}

/*
 * Returns a rate with a period of 2 / golden ratio times the given one, so that samples change
 * their phase fast. At rates near to the timer's, as 997 Hz for 1 ms, they change it slowly.
 */
static uint64_t find_free_hz(uint64_t hz, uint64_t tick_hz)
{
	hz = (hz * 1000 + 618) / 1236;
	while (hz > 7 && (TIMER_HZ % hz == 0 || (tick_hz && tick_hz % hz == 0)))
		hz--;
	return hz > 7 ? hz : 7;
}

bool sp_lock_in_find(const struct perf_event_attr *attr, uint64_t tick_hz, struct sp_lock_in *ret)
{
	uint64_t timer_hz = is_in_step(attr, TIMER_HZ) ? TIMER_HZ
			    : is_in_step(attr, tick_hz) ? tick_hz : 0;
	if (!record_is_clock(attr->type, attr->config) || !timer_hz)
		return false;
	uint64_t period_ns = record_clock_period_ns(attr);
	*ret = (struct sp_lock_in){.period_ns = period_ns, .timer_hz = timer_hz,
				   .free_hz = find_free_hz(NS_PER_SEC / period_ns, tick_hz)};
	return true;
}

size_t sp_lock_in_text(const struct sp_lock_in *lock_in, char *text, size_t size)
{
	unsigned long long hz = NS_PER_SEC / lock_in->period_ns, timer_hz = lock_in->timer_hz;
	char rate[40], timer[40];
	if (hz && NS_PER_SEC / hz == lock_in->period_ns)
		snprintf(rate, sizeof(rate), "at %llu Hz", hz);
	else
		snprintf(rate, sizeof(rate), "every %g ms", (double)lock_in->period_ns / 1e6);
	if (timer_hz == TIMER_HZ)
		snprintf(timer, sizeof(timer), "1 ms timers");
	else
		snprintf(timer, sizeof(timer), "the kernel's %llu Hz tick", timer_hz);
	return (size_t)snprintf(text, size, "sampling %s can lock in step with %s", rate, timer);
}
