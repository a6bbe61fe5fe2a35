/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event that is not recorded: each occurrence ends a file (perf's --switch-output-event). It is
 * opened on all CPUs if that is allowed, else for the recorded tasks.
 */
#pragma once

#include "base/vec.h"
#include "event/set.h"
#include "ring/ring.h"

/* Zeroed: there is none. */
struct trigger {
	struct event_specs specs;
	struct event_plan *plan;
	struct event_set *set;
	struct ring *rings;    /* one for each CPU */
	size_t ring_count;
};

void trigger_deinit(struct trigger *trigger);

/* Plans the event with that name; `cpu` is one of the CPUs. Fails if it is unknown, or not allowed. */
struct sp_error *trigger_plan(struct trigger *trigger, const struct sp_ctx *ctx,
			      const struct rights *rights, uint32_t cpu,
			      const char *name) SP_MUST_CHECK;

/* CPUs and tasks to open the event for. Tasks are unused if the event is planned for whole CPUs. */
struct trigger_places {
	const uint32_t *cpus;
	size_t cpu_count;
	const int32_t *tids;
	size_t tid_count;
	size_t page_size;
};

/* Opens the planned event; without a plan, does nothing. */
struct sp_error *trigger_open(struct trigger *trigger,
			      const struct trigger_places *places) SP_MUST_CHECK;

/* Returns the descriptor to poll for a CPU, from 0 to trigger->ring_count - 1. */
int trigger_fd(const struct trigger *trigger, size_t cpu_index);

/* Reopens the event of a CPU that came back. */
struct sp_error *trigger_reopen(struct trigger *trigger, size_t cpu_index) SP_MUST_CHECK;

/* Returns whether the event has occurred since the last call. Empties its rings. */
bool trigger_occurred(struct trigger *trigger);
