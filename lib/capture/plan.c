/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the configuration and the plan of events. */
#include "base/clock.h"
#include "capture/config/plan_facts.h"
#include "capture/metadata/host.h"
#include "capture/recorder.h"

static enum event_start start_of(const struct sp_capture *capture)
{
	/* Events of what runs already are enabled when all are open, and rings are drained. */
	bool by_exec = capture_waits(capture) && !capture->control.schedule.later;
	return by_exec ? EVENT_START_ON_EXEC : EVENT_START_LATER;
}

/* Copies what readers of records need to know of the plan. */
static struct sp_error *use_plan(struct sp_capture *capture, const struct capture_options *options)
{
	const struct event_plan *plan = capture->config.plan;
	if (options->schedule.use_clock && clock_can_be_set(options->schedule.clock) &&
	    plan->clock_id == CLOCK_MONOTONIC && wall_clock_start(&capture->bank.wall,
								  options->schedule.clock))
		capture->bank.rewrite.shift_ns = capture->bank.wall.ahead_ns;
	if (!record_fields_make(plan_common_type(plan), &capture->samples.filter.fields))
		return error_new(SP_ERROR_INVALID, "no event to sample");
	capture->tasks.tracker.fields = capture->hold.fields = capture->samples.filter.fields;
	if (capture->config.target == CAPTURE_SYSTEM_WIDE && !capture->overwrite.on)
		capture->hold.rate = HOLD_RATE * ((capture->config.cpus.count + 1) / 2);
	return NULL;
}

struct sp_error *capture_plan(struct sp_capture *capture, const struct capture_options *given)
{
	struct capture_options options = *given;
	struct capture_config *config = &capture->config;
	struct notes *notes = &capture->out.notes;
	struct event_request request;
	struct sp_error *error = config_list_events(capture->ctx, &options, config);
	if (!error)
		error = aux_areas_find(&capture->out.aux_areas, capture->ctx, &options,
				       config->rights.page_size, &config->events.specs);
	if (!error)
		error = config_choose_stacks(capture->ctx, &options, host_memory_kb(capture->ctx) << 10,
					     notes, config);
	if (!error)
		error = config_request(config, &options, start_of(capture), notes, &request);
	if (error)
		return error;
	aux_areas_request(&capture->out.aux_areas, &request);
	if (options.output.switch_event)
		error = trigger_plan(&capture->control.trigger, capture->ctx, &config->rights,
				     config->cpus.items[0], options.output.switch_event);
	if (!error)
		error = config_plan(event_kernel_real(), capture->ctx, &request, &options, notes, config);
	return error ? error : use_plan(capture, &options);
}
