/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/trigger.h"

#include <sprof/capture.h>
#include <stdlib.h>
#include "capture/recorder.h"

void trigger_init(struct trigger *trigger)
{
	*trigger = (struct trigger){0};
}

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

struct sp_error *trigger_plan(struct trigger *trigger, const struct sp_capture *capture,
			      const struct capture_options *options)
{
	if (!options->output.switch_event)
		return NULL;
	struct sp_error *error = event_specs_parse(&trigger->specs, capture->ctx,
						  options->output.switch_event);
	const struct event_request request = {
		.specs = &trigger->specs,
		.scope = EVENT_SCOPE_CPUS_IF_ALLOWED,
		.start = EVENT_START_NOW,
		.cpu = capture->config.cpus.items[0],
		.period = 1,
		.inherit = true,
		/* At once, and with next to nothing of a ring. */
		.asked.wakeup_events = 1,
		.clock_id = CLOCK_MONOTONIC,
	};
	if (!error)
		error = event_plan_make(event_kernel_real(), &capture->config.rights, &request,
					&trigger->plan);
	return error ? error_prefix(error, "--switch-output-event") : NULL;
}

/* Of whole CPUs, or of each task that is recorded from the beginning. */
static struct sp_error *open_places(struct sp_capture *capture)
{
	struct trigger *trigger = &capture->control.trigger;
	struct { VEC(struct event_place); } places = {0};
	struct { VEC(int32_t); } tids = {0};
	struct sp_error *error = NULL;
	bool good = true;
	if (trigger->plan->cpu_wide || capture->tasks.workload.pid) {
		int32_t *slot = vec_push(&tids);
		good = slot;
		if (slot)
			*slot = trigger->plan->cpu_wide ? -1 : (int32_t)capture->tasks.workload.pid;
	}
	for (size_t i = 0; i < capture->tasks.processes.count && good && !trigger->plan->cpu_wide; i++)
		for (size_t j = 0; j < capture->tasks.processes.items[i].threads.count && good; j++) {
			int32_t *slot = vec_push(&tids);
			good = slot;
			if (slot)
				*slot = (int32_t)capture->tasks.processes.items[i].threads.items[j];
		}
	for (size_t i = 0; i < tids.count && good; i++)
		for (uint32_t cpu = 0; cpu < trigger->ring_count && good; cpu++) {
			struct event_place *place = vec_push(&places);
			good = place;
			if (place)
				*place = (struct event_place){.tid = tids.items[i], .cpu_index = cpu,
							      .last_cpu = -1};
		}
	if (good)
		error = event_set_open(trigger->set, EVENT_ROLE_SAMPLES, places.items, places.count);
	vec_deinit(&places);
	vec_deinit(&tids);
	return good ? error : error_no_memory();
}

struct sp_error *capture_watch_trigger(struct sp_capture *capture)
{
	struct trigger *trigger = &capture->control.trigger;
	size_t cpus = capture->config.cpus.count;
	if (!trigger->plan)
		return NULL;
	struct sp_error *error = event_set_new(event_kernel_real(), trigger->plan,
					       capture->config.cpus.items, cpus, &trigger->set);
	trigger->rings = error ? NULL : calloc(cpus, sizeof(*trigger->rings));
	if (!error && !trigger->rings)
		error = error_no_memory();
	for (size_t i = 0; i < cpus && !error; i++) {
		int fd = event_set_ring_fd(trigger->set, i, EVENT_ROLE_SAMPLES);
		error = ring_map(&trigger->rings[i], fd, capture->config.rights.page_size);
		trigger->ring_count = i + !error;
		if (!error)
			error = capture_watch_fd(capture, fd);
	}
	if (!error)
		error = open_places(capture);
	return error ? error_prefix(error, "--switch-output-event") : NULL;
}

bool trigger_take(struct trigger *trigger)
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
