/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lives of threads, and their states between two events. The state before an event and the state
 * after the event before it must agree; if they do not, records between them were lost.
 */
#pragma once

#include "states/task_events.h"
#include "states/task_gaps.h"
#include "states/task_states.h"

struct task_life {
	struct task_totals totals;
	size_t first, count; /* events; none of them is FORK or EXIT */
	uint32_t thread;     /* index in the events' threads */
	uint32_t end_cpu;    /* CPU of the EXIT */
	bool ran;            /* without events: it ran all the time */
};

/* A zeroed struct is empty. It owns `items`; the other members are borrowed. */
struct task_lives {
	VEC(struct task_life) items;
	const struct task_events *events;
	const struct task_gaps *gaps;
	uint64_t first_ns, last_ns; /* begin and end of the recording */
	uint64_t begin_ns;          /* earlier events are of earlier files; 0: of none */
	bool known;                 /* some thread has switches */
};

void task_lives_deinit(struct task_lives *lives);

/*
 * Makes the lives of sorted events, and removes events that do not change a state. Sets the members
 * of the totals that are no sums. Returns false when out of memory.
 */
bool task_lives_make(struct task_lives *lives, struct task_events *events);

/* Part of the time between two events. Parts of one life are disjoint, and ascend. */
struct task_piece {
	uint64_t begin_ns, end_ns;
	enum task_state state;
	uint32_t cpu;  /* gaps of this CPU are unknown time within the piece */
	bool certain;  /* gaps within it do not matter */
	bool open;     /* had not ended when the recording ended */
};

#define TASK_PIECES 3

/*
 * Gets the pieces between the events `index` - 1 and `index` of a life; `index` is at most its
 * count. Returns their number.
 */
size_t task_life_pieces(const struct task_lives *lives, const struct task_life *life, size_t index,
			struct task_piece ret[TASK_PIECES]);

/* Counts of schedstat in a life, by time; the last ones may be later than its end. Borrowed. */
struct task_schedstats {
	const struct task_schedstat *items;
	size_t count;
};

struct task_schedstats task_life_schedstats(const struct task_lives *lives, size_t life_index);

/* Returns the index for task_life_pieces() of the pieces at a time. */
size_t task_life_index(const struct task_lives *lives, const struct task_life *life,
		       uint64_t time_ns);

/* Most pieces, if each blocked one is two. */
#define TASK_SPLIT_PIECES (2 * TASK_PIECES)

/*
 * Like task_life_pieces(), but the estimated time from waking to running is a runnable piece at the
 * end of a blocked one. Only after task_lives_sum().
 */
size_t task_life_split_pieces(const struct task_lives *lives, const struct task_life *life,
			      size_t index, struct task_piece ret[TASK_SPLIT_PIECES]);

/* Returns a piece's length within a time, without times of lost records. */
uint64_t task_piece_known_ns(const struct task_lives *lives, const struct task_piece *piece,
			     uint64_t from_ns, uint64_t until_ns);

/* Adds a life's sums and counts within a time. A wait counts with the time after its wake-up. */
void task_life_sum(const struct task_lives *lives, const struct task_life *life, uint64_t from_ns,
		   uint64_t until_ns, struct task_totals *ret);

/* Returns the estimated time from waking to running at the end of a blocked piece. */
uint64_t task_life_wake_ns(const struct task_lives *lives, const struct task_life *life,
			   size_t index, const struct task_piece *piece);

/* Sets the sums and counts of all totals. Returns false when out of memory. */
bool task_lives_sum(struct task_lives *lives);
