/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts the threads that unwind and that drain ring buffers, and opens the file. */
#include "base/cleanup.h"
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"
#include "capture/ring_bank/drain_groups.h"
#include "capture/samples/stack_dump.h"

/* Limit of samples that wait to be unwound. */
#define UNWINDING_MEMORY ((size_t)64 << 20)

/* Half of the CPUs unwind: the others are the workload's. */
struct sp_error *capture_start_live_unwind(struct sp_capture *capture)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	if (!plan_is_unwound(capture->config.plan, capture->config.graph.live))
		return NULL;
	const struct live_unwind_options options = {
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

static void *new_state(void *arg)
{
	return live_unwind_arrival_new(arg);
}

static void free_state(void *state)
{
	python_worker_free(state);
}

static void on_arrival(void *arg, void *state, const struct ring *ring, uint64_t end)
{
	live_unwind_on_arrival(arg, state, ring, end);
}

struct sp_error *capture_start_drain_threads(struct sp_capture *capture,
					     const struct capture_options *options)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	struct live_unwind *live_unwind = capture->samples.live_unwind;
	struct ring_bank_drain_threads drain_threads = {
		.stack_bytes = attr->sample_type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0,
		.every_sample = options->buffers.wakeup_samples,
		.realtime = capture->config.realtime,
		/* Samples of waits wake no thread; most waits are longer than a poll's interval. */
		.polls = capture->config.graph.python_first && options->sampling.off_cpu,
		.on_arrival = live_unwind ? on_arrival : NULL,
		.new_state = new_state,
		.free_state = free_state,
		.arg = live_unwind,
	};
	CLEANUP_FREE uint32_t *groups = calloc(capture->bank.count, sizeof(*groups));
	NEED(groups);
	drain_threads.groups = groups;
	drain_threads.threads = drain_groups_wanted(options, capture->bank.count, drain_threads.stack_bytes);
	struct sp_error *error = NULL;
	if (drain_threads.threads)
		error = drain_groups_make(capture->ctx, options->buffers.threads, drain_threads.threads,
					  &capture->config.cpus, groups, &drain_threads.threads);
	return error ? error : ring_bank_start_drain_threads(&capture->bank, &drain_threads);
}

/* Returns the events as the file has them: without what is only copied to be unwound. */
static struct sp_error *file_events(const struct sp_capture *capture, struct arena *arena,
				    const struct sp_event **events, size_t *count_ret)
{
	const struct wall_clock *wall = &capture->bank.wall;
	struct sp_error *error = event_set_events(capture->control.set, events, count_ret);
	if (error || (!capture->samples.live_unwind && !wall->on))
		return error;
	struct sp_event *changed = arena_alloc(arena, *count_ret * sizeof(*changed));
	NEED(changed);
	for (size_t i = 0; i < *count_ret; i++) {
		changed[i] = (*events)[i];
		if (capture->samples.live_unwind)
			stack_dump_file_attr(&changed[i].attr, capture->config.kept_registers);
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
		.copies_records = capture->samples.live_unwind,
	};
	TRY(file_events(capture, &arena, &file.events, &file.event_count));
	return recording_open(&capture->out, &file);
}
