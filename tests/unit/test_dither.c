/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of changed periods, and which events are dithered. */
#include "capture/event_control/dither.h"

#include <math.h>
#include <stdlib.h>
#include "capture/config/plan_facts.h"
#include "test.h"

#define MS UINT64_C(1000000)

static struct dither_log *made_log(void)
{
	struct dither_log *log = calloc(1, sizeof(*log));
	ck_assert_ptr_nonnull(log);
	return log;
}

/* Returns the period of a sample; 1: its own. */
static uint64_t found(const struct dither_log *log, uint64_t time_ns)
{
	struct dither_found ret = {.period_ns = 1};
	bool logged = dither_log_find(log, time_ns, &ret);
	ck_assert_int_eq(logged, ret.period_ns != 1);
	ck_assert(!logged || (ret.from_ns <= time_ns && time_ns <= ret.until_ns));
	return ret.period_ns;
}

TEST(dither_log_has_the_period_in_force)
{
	struct dither_log *log = made_log();
	ck_assert_uint_eq(found(log, 5), 1);
	dither_log_add(log, 100, 10);
	dither_log_add(log, 200, 20);
	dither_log_add(log, 300, 30);
	ck_assert_uint_eq(found(log, 99), 1);
	/* The first sample also stands for the half period before it. */
	ck_assert_uint_eq(found(log, 100), 15);
	ck_assert_uint_eq(found(log, 109), 15);
	ck_assert_uint_eq(found(log, 110), 10);
	ck_assert_uint_eq(found(log, 199), 10);
	ck_assert_uint_eq(found(log, 200), 30);
	ck_assert_uint_eq(found(log, 220), 20);
	ck_assert_uint_eq(found(log, 299), 20);
	/* An idle CPU: the last change holds. */
	ck_assert_uint_eq(found(log, UINT64_MAX - 1), 30);
	free(log);
}

TEST(dither_log_cuts_the_first_sample)
{
	struct dither_log *log = made_log();
	dither_log_add(log, 100, 10);
	dither_log_add(log, 105, 20);
	ck_assert_uint_eq(found(log, 104), 15);
	ck_assert_uint_eq(found(log, 105), 30);
	free(log);
}

TEST(dither_log_voids_changes_without_a_sample)
{
	struct dither_log *log = made_log();
	dither_log_add(log, 100, 10);
	dither_log_add(log, 200, 20);
	dither_log_add(log, 210, 21);
	/* Its samples may come before those of the last two. */
	dither_log_add(log, 150, 15);
	ck_assert_uint_eq(found(log, 149), 10);
	ck_assert_uint_eq(found(log, 150), 22);
	ck_assert_uint_eq(found(log, 205), 15);
	ck_assert_uint_eq(found(log, 1000), 15);
	free(log);
}

TEST(dither_log_wraps)
{
	struct dither_log *log = made_log();
	const uint64_t last = 3 * DITHER_CHANGES + 7;
	for (uint64_t i = 1; i <= last; i++)
		dither_log_add(log, 100 * i, 10);
	for (uint64_t i = last - DITHER_CHANGES + 1; i <= last; i++) {
		ck_assert_uint_eq(found(log, 100 * i), 15);
		ck_assert_uint_eq(found(log, 100 * i + 99), 10);
	}
	/* Samples that waited for too long. */
	ck_assert_uint_eq(found(log, 100 * (last - DITHER_CHANGES)), 1);
	ck_assert_uint_eq(found(log, 0), 1);
	free(log);
}

/* A change takes effect within 20 us; samples race it. Checks that each has its period in force. */
TEST(dither_log_orders_changes_and_samples)
{
	struct dither dither = {.spread = 0.5, .mean_ns = 50 * MS};
	struct dither_log *log = made_log();
	uint64_t now_ns = MS, period_ns = MS, next_ns = now_ns + period_ns, first_ns = 0;
	for (int change = 0; change < 500; change++) {
		uint64_t until_ns = now_ns + 10 * MS + (uint64_t)change * 7919 % (30 * MS);
		uint64_t wanted_ns = dither_draw_period(&dither, log, MS);
		/* The log is written before the kernel's timer restarts. */
		uint64_t late_ns = (uint64_t)change * 104729 % 20000;
		dither_log_add(log, until_ns + wanted_ns / 2, wanted_ns);
		for (; next_ns <= until_ns + late_ns; next_ns += period_ns)
			if (change)
				ck_assert_uint_eq(found(log, next_ns), period_ns +
						  (next_ns == first_ns ? period_ns / 2 : 0));
		now_ns = until_ns + late_ns;
		period_ns = wanted_ns;
		first_ns = next_ns = now_ns + period_ns;
	}
	free(log);
}

/* Samples of 100 s: the mean rate is the wanted one, and the logged periods sum to the time. */
static void periods_sum(double hz, uint64_t interval_ns)
{
	struct dither dither = {.spread = 0.5, .mean_ns = interval_ns, .random = 42};
	struct dither_log *log = made_log();
	const double end_ns = 1e11;
	double at_ns = 0, sum_ns = 0, samples = 0, least_ns = end_ns, most_ns = 0;
	while (at_ns < end_ns) {
		dither_draw_interval(&dither);
		ck_assert(dither.is_drawn);
		uint64_t period_ns = dither_draw_period(&dither, log, 1e9 / hz),
			 begin_ns = (uint64_t)at_ns;
		dither_log_add(log, begin_ns + period_ns / 2, period_ns);
		uint64_t count = dither.interval_ns / period_ns;
		for (uint64_t i = 1; i <= count; i++)
			sum_ns += (double)found(log, begin_ns + i * period_ns);
		samples += (double)count;
		at_ns += (double)dither.interval_ns;
		least_ns = (double)period_ns < least_ns ? (double)period_ns : least_ns;
		most_ns = (double)period_ns > most_ns ? (double)period_ns : most_ns;
	}
	ck_assert_double_eq_tol(sum_ns / at_ns, 1, 0.004);
	ck_assert_double_eq_tol(samples / (at_ns / 1e9) / hz, 1, 0.02);
	ck_assert(most_ns / least_ns > 2.8 && most_ns / least_ns <= 3.001);
	free(log);
}

TEST(dither_periods_sum_to_the_time)
{
	periods_sum(997, 50 * MS);
	periods_sum(99, 101 * MS);
	periods_sum(9973, 10 * MS);
}

/* In each second of changes, rates are spread evenly: no two are near each other. */
TEST(dither_rates_are_apart)
{
	struct dither dither = {.spread = 0.5, .mean_ns = 50 * MS};
	struct dither_log *log = made_log();
	double rates[1000];
	for (int i = 0; i < 1000; i++) {
		rates[i] = 1e9 / (double)dither_draw_period(&dither, log, MS);
		for (int j = i > 20 ? i - 20 : 0; j < i; j++)
			ck_assert_double_gt(fabs(rates[i] - rates[j]), 15);
	}
	free(log);
}

TEST(dither_leaves_quiet_cpus_alone)
{
	uint64_t data[64] = {0};
	struct perf_event_mmap_page page = {0};
	struct ring ring;
	struct dither dither = {.rings = &ring, .spread = 0.5, .mean_ns = 50 * MS,
				.clock = CLOCK_MONOTONIC};
	struct dither_log *log = made_log();
	ring_init_memory(&ring, &page, data, sizeof(data));
	log->mean_ns = MS;
	/* The event cannot be changed: nothing is logged. */
	for (int i = 0; i < 30; i++)
		ck_assert_int_eq(dither_change(&dither, log, -1, 1, false), i < 9);
	ck_assert(dither_change(&dither, log, -1, 1, true));
	ck_assert_uint_eq(log->count, 0);
	for (int i = 0; i < 30; i++)
		dither_change(&dither, log, -1, 1, false);
	page.data_head = 8;
	ck_assert(dither_change(&dither, log, -1, 1, false));
	ck_assert_uint_eq(log->quiet, 0);
	free(log);
}

TEST(dither_finds_samples_by_event_and_cpu)
{
	struct dither_log *logs = calloc(4, sizeof(*logs));
	struct dither dither = {.logs = logs, .count = 4};
	struct dither_found last = {0};
	ck_assert_ptr_nonnull(logs);
	ck_assert_ptr_nonnull(u64map_put(&dither.ids, 101, 0, NULL));
	ck_assert_ptr_nonnull(u64map_put(&dither.ids, 102, 2, NULL));
	ck_assert_ptr_nonnull(u64map_put(&dither.cpus, 4, 0, NULL));
	ck_assert_ptr_nonnull(u64map_put(&dither.cpus, 9, 1, NULL));
	dither_log_add(&logs[3], 50, 70);
	dither_log_add(&logs[2], 50, 40);
	ck_assert(!dither_find(&dither, 101, 9, 60, &last));
	ck_assert(!dither_find(&dither, 102, 5, 60, &last));
	ck_assert(!dither_find(&dither, 103, 9, 60, &last));
	ck_assert(dither_find(&dither, 102, 9, 60, &last) && last.period_ns == 105);
	/* By the last one. */
	ck_assert(dither_find(&dither, 102, 9, 119, &last) && last.period_ns == 105);
	ck_assert(dither_find(&dither, 102, 9, 120, &last) && last.period_ns == 70);
	ck_assert(dither_find(&dither, 102, 9, 60, &last) && last.period_ns == 105);
	ck_assert(dither_find(&dither, 102, 4, 60, &last) && last.period_ns == 60);
	ck_assert(!dither_find(&dither, 102, 4, 49, &last));
	ck_assert(!dither_find(&dither, 102, 4, 49, &last));
	dither_deinit(&dither);
}

#define RECORD_TYPES (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

/* Returns how far the rates of a plan of one CPU-wide clock may vary; `change` changes the plan. */
static double spread_of(uint64_t hz, uint64_t max_hz, void (*change)(struct event_plan *plan))
{
	struct event_planned event = {
		.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1,
			 .sample_freq = hz, .sample_type = RECORD_TYPES}};
	struct event_plan plan = {.samples = &event, .sample_count = 1, .cpu_wide = true,
				  .clock_id = CLOCK_MONOTONIC};
	if (change)
		change(&plan);
	return plan_dither_spread(&plan, max_hz);
}

static void of_tasks(struct event_plan *plan)
{
	plan->cpu_wide = false;
}

static void by_period(struct event_plan *plan)
{
	plan->samples[0].attr.freq = 0;
}

static void of_counter(struct event_plan *plan)
{
	plan->samples[0].attr.type = PERF_TYPE_HARDWARE;
}

static void of_cgroup(struct event_plan *plan)
{
	plan->samples[0].in_cgroup = true;
}

static void without_period(struct event_plan *plan)
{
	plan->samples[0].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

static void by_kernel_clock(struct event_plan *plan)
{
	plan->clock_id = EVENT_CLOCK_KERNEL;
}

TEST(only_clocks_of_whole_cpus_are_dithered)
{
	void (*const fixed[])(struct event_plan *) = {of_tasks, by_period, of_counter, of_cgroup,
						      without_period, by_kernel_clock};
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		ck_assert_msg(spread_of(997, 0, fixed[i]) == 0, "%zu", i);
	ck_assert_double_eq_tol(spread_of(997, 0, NULL), 0.5, 1e-9);
	ck_assert_double_eq_tol(spread_of(1000, 100000, NULL), 0.5, 1e-9);
	/* Below the kernel's limit, and with a range that is still of use. */
	ck_assert_double_eq_tol(spread_of(1000, 1400, NULL), 1400 / 1050.0 - 1, 1e-9);
	ck_assert(spread_of(1000, 1300, NULL) == 0);
	ck_assert(spread_of(99999, 1000000, NULL) == 0);
}
