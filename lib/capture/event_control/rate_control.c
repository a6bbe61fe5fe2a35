/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/rate_control.h"

/* Minimum time and number of samples for a meaningful share. */
#define TIME_NS 250000000
#define SAMPLES_LEAST 100

/* A loss of more than a tenth in three consecutive periods is no burst. */
#define SHARE_MOST 0.1
#define BAD_TIMES 3

/* Backoff: slowing down again soon doubles the time. */
#define STAY_NS UINT64_C(5000000000)
#define STAY_MOST_NS UINT64_C(640000000000)

static void begin(struct rate_control *rate_control, const struct rate_control_seen *seen, uint64_t now_ns)
{
	rate_control->begin = *seen;
	rate_control->begin_ns = now_ns;
}

static bool change(struct rate_control *rate_control, bool slow, uint64_t now_ns)
{
	rate_control->slow = slow;
	rate_control->bad = 0;
	if (!slow)
		return true;
	rate_control->since_ns = now_ns;
	rate_control->stay_ns = !rate_control->stay_ns ? STAY_NS
			: rate_control->stay_ns * 2 < STAY_MOST_NS ? rate_control->stay_ns * 2 : STAY_MOST_NS;
	return true;
}

bool rate_control_changes(struct rate_control *rate_control, const struct rate_control_seen *seen,
			  uint64_t now_ns)
{
	if (!rate_control->begin_ns)
		begin(rate_control, seen, now_ns);
	uint64_t lost = seen->lost - rate_control->begin.lost;
	uint64_t all = lost + seen->samples - rate_control->begin.samples;
	if (now_ns - rate_control->begin_ns < TIME_NS)
		return false;
	begin(rate_control, seen, now_ns);
	double share = all >= SAMPLES_LEAST ? (double)lost / (double)all : 0;
	rate_control->bad = share > SHARE_MOST ? rate_control->bad + 1 : 0;
	rate_control->share = share;
	if (!rate_control->slow && rate_control->bad >= BAD_TIMES)
		return change(rate_control, true, now_ns);
	return rate_control->slow && !lost && now_ns - rate_control->since_ns >= rate_control->stay_ns &&
	       change(rate_control, false, now_ns);
}
