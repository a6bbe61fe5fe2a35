/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides the size of stack copies: as requested, or larger while recent stacks need it. Larger
 * copies take room in the rings; truncated stacks lack callers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sums that only grow. */
struct stack_need_seen {
	uint64_t stacks; /* unwound */
	uint64_t beyond; /* stacks that need more than the smaller copy */
	uint64_t lost;   /* samples for which rings had no room */
};

/* Also counts stacks that the size of their copies truncated. */
struct alternate_seen {
	struct stack_need_seen need;
	uint64_t cuts;
};

/* Zeroed: small copies, no counts yet. */
struct stack_need {
	bool large;
	struct stack_need_seen begin; /* counts when the current period began */
	uint64_t begin_ns;
	uint64_t since_ns; /* when this size began */
	uint64_t stay_ns;  /* least time with large copies */
	uint64_t lost, lost_ns, lost_times; /* at this size: lost samples, time of the last loss,
					     * number of losses */
	uint64_t barred_until_ns, bar_ns; /* large copies are barred until then, and for that long
					   * the next time */
};

/* Sets the size to `large`, and restarts the counts. */
void stack_need_set(struct stack_need *need, bool large, const struct stack_need_seen *seen,
		    uint64_t now_ns);

/* Returns whether the other size is better. The caller then calls stack_need_set(). */
bool stack_need_changes(struct stack_need *need, const struct stack_need_seen *seen,
			uint64_t now_ns);
