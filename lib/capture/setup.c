/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "capture/dump.h"
#include "capture/recorder.h"
#include "capture/ring_size.h"
#include "event/filter.h"
#include "event/kind.h"

#define DEFAULT_FREQ_HZ 997
#define SIDEBAND_BYTES (128 * 1024)
#define RING_BYTES_MAX (UINT64_C(1) << 31)

/* See scope_of(). */
#define WHOLE_CPUS_HZ_MAX 5000

/* Below that, it is not the rate by which samples are lost. */
#define SLOW_FROM_HZ 1000

/* Rings are drained that often at least: what a recorder that is killed loses at most. */
#define TIMER_NS 500000000

/*
 * The same where a sample is written a round after it was taken, and what is copied of the
 * next ones depends on it.
 */
#define UNWINDING_TIMER_NS 20000000

/* With rings that go round nothing waits: side-band comes by how full its rings are. */
#define FLIGHT_TIMER_NS 5000000000

/* So many rounds without a sample to unwind: there is nothing to be quick for. */
#define QUIET_ROUNDS 25

/* Of samples that wait to be unwound. */
#define UNWINDING_MEMORY ((size_t)64 << 20)

/* The CPUs that were asked for, as far as they are online. */
static struct sp_error *choose_cpus(struct sp_capture *capture, const char *text)
{
	struct sp_error *error = sysfs_cpus_online(capture->ctx, &capture->online);
	if (error)
		return error;
	struct cpu_list *cpus = &capture->cpus;
	if (text)
		error = cpu_list_parse(cpus, text);
	if (!error && !vec_reserve(cpus, capture->online.count))
		error = error_no_memory();
	if (error)
		return error;
	if (!text) {
		memcpy(cpus->items, capture->online.items,
		       capture->online.count * sizeof(*cpus->items));
		cpus->count = capture->online.count;
	}
	for (size_t i = 0; i < cpus->count; i++) {
		bool is_online = false;
		for (size_t j = 0; j < capture->online.count; j++)
			is_online |= capture->online.items[j] == cpus->items[i];
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
				 const struct sp_capture_options *options,
				 const struct event_specs *specs)
{
	if (capture->target == CAPTURE_EVERYONE || options->scope == SP_CAPTURE_SCOPE_CPU)
		return EVENT_SCOPE_CPUS;
	bool not_inherited = false, for_tasks = false;
	for (size_t i = 0; i < specs->count; i++) {
		not_inherited |= event_is_not_inherited(&specs->items[i]);
		for_tasks |= event_is_for_tasks(&specs->items[i]);
	}
	if (not_inherited && options->scope != SP_CAPTURE_SCOPE_TASK)
		return EVENT_SCOPE_CPUS;
	/* These are matters of tasks. */
	for_tasks |= options->remove_on_exec || (options->fields.thread_counts && capture->inherit);
	if (for_tasks || options->scope == SP_CAPTURE_SCOPE_TASK || options->freq_hz > WHOLE_CPUS_HZ_MAX ||
	    (options->period &&
	     (!all_clocks(specs) || options->period < 1000000000 / WHOLE_CPUS_HZ_MAX)))
		return EVENT_SCOPE_TASKS;
	return EVENT_SCOPE_CPUS_IF_ALLOWED;
}

/* For messages: why it is EVENT_SCOPE_CPUS. */
static const char *cpus_are_for(const struct sp_capture *capture,
				const struct sp_capture_options *options,
				const struct event_specs *specs)
{
	if (options->cgroups)
		return "-G";
	if (capture->target == CAPTURE_EVERYONE)
		return options->cpus ? "-C" : "-a";
	if (options->scope == SP_CAPTURE_SCOPE_CPU)
		return "--scope cpu";
	for (size_t i = 0; i < specs->count; i++)
		if (event_is_not_inherited(&specs->items[i]))
			return specs->items[i].name;
	return NULL;
}

static enum event_start start_of(const struct sp_capture *capture)
{
	if (capture->turns.later)
		return EVENT_START_LATER;
	return capture_waits(capture) ? EVENT_START_ON_EXEC : EVENT_START_NOW;
}

static struct sp_error *take_notes(struct sp_capture *capture, const struct event_notes *notes)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < notes->count && !error; i++)
		error = capture_note(capture, "%s", notes->items[i].line);
	return error;
}

/*
 * Linux fits the copy of the stack into what a record's u16 size leaves, and only then adds the
 * interrupt's registers: where both are large the size overflows, and the ring is garbage (6.18;
 * perf record is killed by it). So there is room for them, and for call chains of the kernel.
 */
#define STACK_BESIDE_REGISTERS 49152

static struct sp_error *bound_stacks(struct sp_capture *capture,
				     const struct sp_capture_options *options)
{
	struct call_graph *graph = &capture->graph;
	if (graph->kind != SP_CALL_GRAPH_DWARF || !options->fields.interrupt_registers)
		return NULL;
	graph->fixed_size = true;
	if (graph->stack_bytes <= STACK_BESIDE_REGISTERS)
		return NULL;
	graph->stack_bytes = STACK_BESIDE_REGISTERS;
	return capture_note(capture, "copies of %d bytes of stacks: with --intr-regs, larger ones do not "
			    "fit the kernel's records", STACK_BESIDE_REGISTERS);
}

static struct sp_error *choose_graph(struct sp_capture *capture,
				     const struct sp_capture_options *options)
{
	struct sp_error *error = call_graph_choose(capture->ctx, options, &capture->graph);
	/* Nothing is sampled: there is nothing to find calls of. */
	if (!error && options->no_samples)
		capture->graph.kind = SP_CALL_GRAPH_NONE;
	else if (!error && capture->graph.note)
		error = capture_note(capture, "%s", capture->graph.note);
	/* Of what may never be written, nothing is unwound. */
	capture->graph.live &= capture->graph.kind == SP_CALL_GRAPH_DWARF && !options->overwrite;
	return error ? error : bound_stacks(capture, options);
}

/* call-graph= of all events alike is that of the recording. */
static void take_common_graph(struct event_specs *specs, struct sp_capture_options *options)
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
	options->call_graph = kinds[first->call_graph];
	if (first->given & EVENT_TERM_STACK_SIZE) {
		options->stack_bytes = first->stack_bytes;
		options->fixed_stack_bytes = true;
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
	if (!differs || !capture->graph.live)
		return NULL;
	capture->graph.live = false;
	return capture_note(capture, "copies of stacks are kept, to be unwound when this is reported: "
			    "events differ in their call-graph=");
}

static uint32_t pages_of(uint64_t bytes, uint32_t page_size)
{
	return (uint32_t)((bytes + page_size - 1) / page_size);
}

static uint64_t asked_hz(const struct sp_capture *capture, uint64_t freq_hz)
{
	return freq_hz == SP_CAPTURE_FREQ_MAX ? capture->rights.max_sample_hz : freq_hz;
}

/* What a flight recorder's sample takes in a ring. */
static uint64_t sample_bytes_of(const struct sp_capture *capture)
{
	return flight_sample_bytes(capture->graph.kind, capture->graph.stack_bytes);
}

static uint64_t ring_bytes_of(const struct sp_capture *capture,
			      const struct sp_capture_options *options, uint64_t freq_hz)
{
	bool dumps = capture->graph.kind == SP_CALL_GRAPH_DWARF;
	const struct ring_demand demand = {
		.stack_bytes = dumps ? capture->graph.stack_bytes : 0,
		.stack_most = capture->graph.fixed_size ? 0 : SP_STACK_BYTES_MAX,
		.freq_hz = asked_hz(capture, freq_hz),
		.cpus = capture->cpus.count,
	};
	uint64_t window = flight_ring_bytes(&capture->flight, demand.freq_hz,
					    sample_bytes_of(capture), demand.cpus);
	return options->ring_bytes ?: window ?: ring_size_default(&demand);
}

/* How far rings of that size reach back; 0: as far as was asked for, or that is not known. */
static uint64_t short_reach_ns(const struct sp_capture *capture, uint64_t ring_bytes,
			       uint64_t freq_hz)
{
	uint64_t rate = asked_hz(capture, freq_hz), window_ns = capture->flight.window_ns;
	if (!window_ns || !rate)
		return 0;
	uint64_t reach_ns = flight_reach_ns(ring_bytes, rate, sample_bytes_of(capture));
	return reach_ns < window_ns ? reach_ns : 0;
}

/* A time that was asked for is worth more than copies that nobody asked for. */
static struct sp_error *prefer_time(struct sp_capture *capture,
				    const struct sp_capture_options *options, uint64_t freq_hz)
{
	uint64_t bytes = ring_bytes_of(capture, options, freq_hz);
	uint64_t reach_ns = short_reach_ns(capture, bytes, freq_hz);
	if (!reach_ns || options->call_graph != SP_CALL_GRAPH_AUTO ||
	    capture->graph.kind != SP_CALL_GRAPH_DWARF)
		return NULL;
	capture->graph.kind = SP_CALL_GRAPH_FP;
	capture->graph.live = false;
	return capture_note(capture, "call chains by frame pointers after all: rings of %llu MiB hold "
			    "copies of stacks of %.1f s, not %.1f (--call-graph dwarf takes them all the "
			    "same)", (unsigned long long)(bytes >> 20), (double)reach_ns / 1e9,
			    (double)capture->flight.window_ns / 1e9);
}

static struct sp_error *say_reach(struct sp_capture *capture, uint64_t freq_hz)
{
	uint64_t bytes = (uint64_t)capture->ring_pages.samples * capture->rights.page_size;
	uint64_t reach_ns = short_reach_ns(capture, bytes, freq_hz);
	if (!reach_ns)
		return NULL;
	return capture_note(capture, "rings of %llu KiB hold the last %.2f s of a busy CPU, not %.2f: a "
			    "sample takes some %llu bytes (larger ones by -m, as far as may be locked; a "
			    "lower -F%s)", (unsigned long long)(bytes >> 10), (double)reach_ns / 1e9,
			    (double)capture->flight.window_ns / 1e9,
			    (unsigned long long)sample_bytes_of(capture),
			    capture->graph.kind == SP_CALL_GRAPH_DWARF ? "; --call-graph fp" : "");
}

/* Where not two samples have room, hardly any would be recorded. */
static bool rings_have_room(const struct sp_capture *capture)
{
	bool dumps = capture->graph.kind == SP_CALL_GRAPH_DWARF;
	uint64_t ring_bytes = (uint64_t)capture->ring_pages.samples * capture->rights.page_size;
	return ring_bytes >= ring_size_least(dumps ? capture->graph.stack_bytes : 0);
}

/* How large rings may be, and whether that is enough. */
static struct sp_error *size_rings(struct sp_capture *capture,
				   const struct sp_capture_options *options, uint64_t freq_hz)
{
	struct sp_error *error = prefer_time(capture, options, freq_hz);
	if (error)
		return error;
	uint64_t ring_bytes = ring_bytes_of(capture, options, freq_hz);
	if (ring_bytes > RING_BYTES_MAX)
		return error_new(SP_ERROR_INVALID, "rings of %llu bytes are larger than 2 GiB",
				 (unsigned long long)ring_bytes);
	CLEANUP(event_notes_deinit) struct event_notes notes = {0};
	uint32_t page_size = capture->rights.page_size;
	const struct ring_pages wanted = {
		.samples = pages_of(ring_bytes, page_size),
		.sideband = pages_of(SIDEBAND_BYTES, page_size),
	};
	error = rights_fit_rings(&capture->rights, (uint32_t)capture->cpus.count, wanted, &notes,
				 &capture->ring_pages);
	if (!error && options->ring_bytes) /* smaller than the default is no news */
		error = take_notes(capture, &notes);
	if (error)
		return error;
	if (options->call_graph != SP_CALL_GRAPH_AUTO || rings_have_room(capture))
		return say_reach(capture, freq_hz);
	capture->graph.kind = SP_CALL_GRAPH_FP;
	capture->graph.live = false;
	error = capture_note(capture, "call chains by frame pointers after all: rings of %u KiB are too "
			     "small for copies of stacks (larger ones by -m, if that may be locked)",
			     capture->ring_pages.samples * page_size / 1024);
	return error ? error : say_reach(capture, freq_hz);
}

/* The processor's own record of calls; as perf asks for it. */
#define CALL_STACK_BRANCHES                                                     \
	((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |   \
		    PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES))

static void request_graph(const struct sp_capture *capture,
			  const struct sp_capture_options *options, struct event_request *request)
{
	const struct call_graph *graph = &capture->graph;
	request->max_stack = graph->max_stack;
	request->dump_registers = graph->registers;
	request->dump_stack_bytes = graph->stack_bytes;
	request->uniform = graph->live;
	if (graph->kind == SP_CALL_GRAPH_FP || graph->kind == SP_CALL_GRAPH_LBR)
		request->callchain = options->kernel_chains ? EVENT_CALLCHAIN_KERNEL
				     : options->user_chains ? EVENT_CALLCHAIN_USER
							    : EVENT_CALLCHAIN_ALL;
	if (graph->kind == SP_CALL_GRAPH_LBR)
		request->asked.branch_type = CALL_STACK_BRANCHES;
	if (graph->kind != SP_CALL_GRAPH_DWARF)
		return;
	request->callchain = options->user_chains ? EVENT_CALLCHAIN_NOTHING : EVENT_CALLCHAIN_KERNEL;
	request->extra_sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	request->user_registers = graph->registers;
	request->user_stack_bytes = graph->stack_bytes;
	if (!request->sample_watermark_bytes)
		request->sample_watermark_bytes = ring_size_watermark(
			(uint64_t)capture->ring_pages.samples * capture->rights.page_size);
}

/*
 * READ records are not asked for without need: a task that ends on one CPU writes them into the
 * rings of all the others, which the kernel does not guard against. With many threads ending,
 * rings stop for good (6.18, and perf record -s loses nearly everything).
 */
static struct sp_error *say_about_counts(struct sp_capture *capture,
					 const struct sp_capture_options *options)
{
	if (!options->fields.thread_counts)
		return NULL;
	if (capture->target == CAPTURE_EVERYONE || !capture->inherit)
		return capture_note(capture, "-s: no counts of threads: whole CPUs have none, nor has what "
				    "is not inherited (record a command or processes)");
	return capture_note(capture, "-s: the kernel writes a thread's counts into the buffers of all CPUs, "
			    "and where many threads end, they can stop for good: compare with a "
			    "recording without it");
}

/* Deeper than the kernel follows anybody's frame pointers: where that may be changed, it is. */
static struct sp_error *raise_stack_limit(struct sp_capture *capture)
{
	uint32_t most = capture->rights.max_stack, wanted = capture->graph.max_stack;
	if (wanted > STACK_LIMIT_MOST)
		wanted = STACK_LIMIT_MOST;
	if (capture->graph.kind != SP_CALL_GRAPH_FP || !most || wanted <= most)
		return NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		stack_limit_raise(&capture->stack_limit, capture->ctx, most, wanted);
	if (!error) {
		capture->rights.max_stack = capture->graph.max_stack = wanted;
		return capture_note(capture, "call chains of up to %u frames: kernel.perf_event_max_stack "
				    "is raised from %u for as long as this records", wanted, most);
	}
	if (sp_error_errno(error) != EBUSY)
		return NULL; /* the plan says so, with the remedy */
	capture->graph.max_stack = most;
	return capture_note(capture, "call chains of up to %u frames: kernel.perf_event_max_stack cannot "
			    "be raised to %u while others record call chains (end them first)", most,
			    wanted);
}

/* Which event is of which control group is nowhere else in the file. */
static struct sp_error *say_groups(struct sp_capture *capture, const struct sp_capture_options *options)
{
	if (!options->cgroups)
		return NULL;
	if (!strchr(options->cgroups, ','))
		return capture_note(capture, "of control group %s alone", options->cgroups);
	return capture_note(capture, "of control groups, an event each in their order: %s",
			    options->cgroups);
}

struct sp_error *capture_plan(struct sp_capture *capture, const struct sp_capture_options *asked)
{
	/* What all events say of themselves is as if the options said it. */
	struct sp_capture_options own = *asked;
	const struct sp_capture_options *options = &own;
	struct event_specs *specs = &capture->events.specs;
	struct sp_error *error = capture_parse_events(&capture->events, capture->ctx, options);
	if (!error)
		error = capture_open_cgroups(&capture->events, capture->ctx, options);
	if (!error)
		take_common_graph(specs, &own);
	if (!error)
		error = choose_cpus(capture, options->cpus);
	if (!error)
		error = rights_read(capture->ctx, &capture->rights);
	if (!error)
		error = capture_find_traces(capture, options, specs);
	if (!error)
		error = choose_graph(capture, options);
	if (!error)
		error = check_graph_terms(capture, specs);
	if (error)
		return error;
	struct event_request request = {
		.scope = scope_of(capture, options, &capture->events.specs),
		.cpus_for = cpus_are_for(capture, options, &capture->events.specs),
		.start = start_of(capture),
		.cpu = capture->cpus.items[0],
		.freq_hz = options->freq_hz ? options->freq_hz
			   : options->period ? 0 : DEFAULT_FREQ_HZ,
		.period = options->period,
		.rate_given = options->freq_hz || options->period,
		.inherit = capture->inherit,
		.exclude_idle = capture->target != CAPTURE_EVERYONE,
	};
	capture_ask(options, &capture->events, &request);
	capture->kept_registers = options->fields.user_registers;
	error = size_rings(capture, options, request.freq_hz);
	if (!error)
		error = raise_stack_limit(capture);
	if (error)
		return error;
	request_graph(capture, options, &request);
	error = trigger_plan(&capture->trigger, capture, options);
	if (!error)
		error = say_about_counts(capture, options);
	if (error)
		return error;
	capture_request_traces(capture, &request);
	request.asked.write_backward = options->overwrite;
	error = event_plan_make(event_kernel_real(), &capture->rights, &request, &capture->plan);
	if (!error)
		error = say_groups(capture, options);
	if (!error)
		error = event_filters_check(event_kernel_real(), capture->ctx, capture->plan, request.cpu);
	if (!error)
		error = take_notes(capture, &capture->plan->notes);
	const struct event_plan *plan = capture->plan;
	if (!error && options->use_clock && wall_clock_can_be_set(options->clock) &&
	    plan->clock_id == CLOCK_MONOTONIC && wall_clock_start(&capture->wall, options->clock))
		capture->retouch.shift_ns = capture->wall.ahead_ns;
	if (!error)
		capture_plan_traces(capture);
	if (!error && (!plan->sample_count || !record_fields_make(plan->samples[0].attr.sample_type,
								  &capture->filter.fields)))
		error = error_new(SP_ERROR_INVALID, "no event to sample");
	capture->tracker.fields = capture->filter.fields;
	return error;
}

bool capture_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool capture_samples_kernel(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->sample_count; i++)
		if (!plan->samples[i].attr.exclude_kernel)
			return true;
	return false;
}

static void unmap_rings(struct sp_capture *capture)
{
	for (size_t i = 0; i < capture->cpus.count * EVENT_ROLE_COUNT; i++)
		ring_deinit(&capture->rings[i]);
}

static struct sp_error *map_role(struct sp_capture *capture, enum event_role role,
				 struct ring *rings, uint32_t pages)
{
	struct sp_error *error = NULL;
	bool backward = capture->flight.on && role == EVENT_ROLE_SAMPLES;
	struct sp_error *(*map)(struct ring *, int, size_t) = backward ? backward_map : ring_map;
	for (size_t i = 0; i < capture->cpus.count && !error; i++)
		error = map(&rings[i], event_set_ring_fd(capture->set, i, role),
			    (size_t)pages * capture->rights.page_size);
	return error;
}

static struct sp_error *note_shrunk(struct sp_capture *capture, struct ring_pages pages)
{
	uint32_t kib = capture->rights.page_size / 1024;
	return capture_note(capture, "rings of %u and %u KiB for each CPU: others of yours use up what "
			    "may be locked (sudo sysctl kernel.perf_event_mlock_kb=N)",
			    pages.samples * kib, pages.sideband * kib);
}

static struct sp_error *check_room(const struct sp_capture *capture)
{
	if (rings_have_room(capture))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_LIMIT, "rings of %u KiB are too small for copies of "
					  "%u bytes of stacks",
					  capture->ring_pages.samples * capture->rights.page_size / 1024,
					  capture->graph.stack_bytes),
				"larger ones by -m, if as much may be locked (sudo sysctl "
				"kernel.perf_event_mlock_kb=N), or --call-graph fp");
}

/* Smaller and smaller, until they fit. */
static struct sp_error *map_what_fits(struct sp_capture *capture)
{
	struct ring_pages *pages = &capture->ring_pages;
	bool shrunk = false;
	for (;;) {
		struct sp_error *error = check_room(capture);
		if (error)
			return error;
		error = map_role(capture, EVENT_ROLE_SIDEBAND, sideband_rings(capture), pages->sideband);
		if (!error)
			error = map_role(capture, EVENT_ROLE_SAMPLES, sample_rings(capture),
					 pages->samples);
		if (!error)
			return shrunk ? note_shrunk(capture, *pages) : NULL;
		if (sp_error_code(error) != SP_ERROR_LIMIT)
			return error;
		sp_error_free(error);
		unmap_rings(capture);
		error = rights_shrink_rings(&capture->rights, pages);
		if (error)
			return error;
		shrunk = true;
	}
}

struct sp_error *capture_map_rings(struct sp_capture *capture)
{
	size_t cpus = capture->cpus.count;
	struct sp_error *error = event_set_new(event_kernel_real(), capture->plan,
					       capture->cpus.items, cpus, &capture->set);
	if (error)
		return error;
	capture->rings = calloc(cpus * EVENT_ROLE_COUNT, sizeof(*capture->rings));
	capture->heads = calloc(cpus, sizeof(*capture->heads));
	if (!capture->rings || !capture->heads)
		return error_no_memory();
	return map_what_fits(capture);
}

struct sp_error *capture_watch_fd(struct sp_capture *capture, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (fd >= 0 && epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_os(errno, "epoll_ctl");
	return NULL;
}

/* Again and again. */
static struct sp_error *set_pace(struct sp_capture *capture, uint64_t ns)
{
	struct itimerspec when = {.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
	when.it_interval = when.it_value;
	if (timerfd_settime(capture->timer_fd, 0, &when, NULL) < 0)
		return error_os(errno, "cannot set a timer");
	capture->pace_ns = ns;
	return NULL;
}

static struct sp_error *make_timer(struct sp_capture *capture, uint64_t ns)
{
	capture->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (capture->timer_fd < 0)
		return error_os(errno, "cannot make a timer");
	struct sp_error *error = set_pace(capture, ns);
	return error ? error : capture_watch_fd(capture, capture->timer_fd);
}

struct sp_error *capture_adapt_pace(struct sp_capture *capture)
{
	if (!capture->unwinding)
		return NULL;
	bool quiet = unwinding_oldest_ns(capture->unwinding) == UINT64_MAX;
	capture->quiet_rounds = quiet ? capture->quiet_rounds + 1 : 0;
	uint64_t pace_ns = capture->quiet_rounds < QUIET_ROUNDS ? UNWINDING_TIMER_NS : TIMER_NS;
	return pace_ns == capture->pace_ns ? NULL : set_pace(capture, pace_ns);
}

struct sp_error *capture_watch(struct sp_capture *capture)
{
	capture->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (capture->epoll_fd < 0)
		return error_os(errno, "epoll_create1");
	uint64_t timer_ns = capture->flight.on ? FLIGHT_TIMER_NS
			    : capture->unwinding ? UNWINDING_TIMER_NS : TIMER_NS;
	struct sp_error *error = make_timer(capture, timer_ns);
	if (!error)
		error = capture_watch_turns(capture);
	if (!error)
		error = capture_watch_trigger(capture);
	if (!error)
		error = capture_watch_fd(capture, capture->workload.pidfd);
	if (!error)
		error = capture_watch_fd(capture, capture->absences.fd);
	if (!error && capture->unwinding)
		error = capture_watch_fd(capture, unwinding_alarm_fd(capture->unwinding));
	bool others_drain = capture->drains && !drains_is_by_reader(capture->drains);
	if (!error && others_drain)
		error = capture_watch_fd(capture, drains_fd(capture->drains));
	for (size_t i = 0; i < capture->cpus.count && !error; i++) {
		if (!others_drain && !capture->flight.on)
			error = capture_watch_fd(capture, event_set_ring_fd(capture->set, i,
									    EVENT_ROLE_SAMPLES));
		if (!error)
			error = capture_watch_fd(capture,
					 event_set_ring_fd(capture->set, i, EVENT_ROLE_SIDEBAND));
	}
	return error;
}

static struct sp_error *take_dump(void *arg, const struct ring *ring, uint64_t position,
				  const struct perf_event_header *header, uint64_t id)
{
	struct sp_capture *capture = arg;
	return unwinding_take(capture->unwinding, ring, position, header, id);
}

/* Half of the CPUs unwind: the others are the workload's. */
struct sp_error *capture_start_unwinding(struct sp_capture *capture)
{
	const struct perf_event_attr *attr = &capture->plan->samples[0].attr;
	if (!capture->graph.live || !(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return NULL;
	const struct unwinding_options options = {
		.ctx = capture->ctx,
		.attr = attr,
		.kept_registers = capture->kept_registers,
		.max_stack = capture->graph.max_stack,
		.workers = capture->online.count > 1 ? capture->online.count / 2 : 1,
		.memory_bytes = UNWINDING_MEMORY,
	};
	capture->filter.taker = (struct sample_taker){
		.take = take_dump, .arg = capture,
	};
	return unwinding_new(&options, &capture->unwinding);
}

struct sp_error *capture_start_writing(struct sp_capture *capture)
{
	const struct writing_options options = {
		.memory_bytes = CAPTURE_WRITING_MEMORY,
		.sample_id_at = capture->filter.fields.sample_id,
		.sample_cpu_at = capture->filter.fields.sample_cpu,
	};
	return writing_new(&options, &capture->writing);
}

/* Samples a second on a CPU that is busy; 0: it depends. */
static uint64_t rate_of(const struct event_plan *plan)
{
	const struct perf_event_attr *attr = &plan->samples[0].attr;
	if (plan->freq_hz || !capture_is_clock(attr) || !attr->sample_period)
		return plan->freq_hz;
	return 1000000000 / attr->sample_period;
}

/*
 * Events of running tasks are opened one by one, and others beside them would cost as much
 * again: so these copy more from the beginning, if rings have ample room for it. Where
 * they are to begin with an exec, larger ones do so instead.
 */
void capture_fit_size(struct sp_capture *capture)
{
	struct event_plan *plan = capture->plan;
	uint64_t rate = rate_of(plan), ring_bytes = sample_rings(capture)->size;
	uint32_t small = capture->graph.stack_bytes;
	if (!capture->unwinding || plan->cpu_wide || capture->graph.fixed_size || !rate ||
	    event_plan_has_groups(plan))
		return;
	if (capture->target == CAPTURE_COMMAND) {
		uint32_t size = stack_need_largest(ring_bytes, rate, small);
		capture->begins_large = size && plan->samples[0].attr.enable_on_exec &&
					stack_need_is_roomy(ring_bytes, rate, size);
		for (size_t i = 0; i < plan->sample_count && capture->begins_large; i++)
			plan->samples[i].attr.enable_on_exec = 0;
		return;
	}
	uint32_t size = stack_need_largest(ring_bytes / 2, rate, small);
	for (size_t i = 0; i < plan->sample_count && size; i++)
		plan->samples[i].attr.sample_stack_user = size;
}

static struct wide_options wide_options(const struct sp_capture *capture)
{
	return (struct wide_options){
		.plan = capture->plan, .set = capture->set, .cpus = capture->cpus.items,
		.cpu_count = capture->cpus.count,
		.tid = capture->plan->cpu_wide ? -1 : (int32_t)capture->workload.pid,
		.ring_bytes = sample_rings(capture)->size,
		.freq_hz = rate_of(capture->plan),
		.fixed = capture->graph.fixed_size || event_plan_has_groups(capture->plan),
		.on_exec = capture->begins_large,
	};
}

/* The filter has to know of events that the file does not. */
static struct sp_error *adopt_events(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	struct sp_error *error = event_set_events(capture->set, &events, &count);
	if (error)
		return error;
	capture->filter.taker.helpers = &capture->wide.ids;
	capture->filter.taker.own_ids = &capture->wide.own_ids.items;
	capture->filter.taker.own_id = events[0].id_count ? events[0].ids[0] : 0;
	return NULL;
}

/*
 * Where a rate was asked for that rings may not bear. Events of a control group, of groups, of
 * tracing, and those that write their id twice, have none; nor has what is attached to task by task.
 */
struct sp_error *capture_open_slow(struct sp_capture *capture,
				   const struct sp_capture_options *options)
{
	const struct event_plan *plan = capture->plan;
	bool whole = plan->cpu_wide || capture->target == CAPTURE_COMMAND;
	const struct wide_options slow = wide_options(capture);
	/* Of counters with a fixed period, nobody knows the rate before. */
	bool fast = rate_of(plan) >= SLOW_FROM_HZ ||
		    (!rate_of(plan) && !capture_is_clock(&plan->samples[0].attr));
	if (options->no_adapt || options->cgroups || !whole || !fast ||
	    capture->filter.fields.sample_id_again || event_plan_has_groups(plan) ||
	    capture->traces.area_bytes || options->fields.thread_counts)
		return NULL;
	struct sp_error *error = adopt_events(capture);
	return error ? error : wide_open_slow(&slow, &capture->wide);
}

/* Where events are opened one by one there is none. */
struct sp_error *capture_open_help(struct sp_capture *capture)
{
	bool cpu_wide = capture->plan->cpu_wide;
	if (!capture->unwinding || (!cpu_wide && capture->target != CAPTURE_COMMAND) ||
	    capture->plan->samples[0].attr.sample_regs_intr)
		return NULL;
	const struct wide_options options = wide_options(capture);
	struct sp_error *error = adopt_events(capture);
	if (!error)
		error = wide_open(&options, &capture->wide);
	if (!error && !capture->workload.pid && !capture->turns.later)
		error = wide_start(&capture->wide, false, capture_now_ns());
	return error;
}
