/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of stack copies, by the room in the rings. Pure functions. */
#pragma once

#include "capture/config/call_graph.h"
#include "event/open.h"

/* Zeroed: as planned. */
struct stack_copies {
	uint32_t bytes;         /* for all planned events: more than requested; 0: as requested */
	bool alternates_begin;  /* events with larger copies begin with the exec, not the planned ones */
};

/*
 * Chooses copies for events of tasks that are unwound live. Running tasks' events are opened one by
 * one, and alternates would cost as much again: so the planned events copy more if rings have ample
 * room. A command's alternates begin instead of the planned events. Rings have `ring_bytes`.
 */
struct stack_copies stack_copies_choose(const struct call_graph *graph, const struct event_plan *plan,
					bool is_command, uint64_t ring_bytes);

/*
 * Returns the most that can be copied at that rate (samples per second and CPU) without overflows while
 * rings wait to be read: a multiple of 8, or 0 if it is less than twice `small`.
 */
uint32_t stack_copies_largest(uint64_t ring_bytes, uint64_t freq_hz, uint32_t small);

/* Returns whether rings have room for such copies from the beginning. */
bool stack_copies_are_roomy(uint64_t ring_bytes, uint64_t freq_hz, uint32_t large);
