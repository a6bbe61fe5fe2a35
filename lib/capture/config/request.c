/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the request for events from the options and the configuration. */
#include "capture/config/config_internal.h"

#include "base/clock.h"
#include "capture/config/plan_facts.h"
#include "capture/config/ring_size.h"
#include "event/kind.h"

/* See scope_of(). */
#define WHOLE_CPUS_HZ_MAX 5000

static bool all_clocks(const struct event_specs *specs)
{
	vec_each (spec, specs)
		if (!attr_is_clock(&spec->attr))
			return false;
	return true;
}

/*
 * CPU-wide events interrupt all tasks, 12 us for each sample; with inherited events, up to a period of
 * each new task is not sampled. So events are CPU-wide if periods are long: at 1 kHz it is 1 % of each
 * CPU against 1 ms of each task, at 20 kHz 25 % against 50 us. (Inheritance misses 26 % of children that
 * run 1.3 ms at 1 kHz, 14 % at 5 kHz.)
 */
enum event_scope config_scope(const struct capture_config *config,
			      const struct capture_options *options)
{
	const struct event_specs *specs = &config->events.specs;
	if (config->target == CAPTURE_SYSTEM_WIDE || options->target.scope == SP_CAPTURE_SCOPE_CPU)
		return EVENT_SCOPE_CPUS;
	bool not_inherited = false, for_tasks = false;
	vec_each (spec, specs) {
		not_inherited |= event_is_not_inherited(spec);
		for_tasks |= event_is_for_tasks(spec);
	}
	if (not_inherited && !config->off_cpu.on && options->target.scope != SP_CAPTURE_SCOPE_TASK)
		return EVENT_SCOPE_CPUS;
	/* CPU-wide SWITCH records would be those of all tasks. */
	for_tasks |= config->switches;
	/* The kernel has these for events of tasks only. */
	for_tasks |= options->target.remove_on_exec || (options->fields.thread_counts &&
							config->inherit);
	if (for_tasks || options->target.scope == SP_CAPTURE_SCOPE_TASK ||
	    options->sampling.freq_hz > WHOLE_CPUS_HZ_MAX ||
	    (options->sampling.period &&
	     (!all_clocks(specs) || options->sampling.period < 1000000000 / WHOLE_CPUS_HZ_MAX)))
		return EVENT_SCOPE_TASKS;
	return EVENT_SCOPE_CPUS_IF_ALLOWED;
}

/* Returns the cause of EVENT_SCOPE_CPUS, for messages. */
static const char *cpus_are_for(const struct capture_config *config,
				const struct capture_options *options)
{
	const struct event_specs *specs = &config->events.specs;
	if (options->target.cgroups)
		return "-G";
	if (config->target == CAPTURE_SYSTEM_WIDE)
		return options->target.cpus ? "-C" : "-a";
	if (options->target.scope == SP_CAPTURE_SCOPE_CPU)
		return "--scope cpu";
	vec_each (spec, specs)
		if (event_is_not_inherited(spec))
			return spec->name;
	return NULL;
}

/* Each sample wakes the drain thread, which reads the Python stack before the thread runs on. */
static bool wakes_each_sample(const struct capture_config *config, const struct capture_options *options)
{
	return config->graph.python_first && config_freq_hz(options) <= PYTHON_FIRST_HZ_MAX;
}

/* SWITCH records in the rings of samples must not wake it: it preempts the thread, which is a switch. */
static bool wakes_by_samples(const struct capture_config *config, const struct capture_options *options)
{
	return wakes_each_sample(config, options) && (config->switches || options->sampling.off_cpu);
}

static struct event_asked requested_fields(const struct capture_config *config,
					   const struct capture_options *options)
{
	const struct sp_capture_fields *fields = &options->fields;
	return (struct event_asked){
		/* The address of a wait is its system call. */
		.sample_type = fields->sample_type |
			       (options->sampling.off_cpu ? (uint64_t)PERF_SAMPLE_ADDR : 0),
		.weight = fields->weight,
		.branch_type = fields->branch_type,
		.user_registers = fields->user_registers,
		.interrupt_registers = fields->interrupt_registers,
		.read_format = fields->running_time || fields->thread_counts
				       ? PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
				       : 0,
		.wakeup_events = wakes_by_samples(config, options) ? 1 : options->buffers.wakeup_samples,
		.wakeup_waits = options->buffers.wakeup_samples,
		.write_backward = options->buffers.overwrite,
		.no_samples = options->sampling.samples == SP_OFF,
		.strict_freq = options->sampling.strict_freq,
		.inherit_thread = options->target.inherit_threads,
		.remove_on_exec = options->target.remove_on_exec,
		.defer_callchain = options->chains.deferred,
		.mmap_data = fields->data_mappings,
		.context_switch = fields->switches == SP_ON && !config->switches,
		.namespaces = fields->namespaces,
		.cgroup = fields->cgroups,
		.no_bpf_event = fields->bpf_programs == SP_OFF,
	};
}

/* The processor's own record of calls, with perf's flags. */
#define CALL_STACK_BRANCHES                                                     \
	((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |   \
		    PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES))

static void request_graph(const struct call_graph *graph, const struct capture_options *options,
			  struct event_request *request)
{
	request->max_stack = graph->max_stack;
	request->dump_registers = graph->registers;
	request->dump_stack_bytes = graph->stack_bytes;
	request->uniform = graph->live;
	request->user_callers = graph->live && !options->chains.deferred;
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

/* Bytes in a ring of samples that wake its reader; 0: see the holder of the ring. */
static uint32_t watermark_of(const struct capture_config *config, const struct capture_options *options)
{
	uint64_t wakeup_bytes = options->buffers.wakeup_bytes;
	if (wakeup_bytes)
		return wakeup_bytes < UINT32_MAX ? (uint32_t)wakeup_bytes : UINT32_MAX;
	if (wakes_each_sample(config, options) && !wakes_by_samples(config, options))
		return 8;
	if (options->buffers.overwrite)
		return 0;
	return ring_size_watermark((uint64_t)config->ring_pages.samples * config->rights.page_size);
}

struct sp_error *config_request(const struct capture_config *config,
				const struct capture_options *options, enum event_start start,
				struct notes *notes, struct event_request *ret)
{
	const struct sp_capture_sampling *sampling = &options->sampling;
	uint64_t freq_hz = config_freq_hz(options);
	*ret = (struct event_request){
		.specs = &config->events.specs,
		.filters = config->events.filters.items,
		.cgroups = config->events.cgroups.items,
		.cgroup_count = config->events.cgroups.count,
		.scope = config_scope(config, options),
		.cpus_for = cpus_are_for(config, options),
		.start = start,
		.cpu = config->cpus.items[0],
		.freq_hz = freq_hz,
		.period = sampling->period,
		.clock_period_ns = sampling->freq_hz || sampling->period ? 0
									 : DEFAULT_CLOCK_PERIOD_NS,
		.dithers = sampling->dither != SP_OFF,
		.rate_given = sampling->freq_hz || sampling->period,
		.inherit = config->inherit,
		.inherit_stat = options->fields.thread_counts,
		.exclude_idle = config->target != CAPTURE_SYSTEM_WIDE,
		/* Times by a clock that may be set are made of it: capture/ring_bank/rewrite.h. */
		.clock_id = options->schedule.use_clock && !clock_can_be_set(options->schedule.clock)
				    ? options->schedule.clock : CLOCK_MONOTONIC,
		.sample_watermark_bytes = watermark_of(config, options),
		.asked = requested_fields(config, options),
	};
	request_graph(&config->graph, options, ret);

	/*
	 * READ records are only requested if needed: a task that ends on one CPU writes them into
	 * the rings of all others, and the kernel does not guard against that. If many threads
	 * end, rings stop for good (6.18, and perf record -s loses nearly everything).
	 */
	if (!options->fields.thread_counts)
		return NULL;
	if (config->target == CAPTURE_SYSTEM_WIDE || !config->inherit)
		return notes_add(notes, NOTE_NO_THREAD_COUNTS, NULL);
	return notes_add(notes, NOTE_THREAD_COUNTS_RISKY, NULL);
}
