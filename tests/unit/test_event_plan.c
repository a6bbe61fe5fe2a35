/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ladder from what was asked to what a kernel gives, on made-up kernels. */
#include "event/set.h"

#include <errno.h>
#include <string.h>
#include "base/cleanup.h"
#include "made_ctx.h"
#include "test.h"

DEFINE_CLEANUP(struct event_plan *, event_plan_free)
#define PLAN CLEANUP(cleanup_event_plan_free) struct event_plan
#define SPECS CLEANUP(event_specs_deinit) struct event_specs

#define DUMPS (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
#define MAX_STACK 127

/* A kernel by what it refuses. All false: a new one, for root, with counters. */
struct fake {
	bool no_counters;      /* ENOENT for hardware events */
	bool no_precise;       /* EOPNOTSUPP */
	uint32_t most_precise; /* EOPNOTSUPP above */
	bool no_exclude_guest; /* EINVAL */
	bool no_exclude_idle;  /* EOPNOTSUPP for hardware events, as on arm64 */
	int32_t paranoid;
	bool capable;
	uint32_t attr_size; /* E2BIG above; 0: none */
	bool old;	    /* EINVAL for all flags of 4.1 and later */
	bool no_lost;	    /* EINVAL for PERF_FORMAT_LOST alone */
	clockid_t no_clock; /* EINVAL for it; 0: none */
	bool no_dumps;	    /* EINVAL for registers and stacks of user space */
	bool before_6_12;   /* EINVAL for counts of what is inherited, read with samples */
	int error;	    /* whatever it is */
	int task_error;	    /* for other tasks than ours */
	bool no_breakpoints; /* they open, but never trigger */
	int open, opens;
	struct perf_event_attr last;
	bool inherited[100]; /* by descriptor */
};

static bool has_new_flags(const struct perf_event_attr *attr)
{
	return attr->use_clockid || attr->build_id || attr->ksymbol || attr->bpf_event ||
	       (attr->read_format & EVENT_FORMAT_LOST);
}

static int fake_open(void *arg, const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
		     int group_fd, unsigned long flags)
{
	struct fake *fake = arg;
	(void)flags;
	bool hardware = attr->type == PERF_TYPE_HARDWARE;
	fake->opens++;
	fake->last = *attr;
	ck_assert_int_lt(fake->opens, 100);
	if (fake->error)
		return -fake->error;
	if (pid > 0 && fake->task_error)
		return -fake->task_error;
	if (fake->attr_size && attr->size > fake->attr_size)
		return -E2BIG;
	if (fake->old && has_new_flags(attr))
		return -EINVAL;
	if (fake->no_lost && attr->read_format & EVENT_FORMAT_LOST)
		return -EINVAL;
	if (fake->no_clock && attr->use_clockid && attr->clockid == fake->no_clock)
		return -EINVAL;
	if (fake->no_dumps && (attr->sample_type & DUMPS || attr->sample_regs_user ||
			       attr->sample_stack_user))
		return -EINVAL;
	if (attr->sample_max_stack > MAX_STACK)
		return -EOVERFLOW;
	if (fake->before_6_12 && attr->inherit && attr->sample_type & PERF_SAMPLE_READ)
		return -EINVAL;
	if (group_fd > 1000 && fake->inherited[group_fd - 1001] != attr->inherit)
		return -EINVAL;
	/* In the kernel's order: rights come before the event itself. */
	if (!attr->exclude_kernel && fake->paranoid > 1 && !fake->capable)
		return -EACCES;
	if (pid < 0 && cpu >= 0 && fake->paranoid > 0 && !fake->capable)
		return -EACCES;
	if (hardware && fake->no_counters)
		return -ENOENT;
	if (hardware && attr->precise_ip &&
	    (fake->no_precise || (fake->most_precise && attr->precise_ip > fake->most_precise)))
		return -EOPNOTSUPP;
	if (hardware && attr->exclude_guest && fake->no_exclude_guest)
		return -EINVAL;
	if (hardware && attr->exclude_idle && fake->no_exclude_idle)
		return -EOPNOTSUPP;
	if (hardware && attr->use_clockid && attr->clockid == CLOCK_TAI)
		return -EINVAL;
	fake->inherited[fake->open++] = attr->inherit;
	return 1000 + fake->open;
}

static void fake_close(void *arg, int fd)
{
	struct fake *fake = arg;
	ck_assert(fd > 1000 && fd <= 1000 + fake->opens);
	ck_assert_int_gt(fake->open, 0);
	fake->open--;
}

static int64_t fake_try_breakpoint(void *arg)
{
	struct fake *fake = arg;
	return fake->no_breakpoints ? 0 : 1;
}

static struct sp_error *make(struct fake *fake, const char *events,
			     const struct event_request *request, struct event_plan **ret)
{
	struct event_kernel kernel = {.open = fake_open, .close = fake_close,
				      .try_breakpoint = fake_try_breakpoint, .arg = fake};
	struct rights rights = {
		.has_perf = true,
		.paranoid = fake->paranoid,
		.capabilities = fake->capable ? (uint64_t)1 << 38 : 0,
		.max_sample_hz = 50000,
		.max_stack = MAX_STACK,
		.online_cpus = 2,
		.page_size = 4096,
	};
	struct event_request whole = request ? *request : (struct event_request){.freq_hz = 997};
	SPECS specs = {0};
	if (events)
		ok_or_fail(event_specs_parse(&specs, made_ctx(), events));
	else
		ok_or_fail(event_specs_add_default(&specs, made_ctx()));
	whole.specs = &specs;
	if (!whole.clock_id)
		whole.clock_id = CLOCK_MONOTONIC;
	struct sp_error *error = event_plan_make(&kernel, &rights, &whole, ret);
	ck_assert_int_eq(fake->open, 0);
	return error;
}

static struct event_plan *plan(struct fake *fake, const char *events)
{
	struct event_plan *plan = NULL;
	ok_or_fail(make(fake, events, NULL, &plan));
	return plan;
}

static void one_note(const struct event_plan *plan, const char *text)
{
	ck_assert_uint_eq(plan->notes.count, 1);
	ck_assert_msg(strstr(plan->notes.items[0].line, text) != NULL, "%s",
		      plan->notes.items[0].line);
}

TEST(plan_takes_cycles_as_precisely_as_there_is)
{
	struct fake fake = {.capable = true};
	PLAN *best = plan(&fake, NULL);
	ck_assert_str_eq(best->samples[0].name, "cycles");
	ck_assert_uint_eq(best->samples[0].attr.precise_ip, 3);
	ck_assert_uint_eq(best->samples[0].attr.exclude_guest, 1);
	ck_assert_uint_eq(best->notes.count, 0);
	fake.most_precise = 1;
	PLAN *less = plan(&fake, NULL);
	ck_assert_uint_eq(less->samples[0].attr.precise_ip, 1);
	fake.no_precise = fake.no_exclude_guest = true;
	PLAN *least = plan(&fake, NULL);
	ck_assert_uint_eq(least->samples[0].attr.type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(least->samples[0].attr.precise_ip, 0);
	ck_assert_uint_eq(least->samples[0].attr.exclude_guest, 0);
	ck_assert_uint_eq(least->notes.count, 0);
}

TEST(plan_counts_idle_times_where_they_cannot_be_left_out)
{
	struct fake fake = {.capable = true, .no_exclude_idle = true};
	const struct event_request request = {
		.freq_hz = 997, .scope = EVENT_SCOPE_CPUS, .exclude_idle = true};
	PLAN *arm = NULL, *clock = NULL;
	ok_or_fail(make(&fake, NULL, &request, &arm));
	ck_assert_uint_eq(arm->samples[0].attr.type, PERF_TYPE_HARDWARE);
	ck_assert_uint_eq(arm->samples[0].attr.exclude_idle, 0);
	ck_assert_uint_eq(arm->samples[0].attr.exclude_guest, 1);
	ck_assert_uint_eq(arm->notes.count, 0);
	/* The clock that stands in can. */
	fake.no_counters = true;
	ok_or_fail(make(&fake, NULL, &request, &clock));
	ck_assert_uint_eq(clock->samples[0].attr.type, PERF_TYPE_SOFTWARE);
	ck_assert_uint_eq(clock->samples[0].attr.exclude_idle, 1);
}

TEST(plan_refuses_precision_that_was_typed_and_is_not_there)
{
	struct fake fake = {.capable = true, .no_precise = true};
	struct event_plan *none = NULL;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = make(&fake, "cycles:pp", NULL, &none);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), "precisely"));
	PLAN *most = plan(&fake, "cycles:P");
	ck_assert_uint_eq(most->samples[0].attr.precise_ip, 0);
}

static void becomes(const char *events, const char *name, bool kernel)
{
	struct fake fake = {.capable = true, .no_counters = true};
	PLAN *clock = plan(&fake, events);
	ck_assert_str_eq(clock->samples[0].name, name);
	ck_assert_uint_eq(clock->samples[0].attr.type, PERF_TYPE_SOFTWARE);
	ck_assert_uint_eq(clock->samples[0].attr.config, PERF_COUNT_SW_CPU_CLOCK);
	ck_assert_uint_eq(clock->samples[0].attr.precise_ip, 0);
	ck_assert_uint_eq(clock->samples[0].attr.exclude_kernel, !kernel);
	ck_assert_uint_eq(clock->samples[0].attr.sample_freq, 997);
	one_note(clock, "no hardware counters; sampling cpu-clock");
}

TEST(plan_gives_undithered_clocks_a_period)
{
	static const struct {
		enum event_scope scope;
		const char *events;
		uint64_t freq_hz, period;
		bool dithers;
	} cases[] = {
		{EVENT_SCOPE_TASKS, "cpu-clock", 997, 1236068, true},
		{EVENT_SCOPE_TASKS, "cycles", 997, 1236068}, /* without counters: cpu-clock */
		{EVENT_SCOPE_TASKS, "cpu-clock/freq=500/", 997, 0},
		{EVENT_SCOPE_TASKS, "cpu-clock", 500, 0}, /* the kernel allows no more */
		{EVENT_SCOPE_TASKS, "page-faults", 997, 0},
		{EVENT_SCOPE_CPUS, "cpu-clock", 997, 0, true},
		{EVENT_SCOPE_CPUS, "cpu-clock", 997, 1236068},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake fake = {.capable = true, .no_counters = true};
		struct event_request request = {.scope = cases[i].scope,
						.freq_hz = cases[i].freq_hz,
						.clock_period_ns = 1236068,
						.dithers = cases[i].dithers};
		PLAN *made = NULL;
		ok_or_fail(make(&fake, cases[i].events, &request, &made));
		const struct perf_event_attr *attr = &made->samples[0].attr;
		ck_assert_uint_eq(attr->freq, cases[i].period == 0);
		ck_assert_uint_eq(made->freq_hz, cases[i].period ? 0 : cases[i].freq_hz);
		ck_assert(attr->sample_type & PERF_SAMPLE_PERIOD);
		if (cases[i].period)
			ck_assert_uint_eq(attr->sample_period, cases[i].period);
	}
}

TEST(plan_takes_the_clock_for_missing_cycles)
{
	becomes(NULL, "cpu-clock", true);
	becomes("cycles", "cpu-clock", true);
	becomes("cycles:ppp", "cpu-clock", true);
	becomes("cpu-cycles:u", "cpu-clock:u", false);
	becomes("cycles:kpI", "cpu-clock:kI", true);
	becomes("cycles:ukhH", "cpu-clock:H", true);
}

TEST(plan_has_no_stand_in_for_other_counters)
{
	struct fake fake = {.capable = true, .no_counters = true};
	struct event_plan *none = NULL;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = make(&fake, "cpu-clock,instructions", NULL, &none);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), "instructions"));
}

static void loses_the_kernel(const char *events, const char *name)
{
	struct fake fake = {.paranoid = 2};
	PLAN *user = plan(&fake, events);
	ck_assert_str_eq(user->samples[0].name, name);
	ck_assert_uint_eq(user->samples[0].attr.exclude_kernel, 1);
	ck_assert_uint_eq(user->samples[0].attr.exclude_hv, 1);
	ck_assert_uint_eq(user->samples[0].attr.exclude_user, 0);
	one_note(user, "user code only (sudo sysctl kernel.perf_event_paranoid=1");
}

TEST(plan_gives_up_the_kernel_where_it_is_forbidden)
{
	loses_the_kernel("cpu-clock", "cpu-clock:u");
	loses_the_kernel("cycles:uk", "cycles:u");
	loses_the_kernel("cpu-clock:pp", "cpu-clock:upp");
	struct fake fake = {.paranoid = 2};
	PLAN *user = plan(&fake, "cpu-clock:u");
	ck_assert_str_eq(user->samples[0].name, "cpu-clock:u");
	ck_assert_uint_eq(user->notes.count, 0);
	fake.no_counters = true;
	PLAN *both = plan(&fake, NULL);
	ck_assert_str_eq(both->samples[0].name, "cpu-clock:u");
	one_note(both, "forbids sampling the kernel; sampling user code only (sudo");
	one_note(both, "; this machine has no hardware counters; sampling cpu-clock:u instead");
}

static void cannot_have(const char *events, int32_t paranoid, enum sp_error_code code,
			const char *message, const char *remedy)
{
	struct fake fake = {.paranoid = paranoid};
	struct event_plan *none = NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = make(&fake, events, NULL, &none);
	ck_assert_int_eq(sp_error_code(error), code);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), message));
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), remedy));
}

TEST(plan_refuses_events_of_the_kernel_in_user_mode)
{
	cannot_have("context-switches", 2, SP_ERROR_PERMISSION, "events that occur in the kernel",
		    "perf_event_paranoid=1");
	cannot_have("cpu-clock,cs", 2, SP_ERROR_PERMISSION, "cs: ", "perf_event_paranoid=1");
	cannot_have("migrations", 2, SP_ERROR_PERMISSION, "migrations: ", "perf_event_paranoid=1");
	cannot_have("cgroup-switches", 2, SP_ERROR_PERMISSION, "cgroup-switches: ",
		    "perf_event_paranoid=1");
	cannot_have("context-switches:u", 1, SP_ERROR_UNSUPPORTED, "never in user mode", "omit modifier u");
	struct fake fake = {.paranoid = 1};
	PLAN *allowed = plan(&fake, "context-switches,migrations:k");
	ck_assert_uint_eq(allowed->notes.count, 0);
	/* Others occur in both modes. */
	loses_the_kernel("page-faults", "page-faults:u");
	loses_the_kernel("alignment-faults", "alignment-faults:u");
}

static uint64_t period_bit(const struct event_plan *plan, size_t index)
{
	return plan->samples[index].attr.sample_type & PERF_SAMPLE_PERIOD;
}

/* Linux samples each occurrence of such an event if samples have their period. */
TEST(plan_omits_the_fixed_period_of_occurrences)
{
	struct fake fake = {.capable = true};
	struct event_request every = {.period = 53, .rate_given = true};
	PLAN *mixed = plan(&fake, "cpu-clock,faults,faults/period=53/,faults/period=1/,"
				  "cpu-clock/period=53/,cycles/period=53/,cs/period=2/");
	for (size_t i = 0; i < mixed->sample_count; i++)
		ck_assert_int_eq(!period_bit(mixed, i), i == 2 || i == 6);
	PLAN *all = NULL;
	ok_or_fail(make(&fake, "faults,task-clock,mem:0x1000:w,faults/freq=100/,{cpu-clock,cs}:S", &every,
			&all));
	for (size_t i = 0; i < all->sample_count; i++)
		ck_assert_int_eq(!period_bit(all, i), i == 0 || i == 2);
	ck_assert_uint_eq(all->samples[0].attr.sample_period, 53);
}

TEST(plan_fails_where_only_the_kernel_was_asked_for)
{
	struct fake fake = {.paranoid = 2};
	struct event_plan *none = NULL;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = make(&fake, "cpu-clock:k", NULL, &none);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_PERMISSION);
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), "perf_event_paranoid=1"));
}

TEST(plan_of_a_kernel_that_refuses_everything)
{
	static const struct {
		int errnum, paranoid;
		enum sp_error_code code;
	} cases[] = {
		{EACCES, 3, SP_ERROR_PERMISSION},
		{EPERM, 2, SP_ERROR_PERMISSION},
		{ENOSYS, 2, SP_ERROR_UNSUPPORTED},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake fake = {.error = cases[i].errnum, .paranoid = cases[i].paranoid};
		struct event_plan *none = NULL;
		CLEANUP(cleanup_sp_error_free)
		struct sp_error *error = make(&fake, NULL, NULL, &none);
		ck_assert_ptr_nonnull(error);
		ck_assert_int_eq(sp_error_code(error), cases[i].code);
		ck_assert_ptr_nonnull(sp_error_remedy(error));
	}
}

static struct event_request scope(enum event_scope scope)
{
	return (struct event_request){
		.scope = scope,
		.start = EVENT_START_ON_EXEC,
		.freq_hz = 997,
		.inherit = true,
		.exclude_idle = true,
	};
}

TEST(plan_chooses_the_scope)
{
	struct event_request cpus = scope(EVENT_SCOPE_CPUS);
	struct event_request either = scope(EVENT_SCOPE_CPUS_IF_ALLOWED);
	struct fake root = {.paranoid = 2, .capable = true}, user = {.paranoid = 1};
	PLAN *wide = NULL, *also_wide = NULL, *tasks = NULL;
	ok_or_fail(make(&root, "cpu-clock", &cpus, &wide));
	ok_or_fail(make(&root, "cpu-clock", &either, &also_wide));
	ok_or_fail(make(&user, "cpu-clock", &either, &tasks));
	ck_assert(wide->cpu_wide && also_wide->cpu_wide && !tasks->cpu_wide);
	const struct perf_event_attr *attr = &wide->samples[0].attr;
	ck_assert(!attr->inherit && !attr->enable_on_exec && attr->disabled && attr->exclude_idle);
	attr = &tasks->samples[0].attr;
	ck_assert(attr->inherit && attr->enable_on_exec && attr->disabled && !attr->exclude_idle);
	ck_assert_uint_eq(tasks->notes.count, 0);
	struct event_plan *none = NULL;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = make(&user, "cpu-clock", &cpus, &none);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_PERMISSION);
	ck_assert_ptr_nonnull(strstr(sp_error_remedy(error), "perf_event_paranoid=0"));
}

/* Readers of perf.data need one layout for all attributes. */
TEST(plan_events_have_one_layout)
{
	struct fake fake = {.capable = true};
	struct event_request request = {
		.callchain = EVENT_CALLCHAIN_ALL, .freq_hz = 997, .inherit = true, .uniform = true};
	PLAN *many = NULL;
	ok_or_fail(make(&fake, "cycles,faults:u,bpf-output", &request, &many));
	ck_assert_uint_eq(many->sample_count, 3);
	const uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			      PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			      PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
	for (size_t i = 0; i <= many->sample_count; i++) {
		const struct perf_event_attr *attr =
			i < many->sample_count ? &many->samples[i].attr : &many->sideband.attr;
		/* Events that never sample have the fields that records end with. */
		ck_assert_uint_eq(attr->sample_type, i < many->sample_count ? type :
				  type & EVENT_DUMMY_SAMPLE_TYPE);
		ck_assert_uint_eq(attr->sample_id_all, 1);
		ck_assert_uint_eq(attr->read_format, PERF_FORMAT_ID | EVENT_FORMAT_LOST);
		ck_assert_uint_eq(attr->use_clockid, 1);
		ck_assert_int_eq(attr->clockid, CLOCK_MONOTONIC);
		ck_assert_uint_eq(attr->size, event_attr_size(attr));
		/* Only the side-band says who is mapped where. */
		ck_assert_uint_eq(attr->mmap && attr->mmap2 && attr->comm && attr->task &&
					  attr->build_id && attr->ksymbol,
				  i == many->sample_count);
		ck_assert_uint_eq(attr->mmap || attr->mmap2 || attr->comm || attr->task,
				  i == many->sample_count);
	}
	ck_assert_uint_eq(many->samples[2].attr.freq, 0);
	ck_assert_uint_eq(many->samples[2].attr.sample_period, 1);
}

TEST(plan_follows_callchain_and_period)
{
	struct fake fake = {.capable = true};
	struct event_request request = {.callchain = EVENT_CALLCHAIN_KERNEL, .period = 12345};
	PLAN *kernel = NULL, *user = NULL;
	ok_or_fail(make(&fake, "cycles", &request, &kernel));
	ck_assert_uint_eq(kernel->samples[0].attr.exclude_callchain_user, 1);
	ck_assert_uint_eq(kernel->samples[0].attr.exclude_callchain_kernel, 0);
	ck_assert_uint_eq(kernel->samples[0].attr.freq, 0);
	ck_assert_uint_eq(kernel->samples[0].attr.sample_period, 12345);
	request.callchain = EVENT_CALLCHAIN_USER;
	ok_or_fail(make(&fake, "cycles", &request, &user));
	ck_assert_uint_eq(user->samples[0].attr.exclude_callchain_user, 0);
	ck_assert_uint_eq(user->samples[0].attr.exclude_callchain_kernel, 1);
}

TEST(plan_asks_for_stacks)
{
	struct fake fake = {.capable = true};
	struct event_request request = {.callchain = EVENT_CALLCHAIN_KERNEL, .freq_hz = 997,
					.extra_sample_type = DUMPS, .user_registers = 0xff0fff,
					.user_stack_bytes = 8192, .max_stack = 4000};
	PLAN *dumps = NULL, *none = NULL;
	ok_or_fail(make(&fake, "cycles,cs", &request, &dumps));
	ck_assert_uint_eq(dumps->sideband.attr.sample_type & DUMPS, 0);
	ck_assert_uint_eq(dumps->sideband.attr.sample_stack_user, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct perf_event_attr *attr = &dumps->samples[i].attr;
		ck_assert_uint_eq(attr->sample_type & DUMPS, DUMPS);
		ck_assert_uint_eq(attr->sample_regs_user, 0xff0fff);
		ck_assert_uint_eq(attr->sample_stack_user, 8192);
	}
	ck_assert_uint_eq(dumps->samples[0].attr.exclude_callchain_user, 1);
	ck_assert_uint_eq(dumps->notes.count, 0);
	/* For an unwinder that continues on other stacks. */
	PLAN *callers = NULL;
	request.user_callers = true;
	ok_or_fail(make(&fake, "cycles", &request, &callers));
	ck_assert_uint_eq(callers->samples[0].attr.exclude_callchain_user, 0);
	/* An architecture that has none. */
	fake.no_dumps = true;
	request.max_stack = 0;
	ok_or_fail(make(&fake, "cycles", &request, &none));
	ck_assert_uint_eq(none->samples[0].attr.sample_type & DUMPS, 0);
	ck_assert_uint_eq(none->samples[0].attr.sample_type & PERF_SAMPLE_CALLCHAIN,
			  PERF_SAMPLE_CALLCHAIN);
	ck_assert_uint_eq(none->samples[0].attr.exclude_callchain_user, 0);
	one_note(none, "frame pointers");
}

TEST(plan_follows_no_more_frames_than_the_kernel_allows)
{
	struct fake fake = {.capable = true};
	struct event_request request = {.callchain = EVENT_CALLCHAIN_ALL, .freq_hz = 997,
					.max_stack = 20};
	PLAN *few = NULL, *many = NULL;
	ok_or_fail(make(&fake, "cycles", &request, &few));
	ck_assert_uint_eq(few->samples[0].attr.sample_max_stack, 20);
	ck_assert_uint_eq(few->notes.count, 0);
	request.max_stack = 1000;
	ok_or_fail(make(&fake, "cycles", &request, &many));
	ck_assert_uint_eq(many->samples[0].attr.sample_max_stack, MAX_STACK);
	one_note(many, "perf_event_max_stack=1000");
}

TEST(plan_keeps_to_the_highest_rate)
{
	struct fake fake = {.capable = true};
	struct event_request request = {.freq_hz = EVENT_FREQ_MAX};
	PLAN *most = NULL, *less = NULL;
	ok_or_fail(make(&fake, "cycles", &request, &most));
	ck_assert_uint_eq(most->freq_hz, 50000);
	/* The note says that it slows the program. */
	ck_assert_uint_eq(most->notes.count, 1);
	request.freq_hz = 60000;
	ok_or_fail(make(&fake, "cycles", &request, &less));
	ck_assert_uint_eq(less->samples[0].attr.sample_freq, 50000);
	one_note(less, "60000 Hz: above the kernel's limit; sampling at 50000 Hz (sudo sysctl "
		       "kernel.perf_event_max_sample_rate=60000)");
}

TEST(plan_asks_old_kernels_for_less)
{
	struct fake fake = {.capable = true, .no_lost = true};
	PLAN *newer = plan(&fake, "cycles");
	ck_assert(!newer->support.format_lost && newer->support.build_id && newer->support.ksymbol);
	ck_assert_uint_eq(newer->samples[0].attr.read_format, PERF_FORMAT_ID);
	fake = (struct fake){.capable = true, .old = true, .attr_size = 80};
	PLAN *old = plan(&fake, "cycles");
	ck_assert(!old->support.clock_id && !old->support.build_id && old->support.mmap2);
	ck_assert_uint_eq(old->samples[0].attr.size, 64);
	ck_assert_uint_eq(old->sideband.attr.build_id, 0);
	ck_assert_int_eq(old->clock_id, EVENT_CLOCK_KERNEL);
	one_note(old, "clock");
}

TEST(plan_refuses_clocks_that_do_not_fit)
{
	struct fake fake = {.capable = true, .no_clock = CLOCK_BOOTTIME};
	struct event_request request = {.freq_hz = 997, .clock_id = CLOCK_BOOTTIME};
	struct event_plan *none = NULL;
	fails_with(SP_ERROR_INVALID, make(&fake, "cpu-clock", &request, &none));
	request.clock_id = CLOCK_TAI;
	fails_with(SP_ERROR_UNSUPPORTED, make(&fake, "cycles", &request, &none));
	PLAN *software = NULL;
	ok_or_fail(make(&fake, "cpu-clock", &request, &software));
	ck_assert_int_eq(software->samples[0].attr.clockid, CLOCK_TAI);
	ck_assert_int_eq(software->sideband.attr.clockid, CLOCK_TAI);
	ck_assert_int_eq(software->holders[0].clockid, CLOCK_TAI);
}

DEFINE_CLEANUP(struct event_set *, event_set_free)

/* Opens thread 59 on CPU 3 for both roles. */
static struct sp_error *open_thread(struct fake *fake, int errnum, struct event_place *place)
{
	struct event_kernel kernel = {.open = fake_open, .close = fake_close, .arg = fake};
	const uint32_t cpu = 3;
	PLAN *made = plan(fake, "cpu-clock:u");
	fake->task_error = errnum;
	CLEANUP(cleanup_event_set_free) struct event_set *set = NULL;
	ok_or_fail(event_set_new(&kernel, made, &cpu, 1, &set));
	ck_assert_uint_eq(event_set_fds_needed(made, 1, 1), 4);
	ck_assert_int_eq(fake->open, 2);
	*place = (struct event_place){.tid = 59, .last_cpu = -1};
	return event_set_open(set, EVENT_ROLE_SAMPLES, place, 1);
}

TEST(set_tells_tasks_that_are_gone_from_those_that_are_refused)
{
	struct fake fake = {.paranoid = 2};
	struct event_place place;
	ok_or_fail(open_thread(&fake, ESRCH, &place));
	ck_assert_int_eq(place.status, EVENT_PLACE_GONE);
	ok_or_fail(open_thread(&fake, ENODEV, &place));
	ck_assert_int_eq(place.status, EVENT_PLACE_OFFLINE);
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = open_thread(&fake, EACCES, &place);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_PERMISSION);
	ck_assert_str_eq(sp_error_message(error), "cpu-clock:u of thread 59: it belongs to another user, "
						  "or has more privileges than this process");
	ck_assert_int_eq(place.status, EVENT_PLACE_NEW);
	fails_with(SP_ERROR_LIMIT, open_thread(&fake, EMFILE, &place));
	/* All is closed. */
	ck_assert_int_eq(fake.open, 0);
}

TEST(attr_sizes_are_those_of_kernels)
{
	struct perf_event_attr attr = {.type = 1};
	ck_assert_uint_eq(event_attr_size(&attr), 64);
	attr.config2 = 1;
	ck_assert_uint_eq(event_attr_size(&attr), 72);
	attr.sample_regs_user = 1;
	ck_assert_uint_eq(event_attr_size(&attr), 96);
	attr.clockid = 1;
	ck_assert_uint_eq(event_attr_size(&attr), 96);
	attr.aux_watermark = 1;
	ck_assert_uint_eq(event_attr_size(&attr), 112);
	attr.sig_data = 1;
	ck_assert_uint_eq(event_attr_size(&attr), 128);
}

TEST(terms_of_aux_areas_reach_the_attr)
{
	struct fake fake = {.capable = true};
	PLAN *plan = NULL;
	uint32_t action;
	ok_or_fail(make(&fake, "cpu-clock/aux-output,aux-sample-size=4096,aux-action=start-paused/",
			NULL, &plan));
	const struct perf_event_attr *attr = &plan->samples[0].attr;
	ck_assert(attr->aux_output);
	ck_assert_uint_eq(attr->aux_sample_size, 4096);
	ck_assert(attr->sample_type & PERF_SAMPLE_AUX);
	/* aux_action; the header may call it __reserved_3. */
	memcpy(&action, &attr->aux_sample_size + 1, sizeof(action));
	ck_assert_uint_eq(action, 1);
	ck_assert_uint_eq(attr->size, PERF_ATTR_SIZE_VER6);
}

TEST(settings_of_aux_areas_reach_the_attr)
{
	struct fake fake = {.capable = true};
	struct event_kernel kernel = {.open = fake_open, .close = fake_close, .arg = &fake};
	const struct rights rights = {.has_perf = true, .paranoid = -1, .page_size = 4096};
	SPECS specs = {0};
	const struct event_request request = {.specs = &specs, .period = 1};
	PLAN *plan = NULL;
	ok_or_fail(event_specs_parse(&specs, made_ctx(), "cpu-clock,cpu-clock"));
	specs.items[0].attr.aux_watermark = 1024;
	specs.items[0].attr.size = sizeof(struct perf_event_attr);
	ok_or_fail(event_plan_make(&kernel, &rights, &request, &plan));
	ck_assert_uint_eq(plan->samples[0].attr.aux_watermark, 1024);
	ck_assert_uint_eq(plan->samples[0].attr.size, sizeof(struct perf_event_attr));
	ck_assert_uint_eq(plan->samples[1].attr.aux_watermark, 0);
	ck_assert_uint_lt(plan->samples[1].attr.size, sizeof(struct perf_event_attr));
}

TEST(a_user_watches_memory_in_user_space)
{
	struct fake fake = {.paranoid = 2};
	PLAN *watch = plan(&fake, "mem:0x1000:w");
	ck_assert(watch->samples[0].attr.exclude_kernel);
	ck_assert_str_eq(watch->samples[0].name, "mem:0x1000:w");
	one_note(watch, "sampling user code only");
}

TEST(breakpoints_that_never_trigger_are_told)
{
	struct fake fake = {.capable = true, .no_breakpoints = true};
	PLAN *watch = plan(&fake, "mem:0x1000:w:u");
	one_note(watch, "breakpoints do not trigger on this machine; the event counts nothing");
	PLAN *clock = plan(&fake, "cpu-clock");
	ck_assert_uint_eq(clock->notes.count, 0);
	fake.no_breakpoints = false;
	PLAN *works = plan(&fake, "mem:0x1000:w:u");
	ck_assert_uint_eq(works->notes.count, 0);
}

TEST(the_option_that_requires_cpu_wide_events_is_named)
{
	struct fake fake = {.paranoid = 2};
	PLAN *plan = NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		make(&fake, "cpu-clock",
		     &(struct event_request){
			     .scope = EVENT_SCOPE_CPUS, .cpus_for = "-G", .freq_hz = 997},
		     &plan);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_PERMISSION);
	ck_assert_ptr_nonnull(strstr(sp_error_message(error), "-G: "));
}

/* perf takes the leader's samples for its members', and looks for their fields in them. */
TEST(members_that_are_not_sampled_have_no_fields)
{
	struct fake fake = {.capable = true};
	struct event_request request = {.freq_hz = 997, .uniform = true};
	PLAN *together = NULL, *apart = NULL;
	ok_or_fail(make(&fake, "{cpu-clock,bpf-output}:S", &request, &together));
	for (size_t i = 0; i < together->sample_count; i++)
		ck_assert_uint_eq(together->samples[i].attr.sample_type &
				  (PERF_SAMPLE_RAW | PERF_SAMPLE_READ), PERF_SAMPLE_READ);
	ok_or_fail(make(&fake, "{cpu-clock,bpf-output}", &request, &apart));
	ck_assert(apart->samples[1].attr.sample_type & PERF_SAMPLE_RAW);
}

/* If a leader cannot inherit on an old kernel, its members do not inherit, either. */
TEST(members_are_inherited_as_their_leader_is)
{
	struct fake fake = {.capable = true, .before_6_12 = true};
	struct event_request request = {.freq_hz = 997, .uniform = true, .inherit = true};
	PLAN *old = NULL, *new = NULL;
	ok_or_fail(make(&fake, "{cpu-clock,task-clock}:S", &request, &old));
	ck_assert(!old->samples[0].attr.inherit && !old->samples[1].attr.inherit);
	ck_assert_uint_eq(old->notes.count, 1);
	ck_assert_ptr_nonnull(strstr(old->notes.items[0].line, "before Linux 6.12"));
	fake.before_6_12 = false;
	ok_or_fail(make(&fake, "{cpu-clock,task-clock}:S", &request, &new));
	ck_assert(new->samples[0].attr.inherit && new->samples[1].attr.inherit);
}
