/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts of a plan of events that several parts need. Pure functions. */
#pragma once

#include "event/open.h"

/* Returns whether it is cpu-clock or task-clock: their periods are ns of CPU time. */
bool attr_is_clock(const struct perf_event_attr *attr);

/* Samples per second on a busy CPU; 0: unknown before events have counted. */
uint64_t plan_rate_hz(const struct event_plan *plan);

/* Returns whether an event is a clock that samples at a rate, so that its period may vary. */
bool plan_event_dithers(const struct event_plan *plan, size_t event);

/*
 * Returns how far the rates of a plan's clocks may vary, as a part of the rate; 0: they must not.
 * Only the timers of whole CPUs always run. `max_hz`: limit of the rate; 0: the kernel's default.
 */
double plan_dither_spread(const struct event_plan *plan, uint64_t max_hz);

/*
 * The sample_type of the first event, for record_fields_make(). It lacks PERF_SAMPLE_PERIOD if samples
 * of some event lack it.
 */
uint64_t plan_common_type(const struct event_plan *plan);

/* Returns whether the kernel makes the stack copies that `live` unwinding needs. */
bool plan_is_unwound(const struct event_plan *plan, bool live);
