/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel.perf_event_max_stack: how many frames the kernel follows by frame pointers, for
 * all of the machine. Raised for as long as a recording takes.
 */
#ifndef CAPTURE_STACK_LIMIT_H
#define CAPTURE_STACK_LIMIT_H

#include <stdint.h>
#include <sys/types.h>
#include "base/ctx.h"
#include "base/error.h"

/* What a record holds beside all else that is in it. */
#define STACK_LIMIT_MOST 8000

struct stack_limit {
	pid_t guard; /* puts it back; 0: it was not raised */
	int alive;   /* its other end is closed when this process ends */
};

/*
 * Raises it from `before` to `frames`. A process of its own, which takes no signals, puts it back
 * after stack_limit_restore(), or when this process has ended, however that came. Fails with
 * SP_ERROR_OS: EBUSY while anybody records call chains, EACCES or EROFS where it is not allowed.
 */
struct sp_error *stack_limit_raise(struct stack_limit *limit, const struct sp_ctx *ctx,
				   uint32_t before, uint32_t frames) SP_MUST_CHECK;

/*
 * To be called when all events are closed. False where it cannot be put back at once, as
 * others record call chains: the process goes on trying. What somebody else has set stays.
 */
bool stack_limit_restore(struct stack_limit *limit);

#endif
