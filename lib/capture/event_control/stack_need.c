/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/stack_need.h"

/*
 * Accepted shares: one truncated stack of CUT_SHARE, and one stack of BEYOND_SHARE that is larger
 * than its copy.
 */
#define CUT_SHARE 500
#define BEYOND_SHARE 1000

/* Shortest period to decide on, and least number of stacks in it. */
#define PERIOD_NS 1000000000
#define STACKS_LEAST 200

/* Backoff: needing large copies again soon doubles the time. */
#define STAY_NS 1000000000
#define STAY_MOST_NS 64000000000
#define SOON 10

/*
 * If large copies fill rings repeatedly (LOST_TIMES, LOST_APART_NS apart), and more than one sample
 * of LOST_SHARE is lost, large copies are barred for BAR_NS, and then for longer.
 */
#define LOST_SHARE 200
#define LOST_TIMES 3
#define LOST_APART_NS 100000000
#define BAR_NS 2000000000
#define BAR_MOST_NS 256000000000

static void begin(struct stack_need *need, const struct stack_need_seen *seen, uint64_t now_ns)
{
	need->begin = *seen;
	need->begin_ns = now_ns;
	need->lost = need->lost_times = 0;
}

void stack_need_set(struct stack_need *need, bool large, const struct stack_need_seen *seen,
		    uint64_t now_ns)
{
	if (large && !need->large) {
		bool again = need->stay_ns && now_ns - need->since_ns < SOON * need->stay_ns;
		uint64_t longer = need->stay_ns * 2 < STAY_MOST_NS ? need->stay_ns * 2 : STAY_MOST_NS;
		need->stay_ns = again ? longer : STAY_NS;
	}
	need->large = large;
	need->since_ns = now_ns;
	begin(need, seen, now_ns);
}

static bool loses(struct stack_need *need, const struct stack_need_seen *seen, uint64_t now_ns)
{
	uint64_t lost = seen->lost - need->begin.lost;
	uint64_t stacks = seen->stacks - need->begin.stacks;
	if (lost > need->lost && now_ns - need->lost_ns >= LOST_APART_NS) {
		need->lost = lost;
		need->lost_ns = now_ns;
		need->lost_times++;
	}
	if (need->lost_times < LOST_TIMES || lost * LOST_SHARE <= stacks)
		return false;
	need->bar_ns = !need->bar_ns ? BAR_NS : need->bar_ns * 2 < BAR_MOST_NS ? need->bar_ns * 2
									      : BAR_MOST_NS;
	need->barred_until_ns = now_ns + need->bar_ns;
	return true;
}

bool stack_need_changes(struct stack_need *need, const struct stack_need_seen *seen,
			uint64_t now_ns)
{
	uint64_t stacks = seen->stacks - need->begin.stacks;
	uint64_t beyond = seen->beyond - need->begin.beyond;
	if (need->large && loses(need, seen, now_ns))
		return true;
	if (!need->large && beyond * CUT_SHARE > stacks)
		return now_ns >= need->barred_until_ns;
	if (now_ns - need->begin_ns < PERIOD_NS ||
	    (need->large && (now_ns - need->since_ns < need->stay_ns || stacks < STACKS_LEAST)))
		return false;
	begin(need, seen, now_ns);
	return need->large && beyond * BEYOND_SHARE < stacks;
}
