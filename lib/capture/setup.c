/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plans the events, maps the rings, starts the threads that unwind and drain, and opens the file.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/config/plan_facts.h"
#include "capture/metadata/host.h"
#include "capture/recorder.h"
#include "capture/ring_bank/drain_threads.h"
#include "capture/samples/stack_dump.h"

/* Limit of samples that wait to be unwound. */
#define UNWINDING_MEMORY ((size_t)64 << 20)

/* Unwinds in half as many threads as CPUs are online: the other CPUs are the workload's. */
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
		.cpu_clock = capture->config.plan->cpu_wide && attr_is_clock(attr),
		.workers = capture->config.online.count > 1 ? capture->config.online.count / 2 : 1,
		.memory_bytes = UNWINDING_MEMORY,
	};
	return sample_path_enable_unwinding(&capture->samples, &options);
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
		.stack_bytes =
			attr->sample_type & PERF_SAMPLE_STACK_USER ? attr->sample_stack_user : 0,
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
	drain_threads.threads =
		drain_groups_wanted(options, capture->bank.count, drain_threads.stack_bytes);
	struct sp_error *error = NULL;
	if (drain_threads.threads)
		error = drain_groups_make(capture->ctx, options->buffers.threads,
					  drain_threads.threads, &capture->config.cpus, groups,
					  &drain_threads.threads);
	return error ? error : ring_bank_start_drain_threads(&capture->bank, &drain_threads);
}

/* Returns the events as the file has them: without fields that are only copied to be unwound. */
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

struct sp_error *capture_open_file(struct sp_capture *capture,
				   const struct capture_options *options)
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

/* Makes the configuration and the plan of events. */

static enum event_start start_of(const struct sp_capture *capture)
{
	/* Events of running tasks are enabled when all are open, and rings are drained. */
	bool by_exec = capture_starts_by_exec(capture) && !capture->control.schedule.later;
	return by_exec ? EVENT_START_ON_EXEC : EVENT_START_LATER;
}

/* Copies facts of the plan for readers of records. */
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
		error = config_choose_stacks(capture->ctx, &options,
					     host_memory_kb(capture->ctx) << 10, notes, config);
	if (!error)
		error = config_request(config, &options, start_of(capture), notes, &request);
	if (error)
		return error;
	aux_areas_request(&capture->out.aux_areas, &request);
	if (options.output.switch_event)
		error = trigger_plan(&capture->control.trigger, capture->ctx, &config->rights,
				     config->cpus.items[0], options.output.switch_event);
	if (!error)
		error = config_plan(event_kernel_real(), capture->ctx, &request, &options, notes,
				    config);
	return error ? error : use_plan(capture, &options);
}

/* Maps the rings, smaller ones if others of the same user have locked memory. */

static struct sp_error *note_shrunk(struct sp_capture *capture, struct ring_pages pages)
{
	uint64_t page_size = capture->config.rights.page_size;
	return notes_add(&capture->out.notes, NOTE_RINGS_SHRUNK, NULL, pages.samples * page_size,
			    pages.sideband * page_size);
}

/* Maps smaller rings until they fit. */
static struct sp_error *map_what_fits(struct sp_capture *capture)
{
	const struct ring_pages *pages = &capture->config.ring_pages;
	size_t page_size = capture->config.rights.page_size;
	bool shrunk = false;
	for (;;) {
		TRY(config_check_rings(&capture->config));
		struct sp_error *error = ring_bank_map(&capture->bank, pages->sideband * page_size,
						       pages->samples * page_size);
		if (!error)
			return shrunk ? note_shrunk(capture, *pages) : NULL;
		if (sp_error_code(error) != SP_ERROR_LIMIT)
			return error;
		sp_error_free(error);
		TRY(config_shrink_rings(&capture->config));
		shrunk = true;
	}
}

struct sp_error *capture_map_rings(struct sp_capture *capture)
{
	size_t cpus = capture->config.cpus.count;
	TRY(event_control_open_set(&capture->control, &capture->config));
	CLEANUP_FREE struct ring_place *places = calloc(cpus, sizeof(*places));
	NEED(places);
	for (size_t i = 0; i < cpus; i++)
		places[i] = (struct ring_place){
			.cpu = capture->config.cpus.items[i],
			.metadata_fd =
				event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SIDEBAND),
			.samples_fd =
				event_set_ring_fd(capture->control.set, i, EVENT_ROLE_SAMPLES),
		};
	capture->bank.overwrites = capture->overwrite.on;
	TRY(ring_bank_init(&capture->bank, places, cpus));
	return map_what_fits(capture);
}

/*
 * Maps the areas of the recording's tracing event. The event is opened disabled, like all other
 * events, because it needs its area: each CPU's area is mapped after the ring for its records,
 * and then the event is enabled. Decoders convert its time stamps by the ring's control page,
 * which has the kernel's own clock: so all events use that clock.
 */

static struct sp_error *map_area(struct sp_capture *capture, size_t cpu_index)
{
	struct aux_areas *areas = &capture->out.aux_areas;
	struct auxtrace_area *area = &areas->items[areas->count];
	int fd = event_set_fd(capture->control.set, areas->event, cpu_index);
	if (fd < 0)
		return NULL; /* the CPU went offline */
	struct sp_error *error = aux_map(&area->aux, &capture->bank.samples[cpu_index], fd,
					 areas->area_bytes, areas->snapshot || areas->sampled);
	if (error && sp_error_code(error) == SP_ERROR_LIMIT)
		return error_set_remedy(error, "use a smaller one (-m ,PAGES), or allow more: "
					"sudo sysctl kernel.perf_event_mlock_kb=N");
	if (error)
		return error_prefix(error, "%s", areas->pmu.name);
	area->index = cpu_index;
	area->cpu = capture->config.cpus.items[cpu_index];
	area->tid = capture->config.plan->cpu_wide ? -1
						   : (int32_t)capture->tasks.workload.pid ?: -1;
	areas->count++;
	return NULL;
}

/* Returns whether events that waited for the areas are enabled now. */
static bool begins_now(const struct sp_capture *capture)
{
	return !capture->control.schedule.later && !capture_starts_by_exec(capture);
}

struct sp_error *capture_map_aux_areas(struct sp_capture *capture)
{
	struct aux_areas *areas = &capture->out.aux_areas;
	if (areas->pmu.type == AUXTRACE_NONE)
		return NULL;
	areas->items = calloc(capture->config.cpus.count, sizeof(*areas->items));
	struct sp_error *error = areas->items ? NULL : error_no_memory();
	for (size_t i = 0; !error && i < capture->config.cpus.count; i++)
		error = map_area(capture, i);
	bool cpu_wide = capture->config.plan->cpu_wide;
	const struct auxtrace_settings settings = {
		.snapshot = areas->snapshot,
		.switches = !capture->config.plan->sideband.attr.context_switch ? 0
			    : cpu_wide ? 3 : 2,
	};
	if (!error)
		error = auxtrace_put_info(capture->ctx, &areas->pmu, capture->bank.samples[0].page,
					  &settings, &capture->out.synthesised);
	if (!error && begins_now(capture))
		error = event_control_resume(&capture->control);
	return error;
}

struct sp_error *capture_drain_all_aux(struct sp_capture *capture, bool waits)
{
	struct recording *out = &capture->out;
	return aux_areas_drain(&out->aux_areas, out->write_queue, waits, &out->dirty);
}

struct sp_error *capture_drain_aux(struct sp_capture *capture, bool last)
{
	/* AUX records of the same bytes come first: they are written already, or wait. */
	const struct aux_areas *areas = &capture->out.aux_areas;
	return areas->snapshot || areas->sampled ? NULL : capture_drain_all_aux(capture, last);
}
