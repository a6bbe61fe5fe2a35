/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked for becomes a plan of events, as far as this machine and our rights let it. */
#include <errno.h>
#include <sprof/private/words.h>
#include <string.h>
#include "base/clock.h"
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "capture/config/ring_size.h"
#include "event/filter.h"
#include "event/kind.h"
#include "record/types.h"

#define DEFAULT_FREQ_HZ 997

/* See scope_of(). */
#define WHOLE_CPUS_HZ_MAX 5000

/* Above, waking a thread for each sample costs more than the Python frames are worth: 30 us each. */
#define PYTHON_FIRST_HZ_MAX 2500

/* The CPUs that were asked for, as far as they are online. */
static struct sp_error *choose_cpus(struct sp_capture *capture, const char *text)
{
	struct sp_error *error = sysfs_cpus_online(capture->ctx, &capture->config.online);
	if (error)
		return error;
	struct cpu_list *cpus = &capture->config.cpus;
	if (text)
		error = cpu_list_parse(cpus, text);
	if (!error && !vec_reserve(cpus, capture->config.online.count))
		error = error_no_memory();
	if (error)
		return error;
	if (!text) {
		memcpy(cpus->items, capture->config.online.items,
		       capture->config.online.count * sizeof(*cpus->items));
		cpus->count = capture->config.online.count;
	}
	for (size_t i = 0; i < cpus->count; i++) {
		bool is_online = false;
		for (size_t j = 0; j < capture->config.online.count; j++)
			is_online |= capture->config.online.items[j] == cpus->items[i];
		if (!is_online)
			return error_new(SP_ERROR_INVALID, "CPU %u is not online", cpus->items[i]);
	}
	return cpus->count ? NULL : error_new(SP_ERROR_INVALID, "no CPU to record");
}

static bool all_clocks(const struct event_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		if (!capture_is_clock(&specs->items[i].attr))
			return false;
	return true;
}

/*
 * On whole CPUs everyone is interrupted, 12 us for each sample; by inheritance, up
 * to a period of each new task is not sampled. So whole CPUs are taken where periods
 * are long: at 1 kHz it is 1 % of each CPU against 1 ms of each task, at 20 kHz 25 %
 * against 50 us. (Of children of 1.3 ms, inheritance misses 26 % at 1 kHz, 14 % at 5.)
 */
static enum event_scope scope_of(const struct sp_capture *capture,
				 const struct capture_options *options,
				 const struct event_specs *specs)
{
	if (capture->config.target == CAPTURE_EVERYONE || options->target.scope == SP_CAPTURE_SCOPE_CPU)
		return EVENT_SCOPE_CPUS;
	bool not_inherited = false, for_tasks = false;
	for (size_t i = 0; i < specs->count; i++) {
		not_inherited |= event_is_not_inherited(&specs->items[i]);
		for_tasks |= event_is_for_tasks(&specs->items[i]);
	}
	if (not_inherited && options->target.scope != SP_CAPTURE_SCOPE_TASK)
		return EVENT_SCOPE_CPUS;
	/* These are matters of tasks. */
	for_tasks |= options->target.remove_on_exec || (options->fields.thread_counts &&
							capture->config.inherit);
	if (for_tasks || options->target.scope == SP_CAPTURE_SCOPE_TASK ||
	    options->sampling.freq_hz > WHOLE_CPUS_HZ_MAX ||
	    (options->sampling.period &&
	     (!all_clocks(specs) || options->sampling.period < 1000000000 / WHOLE_CPUS_HZ_MAX)))
		return EVENT_SCOPE_TASKS;
	return EVENT_SCOPE_CPUS_IF_ALLOWED;
}

/* For messages: why it is EVENT_SCOPE_CPUS. */
static const char *cpus_are_for(const struct sp_capture *capture,
				const struct capture_options *options,
				const struct event_specs *specs)
{
	if (options->target.cgroups)
		return "-G";
	if (capture->config.target == CAPTURE_EVERYONE)
		return options->target.cpus ? "-C" : "-a";
	if (options->target.scope == SP_CAPTURE_SCOPE_CPU)
		return "--scope cpu";
	for (size_t i = 0; i < specs->count; i++)
		if (event_is_not_inherited(&specs->items[i]))
			return specs->items[i].name;
	return NULL;
}

static enum event_start start_of(const struct sp_capture *capture)
{
	if (capture->control.turns.later)
		return EVENT_START_LATER;
	return capture_waits(capture) ? EVENT_START_ON_EXEC : EVENT_START_NOW;
}

/*
 * Linux fits the copy of the stack into what a record's u16 size leaves, and only then adds the
 * interrupt's registers: where both are large the size overflows, and the ring is garbage (6.18;
 * perf record is killed by it). So there is room for them, and for call chains of the kernel.
 */
#define STACK_BESIDE_REGISTERS 49152

static struct sp_error *bound_stacks(struct sp_capture *capture,
				     const struct capture_options *options)
{
	struct call_graph *graph = &capture->config.graph;
	if (graph->kind != SP_CALL_GRAPH_DWARF || !options->fields.interrupt_registers)
		return NULL;
	graph->fixed_size = true;
	if (graph->stack_bytes <= STACK_BESIDE_REGISTERS)
		return NULL;
	graph->stack_bytes = STACK_BESIDE_REGISTERS;
	return notes_add(&capture->out.notes, NOTE_COPY_LIMITED, NULL, STACK_BESIDE_REGISTERS);
}

static struct sp_error *choose_graph(struct sp_capture *capture,
				     const struct capture_options *options)
{
	struct sp_error *error = call_graph_choose(capture->ctx, options, &capture->config.graph);
	/* Nothing is sampled: there is nothing to find calls of. */
	if (!error && options->sampling.samples == SP_OFF)
		capture->config.graph.kind = SP_CALL_GRAPH_NONE;
	else if (!error && capture->config.graph.note)
		error = notes_keep_text(&capture->out.notes, NOTE_CALL_GRAPH, capture->config.graph.note);
	/* Of what may never be written, nothing is unwound. */
	capture->config.graph.live &= capture->config.graph.kind == SP_CALL_GRAPH_DWARF &&
				      !options->buffers.overwrite;
	return error ? error : bound_stacks(capture, options);
}

/* call-graph= of all events alike is that of the recording. */
static void take_common_graph(struct event_specs *specs, struct capture_options *options)
{
	static const enum sp_call_graph kinds[] = {
		[EVENT_TERMS_CALL_GRAPH_NO] = SP_CALL_GRAPH_NONE,
		[EVENT_TERMS_CALL_GRAPH_FP] = SP_CALL_GRAPH_FP,
		[EVENT_TERMS_CALL_GRAPH_DWARF] = SP_CALL_GRAPH_DWARF,
	};
	const struct event_terms *first = &specs->items[0].terms;
	for (size_t i = 0; i < specs->count; i++) {
		const struct event_terms *terms = &specs->items[i].terms;
		if (!(terms->given & EVENT_TERM_CALL_GRAPH) || terms->call_graph != first->call_graph ||
		    terms->stack_bytes != first->stack_bytes ||
		    terms->call_graph == EVENT_TERMS_CALL_GRAPH_LBR)
			return;
	}
	options->chains.call_graph = kinds[first->call_graph];
	if (first->given & EVENT_TERM_STACK_SIZE) {
		options->chains.stack_bytes = first->stack_bytes;
		options->chains.fixed_stack_bytes = true;
	}
	for (size_t i = 0; i < specs->count; i++)
		specs->items[i].terms.given &= ~(uint32_t)(EVENT_TERM_CALL_GRAPH |
							   EVENT_TERM_STACK_SIZE);
}

/* Copies of stacks are unwound at once where all events have them. */
static struct sp_error *check_graph_terms(struct sp_capture *capture, const struct event_specs *specs)
{
	bool differs = false;
	for (size_t i = 0; i < specs->count; i++)
		differs |= specs->items[i].terms.given & EVENT_TERM_CALL_GRAPH;
	if (!differs || !capture->config.graph.live)
		return NULL;
	capture->config.graph.live = false;
	return notes_add(&capture->out.notes, NOTE_UNWIND_LATER, NULL);
}

/* The processor's own record of calls; as perf asks for it. */
#define CALL_STACK_BRANCHES                                                     \
	((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |   \
		    PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES))

static void request_graph(const struct sp_capture *capture,
			  const struct capture_options *options, struct event_request *request)
{
	const struct call_graph *graph = &capture->config.graph;
	request->max_stack = graph->max_stack;
	request->dump_registers = graph->registers;
	request->dump_stack_bytes = graph->stack_bytes;
	request->uniform = graph->live;
	if (graph->kind == SP_CALL_GRAPH_FP || graph->kind == SP_CALL_GRAPH_LBR)
		request->callchain = options->chains.kernel_only ? EVENT_CALLCHAIN_KERNEL
				     : options->chains.user_only ? EVENT_CALLCHAIN_USER
							    : EVENT_CALLCHAIN_ALL;
	if (graph->kind == SP_CALL_GRAPH_LBR)
		request->asked.branch_type = CALL_STACK_BRANCHES;
	if (graph->kind != SP_CALL_GRAPH_DWARF)
		return;
	request->callchain = options->chains.user_only ? EVENT_CALLCHAIN_NOTHING : EVENT_CALLCHAIN_KERNEL;
	request->extra_sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	request->user_registers = graph->registers;
	request->user_stack_bytes = graph->stack_bytes;
}

/*
 * READ records are not asked for without need: a task that ends on one CPU writes them into the
 * rings of all the others, which the kernel does not guard against. With many threads ending,
 * rings stop for good (6.18, and perf record -s loses nearly everything).
 */
static struct sp_error *say_about_counts(struct sp_capture *capture,
					 const struct capture_options *options)
{
	if (!options->fields.thread_counts)
		return NULL;
	if (capture->config.target == CAPTURE_EVERYONE || !capture->config.inherit)
		return notes_add(&capture->out.notes, NOTE_NO_THREAD_COUNTS, NULL);
	return notes_add(&capture->out.notes, NOTE_THREAD_COUNTS_RISKY, NULL);
}

/* Which event is of which control group is nowhere else in the file. */
static struct sp_error *say_groups(struct sp_capture *capture, const struct capture_options *options)
{
	if (!options->target.cgroups)
		return NULL;
	if (!strchr(options->target.cgroups, ','))
		return notes_add(&capture->out.notes, NOTE_CGROUP, options->target.cgroups);
	return notes_add(&capture->out.notes, NOTE_CGROUPS, options->target.cgroups);
}

/* Which events, CPUs and rights there are, and how calls are to be found. */
static struct sp_error *look_up(struct sp_capture *capture, struct capture_options *options)
{
	struct event_specs *specs = &capture->config.events.specs;
	struct sp_error *error = capture_parse_events(&capture->config.events, capture->ctx, options);
	if (!error)
		error = capture_open_cgroups(&capture->config.events, capture->ctx, options);
	/* What all events say of themselves is as if the options said it. */
	if (!error)
		take_common_graph(specs, options);
	if (!error)
		error = choose_cpus(capture, options->target.cpus);
	if (!error)
		error = rights_read(capture->ctx, &capture->config.rights);
	if (!error)
		error = capture_find_traces(capture, options, specs);
	if (!error)
		error = choose_graph(capture, options);
	return error ? error : check_graph_terms(capture, specs);
}

static struct event_request request_of(const struct sp_capture *capture,
				       const struct capture_options *options)
{
	struct event_request request = {
		.scope = scope_of(capture, options, &capture->config.events.specs),
		.cpus_for = cpus_are_for(capture, options, &capture->config.events.specs),
		.start = start_of(capture),
		.cpu = capture->config.cpus.items[0],
		.freq_hz = options->sampling.freq_hz ? options->sampling.freq_hz
			   : options->sampling.period ? 0 : DEFAULT_FREQ_HZ,
		.period = options->sampling.period,
		.rate_given = options->sampling.freq_hz || options->sampling.period,
		.inherit = capture->config.inherit,
		.exclude_idle = capture->config.target != CAPTURE_EVERYONE,
	};
	capture_ask(options, &capture->config.events, &request);
	return request;
}

/* How large rings and stacks can be, and what is asked for because of it. */
static struct sp_error *fit_request(struct sp_capture *capture,
				    const struct capture_options *options,
				    struct event_request *request)
{
	struct sp_error *error = capture_size_rings(capture, options, request->freq_hz);
	if (error)
		return error;
	request_graph(capture, options, request);
	if (!request->sample_watermark_bytes && !options->buffers.overwrite)
		request->sample_watermark_bytes = ring_size_watermark(
			(uint64_t)capture->config.ring_pages.samples * capture->config.rights.page_size);
	/* Each sample wakes the drain thread, which reads the Python stack before the thread runs on. */
	if (capture->config.graph.python_first && !options->buffers.wakeup_bytes &&
	    request->freq_hz <= PYTHON_FIRST_HZ_MAX)
		request->sample_watermark_bytes = 8;
	capture_request_traces(capture, request);
	request->asked.write_backward = options->buffers.overwrite;
	if (options->output.switch_event)
		error = trigger_plan(&capture->control.trigger, capture->ctx, &capture->config.rights,
				     capture->config.cpus.items[0], options->output.switch_event);
	return error ? error : say_about_counts(capture, options);
}

/* What those who read the records have to know of the plan. */
static struct sp_error *take_plan(struct sp_capture *capture, const struct capture_options *options)
{
	const struct event_plan *plan = capture->config.plan;
	if (options->schedule.use_clock && wall_clock_can_be_set(options->schedule.clock) &&
	    plan->clock_id == CLOCK_MONOTONIC && wall_clock_start(&capture->bank.wall,
								  options->schedule.clock))
		capture->bank.retouch.shift_ns = capture->bank.wall.ahead_ns;
	capture_plan_traces(capture);
	if (!plan->sample_count || !record_fields_make(plan->samples[0].attr.sample_type,
						       &capture->samples.filter.fields))
		return error_new(SP_ERROR_INVALID, "no event to sample");
	capture->tasks.tracker.fields = capture->samples.filter.fields;
	return NULL;
}

/* Notes the first such event: others of the command line mostly have the same rate. */
static struct sp_error *note_lock_in(struct sp_capture *capture)
{
	const struct event_plan *plan = capture->config.plan;
	struct sp_lock_in lock_in;
	size_t i = 0;
	while (i < plan->sample_count &&
	       !sp_lock_in_find(&plan->samples[i].attr, clock_tick_hz(), &lock_in))
		i++;
	if (i == plan->sample_count)
		return NULL;
	struct sp_error *error = notes_add(&capture->out.notes, NOTE_LOCK_IN, NULL, lock_in.period_ns,
					      lock_in.timer_hz, lock_in.free_hz);
	/* A report finds lock-in with 1 ms timers itself, but does not know this kernel's HZ. */
	if (!error)
		vec_last(&capture->out.notes)->is_derived =
			sp_lock_in_find(&plan->samples[i].attr, 0, &lock_in);
	return error;
}

struct sp_error *capture_plan(struct sp_capture *capture, const struct capture_options *asked)
{
	struct capture_options options = *asked;
	struct sp_error *error = look_up(capture, &options);
	if (error)
		return error;
	capture->config.kept_registers = options.fields.user_registers;
	struct event_request request = request_of(capture, &options);
	error = fit_request(capture, &options, &request);
	if (!error)
		error = event_plan_make(event_kernel_real(), &capture->config.rights, &request,
					&capture->config.plan);
	if (!error)
		error = say_groups(capture, &options);
	if (!error)
		error = event_filters_check(event_kernel_real(), capture->ctx, capture->config.plan,
					    request.cpu);
	if (!error)
		error = notes_keep_planned(&capture->out.notes, &capture->config.plan->notes);
	if (!error)
		error = note_lock_in(capture);
	return error ? error : take_plan(capture, &options);
}

bool capture_is_clock(const struct perf_event_attr *attr)
{
	return record_is_clock(attr->type, attr->config);
}
