/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether samples are taken faster than they can be drained: a pure decision. Losses come in bursts
 * and prefer some code; fewer samples, each of which stands for more, are worth more than what is
 * left of many.
 */
#ifndef CAPTURE_EVENT_CONTROL_RATE_CONTROL_H
#define CAPTURE_EVENT_CONTROL_RATE_CONTROL_H

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
	uint32_t bad;           /* times in a row of which too much was lost */
	uint64_t since_ns;      /* slow */
	uint64_t stay_ns;       /* slow at least */
	double share;           /* lost, when that was last changed */
};

/* Whether `slow` was changed. To be called now and then, the more often the better. */
bool rate_control_changes(struct rate_control *rate_control, const struct rate_control_seen *seen,
			  uint64_t now_ns);

#endif
