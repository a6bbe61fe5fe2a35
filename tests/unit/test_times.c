/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times of two processes, from 1000 to 2000:
 *
 *	A  running 1000-1400, blocked, running 1800-2000      B  running 1200-1600, else blocked
 *	C  running 1000-1500, runnable until the end          D  blocked, running 1500-2000
 */
#include "test.h"
#include "times/times.h"

enum { A = 11, B, C = 21, D, FIRST = 1000, LAST = 2000 };

struct made {
	struct task_states *states;
	struct times times;
	struct sample_weights weights;
};

static void add_switch(struct made *made, uint32_t tid, uint16_t misc, uint64_t time_ns)
{
	const struct sp_record record = {
		.type = PERF_RECORD_SWITCH, .misc = misc,
		.id = {.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		       .pid = tid / 10 * 10,
		       .tid = tid,
		       .time_ns = time_ns},
	};
	ok_or_fail(task_states_add(made->states, &record));
}

/* Sets the times of sealed states; `options`: with ranges of time, or steps. */
static void set_times(struct made *made, const struct weigher *weigher,
		      const struct analysis_options *options)
{
	made->times = (struct times){.weigher = weigher, .states = made->states};
	ok_or_fail(slices_make(&made->times.slices, made->states, options));
	ck_assert(!weigher->needs_parallelism ||
		  runners_make(&made->times.runners, made->states));
}

static void made_init_sliced(struct made *made, const struct weigher *weigher,
			     const struct analysis_options *options)
{
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;
	*made = (struct made){0};
	ok_or_fail(task_states_new(&made->states));
	add_switch(made, A, 0, 1000);
	add_switch(made, A, out, 1400);
	add_switch(made, A, 0, 1800);
	add_switch(made, B, 0, 1200);
	add_switch(made, B, out, 1600);
	add_switch(made, C, 0, 1000);
	add_switch(made, C, out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1500);
	add_switch(made, D, 0, 1500);
	ok_or_fail(task_states_seal(made->states, FIRST, LAST));
	set_times(made, weigher, options);
}

static const struct analysis_options whole;

static void made_init(struct made *made, const struct weigher *weigher)
{
	made_init_sliced(made, weigher, &whole);
}

static void made_deinit(struct made *made)
{
	times_deinit(&made->times);
	sample_weights_deinit(&made->weights);
	task_states_free(made->states);
}

static uint32_t lifetime(const struct made *made, uint32_t tid)
{
	size_t count, index = task_states_find(made->states, tid, &count);
	ck_assert_uint_eq(count, 1);
	return (uint32_t)index;
}

static void add_samples(struct made *made, uint32_t tid, uint32_t runners, uint64_t weight)
{
	const struct sample_weight from = {
		.key = stratum_key(stratum_on_cpu(lifetime(made, tid), runners)), .weight = weight};
	ck_assert(sample_weights_add(&made->weights, &from));
}

static uint64_t time_of(const struct made *made, uint32_t tid, uint32_t runners,
			enum time_state state)
{
	const struct stratum *found =
		strata_find(&made->times.strata, stratum_on_cpu(lifetime(made, tid), runners));
	ck_assert_ptr_nonnull(found);
	return found->ns[state];
}

static uint64_t rest_of(const struct made *made, uint32_t tid, enum time_state state)
{
	const struct time_rest *rest = &made->times.strata.rests[lifetime(made, tid)];
	return rest->no_stack.ns[state] + (state == TIME_BLOCKED ? rest->all_blocked_ns : 0);
}

static uint64_t kernel_of(const struct made *made, uint32_t tid)
{
	return made->times.strata.rests[lifetime(made, tid)].kernel_ns;
}

/* Samples of preempted threads have that time; without them, on-CPU samples do. */
TEST(preempted_time_has_its_own_samples)
{
	for (int preempted = 0; preempted < 2; preempted++) {
		struct made made;
		made_init(&made, &weigher_wall);
		add_samples(&made, C, 0, 3);
		struct sample_weight from = {
			.key = stratum_key(stratum_preempted(lifetime(&made, C), 0)), .weight = 7};
		ck_assert(!preempted || sample_weights_add(&made.weights, &from));
		ok_or_fail(times_compute(&made.times, &made.weights));
		const struct strata *strata = &made.times.strata;
		const struct stratum *found =
			strata_find(strata, stratum_preempted(lifetime(&made, C), 0));
		ck_assert_uint_eq(found != NULL, preempted);
		ck_assert_uint_eq(found ? found->ns[TIME_RUNNABLE] : 500, 500);
		ck_assert_uint_eq(time_of(&made, C, 0, TIME_ON_CPU), 500);
		ck_assert_uint_eq(time_of(&made, C, 0, TIME_RUNNABLE), preempted ? 0 : 500);
		ck_assert_uint_eq(strata->whole.preempted_ns, preempted ? 500 : 0);
		made_deinit(&made);
	}
}

/* In latency, their strata are those of the number of threads that could run. */
TEST(latency_divides_preempted_time)
{
	struct made made;
	made_init(&made, &weigher_latency);
	add_samples(&made, C, 1, 3);
	add_samples(&made, C, 2, 3);
	const struct sample_weight from = {
		.key = stratum_key(stratum_preempted(lifetime(&made, C), 2)), .weight = 7};
	ck_assert(sample_weights_add(&made.weights, &from));
	ok_or_fail(times_compute(&made.times, &made.weights));
	const struct stratum *found =
		strata_find(&made.times.strata, stratum_preempted(lifetime(&made, C), 2));
	ck_assert_uint_eq(found->ns[TIME_RUNNABLE], 500 / 2);
	ck_assert_uint_eq(time_of(&made, C, 2, TIME_RUNNABLE), 0);
	made_deinit(&made);
}

/* Between two switches, each thread that could run has an equal part; preempted threads could. */
TEST(latency_divides_by_threads_that_could_run)
{
	struct made made;
	made_init(&made, &weigher_latency);
	add_samples(&made, A, 1, 4);
	add_samples(&made, A, 2, 1);
	add_samples(&made, B, 1, 2);
	add_samples(&made, C, 1, 3);
	add_samples(&made, C, 2, 3);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(time_of(&made, A, 1, TIME_ON_CPU), 200 + 200);
	ck_assert_uint_eq(time_of(&made, A, 2, TIME_ON_CPU), 200 / 2);
	/* B has no sample of the time with A: its other samples stand for it. */
	ck_assert_uint_eq(time_of(&made, B, 1, TIME_ON_CPU), 200 + 200 / 2);
	ck_assert_uint_eq(time_of(&made, C, 1, TIME_ON_CPU), 500);
	ck_assert_uint_eq(time_of(&made, C, 2, TIME_RUNNABLE), 500 / 2);
	/* D has no samples: its time has no stack. */
	ck_assert_uint_eq(rest_of(&made, D, TIME_ON_CPU), 500 / 2);
	/* From 1600 to 1800, neither A nor B could run. */
	ck_assert_uint_eq(rest_of(&made, A, TIME_BLOCKED) + rest_of(&made, B, TIME_BLOCKED), 200);
	ck_assert_uint_eq(rest_of(&made, C, TIME_BLOCKED) + rest_of(&made, D, TIME_BLOCKED), 0);
	ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), 2 * (LAST - FIRST));
	made_deinit(&made);
}

static void add_task(struct made *made, uint32_t type, uint32_t pid, uint64_t time_ns)
{
	const struct sp_record record = {
		.type = type,
		.id = {.present = PERF_SAMPLE_TIME, .time_ns = time_ns},
		.task = {.pid = pid, .tid = pid, .time_ns = time_ns},
	};
	ok_or_fail(task_states_add(made->states, &record));
}

/* Between the lives of two processes with one pid, no thread is blocked. */
TEST(latency_of_a_pid_that_is_used_again)
{
	struct made made = {0};
	ok_or_fail(task_states_new(&made.states));
	for (uint64_t time_ns = 1000; time_ns < LAST; time_ns += 700) {
		add_task(&made, PERF_RECORD_FORK, 30, time_ns);
		add_switch(&made, 30, 0, time_ns);
		add_task(&made, PERF_RECORD_EXIT, 30, time_ns + 200);
	}
	ok_or_fail(task_states_seal(made.states, FIRST, LAST));
	set_times(&made, &weigher_latency, &whole);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), 2 * 200);
	made_deinit(&made);
}

TEST(wall_time_sums_to_lifetimes)
{
	struct made made;
	made_init(&made, &weigher_wall);
	add_samples(&made, A, 0, 6);
	add_samples(&made, C, 0, 5);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(time_of(&made, A, 0, TIME_ON_CPU), 600);
	ck_assert_uint_eq(rest_of(&made, A, TIME_BLOCKED), 400);
	ck_assert_uint_eq(rest_of(&made, B, TIME_ON_CPU), 400);
	ck_assert_uint_eq(time_of(&made, C, 0, TIME_RUNNABLE), 500);
	ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), 4 * (LAST - FIRST));
	made_deinit(&made);
}

/* Adds what a sample has of each slice to the strata. Returns what it has in shown ones. */
static uint64_t add_wait_sample(struct made *made, const struct sample_time *sample)
{
	struct sample_time part;
	uint64_t shown = 0, all = 0;
	for (uint64_t at = sample->begin_ns;
	     times_next_part(&made->times, sample, &at, &part);) {
		const struct stratum_id id = stratum_of_waits(part.stratum.slice, part.wait_class);
		const struct sample_weight from = {
			.key = stratum_key(id), .weight = part.weight, .waits = part.waits};
		ck_assert(sample_weights_add(&made->weights, &from));
		shown += part.shown ? part.weight : 0;
		all += part.weight;
	}
	ck_assert_uint_eq(all, sample->weight);
	return shown;
}

/* From 1500 to 1700: A is blocked, B runs until 1600, C is runnable, D runs. */
TEST(a_range_has_its_part_of_each_interval)
{
	const struct sp_time_span range = {1500, 1700};
	const struct analysis_options options = {.filter = {.times = &range, .time_count = 1}};
	const struct weigher *const modes[] = {&weigher_wall, &weigher_off_cpu, &weigher_latency};
	const uint64_t sums[] = {4 * 200, 4 * 200 - 100 - 200, 2 * 200};
	const uint64_t wholes[] = {4 * 1000, 4 * 1000 - 600 - 400 - 500 - 500, 2 * 1000};
	for (int mode = 0; mode < 3; mode++) {
		struct made made;
		uint64_t shown = 0;
		made_init_sliced(&made, modes[mode], &options);
		const struct sample_time wait = {.begin_ns = 1400,
						 .end_ns = 1800,
						 .lifetime = lifetime(&made, A),
						 .weight = 400,
						 .waits = 1,
						 .wait_class = wait_class(400),
						 .is_wait = true};
		ck_assert_uint_eq(add_wait_sample(&made, &wait), 200);
		ok_or_fail(times_compute(&made.times, &made.weights));
		for (uint32_t i = 0; i < made.times.slices.count; i++) {
			const struct time_rest *rest = &made.times.strata.rests[i];
			if (!slices_get(&made.times.slices, i).shown)
				continue;
			shown += state_sums_total(&rest->no_stack) + rest->all_blocked_ns;
			const struct stratum *waits = strata_find(
				&made.times.strata, stratum_of_waits(i, wait_class(400)));
			shown += waits ? waits->ns[TIME_BLOCKED] : 0;
		}
		ck_assert_uint_eq(shown, sums[mode]);
		ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), wholes[mode]);
		made_deinit(&made);
	}
}

/* Each step of key `time` has the same part of each of four lives. */
TEST(steps_divide_all_time)
{
	enum sp_key keys[] = {SP_KEY_TIME};
	const struct analysis_options options = {
		.rows = {.keys = keys, .key_count = 1, .time_quantum_ns = 100}};
	uint64_t by_step[20] = {0};
	struct made made;
	made_init_sliced(&made, &weigher_wall, &options);
	ok_or_fail(times_compute(&made.times, &made.weights));
	for (uint32_t i = 0; i < made.times.slices.count; i++) {
		const struct slice slice = slices_get(&made.times.slices, i);
		uint64_t step = slices_step(&options.rows, slice.begin_ns);
		ck_assert(slice.shown);
		ck_assert_uint_eq(slices_step(&options.rows, slice.end_ns - 1), step);
		ck_assert_uint_eq(slices_at(&made.times.slices, slice.lifetime, slice.begin_ns), i);
		by_step[step / 100] += state_sums_total(&made.times.strata.rests[i].no_stack);
	}
	for (int step = 10; step < 20; step++)
		ck_assert_uint_eq(by_step[step], 4 * 100);
	made_deinit(&made);
}

/* Ranges may overlap, have no end, or include nothing. Those that overlap are one. */
TEST(ranges_divide_a_life)
{
	const struct sp_time_span ranges[] = {{1700, 0}, {1200, 1300}, {1250, 1400}, {1350, 1350}};
	const struct analysis_options options = {.filter = {.times = ranges, .time_count = 4}};
	struct made made;
	uint64_t at_ns = 1100, ends[] = {1200, 1400, 1700, 1900};
	bool shown[] = {false, true, false, true};
	struct slice slice;
	made_init_sliced(&made, &weigher_wall, &options);
	for (int i = 0; i < 4; i++) {
		ck_assert(slices_next(&made.times.slices, lifetime(&made, A), &at_ns, 1900,
				      &slice));
		ck_assert_uint_eq(slice.end_ns, ends[i]);
		ck_assert_uint_eq(at_ns, ends[i]);
		ck_assert(slice.shown == shown[i]);
	}
	ck_assert(!slices_next(&made.times.slices, lifetime(&made, A), &at_ns, 1900, &slice));
	made_deinit(&made);
}

TEST(too_many_steps_are_refused)
{
	enum sp_key keys[] = {SP_KEY_TIME};
	const struct analysis_options options = {
		.rows = {.keys = keys, .key_count = 1, .time_quantum_ns = 1}};
	struct slices slices = {0};
	struct task_states *states;
	ok_or_fail(task_states_new(&states));
	ok_or_fail(task_states_seal(states, 1, 1 + (UINT64_C(1) << 22)));
	struct sp_error *error = slices_make(&slices, states, &options);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_LIMIT);
	sp_error_free(error);
	slices_deinit(&slices);
	task_states_free(states);
}

/* Thread A waits once, for 400, as B does before and after it ran. */
TEST(waits_without_samples_are_those_of_the_rest)
{
	struct made made;
	made_init(&made, &weigher_off_cpu);
	ok_or_fail(times_compute(&made.times, &made.weights));
	const struct state_sums *rest = &made.times.strata.rests[lifetime(&made, A)].no_stack;
	ck_assert_uint_eq(rest->ns[TIME_BLOCKED], 400);
	ck_assert_uint_eq(rest->longest_ns, 400);
	ck_assert(rest->waits == 1);
	ck_assert(made.times.strata.whole.waits == 1 + 2 + 1);
	ck_assert_uint_eq(made.times.strata.whole.longest_ns, 500);
	made_deinit(&made);
}

/* A clock that excludes the kernel: what its samples do not stand for is time in the kernel. */
TEST(time_in_the_kernel_is_rest)
{
	struct made made;
	made_init(&made, &weigher_wall);
	made.times.user_only = made.times.of_tasks = true;
	made.times.period = 10;
	add_samples(&made, A, 0, 150);
	add_samples(&made, B, 0, 370);
	add_samples(&made, C, 0, 900);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(time_of(&made, A, 0, TIME_ON_CPU), 150);
	ck_assert_uint_eq(kernel_of(&made, A), 450);
	/* The difference is 5 % and one period. */
	ck_assert_uint_eq(time_of(&made, B, 0, TIME_ON_CPU), 400);
	ck_assert_uint_eq(time_of(&made, C, 0, TIME_ON_CPU), 500);
	ck_assert_uint_eq(kernel_of(&made, D), 500);
	ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), 4 * (LAST - FIRST));
	made_deinit(&made);
}

/* A clock that excludes user code: the kernel's functions have the time of their samples. */
TEST(time_in_user_code_is_rest)
{
	struct made made;
	made_init(&made, &weigher_wall);
	made.times.kernel_only = made.times.of_tasks = true;
	made.times.period = 10;
	add_samples(&made, A, 0, 150);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(time_of(&made, A, 0, TIME_ON_CPU), 150);
	ck_assert_uint_eq(kernel_of(&made, A), 450);
	made_deinit(&made);
}

/* A clock of CPUs finds a thread by chance: 2 standard deviations of 40 samples are 126 ns. */
TEST(chance_is_no_time_in_the_kernel)
{
	struct made made;
	made_init(&made, &weigher_wall);
	made.times.user_only = true;
	made.times.period = 10;
	add_samples(&made, A, 0, 600 - 180);
	add_samples(&made, B, 0, 400 - 155);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(kernel_of(&made, A), 0);
	ck_assert_uint_eq(kernel_of(&made, B), 0);
	made_deinit(&made);
	made_init(&made, &weigher_wall);
	made.times.user_only = true;
	made.times.period = 10;
	add_samples(&made, B, 0, 400 - 160);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(kernel_of(&made, B), 160);
	made_deinit(&made);
}

TEST(latency_of_time_in_the_kernel)
{
	struct made made;
	made_init(&made, &weigher_latency);
	made.times.user_only = true;
	add_samples(&made, A, 1, 100);
	add_samples(&made, A, 2, 50);
	ok_or_fail(times_compute(&made.times, &made.weights));
	/* Samples stand for 150 of 600 ns. */
	ck_assert_uint_eq(time_of(&made, A, 1, TIME_ON_CPU), (200 + 200) / 4);
	ck_assert_uint_eq(time_of(&made, A, 2, TIME_ON_CPU), 200 / 2 / 4);
	ck_assert_uint_eq(kernel_of(&made, A), (200 + 200 + 200 / 2) / 4 * 3);
	ck_assert_uint_eq(state_sums_total(&made.times.strata.whole), 2 * (LAST - FIRST));
	made_deinit(&made);
}

TEST(parts_of_a_stratum_sum_to_its_time)
{
	struct stratum stratum = {.ns = {[TIME_ON_CPU] = 1000, [TIME_RUNNABLE] = 1}, .weight = 7};
	uint64_t ns[TIME_STATES] = {0};
	for (int i = 0; i < 7; i++)
		stratum_scale(&stratum, 1, ns);
	ck_assert_uint_eq(ns[TIME_ON_CPU], 1000);
	ck_assert_uint_eq(ns[TIME_RUNNABLE], 1);
}

static void add_waits_of(struct made *made, uint32_t tid, uint64_t duration_ns, uint64_t weight)
{
	struct stratum_id id = stratum_of_waits(lifetime(made, tid), wait_class(duration_ns));
	const struct sample_weight from = {stratum_key(id), weight, 1};
	ck_assert(sample_weights_add(&made->weights, &from));
}

static const struct stratum *waits_of(const struct made *made, uint32_t tid, uint64_t duration_ns)
{
	return strata_find(&made->times.strata,
			   stratum_of_waits(lifetime(made, tid), wait_class(duration_ns)));
}

TEST(waits_have_the_time_of_their_class)
{
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;
	struct made made = {0};
	ok_or_fail(task_states_new(&made.states));
	/* Ten waits of 30, two of 60, one of 700. */
	add_switch(&made, A, 0, 1000);
	uint64_t now = 1100;
	for (int i = 0; i < 13; i++) {
		add_switch(&made, A, out, now);
		add_switch(&made, A, 0, now += i < 10 ? 30 : i < 12 ? 60 : 700);
		now += 10;
	}
	ok_or_fail(task_states_seal(made.states, FIRST, 5000));
	set_times(&made, &weigher_off_cpu, &whole);
	/* Samples found few of the short waits, none of those of 60: waits of 30 stand for them. */
	add_waits_of(&made, A, 30, 100);
	add_waits_of(&made, A, 700, 900);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(waits_of(&made, A, 30)->ns[TIME_BLOCKED], 10 * 30 + 2 * 60);
	ck_assert_uint_eq(waits_of(&made, A, 700)->ns[TIME_BLOCKED], 700);
	ck_assert(waits_of(&made, A, 30)->waits_factor == 12);
	ck_assert_uint_eq(rest_of(&made, A, TIME_BLOCKED), 0);
	made_deinit(&made);
}

/* Two waits of 10 and 300. */
static void two_waits_init(struct made *made)
{
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;
	*made = (struct made){0};
	ok_or_fail(task_states_new(&made->states));
	add_switch(made, A, 0, 1000);
	add_switch(made, A, out, 1100);
	add_switch(made, A, 0, 1110);
	add_switch(made, A, out, 1200);
	add_switch(made, A, 0, 1500);
}

static void two_waits_seal(struct made *made)
{
	ok_or_fail(task_states_seal(made->states, FIRST, LAST));
	set_times(made, &weigher_off_cpu, &whole);
}

static void add_unmatched(struct made *made, uint64_t weight)
{
	struct stratum_id id = stratum_of_waits(lifetime(made, A), WAIT_CLASS_UNMATCHED);
	const struct sample_weight from = {stratum_key(id), weight, 1};
	ck_assert(sample_weights_add(&made->weights, &from));
}

static const struct stratum *unmatched_of(const struct made *made)
{
	return strata_find(&made->times.strata,
			   stratum_of_waits(lifetime(made, A), WAIT_CLASS_UNMATCHED));
}

TEST(samples_without_a_known_wait_have_their_weight)
{
	struct made made;
	two_waits_init(&made);
	two_waits_seal(&made);
	add_waits_of(&made, A, 10, 50);
	add_unmatched(&made, 150);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(unmatched_of(&made)->ns[TIME_BLOCKED], 233); /* 310 * 3 / 4, rounded */
	ck_assert_uint_eq(waits_of(&made, A, 10)->ns[TIME_BLOCKED], 310 - 233);
	ck_assert(unmatched_of(&made)->waits_factor == 1.5);
	ck_assert(waits_of(&made, A, 10)->waits_factor == 0.5);
	ck_assert_uint_eq(rest_of(&made, A, TIME_BLOCKED), 0);
	made_deinit(&made);
}

/* The kernel's CPU time may show that a switch took less time than the records say. */
TEST(a_wait_that_is_longer_than_its_period_has_no_variance)
{
	struct made made;
	uint8_t roles[] = {ROLE_WAIT};
	two_waits_init(&made);
	two_waits_seal(&made);
	made.times.roles = roles;
	struct task_totals *totals =
		(void *)(uintptr_t)task_states_totals(made.states, lifetime(&made, A));
	for (totals->switch_ns = -10; totals->switch_ns <= 10; totals->switch_ns += 10) {
		for (uint64_t period = 280; period < 340; period += 5) {
			const struct sp_record record = {
				.type = PERF_RECORD_SAMPLE,
				.sample = {.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						      PERF_SAMPLE_PERIOD,
					   .pid = A / 10 * 10, .tid = A, .time_ns = 1200,
					   .period = period}};
			struct sample_time time = {.lifetime = lifetime(&made, A)};
			ck_assert(threads_weigh(&made.times, &record, &time));
			ck_assert(period > 300 || time.variance == 0);
			ck_assert(time.variance >= 0 && time.waits >= 1);
		}
	}
	made.times.roles = NULL;
	made_deinit(&made);
}

TEST(only_samples_without_a_known_wait_have_all_time)
{
	struct made made;
	two_waits_init(&made);
	two_waits_seal(&made);
	add_unmatched(&made, UINT64_MAX);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(unmatched_of(&made)->ns[TIME_BLOCKED], 310);
	ck_assert(unmatched_of(&made)->waits_factor == 2);
	ck_assert_uint_eq(rest_of(&made, A, TIME_BLOCKED), 0);
	made_deinit(&made);
}

/* By contradictory records: no wait has the class of a sample. It does not disappear. */
TEST(a_class_without_waits_has_its_weight)
{
	struct made made;
	two_waits_init(&made);
	two_waits_seal(&made);
	add_waits_of(&made, A, 10, 50);
	add_waits_of(&made, A, 100000, 50);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(waits_of(&made, A, 10)->ns[TIME_BLOCKED], 155);
	ck_assert_uint_eq(waits_of(&made, A, 100000)->ns[TIME_BLOCKED], 155);
	made_deinit(&made);
}

static void add_wake(struct made *made, uint64_t time_ns)
{
	const struct task_switched wake = {.pid = A / 10 * 10, .tid = A, .time_ns = time_ns,
					   .kind = TASK_SWITCH_WAKE, .waker = TASK_WAKER_IDLE};
	ok_or_fail(task_states_add_switch(made->states, &wake));
}

/* The short wait is blocked for 1 and runnable for 9, the long one for 299 and 1. */
TEST(wakeups_give_each_class_its_states)
{
	struct made made;
	two_waits_init(&made);
	add_wake(&made, 1101);
	add_wake(&made, 1499);
	two_waits_seal(&made);
	add_waits_of(&made, A, 1, 10);
	add_waits_of(&made, A, 299, 300);
	ok_or_fail(times_compute(&made.times, &made.weights));
	ck_assert_uint_eq(waits_of(&made, A, 1)->ns[TIME_BLOCKED], 1);
	ck_assert_uint_eq(waits_of(&made, A, 1)->ns[TIME_RUNNABLE], 9);
	ck_assert_uint_eq(waits_of(&made, A, 299)->ns[TIME_BLOCKED], 299);
	ck_assert_uint_eq(waits_of(&made, A, 299)->ns[TIME_RUNNABLE], 1);
	ck_assert_uint_eq(rest_of(&made, A, TIME_BLOCKED) + rest_of(&made, A, TIME_RUNNABLE), 0);
	made_deinit(&made);
}

/* Later parts of a wait, by ranges or steps of time, have no sample. */
TEST(later_parts_of_a_wait_have_paths)
{
	const struct leaf_time time = {.waker = "[idle]"};
	const struct timed_leaf later = {.weight = 5, .time = &time}, filtered = {.time = &time};
	struct leaf_part parts[TIME_STATES];
	ck_assert_uint_eq(weigher_wakers.split_leaf(&later, parts), 1);
	ck_assert_uint_eq(parts[0].weight, 5);
	ck_assert_uint_eq(weigher_wakers.split_leaf(&filtered, parts), 0);
}

TEST(parts_of_a_huge_time_sum_to_it)
{
	struct stratum stratum = {
		.ns = {[TIME_BLOCKED] = UINT64_MAX, [TIME_ON_CPU] = (1ULL << 60) + 1},
		.weight = 3,
	};
	uint64_t ns[TIME_STATES] = {0};
	for (int i = 0; i < 3; i++)
		stratum_scale(&stratum, 1, ns);
	ck_assert_uint_eq(ns[TIME_BLOCKED], UINT64_MAX);
	ck_assert_uint_eq(ns[TIME_ON_CPU], (1ULL << 60) + 1);
}

TEST(classes_of_durations_ascend)
{
	uint32_t last = wait_class(4);
	for (uint64_t ns = 4; ns < 1000; ns++) {
		uint32_t class = wait_class(ns);
		ck_assert(class == last || class == last + 1);
		last = class;
	}
	ck_assert_uint_eq(wait_class(0), 1);
	ck_assert_uint_eq(wait_class(1000), wait_class(1023));
	ck_assert_uint_eq(wait_class(1024), wait_class(1023) + 1);
	ck_assert_uint_eq(wait_class(UINT64_MAX), WAIT_CLASS_UNMATCHED - 1);
}
