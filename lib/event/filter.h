/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of events: tried in advance, with the kernel's own error messages. */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "base/ctx.h"
#include "event/open.h"

/*
 * Sets the filter of each of the plan's events that has one, on trial, for the plan's scope. Fails
 * with SP_ERROR_INVALID where the kernel does not take it, in its own words where they are to be
 * had (root, by an instance of ftrace that is made for that and removed), and with
 * SP_ERROR_UNSUPPORTED where the event is of a kind that has no filters.
 */
struct sp_error *event_filters_check(const struct event_kernel *kernel, const struct sp_ctx *ctx,
				     const struct event_plan *plan, uint32_t cpu) SP_MUST_CHECK;

#endif
