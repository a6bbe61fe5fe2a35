/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When samples are taken: by times that were given before, and by who says so meanwhile. */
#ifndef CAPTURE_EVENT_CONTROL_TURNS_H
#define CAPTURE_EVENT_CONTROL_TURNS_H

#include <stddef.h>
#include "capture/config/options.h"

struct turns {
	bool later;         /* sampling does not begin by itself */
	struct sp_capture_span *spans;
	size_t span_count;
	size_t next;        /* the next turn: 2 * span, + 1 for its end */
	uint64_t begin_ns;  /* what the spans' times are from; CLOCK_MONOTONIC */
	int fd;             /* a timer; -1: none */
	bool *on;           /* of each event; NULL: as they began */
	size_t told;        /* turns that are in the recording, as notes */
	bool turned;        /* not all was sampled from the beginning to the end */
};

/* The spans, or the delay, are copied. Fails with SP_ERROR_INVALID where they are in no order. */
struct sp_error *turns_init(struct turns *turns,
			    const struct capture_options *options) SP_MUST_CHECK;
void turns_deinit(struct turns *turns);

#endif
