/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From options to a plan, on a kernel that refuses CPU-wide events if wanted. */
#include "capture/config/config.h"

#include <errno.h>
#include "base/cleanup.h"
#include "capture/config/plan_facts.h"
#include "record/note.h"
#include "root.h"
#include "tests/sched_waking.h"

#define MIB (UINT64_C(1) << 20)

/* The type protects the plan. */
_Static_assert(_Generic(&((struct capture_config *)NULL)->plan, const struct event_plan **: true,
			default: false), "the plan is const");

struct made {
	struct root root;
	struct capture_options options;
	struct capture_config config;
	struct notes notes;
	struct event_request request;
	struct event_kernel kernel;
	bool refuses_cpus, refuses_kernel;
	int fds;
};

static const char *const command[] = {"/bin/true", NULL};

static int fake_open(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		     int group_fd, unsigned long flags)
{
	struct made *made = arg;
	(void)cpu, (void)group_fd, (void)flags;
	if (made->refuses_kernel && !attr->exclude_kernel)
		return -EACCES;
	return pid < 0 && made->refuses_cpus ? -EACCES : 1000 + made->fds++;
}

static void fake_close(void *arg, int fd)
{
	struct made *made = arg;
	ck_assert_int_eq(fd, 1000 + --made->fds);
}

/* A command at 997 Hz with DWARF unwinding, CPUs 0 to 3. */
static void make(struct made *made)
{
	*made = (struct made){
		.options = {.target.command = command, .sampling.events = "cpu-clock",
			    .chains.call_graph = SP_CALL_GRAPH_DWARF},
		.kernel = {.open = fake_open, .close = fake_close, .arg = made},
	};
	root_init(&made->root);
	root_put(&made->root, "/sys/devices/system/cpu/online", "0-3\n");
}

static void made_deinit(struct made *made)
{
	config_deinit(&made->config);
	notes_deinit(&made->notes);
	root_deinit(&made->root);
}

#define MADE CLEANUP(made_deinit) struct made

static void set_rights(struct made *made, uint64_t memlock_bytes)
{
	made->config.rights = (struct rights){
		.has_perf = true, .paranoid = 2, .mlock_kb = 516, .max_sample_hz = 50000,
		.max_stack = 127, .online_cpus = 4, .page_size = 4096, .memlock_bytes = memlock_bytes,
	};
}

static struct sp_error *list_events(struct made *made, uint64_t memlock_bytes)
{
	struct sp_error *error = config_choose_target(&made->options, &made->config);
	if (!error)
		error = config_list_events(made->root.ctx, &made->options, &made->config);
	set_rights(made, memlock_bytes);
	return error;
}

/* Up to the request. */
static void request(struct made *made, uint64_t memlock_bytes, enum event_start start)
{
	ok_or_fail(list_events(made, memlock_bytes));
	ok_or_fail(config_choose_stacks(made->root.ctx, &made->options, 8192 * MIB, &made->notes,
					&made->config));
	ok_or_fail(config_request(&made->config, &made->options, start, &made->notes, &made->request));
}

static void plan(struct made *made, uint64_t memlock_bytes, enum event_start start)
{
	request(made, memlock_bytes, start);
	ok_or_fail(config_plan(&made->kernel, made->root.ctx, &made->request, &made->options,
			       &made->notes, &made->config));
	ck_assert_int_eq(made->fds, 0);
}

static const struct perf_event_attr *attr_of(const struct made *made)
{
	return &made->config.plan->samples[0].attr;
}

TEST(targets_exclude_each_other)
{
	int32_t pid = 1;
	const struct sp_number_list one = {.items = &pid, .count = 1};
	const struct sp_capture_target bad[] = {
		{0},
		{.pids = one, .tids = one},
		{.pids = one, .system_wide = true},
		{.pids = one, .by_user = true},
		{.tids = one, .cgroups = "a"},
		{.system_wide = true, .scope = SP_CAPTURE_SCOPE_TASK},
	};
	const struct {
		struct sp_capture_target given;
		enum capture_target target;
	} good[] = {
		{{.command = command}, CAPTURE_COMMAND},
		{{.command = command, .pids = one}, CAPTURE_PROCESSES},
		{{.by_user = true}, CAPTURE_PROCESSES},
		{{.tids = one, .cpus = "0"}, CAPTURE_THREADS},
		{{.cpus = "0"}, CAPTURE_SYSTEM_WIDE},
		{{.cgroups = "a"}, CAPTURE_SYSTEM_WIDE},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct capture_config config = {0};
		const struct capture_options options = {.target = bad[i]};
		fails_with(SP_ERROR_INVALID, config_choose_target(&options, &config));
		config_deinit(&config);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct capture_config config = {0};
		const struct capture_options options = {.target = good[i].given};
		ok_or_fail(config_choose_target(&options, &config));
		ck_assert_int_eq(config.target, good[i].target);
		config_deinit(&config);
	}
}

TEST(cpus_must_be_online)
{
	MADE made;
	make(&made);
	made.options.target.cpus = "1-4";
	fails_with(SP_ERROR_INVALID, list_events(&made, 0));
	made_deinit(&made);
	make(&made);
	made.options.target.cpus = "1,3";
	ok_or_fail(list_events(&made, 0));
	ck_assert(made.config.cpus.count == 2 && made.config.cpus.items[1] == 3);
	ck_assert_uint_eq(made.config.online.count, 4);
}

TEST(a_call_graph_of_all_events_is_the_recordings)
{
	MADE made;
	make(&made);
	made.options.sampling.events = "cpu-clock/call-graph=dwarf,stack-size=4096/,"
				       "task-clock/call-graph=dwarf,stack-size=4096/";
	made.options.chains.call_graph = SP_CALL_GRAPH_NONE;
	plan(&made, UINT64_MAX, EVENT_START_NOW);
	ck_assert(made.config.graph.live && made.config.graph.fixed_size);
	ck_assert_uint_eq(attr_of(&made)->sample_stack_user, 4096);
	made_deinit(&made);
	make(&made);
	made.options.sampling.events = "cpu-clock/call-graph=fp/,task-clock";
	plan(&made, UINT64_MAX, EVENT_START_NOW);
	ck_assert(made.config.graph.kind == SP_CALL_GRAPH_DWARF && !made.config.graph.live);
	ck_assert_uint_eq(attr_of(&made)->sample_stack_user, 0);
}

TEST(requests_follow_the_call_graph)
{
	static const struct {
		enum sp_call_graph kind;
		bool user_only, kernel_only;
		enum event_callchain callchain;
	} rows[] = {
		{SP_CALL_GRAPH_NONE, false, false, EVENT_CALLCHAIN_NONE},
		{SP_CALL_GRAPH_FP, false, false, EVENT_CALLCHAIN_ALL},
		{SP_CALL_GRAPH_FP, true, false, EVENT_CALLCHAIN_USER},
		{SP_CALL_GRAPH_LBR, false, true, EVENT_CALLCHAIN_KERNEL},
		{SP_CALL_GRAPH_DWARF, false, false, EVENT_CALLCHAIN_KERNEL},
		{SP_CALL_GRAPH_DWARF, true, false, EVENT_CALLCHAIN_NOTHING},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		MADE made;
		make(&made);
		made.options.chains = (struct sp_capture_chains){
			.call_graph = rows[i].kind, .user_only = rows[i].user_only,
			.kernel_only = rows[i].kernel_only, .max_stack = 50};
		request(&made, UINT64_MAX, EVENT_START_NOW);
		ck_assert_int_eq(made.request.callchain, rows[i].callchain);
		ck_assert_uint_eq(made.request.max_stack, 50);
		ck_assert_uint_eq(made.request.user_stack_bytes,
				  rows[i].kind == SP_CALL_GRAPH_DWARF ? 8192 : 0);
		ck_assert(!made.request.asked.branch_type == (rows[i].kind != SP_CALL_GRAPH_LBR));
	}
}

static enum event_scope scope_of(const struct capture_options *options)
{
	MADE made;
	make(&made);
	made.options.target = options->target;
	made.options.target.command = command;
	made.options.sampling.freq_hz = options->sampling.freq_hz;
	made.options.sampling.period = options->sampling.period;
	made.options.fields.switches = options->fields.switches;
	request(&made, UINT64_MAX, EVENT_START_NOW);
	return made.request.scope;
}

TEST(short_periods_are_recorded_by_task)
{
	struct capture_options options = {.fields.switches = SP_OFF};
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_CPUS_IF_ALLOWED);
	options.sampling.freq_hz = 5001;
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_TASKS);
	options.sampling.freq_hz = 0;
	options.sampling.period = 200000;
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_CPUS_IF_ALLOWED);
	options.sampling.period = 199999;
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_TASKS);
	options.target.scope = SP_CAPTURE_SCOPE_CPU;
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_CPUS);
	options = (struct capture_options){.target.system_wide = true};
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_CPUS);
	options = (struct capture_options){.target.remove_on_exec = true};
	ck_assert_int_eq(scope_of(&options), EVENT_SCOPE_TASKS);
}

static uint32_t watermark_of(const struct sp_capture_buffers *buffers, const char *program,
			     uint64_t freq_hz)
{
	const char *const words[] = {program, NULL};
	MADE made;
	make(&made);
	made.options.target.command = words;
	made.options.buffers = *buffers;
	made.options.sampling.freq_hz = freq_hz;
	/* Their rings are woken by samples. */
	made.options.fields.switches = SP_OFF;
	request(&made, UINT64_MAX, EVENT_START_NOW);
	return made.request.sample_watermark_bytes;
}

/* SWITCH records share no ring with MMAP2, and are only those of the target. */
TEST(an_event_has_the_switches)
{
	MADE made;
	make(&made);
	made.options.fields.switches = SP_ON;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert_uint_eq(made.config.plan->sample_count, 2);
	const struct perf_event_attr *attr = &made.config.plan->samples[1].attr;
	ck_assert(attr->context_switch && attr->config == PERF_COUNT_SW_DUMMY && !attr->freq);
	ck_assert(!made.config.plan->sideband.attr.context_switch && !made.config.plan->cpu_wide);
	ck_assert(made.config.switches && made.config.graph.live);
	ck_assert_uint_eq(made.config.ring_pages.samples, 8 * MIB / 4096);
	made_deinit(&made);
	make(&made);
	made.options.fields.switches = SP_ON;
	made.options.sampling.samples = SP_OFF;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert_uint_eq(made.config.plan->sample_count, 1);
	ck_assert(made.config.plan->sideband.attr.context_switch && !made.config.switches);
}

/* Without the right to sample CPUs, events are of tasks: switches then cost little. */
TEST(events_of_tasks_have_the_switches_by_default)
{
	MADE made;
	make(&made);
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	const struct event_plan *of = made.config.plan;
	ck_assert_uint_eq(of->sample_count, 2);
	ck_assert(of->samples[1].attr.context_switch && !of->cpu_wide);
	ck_assert_uint_eq(config_switch_event(&made.config, of), 1);
	ck_assert(made.config.switches_limited);
	/* They are few, and need no larger rings. */
	ck_assert_uint_lt(made.config.ring_pages.samples, 8 * MIB / 4096);
	/* Larger copies of stacks have no part in them. */
	ck_assert(!made.config.copies.alternates_begin || of->samples[1].attr.enable_on_exec);
	made_deinit(&made);
	make(&made);
	made.options.target.inherit = SP_OFF;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert_uint_eq(made.config.plan->sample_count, 1);
	made_deinit(&made);
	make(&made);
	made.options.fields.switches = SP_OFF;
	made.options.target.scope = SP_CAPTURE_SCOPE_TASK;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert_uint_eq(made.config.plan->sample_count, 1);
}

TEST(the_watermark_follows_ring_and_target)
{
	struct sp_capture_buffers buffers = {.ring_bytes = 128 << 10};
	ck_assert_uint_eq(watermark_of(&buffers, "true", 997), 32 << 10);
	ck_assert_uint_eq(watermark_of(&buffers, "python3", 997), 8);
	ck_assert_uint_eq(watermark_of(&buffers, "python3", 2501), 32 << 10);
	buffers.wakeup_bytes = 5000;
	ck_assert_uint_eq(watermark_of(&buffers, "python3", 997), 5000);
	buffers.wakeup_bytes = UINT64_C(1) << 32;
	ck_assert_uint_eq(watermark_of(&buffers, "true", 997), UINT32_MAX);
	buffers = (struct sp_capture_buffers){.overwrite = true};
	ck_assert_uint_eq(watermark_of(&buffers, "python3", 997), 0);
}

TEST(counts_of_threads_get_a_note)
{
	MADE made;
	make(&made);
	made.options.fields.thread_counts = true;
	request(&made, UINT64_MAX, EVENT_START_NOW);
	ck_assert(made.request.inherit_stat && made.request.scope == EVENT_SCOPE_TASKS);
	ck_assert(made.notes.count == 1 && made.notes.items[0].note.kind == NOTE_THREAD_COUNTS_RISKY);
	made_deinit(&made);
	make(&made);
	made.options.fields.thread_counts = made.options.target.system_wide = true;
	request(&made, UINT64_MAX, EVENT_START_NOW);
	ck_assert(made.notes.count == 1 && made.notes.items[0].note.kind == NOTE_NO_THREAD_COUNTS);
}

TEST(a_clock_that_may_be_set_is_made_of_another)
{
	static const clockid_t rows[][2] = {{CLOCK_BOOTTIME, CLOCK_BOOTTIME},
					    {CLOCK_REALTIME, CLOCK_MONOTONIC},
					    {CLOCK_TAI, CLOCK_MONOTONIC}};
	for (size_t i = 0; i < 3; i++) {
		MADE made;
		make(&made);
		made.options.schedule.use_clock = true;
		made.options.schedule.clock = rows[i][0];
		request(&made, UINT64_MAX, EVENT_START_NOW);
		ck_assert_int_eq(made.request.clock_id, rows[i][1]);
	}
}

/* Rings shrink while they are mapped: copies of running tasks' stacks do, too. */
TEST(copies_shrink_with_the_rings)
{
	int32_t pid = 1;
	MADE made;
	make(&made);
	made.refuses_cpus = true;
	made.options.target.pids = (struct sp_number_list){.items = &pid, .count = 1};
	made.options.sampling.events = "cpu-clock,task-clock/stack-size=16384/";
	plan(&made, UINT64_MAX, EVENT_START_NOW);
	ck_assert_uint_eq(attr_of(&made)->sample_stack_user, SP_STACK_BYTES_MAX);
	ck_assert_uint_eq(attr_of(&made)[0].enable_on_exec, 0);
	ck_assert_uint_eq(config_stack_bytes(&made.config, 0), 8192);
	uint32_t before = SP_STACK_BYTES_MAX;
	while (made.config.ring_pages.samples > 8) {
		ok_or_fail(config_shrink_rings(&made.config));
		ok_or_fail(config_check_rings(&made.config));
		uint32_t now = attr_of(&made)->sample_stack_user;
		ck_assert(now <= before && now >= 8192);
		ck_assert_uint_eq(made.config.copies.bytes, now == 8192 ? 0 : now);
		before = now;
	}
	ck_assert_uint_eq(before, 8192);
	ck_assert_uint_eq(made.config.plan->samples[1].attr.sample_stack_user, 16384);
	while (made.config.ring_pages.samples > 4)
		ok_or_fail(config_shrink_rings(&made.config));
	fails_with(SP_ERROR_LIMIT, config_check_rings(&made.config));
}

TEST(a_commands_alternates_begin_if_rings_are_large)
{
	MADE made;
	make(&made);
	made.refuses_cpus = true;
	made.options.buffers.ring_bytes = 8 * MIB;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert(made.config.copies.alternates_begin && !attr_of(&made)->enable_on_exec);
	ok_or_fail(config_shrink_rings(&made.config));
	ck_assert(made.config.copies.alternates_begin && !attr_of(&made)->enable_on_exec);
	ck_assert(attr_of(&made)->disabled && attr_of(&made)->sample_stack_user == 8192);
	ok_or_fail(config_shrink_rings(&made.config));
	ck_assert(!made.config.copies.alternates_begin && attr_of(&made)->enable_on_exec);
	ck_assert(attr_of(&made)->disabled);
}

TEST(other_plans_are_as_requested)
{
	MADE made;
	make(&made);
	made.options.fields.switches = SP_OFF;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert(made.config.plan->cpu_wide && !made.config.copies.alternates_begin);
	ck_assert_uint_eq(attr_of(&made)->sample_stack_user, 8192);
	made_deinit(&made);
	make(&made);
	made.refuses_cpus = true;
	made.options.chains.call_graph = SP_CALL_GRAPH_FP;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert(attr_of(&made)->enable_on_exec && !attr_of(&made)->sample_stack_user);
	/* By default, clocks of tasks have a period that is no rate's. */
	ck_assert(!attr_of(&made)->freq && attr_of(&made)->sample_period == 1236068);
	ck_assert_uint_eq(plan_rate_hz(made.config.plan), 809);
	made_deinit(&made);
	make(&made);
	made.refuses_cpus = true;
	made.options.sampling.freq_hz = 997;
	made.options.chains.call_graph = SP_CALL_GRAPH_FP;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert_uint_eq(plan_rate_hz(made.config.plan), 997);
	ok_or_fail(config_shrink_rings(&made.config));
	ck_assert(attr_of(&made)->enable_on_exec && !attr_of(&made)->sample_stack_user);
	made_deinit(&made);
	/* An event's own rate replaces -F. */
	make(&made);
	made.options.sampling.events = "cpu-clock/freq=500/";
	made.options.sampling.freq_hz = 997;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	ck_assert_uint_eq(plan_rate_hz(made.config.plan), 500);
}

TEST(waits_have_two_more_events)
{
	MADE made;
	make(&made);
	made.options.sampling.off_cpu = true;
	made.options.sampling.freq_hz = 997;
	made.options.fields.switches = SP_ON;
	plan(&made, UINT64_MAX, EVENT_START_ON_EXEC);
	const struct event_plan *plan = made.config.plan;
	ck_assert(!plan->cpu_wide);
	ck_assert_uint_eq(plan->sample_count, 3);
	ck_assert_uint_eq(made.config.off_cpu.event, 1);
	const struct perf_event_attr *waits = &plan->samples[1].attr, *switches = &plan->samples[2].attr;
	ck_assert_str_eq(plan->samples[1].name, "offcpu-time");
	ck_assert_uint_eq(waits->config, PERF_COUNT_SW_CONTEXT_SWITCHES);
	/* Each switch is sampled, and each sample has a period. */
	ck_assert(!waits->freq);
	ck_assert_uint_eq(waits->sample_period, 1);
	ck_assert(waits->sample_type & PERF_SAMPLE_PERIOD);
	ck_assert(waits->sample_type & PERF_SAMPLE_ADDR);
	ck_assert(waits->sample_type & PERF_SAMPLE_STACK_USER);
	ck_assert(waits->enable_on_exec && switches->enable_on_exec);
	/* SWITCH records are not in the metadata's ring buffers. */
	ck_assert_uint_eq(switches->config, PERF_COUNT_SW_DUMMY);
	ck_assert(switches->context_switch && !waits->context_switch);
	ck_assert(!plan->sideband.attr.context_switch);
	ck_assert_uint_ge((uint64_t)made.config.ring_pages.samples * 4096, 8 * MIB);
	const struct sp_note *note = &vec_last(&made.notes)->note;
	ck_assert_uint_eq(note->kind, NOTE_OFF_CPU);
	ck_assert_uint_eq(note->values[0], OFF_CPU_SWITCHES);
	ck_assert_uint_eq(note->values[1], 1000000);
}

TEST(wakeups_precede_the_events_of_waits)
{
	static const char *const events[] = {NULL, "cpu-clock,sched:sched_waking"};
	for (size_t i = 0; i < 2; i++) {
		MADE made;
		make(&made);
		root_put(&made.root, "/sys/kernel/tracing/events/sched/sched_waking/id", "375\n");
		root_put(&made.root, "/sys/kernel/tracing/events/sched/sched_waking/format",
			 SCHED_WAKING_FORMAT("375"));
		made.options.sampling.off_cpu = made.options.sampling.wakers = true;
		made.options.sampling.events = events[i];
		made.options.sampling.freq_hz = 997;
		plan(&made, UINT64_MAX, EVENT_START_NOW);
		const struct event_plan *plan = made.config.plan;
		ck_assert_uint_eq(plan->sample_count, 4);
		const struct perf_event_attr *wakeups = &plan->samples[1].attr;
		ck_assert_str_eq(plan->samples[1].name, "sched:sched_waking");
		ck_assert_uint_eq(wakeups->config, 375);
		ck_assert(wakeups->sample_type & PERF_SAMPLE_RAW);
		/* Each wake-up is sampled: -F is for the other events. */
		ck_assert(!wakeups->freq);
		ck_assert_uint_eq(wakeups->sample_period, 1);
		ck_assert(plan->samples[0].attr.freq);
		ck_assert_uint_eq(made.config.off_cpu.event, 2);
		ck_assert_str_eq(plan->samples[2].name, "offcpu-time");
		const struct wakeup_event *event = &made.config.off_cpu.wakeups;
		ck_assert(event->on && event->event == 1 && event->was_named == (events[i] != NULL));
		ck_assert_uint_eq(event->pid.offset, SCHED_WAKING_PID);
		ck_assert_uint_eq(event->flags.offset, SCHED_WAKING_FLAGS);
		ck_assert(off_cpu_has_outside_wakers(&made.config.off_cpu, plan));
	}
}

TEST(waits_keep_their_event_where_switches_are_refused)
{
	MADE made;
	make(&made);
	made.refuses_kernel = true;
	made.options.sampling.off_cpu = true;
	made.options.sampling.off_cpu_thin_ns = 5;
	plan(&made, UINT64_MAX, EVENT_START_NOW);
	const struct event_planned *waits = &made.config.plan->samples[1];
	ck_assert_str_eq(waits->name, "offcpu-time");
	ck_assert_uint_eq(waits->attr.config, PERF_COUNT_SW_DUMMY);
	ck_assert(waits->attr.exclude_kernel);
	ck_assert(off_cpu_is_refused(&made.config.off_cpu, made.config.plan));
	const struct sp_note *note = &vec_last(&made.notes)->note;
	ck_assert_uint_eq(note->values[0], OFF_CPU_SNAPSHOTS);
	ck_assert_uint_eq(note->values[1], 5);
	ck_assert_uint_eq(note->values[2], 2);
	ck_assert_uint_eq(note->values[3], 10);
}

TEST(a_period_of_other_events_leaves_waits_alone)
{
	MADE made;
	make(&made);
	made.options.sampling.events = "page-faults";
	made.options.sampling.period = 100;
	made.options.sampling.off_cpu = true;
	plan(&made, UINT64_MAX, EVENT_START_NOW);
	ck_assert_uint_eq(made.config.plan->samples[0].attr.sample_period, 100);
	ck_assert_uint_eq(made.config.plan->samples[1].attr.sample_period, 1);
	ck_assert(made.config.plan->samples[1].attr.sample_type & PERF_SAMPLE_PERIOD);
}

TEST(waits_exclude_other_options)
{
	const struct capture_options bad[] = {
		{.target.command = command, .sampling = {.off_cpu = true, .samples = SP_OFF}},
		{.target.command = command, .sampling.off_cpu = true, .buffers.overwrite = true},
		{.target.cgroups = "a", .sampling.off_cpu = true},
		{.target = {.command = command, .scope = SP_CAPTURE_SCOPE_CPU}, .sampling.off_cpu = true},
		{.target.command = command,
		 .sampling = {.off_cpu = true, .off_cpu_thin_ns = UINT64_C(4000000001)}},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct capture_config config = {0};
		fails_with(SP_ERROR_INVALID, config_choose_target(&bad[i], &config));
		config_deinit(&config);
	}
}
