/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/trigger.h"

#include <stdlib.h>
#include "base/cleanup.h"

void trigger_deinit(struct trigger *trigger)
{
	for (size_t i = 0; trigger->rings && i < trigger->ring_count; i++)
		ring_deinit(&trigger->rings[i]);
	free(trigger->rings);
	event_set_free(trigger->set);
	event_plan_free(trigger->plan);
	event_specs_deinit(&trigger->specs);
	*trigger = (struct trigger){0};
}

struct sp_error *trigger_plan(struct trigger *trigger, const struct sp_ctx *ctx,
			      const struct rights *rights, uint32_t cpu, const char *name)
{
	struct sp_error *error = event_specs_parse(&trigger->specs, ctx, name);
	const struct event_request request = {
		.specs = &trigger->specs,
		.scope = EVENT_SCOPE_CPUS_IF_ALLOWED,
		.start = EVENT_START_NOW,
		.cpu = cpu,
		.period = 1,
		.inherit = true,
		/* Wakes at once, so the smallest ring buffer is enough. */
		.asked.wakeup_events = 1,
		.clock_id = CLOCK_MONOTONIC,
	};
	if (!error)
		error = event_plan_make(event_kernel_real(), rights, &request, &trigger->plan);
	return error ? error_prefix(error, "--switch-output-event") : NULL;
}

static struct sp_error *map_rings(struct trigger *trigger, const struct trigger_places *places)
{
	trigger->rings = calloc(places->cpu_count, sizeof(*trigger->rings));
	NEED(trigger->rings);
	for (; trigger->ring_count < places->cpu_count; trigger->ring_count++) {
		size_t i = trigger->ring_count;
		TRY(ring_map(&trigger->rings[i], trigger_fd(trigger, i), places->page_size));
	}
	return NULL;
}

static struct sp_error *open_places(struct trigger *trigger, const struct trigger_places *places)
{
	static const int32_t all_tasks = -1;
	const int32_t *tids = trigger->plan->cpu_wide ? &all_tasks : places->tids;
	size_t tid_count = trigger->plan->cpu_wide ? 1 : places->tid_count;
	size_t count = tid_count * places->cpu_count;
	CLEANUP_FREE struct event_place *opened = calloc(count + 1, sizeof(*opened));
	NEED(opened);
	for (size_t i = 0; i < count; i++)
		opened[i] = (struct event_place){.tid = tids[i / places->cpu_count],
						 .cpu_index = i % places->cpu_count,
						 .last_cpu = -1};
	return event_set_open(trigger->set, EVENT_ROLE_SAMPLES, opened, count);
}

struct sp_error *trigger_open(struct trigger *trigger, const struct trigger_places *places)
{
	if (!trigger->plan)
		return NULL;
	struct sp_error *error = event_set_new(event_kernel_real(), trigger->plan, places->cpus,
					       places->cpu_count, &trigger->set);
	if (!error)
		error = map_rings(trigger, places);
	if (!error)
		error = open_places(trigger, places);
	return error ? error_prefix(error, "--switch-output-event") : NULL;
}

int trigger_fd(const struct trigger *trigger, size_t cpu_index)
{
	return event_set_ring_fd(trigger->set, cpu_index, EVENT_ROLE_SAMPLES);
}

struct sp_error *trigger_reopen(struct trigger *trigger, size_t cpu_index)
{
	struct event_renamed_list ignored = {0};
	bool offline;
	if (!trigger->set || !trigger->plan->cpu_wide)
		return NULL;
	struct sp_error *error = event_set_reopen(trigger->set, cpu_index, &ignored, &offline);
	vec_deinit(&ignored);
	return error;
}

bool trigger_occurred(struct trigger *trigger)
{
	bool any = false;
	for (size_t i = 0; i < trigger->ring_count; i++) {
		struct ring *ring = &trigger->rings[i];
		uint64_t head = ring_head(ring);
		any |= head != ring->tail;
		ring_release(ring, head);
	}
	return any;
}
