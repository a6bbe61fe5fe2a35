/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/pace.h"

/* Of so long a time, and of so many samples, a share says something. */
#define TIME_NS 250000000
#define SAMPLES_LEAST 100

/* More than a tenth lost, in three times one behind the other, is no burst. */
#define SHARE_MOST 0.1
#define BAD_TIMES 3

/* Who soon has to slow down again stays so for longer and longer. */
#define STAY_NS UINT64_C(5000000000)
#define STAY_MOST_NS UINT64_C(640000000000)

static void begin(struct pace *pace, const struct pace_seen *seen, uint64_t now_ns)
{
	pace->begin = *seen;
	pace->begin_ns = now_ns;
}

static bool change(struct pace *pace, bool slow, uint64_t now_ns)
{
	pace->slow = slow;
	pace->bad = 0;
	if (!slow)
		return true;
	pace->since_ns = now_ns;
	pace->stay_ns = !pace->stay_ns ? STAY_NS
			: pace->stay_ns * 2 < STAY_MOST_NS ? pace->stay_ns * 2 : STAY_MOST_NS;
	return true;
}

bool pace_changes(struct pace *pace, const struct pace_seen *seen, uint64_t now_ns)
{
	if (!pace->begin_ns)
		begin(pace, seen, now_ns);
	uint64_t lost = seen->lost - pace->begin.lost;
	uint64_t all = lost + seen->samples - pace->begin.samples;
	if (now_ns - pace->begin_ns < TIME_NS)
		return false;
	begin(pace, seen, now_ns);
	double share = all >= SAMPLES_LEAST ? (double)lost / (double)all : 0;
	pace->bad = share > SHARE_MOST ? pace->bad + 1 : 0;
	pace->share = share;
	if (!pace->slow && pace->bad >= BAD_TIMES)
		return change(pace, true, now_ns);
	return pace->slow && !lost && now_ns - pace->since_ns >= pace->stay_ns &&
	       change(pace, false, now_ns);
}
