/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real software events of this process, which the control switches; each list's own counts are read. */
#include "capture/event_control/event_control.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/clock.h"
#include "test.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

/* Sizes of ring buffers with much room for large copies, and with little, at this period. */
#define PERIOD_NS 100000
#define ROOMY_BYTES (16 << 20)
#define SMALL_BYTES (4 << 20)

struct fixture {
	struct sp_ctx *ctx;
	struct capture_config config;
	struct event_control control;
	struct ring rings[2 * EVENT_ROLE_COUNT];
	struct record_buffer records;
	struct notes notes;
	uint64_t now_ns;
	bool has_switches; /* the last event has those of the thread */
};

static struct sp_error *plan_events(struct fixture *f, const char *events, enum event_start start,
				    bool cpu_wide)
{
	struct event_specs *specs = &f->config.events.specs;
	struct sp_error *error = event_specs_parse(specs, f->ctx, events);
	const struct event_request request = {
		.specs = specs,
		.scope = cpu_wide ? EVENT_SCOPE_CPUS : EVENT_SCOPE_TASKS,
		.start = start,
		.cpu = f->config.cpus.items[0],
		.period = PERIOD_NS,
		.clock_id = CLOCK_MONOTONIC,
		.extra_sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER,
		.user_registers = 0xff,
		.user_stack_bytes = 4096,
	};
	if (f->has_switches)
		vec_last(specs)->use = EVENT_USE_SWITCHES;
	if (!error)
		error = event_plan_make(event_kernel_real(), &f->config.rights, &request,
					&f->config.own_plan);
	f->config.plan = f->config.own_plan;
	return error;
}

static struct sp_error *map_rings(struct fixture *f)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < f->config.cpus.count * EVENT_ROLE_COUNT && !error; i++)
		error = ring_map(&f->rings[i], event_set_ring_fd(f->control.set, i / EVENT_ROLE_COUNT,
								 (enum event_role)(i % EVENT_ROLE_COUNT)),
				 4 * f->config.rights.page_size);
	return error;
}

/* All but the planned events, on at most two CPUs. */
static struct sp_error *open_control(struct fixture *f, const char *events, enum event_start start,
				     bool cpu_wide)
{
	const struct sp_capture_schedule schedule = {.start_disabled = start == EVENT_START_LATER};
	event_control_init(&f->control);
	struct sp_error *error = schedule_init(&f->control.schedule, &schedule);
	if (!error)
		error = sp_ctx_new(&f->ctx);
	if (!error)
		error = rights_read(f->ctx, &f->config.rights);
	if (!error)
		error = sysfs_cpus_online(f->ctx, &f->config.cpus);
	f->config.cpus.count = f->config.cpus.count > 2 ? 2 : f->config.cpus.count;
	f->config.graph.stack_bytes = 4096;
	if (!error)
		error = plan_events(f, events, start, cpu_wide);
	if (!error)
		error = event_control_open_set(&f->control, &f->config);
	return error ? error : map_rings(f);
}

static struct sp_error *open_planned(struct fixture *f)
{
	struct event_place places[2];
	struct sp_error *error = NULL;
	for (enum event_role role = 0; role < EVENT_ROLE_COUNT && !error; role++) {
		for (size_t i = 0; i < f->config.cpus.count; i++)
			places[i] = (struct event_place){
				.tid = f->config.plan->cpu_wide ? -1 : (int32_t)getpid(),
				.cpu_index = (uint32_t)i, .last_cpu = -1};
		error = event_set_open(f->control.set, role, places, f->config.cpus.count);
	}
	return error;
}

/* The fixture is zeroed. Returns false where the kernel does not permit these events. */
static bool fixture_open(struct fixture *f, const char *events, enum event_start start,
			 bool cpu_wide)
{
	f->now_ns = 100 * SECOND;
	struct sp_error *error = open_control(f, events, start, cpu_wide);
	bool permitted = !error || (sp_error_code(error) != SP_ERROR_PERMISSION &&
				    sp_error_code(error) != SP_ERROR_UNSUPPORTED);
	if (permitted)
		ok_or_fail(error);
	sp_error_free(permitted ? NULL : error);
	return permitted;
}

static bool fixture_init(struct fixture *f, const char *events, enum event_start start,
			 bool cpu_wide)
{
	*f = (struct fixture){0};
	return fixture_open(f, events, start, cpu_wide);
}

static void fixture_deinit(struct fixture *f)
{
	for (size_t i = 0; i < 2 * EVENT_ROLE_COUNT; i++)
		ring_deinit(&f->rings[i]);
	event_control_deinit(&f->control);
	event_plan_free(f->config.own_plan);
	event_specs_deinit(&f->config.events.specs);
	vec_deinit(&f->config.cpus);
	vec_deinit(&f->records);
	notes_deinit(&f->notes);
	sp_ctx_free(f->ctx);
}

/* Opens the alternates, too; sampling has begun. */
static void begin(struct fixture *f, uint64_t ring_bytes)
{
	const struct alternate_options options = {
		.command_tid = (int32_t)getpid(), .ring_bytes = ring_bytes, .larger = true, .slower = true};
	ok_or_fail(open_planned(f));
	ok_or_fail(event_control_open_alternates(&f->control, &options));
	ok_or_fail(event_control_begin_alternates(&f->control, false, f->now_ns));
}

static void turn(struct fixture *f, size_t index, bool on)
{
	const struct note_records to = {&f->records, 7};
	ok_or_fail(event_control_switch(&f->control, index, on, f->now_ns, &to));
}

static size_t notes_written(const struct fixture *f)
{
	size_t count = 0;
	for (size_t at = 0; at < f->records.count; count++) {
		struct perf_event_header header;
		memcpy(&header, f->records.items + at, sizeof(header));
		at += header.size;
	}
	return count;
}

static uint64_t sum_of(const struct alternate_events *events)
{
	uint64_t sum = 0, values[8];
	for (size_t i = 0; i < events->count; i++) {
		ck_assert_int_gt(read(events->items[i].fd, values, sizeof(values)), 0);
		sum += values[0];
	}
	return sum;
}

enum { PLANNED = 1, SECOND_PLANNED = 2, LARGE = 4, SLOW = 8, HELPER = 16 };

struct counts {
	uint64_t items[5];
};

static struct counts read_counts(const struct fixture *f)
{
	struct counts counts = {.items = {[2] = sum_of(&f->control.alternate.large),
					  [3] = sum_of(&f->control.alternate.slow),
					  [4] = sum_of(&f->control.alternate.helper)}};
	for (size_t i = 0; i < f->config.plan->sample_count; i++) {
		struct event_total total;
		ok_or_fail(event_set_read(f->control.set, i, &total));
		counts.items[i] = total.value;
	}
	return counts;
}

/* Returns the lists of events that count while this thread runs. */
static unsigned int counting(const struct fixture *f)
{
	const struct counts before = read_counts(f);
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 2 * MS;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
	const struct counts after = read_counts(f);
	unsigned int lists = 0;
	for (unsigned int i = 0; i < 5; i++)
		lists |= after.items[i] != before.items[i] ? 1U << i : 0;
	return lists;
}

/* Loses `lost` of each 100 samples for that time. */
static void lose(struct fixture *f, struct rate_control_seen *seen, uint64_t lost, uint64_t ns)
{
	for (uint64_t end_ns = f->now_ns + ns; f->now_ns < end_ns; f->now_ns += 50 * MS) {
		seen->samples += 100 - lost;
		seen->lost += lost;
		ok_or_fail(event_control_fit_rate(&f->control, seen, f->now_ns, &f->notes));
	}
}

TEST(one_list_samples_at_a_time)
{
	struct fixture f;
	struct rate_control_seen rate_control = {0};
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, ROOMY_BYTES);
	ck_assert_uint_eq(counting(&f), LARGE | HELPER);
	lose(&f, &rate_control, 50, 2 * SECOND);
	ck_assert_uint_eq(counting(&f), SLOW | HELPER);
	ck_assert_uint_eq(f.notes.count, 1);
	ck_assert_uint_eq(f.notes.items[0].note.kind, NOTE_PERIOD_RAISED);
	ck_assert(!event_control_can_grow(&f.control, f.now_ns));
	lose(&f, &rate_control, 0, 20 * SECOND);
	ck_assert_uint_eq(counting(&f), PLANNED | HELPER);
	ck_assert_uint_eq(f.notes.items[f.notes.count - 1].note.kind, NOTE_PERIOD_RESTORED);
	fixture_deinit(&f);
}

TEST(copies_are_large_while_stacks_need_them)
{
	struct fixture f;
	struct alternate_seen seen = {0};
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, SMALL_BYTES);
	ck_assert_uint_eq(counting(&f), PLANNED | HELPER);
	ck_assert(event_control_can_grow(&f.control, f.now_ns));
	seen = (struct alternate_seen){.need = {.stacks = 1000, .beyond = 100}, .cuts = 100};
	ok_or_fail(event_control_fit_copies(&f.control, &seen, f.now_ns));
	ck_assert_uint_eq(counting(&f), LARGE | HELPER);
	/* No stack is truncated any more, or needs so much: helpers end first. */
	for (int i = 0; i < 10; i++) {
		f.now_ns += SECOND / 2;
		seen.need.stacks += 1000;
		ok_or_fail(event_control_fit_copies(&f.control, &seen, f.now_ns));
	}
	ck_assert_uint_eq(counting(&f), PLANNED);
	seen.cuts++;
	ok_or_fail(event_control_fit_copies(&f.control, &seen, f.now_ns));
	ck_assert_uint_eq(counting(&f), PLANNED | HELPER);
	fixture_deinit(&f);
}

TEST(alternates_are_off_while_an_event_is_off)
{
	struct fixture f;
	struct rate_control_seen rate_control = {0};
	if (!fixture_init(&f, "cpu-clock,task-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, ROOMY_BYTES);
	ck_assert_uint_eq(counting(&f), LARGE | HELPER);
	turn(&f, 1, false);
	ck_assert_uint_eq(counting(&f), PLANNED);
	/* Neither losses nor stacks of samples before that change it. */
	const struct alternate_seen seen = {.need = {.stacks = 1000, .beyond = 100}, .cuts = 100};
	lose(&f, &rate_control, 50, 2 * SECOND);
	ok_or_fail(event_control_fit_copies(&f.control, &seen, f.now_ns));
	ck_assert_uint_eq(counting(&f), PLANNED);
	turn(&f, SCHEDULE_ALL, false);
	ck_assert_uint_eq(counting(&f), 0);
	turn(&f, 0, true);
	ck_assert_uint_eq(counting(&f), PLANNED);
	turn(&f, 1, true);
	ck_assert_uint_eq(counting(&f), LARGE | HELPER);
	ck_assert_uint_eq(notes_written(&f), 4);
	fixture_deinit(&f);
}

TEST(resume_enables_what_pause_disabled)
{
	struct fixture f;
	if (!fixture_init(&f, "cpu-clock,task-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, ROOMY_BYTES);
	ok_or_fail(event_control_pause(&f.control));
	ck_assert_uint_eq(counting(&f), HELPER);
	ok_or_fail(event_control_resume(&f.control));
	ck_assert_uint_eq(counting(&f), LARGE | HELPER);
	turn(&f, 0, false);
	ok_or_fail(event_control_pause(&f.control));
	ck_assert_uint_eq(counting(&f), 0);
	ok_or_fail(event_control_resume(&f.control));
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED);
	fixture_deinit(&f);
}

/* The exec enables either kind; without large events, the planned ones are enabled at once. */
TEST(an_exec_enables_large_events)
{
	struct fixture f;
	for (int larger = 0; larger < 2; larger++) {
		if (!fixture_init(&f, "cpu-clock", EVENT_START_ON_EXEC, false))
			skip_test("no permission to open events");
		const struct alternate_options options = {
			.command_tid = (int32_t)getpid(), .ring_bytes = ROOMY_BYTES, .larger = larger};
		f.config.copies.alternates_begin = true;
		f.config.own_plan->samples[0].attr.enable_on_exec = 0;
		ok_or_fail(open_planned(&f));
		ok_or_fail(event_control_open_alternates(&f.control, &options));
		ck_assert_uint_eq(f.control.alternate.on_exec, larger);
		ok_or_fail(event_control_begin(&f.control, true));
		ok_or_fail(event_control_begin_alternates(&f.control, true, f.now_ns));
		ck_assert_uint_eq(counting(&f), larger ? HELPER : PLANNED);
		ck_assert_int_eq(f.control.mode, larger ? SAMPLING_LARGE : SAMPLING_PLANNED);
		for (size_t i = 0; i < f.control.alternate.large.count; i++)
			ck_assert(f.control.alternate.large.items[i].attr.enable_on_exec);
		fixture_deinit(&f);
	}
}

TEST(running_tasks_get_no_alternates)
{
	struct fixture f;
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	f.config.target = CAPTURE_PROCESSES;
	begin(&f, ROOMY_BYTES);
	ck_assert(!alternate_ids_any(&f.control.alternate.ids));
	ck_assert_uint_eq(counting(&f), PLANNED);
	fixture_deinit(&f);
}

TEST(samples_of_alternates_have_planned_ids)
{
	struct fixture f;
	const struct sp_event *events;
	size_t count;
	uint64_t id;
	if (!fixture_init(&f, "cpu-clock,task-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, ROOMY_BYTES);
	const struct alternate *alternate = &f.control.alternate;
	ok_or_fail(event_set_events(f.control.set, &events, &count));
	ck_assert_uint_eq(alternate->large.count, 2 * f.config.cpus.count);
	ck_assert_uint_eq(alternate->slow.count, 2 * f.config.cpus.count);
	for (size_t i = 0; i < alternate->large.count; i++) {
		const struct alternate_event *event = &alternate->large.items[i];
		ck_assert_int_eq(ioctl(event->fd, PERF_EVENT_IOC_ID, &id), 0);
		ck_assert_uint_eq(alternate_ids_find(&alternate->ids, id),
				  events[event->planned].ids[event->cpu_index]);
	}
	ck_assert_int_eq(ioctl(alternate->helper.items[0].fd, PERF_EVENT_IOC_ID, &id), 0);
	ck_assert_uint_eq(alternate_ids_find(&alternate->ids, id), 0);
	ck_assert_uint_eq(alternate_ids_find(&alternate->ids, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(alternate->ids.first_listed, events[0].ids[0]);
	fixture_deinit(&f);
}

TEST(helpers_of_occurrences_are_clocks)
{
	static const struct { const char *events; uint64_t helper; } cases[] = {
		{"page-faults", PERF_COUNT_SW_CPU_CLOCK},
		{"context-switches", PERF_COUNT_SW_CPU_CLOCK},
		{"task-clock", PERF_COUNT_SW_TASK_CLOCK},
	};
	for (size_t i = 0; i < count_of(cases); i++) {
		struct fixture f;
		if (!fixture_init(&f, cases[i].events, EVENT_START_NOW, false))
			skip_test("no permission to open events");
		begin(&f, ROOMY_BYTES);
		ck_assert_uint_gt(f.control.alternate.helper.count, 0);
		ck_assert_uint_eq(f.control.alternate.helper.items[0].attr.config, cases[i].helper);
		fixture_deinit(&f);
	}
}

/* A metadata event that is disabled looks as if its CPU were offline. */
TEST(a_cpu_that_comes_back_is_recorded_again)
{
	struct fixture f;
	struct event_renamed_list renamed = {0};
	uint64_t values[8];
	bool back;
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, true))
		skip_test("no permission to open CPU-wide events");
	begin(&f, ROOMY_BYTES);
	ok_or_fail(event_control_watch_cpus(&f.control));
	struct cpu_check check = {.now = true, .notes = &f.notes};
	ok_or_fail(event_control_check_cpus(&f.control, &check, &renamed, &back));
	ck_assert(!back && !renamed.count);
	ok_or_fail(event_set_disable(f.control.set, EVENT_ROLE_SIDEBAND));
	f.control.cpu_hotplug.cpus[0].read_ns -= SECOND;
	ok_or_fail(event_control_check_cpus(&f.control, &check, &renamed, &back));
	ck_assert(back);
	ck_assert_uint_eq(renamed.count, 2);
	ck_assert_uint_eq(f.notes.count, 1);
	ck_assert_uint_eq(f.notes.items[0].note.kind, NOTE_CPU_BACK);
	/* The reopened events continue what the closed ones counted. */
	ck_assert_uint_gt(f.control.alternate.large.items[0].counted, 0);
	ck_assert_uint_eq(counting(&f), LARGE | HELPER);
	ck_assert_int_gt(read(f.control.alternate.large.items[0].fd, values, sizeof(values)), 0);
	ck_assert_uint_gt(values[0], 0);
	vec_deinit(&renamed);
	fixture_deinit(&f);
}

/* Whether outside events count while this thread runs. */
static bool outside_counts(const struct fixture *f)
{
	uint64_t before = sum_of(&f->control.alternate.outside);
	counting(f);
	return sum_of(&f->control.alternate.outside) != before;
}

TEST(outside_events_complete_a_tasks_event)
{
	struct fixture f;
	struct event_renamed_list renamed = {0};
	bool back;
	if (!fixture_init(&f, "cpu-clock,task-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	f.config.target = CAPTURE_PROCESSES;
	f.config.off_cpu.wakeups = (struct wakeup_event){.on = true, .pid = {24, 4}, .flags = {2, 1}};
	begin(&f, ROOMY_BYTES);
	if (f.control.outside_errnum) {
		ck_assert(!f.control.alternate.outside.count && !f.control.alternate.clocks.count);
		fixture_deinit(&f);
		skip_test("no permission to open CPU-wide events");
	}
	const struct alternate_ids *ids = &f.control.alternate.ids;
	ck_assert_uint_eq(ids->outside.count, f.config.cpus.count);
	ck_assert_uint_ne(alternate_ids_find(ids, ids->outside.items[0]), 0);
	const struct perf_event_attr *attr = &f.control.alternate.outside.items[0].attr;
	/* Linux writes past the record if a copy of the stack has 0 bytes. */
	ck_assert_uint_eq(attr->sample_stack_user, attr->sample_type & PERF_SAMPLE_STACK_USER ? 8 : 0);
	ck_assert(!attr->inherit && !attr->enable_on_exec);
	ck_assert(outside_counts(&f));
	turn(&f, 0, false);
	ck_assert(!outside_counts(&f));
	turn(&f, 0, true);
	ok_or_fail(event_control_pause(&f.control));
	ck_assert(!outside_counts(&f));
	ok_or_fail(event_control_resume(&f.control));
	ck_assert(outside_counts(&f));
	/* The event of a CPU that was offline is opened again, and has another id. */
	ok_or_fail(event_control_watch_cpus(&f.control));
	struct cpu_check check = {.now = true, .notes = &f.notes};
	ok_or_fail(event_control_check_cpus(&f.control, &check, &renamed, &back));
	ck_assert(!back);
	alternate_enable(&f.control.alternate.clocks, false);
	f.control.alternate.clocks.enabled = true;
	f.control.cpu_hotplug.cpus[0].read_ns -= SECOND;
	ok_or_fail(event_control_check_cpus(&f.control, &check, &renamed, &back));
	ck_assert(back && !renamed.count);
	ck_assert_uint_eq(ids->outside.count, f.config.cpus.count + 1);
	ck_assert_uint_eq(alternate_ids_find(ids, vec_last(&ids->outside)[0]),
			  alternate_ids_find(ids, ids->outside.items[0]));
	ck_assert(outside_counts(&f));
	vec_deinit(&renamed);
	fixture_deinit(&f);
}

TEST(a_cpu_with_an_aux_area_is_not_reopened)
{
	struct fixture f;
	struct event_renamed_list renamed = {0};
	bool back;
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, true))
		skip_test("no permission to open CPU-wide events");
	begin(&f, ROOMY_BYTES);
	ok_or_fail(event_control_watch_cpus(&f.control));
	struct cpu_check check = {.now = true, .is_mapped = true, .notes = &f.notes};
	ok_or_fail(event_set_disable(f.control.set, EVENT_ROLE_SIDEBAND));
	f.control.cpu_hotplug.cpus[0].read_ns -= SECOND;
	for (int i = 0; i < 2; i++) {
		ok_or_fail(event_control_check_cpus(&f.control, &check, &renamed, &back));
		ck_assert(!back && !renamed.count);
	}
	ck_assert_uint_eq(f.notes.count, 1);
	ck_assert_uint_eq(f.notes.items[0].note.kind, NOTE_CPU_GONE);
	fixture_deinit(&f);
}

/* Adds context switches, up to a sum. */
static void see_switches(struct fixture *f, uint64_t count, uint64_t ns)
{
	const struct note_records to = {&f->records, 7};
	f->now_ns += ns;
	ok_or_fail(event_control_fit_switches(&f->control, count, f->now_ns, &to));
}

/* They are recorded while there are up to 10,000 a second, whichever events sample. */
TEST(context_switches_are_off_while_there_are_many)
{
	struct fixture f = {.has_switches = true};
	struct rate_control_seen rate_control = {0};
	/* A clock shows whether it is on. */
	if (!fixture_open(&f, "cpu-clock,task-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, ROOMY_BYTES);
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED | LARGE | HELPER);
	lose(&f, &rate_control, 50, 2 * SECOND);
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED | SLOW | HELPER);
	/* The user requested all. */
	see_switches(&f, 100000, SECOND / 10);
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED | SLOW | HELPER);
	ck_assert_uint_eq(notes_written(&f), 0);
	f.config.switches_limited = true;
	f.control.switches = 100000;
	f.control.switches_ns = f.now_ns;
	see_switches(&f, 100900, SECOND / 10);
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED | SLOW | HELPER);
	see_switches(&f, 103000, SECOND / 50);
	ck_assert_uint_eq(counting(&f), SLOW | HELPER);
	ck_assert_uint_eq(notes_written(&f), 1);
	lose(&f, &rate_control, 0, 20 * SECOND - SECOND / 2);
	f.now_ns -= 19 * SECOND;
	ck_assert_uint_eq(counting(&f), PLANNED | HELPER);
	/* A file that begins lacks them, too. */
	const struct note_records to = {&f.records, 7};
	ok_or_fail(event_control_note_off(&f.control, &to));
	ck_assert_uint_eq(notes_written(&f), 2);
	see_switches(&f, 103000, SECOND);
	ck_assert_uint_eq(counting(&f), PLANNED | HELPER);
	see_switches(&f, 103000, 10 * SECOND);
	ck_assert_uint_eq(counting(&f), PLANNED | SECOND_PLANNED | HELPER);
	ck_assert_uint_eq(notes_written(&f), 3);
	fixture_deinit(&f);
}

/* -e names the first event only. */
TEST(context_switches_are_switched_with_the_last_named_event)
{
	struct fixture f = {.has_switches = true};
	if (!fixture_open(&f, "cpu-clock,task-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, ROOMY_BYTES);
	turn(&f, 0, false);
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED);
	turn(&f, 0, true);
	f.config.switches_limited = true;
	turn(&f, 0, false);
	ck_assert_uint_eq(counting(&f), 0);
	turn(&f, 0, true);
	ck_assert_uint_eq(counting(&f), SECOND_PLANNED | LARGE | HELPER);
	turn(&f, 1, false);
	ck_assert_uint_eq(counting(&f), PLANNED);
	fixture_deinit(&f);
}

TEST(the_schedule_switches_events)
{
	struct fixture f;
	struct sp_capture_span spans[] = {{1, 30}, {60, 0}};
	const struct sp_capture_schedule schedule = {.spans = spans, .span_count = 2};
	if (!fixture_init(&f, "cpu-clock", EVENT_START_LATER, false))
		skip_test("no permission to open events");
	schedule_deinit(&f.control.schedule);
	ok_or_fail(schedule_init(&f.control.schedule, &schedule));
	ok_or_fail(schedule_add_events(&f.control.schedule, 1));
	begin(&f, ROOMY_BYTES);
	const struct note_records to = {&f.records, 7};
	ok_or_fail(event_control_run_schedule(&f.control, f.now_ns, &to));
	ck_assert_uint_eq(counting(&f), 0);
	ok_or_fail(schedule_open_timer(&f.control.schedule, clock_ns(CLOCK_MONOTONIC)));
	ok_or_fail(event_control_note_off(&f.control, &to));
	for (int i = 0; i < 3; i++) {
		struct pollfd timer = {.fd = f.control.schedule.fd, .events = POLLIN};
		ck_assert_int_eq(poll(&timer, 1, 5000), 1);
		ok_or_fail(event_control_run_schedule(&f.control, f.now_ns, &to));
		ck_assert_uint_eq(counting(&f), i == 1 ? 0 : LARGE | HELPER);
	}
	ck_assert_uint_eq(schedule_next_ns(&f.control.schedule), 0);
	ck_assert_uint_eq(notes_written(&f), 4);
	fixture_deinit(&f);
}

TEST(many_switches_are_not_noted)
{
	struct fixture f;
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	begin(&f, SMALL_BYTES);
	for (int i = 0; i < 100; i++)
		turn(&f, 0, i & 1);
	ck_assert_uint_eq(notes_written(&f), 33);
	fixture_deinit(&f);
}

TEST(a_trigger_occurs)
{
	struct fixture f;
	const int32_t tid = (int32_t)getpid();
	if (!fixture_init(&f, "cpu-clock", EVENT_START_NOW, false))
		skip_test("no permission to open events");
	struct trigger *trigger = &f.control.trigger;
	ck_assert(!trigger_occurred(trigger));
	ok_or_fail(trigger_plan(trigger, f.ctx, &f.config.rights, f.config.cpus.items[0], "page-faults"));
	ok_or_fail(trigger_open(trigger, &(struct trigger_places){
		f.config.cpus.items, f.config.cpus.count, &tid, 1, f.config.rights.page_size}));
	ck_assert_uint_eq(trigger->ring_count, f.config.cpus.count);
	(void)trigger_occurred(trigger);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(page != MAP_FAILED);
	*(volatile char *)page = 1;
	ck_assert(trigger_occurred(trigger));
	munmap(page, 4096);
	fixture_deinit(&f);
}

/* -- Without events ------------------------------------------------------------ */

static struct sp_error *init_spans(struct schedule *schedule, const struct sp_capture_span *spans,
				   size_t count)
{
	const struct sp_capture_schedule options = {.spans = spans, .span_count = count};
	return schedule_init(schedule, &options);
}

TEST(ranges_are_in_order)
{
	struct schedule schedule;
	const struct sp_capture_span overlap[] = {{10, 20}, {20, 30}}, reverse[] = {{20, 10}},
				     endless[] = {{10, 0}, {20, 30}}, good[] = {{0, 10}, {20, 0}};
	fails_with(SP_ERROR_INVALID, init_spans(&schedule, overlap, 2));
	schedule_deinit(&schedule);
	fails_with(SP_ERROR_INVALID, init_spans(&schedule, reverse, 1));
	fails_with(SP_ERROR_INVALID, init_spans(&schedule, endless, 2));
	ok_or_fail(init_spans(&schedule, good, 2));
	schedule.begin_ns = SECOND;
	/* A timer that is set to 0 is off. */
	uint64_t expected_ns[] = {SECOND + 1, SECOND + 10 * MS, SECOND + 20 * MS, 0, 0};
	for (size_t i = 0; i < 5; i++, schedule.next++) {
		ck_assert_uint_eq(schedule_next_ns(&schedule), expected_ns[i]);
		ck_assert_int_eq(schedule_next_is_on(&schedule), i % 2 == 0);
	}
	schedule_deinit(&schedule);
}

TEST(a_delay_is_a_range_without_end)
{
	struct schedule schedule;
	const struct sp_capture_schedule delay = {.delay_ms = 5}, none = {0};
	ok_or_fail(schedule_init(&schedule, &delay));
	ok_or_fail(schedule_add_events(&schedule, 2));
	ck_assert(schedule.later && schedule.turned && schedule_all_are(&schedule, false));
	ck_assert_uint_eq(schedule_next_ns(&schedule), 5 * MS);
	schedule.next++;
	ck_assert_uint_eq(schedule_next_ns(&schedule), 0);
	schedule_deinit(&schedule);
	ok_or_fail(schedule_init(&schedule, &none));
	ok_or_fail(schedule_add_events(&schedule, 2));
	ck_assert(!schedule.later && !schedule.turned && schedule_all_are(&schedule, true));
	ck_assert(!schedule_set(&schedule, 1, true) && schedule_set(&schedule, 1, false));
	ck_assert(!schedule_all_are(&schedule, true) && !schedule_all_are(&schedule, false));
	ck_assert(schedule.turned && !schedule_expired(&schedule));
	schedule_deinit(&schedule);
}
