/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much is copied of stacks: what was asked for, or more while some need it. A larger
 * copy costs room in the rings, and what the stack has of it; a stack that is cut is of
 * little use. Decided by what stacks have lately needed.
 */
#ifndef CAPTURE_EVENT_CONTROL_STACK_NEED_H
#define CAPTURE_EVENT_CONTROL_STACK_NEED_H

#include <stdbool.h>
#include <stdint.h>

/* Sums that only grow. */
struct stack_need_seen {
	uint64_t stacks; /* unwound */
	uint64_t beyond; /* stacks that need more than the smaller copy */
	uint64_t lost;   /* samples for which rings had no room */
};

/* The same, and stacks that were truncated by the size of their copies. */
struct alternate_seen {
	struct stack_need_seen need;
	uint64_t cuts;
};

/* Zeroed: small copies, nothing seen. */
struct stack_need {
	bool large;
	struct stack_need_seen begin; /* counts when the current period began */
	uint64_t begin_ns;
	uint64_t since_ns; /* when this size began */
	uint64_t stay_ns;  /* with large ones at least */
	uint64_t lost, lost_ns, lost_times; /* in it: samples so far, when last, and how often */
	uint64_t barred_until_ns, bar_ns; /* from large ones, since samples were lost */
};

/* The size is `large` from now on; what was seen until then does not count. */
void stack_need_set(struct stack_need *need, bool large, const struct stack_need_seen *seen,
		    uint64_t now_ns);

/* Whether the other size would do better; then stack_need_set() is to follow. */
bool stack_need_changes(struct stack_need *need, const struct stack_need_seen *seen,
			uint64_t now_ns);

#endif
