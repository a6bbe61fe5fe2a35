/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Returns the clock's time in ns; 0: the clock does not exist. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Returns the kernel's HZ from the resolution of a coarse clock, which advances by one tick: no
 * interface reports it. 0: unknown.
 */
static inline uint64_t clock_tick_hz(void)
{
	struct timespec tick;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
		return 0;
	uint64_t tick_ns = (uint64_t)tick.tv_nsec;
	return (1000000000 + tick_ns / 2) / tick_ns;
}

/* Returns whether the clock's time may be set while the system runs. */
static inline bool clock_can_be_set(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_TAI;
}

/* Returns the CPU time that a thread used, in ns; 0 if unknown. */
static inline uint64_t clock_thread_ns(pthread_t thread)
{
	clockid_t clock;
	return pthread_getcpuclockid(thread, &clock) ? 0 : clock_ns(clock);
}
