/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places where events are opened: a task, or all tasks, on each CPU of the configuration. */
#pragma once

#include "capture/config/config.h"
#include "event/set.h"

/* Places of one role. Zeroed: empty. */
struct event_places {
	VEC(struct event_place);
};

void event_places_deinit(struct event_places *places);

/* Adds a place for each CPU. tid -1: all tasks. last_cpu: where the task last ran; -1: unknown. */
struct sp_error *event_places_add(struct event_places *places, const struct capture_config *config,
				  int32_t tid, int32_t last_cpu) SP_MUST_CHECK;

/*
 * Raises the limit of file descriptors for events of `task_count` tasks. Fails with SP_ERROR_LIMIT
 * if files or memory do not suffice (event/fd_budget.h).
 */
struct sp_error *event_places_reserve(const struct sp_ctx *ctx, const struct capture_config *config,
				      size_t task_count) SP_MUST_CHECK;
