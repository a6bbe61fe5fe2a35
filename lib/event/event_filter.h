/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of events: tried in advance, with the kernel's own error messages. */
#pragma once

#include "base/ctx.h"
#include "event/open.h"

/*
 * Sets the filters of the plan's events, on trial, for the plan's scope. Fails with
 * SP_ERROR_INVALID if the kernel rejects one. The message quotes the kernel if it can be read (as
 * root, from a temporary instance of ftrace). Fails with SP_ERROR_UNSUPPORTED for kinds of events
 * that have no filters.
 */
struct sp_error *event_filters_check(const struct event_kernel *kernel, const struct sp_ctx *ctx,
				     const struct event_plan *plan, uint32_t cpu) SP_MUST_CHECK;
