/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decisions on stacks and the plan of events. */
#include <errno.h>
#include <sprof/private/words.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "capture/config/config_internal.h"
#include "capture/config/capture_options.h"
#include "capture/config/plan_facts.h"
#include "event/event_filter.h"

DEFINE_CLEANUP(struct event_plan *, event_plan_free)

struct sp_error *config_choose_stacks(const struct sp_ctx *ctx, const struct capture_options *options,
				      uint64_t memory_bytes, struct notes *notes,
				      struct capture_config *config)
{
	CLEANUP(target_survey_deinit) struct target_survey survey = {0};
	struct utsname name;
	if (uname(&name) < 0)
		return error_os(errno, "uname");
	const struct call_graph_facts facts = {
		.options = options,
		.specs = &config->events.specs,
		.rights = &config->rights,
		.machine = name.machine,
		.survey = &survey,
		.cpu_count = config->cpus.count,
		.memory_bytes = memory_bytes,
		.freq_hz = config_freq_hz(options),
	};
	if (call_graph_registers(name.machine))
		TRY(target_survey(ctx, options, &survey));
	return call_graph_choose(&facts, notes, &config->graph, &config->ring_pages);
}

/* -- The plan ---------------------------------------------------------------- */

/* The file's events have no control groups. */
static struct sp_error *note_cgroups(const struct capture_options *options, struct notes *notes)
{
	const char *cgroups = options->target.cgroups;
	if (!cgroups)
		return NULL;
	return strchr(cgroups, ',') ? notes_add(notes, NOTE_CGROUPS, cgroups)
				    : notes_add(notes, NOTE_CGROUP, cgroups);
}

/* Notes the first such event: others of the command line mostly have the same rate. */
static struct sp_error *note_lock_in(const struct event_plan *plan, bool dithers,
				     struct notes *notes)
{
	struct sp_lock_in lock_in;
	size_t i = 0;
	while (i < plan->sample_count &&
	       ((dithers && plan_event_dithers(plan, i)) ||
		!sp_lock_in_find(&plan->samples[i].attr, clock_tick_hz(), &lock_in)))
		i++;
	if (i == plan->sample_count)
		return NULL;
	struct sp_error *error = notes_add(notes, NOTE_LOCK_IN, NULL, lock_in.period_ns, lock_in.timer_hz,
					   lock_in.free_hz);
	/* A report finds lock-in with 1 ms timers itself, but does not know this kernel's HZ. */
	if (!error)
		vec_last(notes)->is_derived = sp_lock_in_find(&plan->samples[i].attr, 0, &lock_in);
	return error;
}

uint32_t config_stack_bytes(const struct capture_config *config, size_t event)
{
	const struct event_terms *terms = &config->events.specs.items[event].terms;
	return terms->given & EVENT_TERM_STACK_SIZE ? terms->stack_bytes : config->graph.stack_bytes;
}

/*
 * Sets the sizes of stack copies, and whether planned events or alternates begin with the command's
 * exec.
 */
static void apply_copies(struct capture_config *config, struct event_plan *plan,
			 struct stack_copies copies)
{
	for (size_t i = 0; i < plan->sample_count; i++) {
		struct perf_event_attr *attr = &plan->samples[i].attr;
		if (i == config_switch_event(config, plan))
			continue;
		/* The kernel reserves the whole size, at each switch. */
		bool waits = config->off_cpu.on && i >= config->off_cpu.event;
		attr->sample_stack_user = copies.bytes && !waits ? copies.bytes
								 : config_stack_bytes(config, i);
		if (copies.alternates_begin != config->copies.alternates_begin)
			attr->enable_on_exec = !copies.alternates_begin;
	}
	config->copies = copies;
}

static void choose_copies(struct capture_config *config, struct event_plan *plan)
{
	uint64_t ring_bytes = (uint64_t)config->ring_pages.samples * config->rights.page_size;
	if (!plan_is_unwound(plan, config->graph.live))
		return;
	apply_copies(config, plan, (struct stack_copies){0});
	bool is_command = config->target == CAPTURE_COMMAND && !config->off_cpu.on;
	apply_copies(config, plan,
		     stack_copies_choose(&config->graph, plan, is_command, ring_bytes));
}

struct sp_error *config_plan(const struct event_kernel *kernel, const struct sp_ctx *ctx,
			     const struct event_request *request,
			     const struct capture_options *options, struct notes *notes,
			     struct capture_config *config)
{
	CLEANUP(cleanup_event_plan_free) struct event_plan *plan = NULL;
	TRY(event_plan_make(kernel, &config->rights, request, &plan));
	TRY(note_cgroups(options, notes));
	TRY(event_filters_check(kernel, ctx, plan, request->cpu));
	TRY(notes_add_planned(notes, &plan->notes));
	if (options->sampling.dither != SP_OFF)
		config->dither = plan_dither_spread(plan, config->rights.max_sample_hz);
	if (config->dither > 0)
		TRY(notes_add(notes, NOTE_DITHERED, NULL, 1000 * (1 - config->dither),
			      1000 * (1 + config->dither)));
	TRY(note_lock_in(plan, config->dither > 0, notes));
	TRY(off_cpu_note(&config->off_cpu, plan, config->graph.live, notes));
	if (!plan->sample_count)
		return error_new(SP_ERROR_INVALID, "no event to sample");
	choose_copies(config, plan);
	config->plan = config->own_plan = take_ptr(plan);
	return NULL;
}

/* -- While rings are mapped --------------------------------------------------- */

struct sp_error *config_check_rings(const struct capture_config *config)
{
	uint32_t ring_bytes = config->ring_pages.samples * config->rights.page_size;
	if (call_graph_has_room(&config->graph, ring_bytes))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_LIMIT, "ring buffers of %u KiB are too small for "
					  "%u-byte stack copies", ring_bytes / 1024,
					  config->graph.stack_bytes),
				"use -m 512K, or --call-graph fp");
}

struct sp_error *config_shrink_rings(struct capture_config *config)
{
	struct sp_error *error = rights_shrink_rings(&config->rights, &config->ring_pages);
	if (!error)
		choose_copies(config, config->own_plan);
	return error;
}

void config_deinit(struct capture_config *config)
{
	event_plan_free(config->own_plan);
	events_deinit(&config->events);
	vec_deinit(&config->cpus);
	vec_deinit(&config->online);
	free(config->command_name);
	free(config->unit_path);
	*config = (struct capture_config){0};
}

struct sp_error *capture_options_copy(struct capture_options *ret,
				      const struct sp_capture_options *options)
{
	struct sp_capture_options given;
	TRY(sized_copy(&given, sizeof(given), options));
	const struct sized_group groups[] = {
		{&ret->target, sizeof(ret->target), given.target, "target"},
		{&ret->sampling, sizeof(ret->sampling), given.sampling, "sampling"},
		{&ret->fields, sizeof(ret->fields), given.fields, "fields"},
		{&ret->chains, sizeof(ret->chains), given.chains, "chains"},
		{&ret->buffers, sizeof(ret->buffers), given.buffers, "buffers"},
		{&ret->output, sizeof(ret->output), given.output, "output"},
		{&ret->schedule, sizeof(ret->schedule), given.schedule, "schedule"},
	};
	return sized_copy_groups(groups, count_of(groups));
}
