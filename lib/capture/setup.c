/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What works beside the rings: who unwinds, who writes, and events that help others. */
#include "base/cleanup.h"
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"
#include "capture/ring_bank/drain_groups.h"
#include "capture/samples/dump.h"

/* Below that, it is not the rate by which samples are lost. */
#define SLOW_FROM_HZ 1000

/* Of samples that wait to be unwound. */
#define UNWINDING_MEMORY ((size_t)64 << 20)

/* Half of the CPUs unwind: the others are the workload's. */
struct sp_error *capture_start_unwinding(struct sp_capture *capture)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	if (!plan_is_unwound(capture->config.plan, capture->config.graph.live))
		return NULL;
	const struct unwinding_options options = {
		.ctx = capture->ctx,
		.attr = attr,
		.kept_registers = capture->config.kept_registers,
		.stack_bytes = config_stack_bytes(&capture->config, 0),
		.max_stack = capture->config.graph.max_stack,
		.python = capture->config.graph.python,
		.workers = capture->config.online.count > 1 ? capture->config.online.count / 2 : 1,
		.memory_bytes = UNWINDING_MEMORY,
	};
	return sample_path_unwind(&capture->samples, &options);
}

static struct wide_options wide_options(const struct sp_capture *capture)
{
	return (struct wide_options){
		.plan = capture->config.plan, .set = capture->control.set, .cpus = capture->config.cpus.items,
		.cpu_count = capture->config.cpus.count,
		.tid = capture->config.plan->cpu_wide ? -1 : (int32_t)capture->tasks.workload.pid,
		.ring_bytes = ring_bank_sample_bytes(&capture->bank),
		.freq_hz = plan_rate_hz(capture->config.plan),
		.fixed = capture->config.graph.fixed_size || event_plan_has_groups(capture->config.plan),
		.on_exec = capture->config.copies.alternates_begin,
	};
}

/* The filter has to know of events that the file does not. */
static struct sp_error *adopt_events(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	struct sp_error *error = event_set_events(capture->control.set, &events, &count);
	if (error)
		return error;
	capture->samples.filter.taker.helpers = &capture->control.wide.ids;
	capture->samples.filter.taker.own_ids = &capture->control.wide.own_ids.items;
	capture->samples.filter.taker.own_id = events[0].id_count ? events[0].ids[0] : 0;
	return NULL;
}

/*
 * Where a rate was asked for that rings may not bear. Events of a control group, of groups, of
 * tracing, and those that write their id twice, have none; nor has what is attached to task by task.
 */
struct sp_error *capture_open_slow(struct sp_capture *capture,
				   const struct capture_options *options)
{
	const struct event_plan *plan = capture->config.plan;
	bool whole = plan->cpu_wide || capture->config.target == CAPTURE_COMMAND;
	const struct wide_options slow = wide_options(capture);
	/* Of counters with a fixed period, nobody knows the rate before. */
	bool fast = plan_rate_hz(plan) >= SLOW_FROM_HZ ||
		    (!plan_rate_hz(plan) && !attr_is_clock(&plan->samples[0].attr));
	if (options->sampling.adapt == SP_OFF || options->target.cgroups || !whole || !fast ||
	    capture->samples.filter.fields.sample_id_again || event_plan_has_groups(plan) ||
	    capture->out.traces.area_bytes || options->fields.thread_counts)
		return NULL;
	struct sp_error *error = adopt_events(capture);
	return error ? error : wide_open_slow(&slow, &capture->control.wide);
}

/* Where events are opened one by one there is none. */
struct sp_error *capture_open_help(struct sp_capture *capture)
{
	bool cpu_wide = capture->config.plan->cpu_wide;
	if (!capture->samples.unwinding || (!cpu_wide && capture->config.target != CAPTURE_COMMAND) ||
	    capture->config.plan->samples[0].attr.sample_regs_intr)
		return NULL;
	const struct wide_options options = wide_options(capture);
	struct sp_error *error = adopt_events(capture);
	if (!error)
		error = wide_open(&options, &capture->control.wide);
	if (!error && !capture->tasks.workload.pid && !capture->control.turns.later)
		error = wide_start(&capture->control.wide, false, capture_now_ns());
	return error;
}

static void *new_probe(void *arg)
{
	return unwinding_probe_new(arg);
}

static void on_arrival(void *arg, void *state, const struct ring *ring, uint64_t end)
{
	unwinding_on_arrival(arg, state, ring, end);
}

struct sp_error *capture_start_drains(struct sp_capture *capture,
				      const struct capture_options *options)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	struct unwinding *unwinding = capture->samples.unwinding;
	struct ring_bank_drains drains = {
		.stack_bytes = attr->sample_type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0,
		.every_sample = options->buffers.wakeup_samples,
		.realtime = capture->config.realtime,
		.on_arrival = unwinding ? on_arrival : NULL,
		.new_state = new_probe,
		.arg = unwinding,
	};
	CLEANUP_FREE uint32_t *groups = calloc(capture->bank.count, sizeof(*groups));
	if (!groups)
		return error_no_memory();
	drains.groups = groups;
	drains.threads = drain_groups_wanted(options, capture->bank.count, drains.stack_bytes);
	struct sp_error *error = NULL;
	if (drains.threads)
		error = drain_groups_make(capture->ctx, options->buffers.threads, drains.threads,
					  &capture->config.cpus, groups, &drains.threads);
	return error ? error : ring_bank_start_drains(&capture->bank, &drains);
}

/* Returns the events as the file has them: without what is only copied to be unwound. */
static struct sp_error *file_events(const struct sp_capture *capture, struct arena *arena,
				    const struct sp_event **events, size_t *count_ret)
{
	const struct wall_clock *wall = &capture->bank.wall;
	struct sp_error *error = event_set_events(capture->control.set, events, count_ret);
	if (error || (!capture->samples.unwinding && !wall->on))
		return error;
	struct sp_event *changed = arena_alloc(arena, *count_ret * sizeof(*changed));
	if (!changed)
		return error_no_memory();
	for (size_t i = 0; i < *count_ret; i++) {
		changed[i] = (*events)[i];
		if (capture->samples.unwinding)
			dump_file_attr(&changed[i].attr, capture->config.kept_registers);
		if (wall->on)
			changed[i].attr.clockid = wall->clock;
	}
	*events = changed;
	return NULL;
}

struct sp_error *capture_open_file(struct sp_capture *capture, const struct capture_options *options)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	const struct wall_clock *wall = &capture->bank.wall;
	struct recording_options file = {
		.ctx = capture->ctx,
		.options = options,
		.plan = capture->config.plan,
		.clock = wall->on ? wall->clock : capture->config.plan->clock_id,
		.copies_records = capture->samples.unwinding,
	};
	struct sp_error *error = file_events(capture, &arena, &file.events, &file.event_count);
	return error ? error : recording_open(&capture->out, &file);
}
