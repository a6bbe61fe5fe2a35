/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rate control: decides whether samples are taken faster than they can be drained. No side effects.
 * Losses come in bursts and prefer some code. Therefore few samples with a large period are better
 * than the rest of many.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sums that only grow. */
struct rate_control_seen {
	uint64_t samples, lost;
};

/* Zeroed: at full speed, nothing seen. */
struct rate_control {
	bool slow;
	struct rate_control_seen begin; /* counts when the current period began */
	uint64_t begin_ns;
	uint32_t bad;           /* consecutive periods with too many lost samples */
	uint64_t since_ns;      /* when the rate was last lowered */
	uint64_t stay_ns;       /* slow at least */
	double share;           /* lost samples, at the last change of `slow` */
};

/* Returns whether `slow` changed. Call it in each round. */
bool rate_control_changes(struct rate_control *rate_control, const struct rate_control_seen *seen,
			  uint64_t now_ns);
