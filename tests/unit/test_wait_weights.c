/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods of waits that snapshots find: their sums, for waits of all durations and reading times. */
#include "capture/waits/matcher.h"

#include <string.h>
#include "base/error.h"
#include "test.h"

enum {
	SAMPLE_TYPE = RECORD_FIELDS_NEEDED | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN,
	ID = 7,
	TID = 5,
	US = 1000,
	INTERVAL = 10000 * US,
	AGE = 5000 * US,
	ROUNDS = 40000,
};

static const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1};

struct fixture {
	struct matcher *waits;
	struct record_fields fields;
	struct record_buffer encoded, output;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){0};
	ck_assert(record_fields_make(SAMPLE_TYPE, &f->fields));
	const struct matcher_options options = {
		.fields = f->fields,
		.thin_ns = 1000 * US,
		.snapshot_ns = INTERVAL,
		.snapshot_age_ns = AGE,
		.threads_max = 4,
		.bytes_max = 1 << 20,
	};
	f->waits = matcher_new(&options);
	ck_assert_ptr_nonnull(f->waits);
	ok_or_fail(matcher_add_id(f->waits, ID));
}

static void tear_down(struct fixture *f)
{
	matcher_free(f->waits);
	vec_deinit(&f->encoded);
	vec_deinit(&f->output);
}

/* Adds a sample. */
static void add_sample(struct fixture *f, uint16_t misc, uint64_t time_ns, uint64_t period)
{
	const struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = misc,
		.sample = {.pid = 1, .tid = TID, .time_ns = time_ns, .id = ID, .period = period},
	};
	f->encoded.count = 0;
	ok_or_fail(record_encode(&f->encoded, &record, &attr));
	ok_or_fail(matcher_add_sample(f->waits, f->encoded.items));
}

/* Adds the switches of a wait. Returns the wait's period; 0: it was not written. */
static uint64_t end_wait(struct fixture *f, uint64_t off_ns, uint64_t duration_ns)
{
	f->output.count = 0;
	ok_or_fail(matcher_add_switch(f->waits, 1, TID, 0, off_ns, PERF_RECORD_MISC_SWITCH_OUT));
	ok_or_fail(matcher_add_switch(f->waits, 1, TID, 0, off_ns + duration_ns, 0));
	ok_or_fail(matcher_write(f->waits, UINT64_MAX, &f->output));
	uint64_t period_ns;
	if (!f->output.count)
		return 0;
	memcpy(&period_ns, f->output.items + f->fields.sample_period, sizeof(period_ns));
	return period_ns;
}

/* Adds a wait from `off_ns` on, and one snapshot. Returns the wait's period, as end_wait(). */
static uint64_t add_wait(struct fixture *f, uint64_t off_ns, uint64_t duration_ns, uint64_t look_ns,
			 uint64_t read_ns)
{
	add_sample(f, SP_MISC_SNAPSHOT, look_ns + read_ns, read_ns);
	return end_wait(f, off_ns, duration_ns);
}

/* Returns a random number from `low` to `low` + `span`. Its fractions are spread evenly over `i`. */
static uint64_t spread(uint64_t i, double step, uint64_t low, uint64_t span)
{
	double at = (double)i * step;
	return low + (uint64_t)((at - (double)(uint64_t)at) * (double)span);
}

/*
 * Returns the sum of the periods / the sum of the durations of waits of about `usual_ns`. Few snapshots would
 * find short waits: only those near a wait are simulated, and counted as a part of all.
 */
static double sum_of_periods(struct fixture *f, uint64_t usual_ns, uint64_t read_ns,
			     uint64_t read_span_ns)
{
	const uint64_t margin_ns = 50 * US;
	uint64_t begin_ns = 1000 * US;
	double blocked = 0, periods = 0;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t duration_ns = spread(i, 0.7548776662466927, usual_ns, usual_ns / 3);
		uint64_t near_ns = duration_ns + 2 * margin_ns;
		if (near_ns > INTERVAL)
			near_ns = INTERVAL;
		/* The first snapshot after the begin of a long wait finds it. */
		uint64_t early_ns = near_ns < INTERVAL ? margin_ns : 0;
		uint64_t look_ns = spread(i, 0.5698402909980532, begin_ns, near_ns) - early_ns;
		uint64_t read = spread(i, 0.3247179572447460, read_ns, read_span_ns);
		uint64_t period_ns = add_wait(f, begin_ns, duration_ns, look_ns, read);
		blocked += (double)duration_ns;
		periods += (double)period_ns * (double)near_ns / INTERVAL;
		begin_ns += 3 * INTERVAL + duration_ns;
	}
	return periods / blocked;
}

TEST(periods_of_snapshots_sum_to_the_blocked_time)
{
	static const uint64_t durations_ns[] = {10 * US, 15 * US, 30 * US, 100 * US, 1000 * US, 7000 * US,
						20000 * US};
	struct fixture f;
	set_up(&f);
	for (size_t i = 0; i < sizeof(durations_ns) / sizeof(*durations_ns); i++) {
		double ratio = sum_of_periods(&f, durations_ns[i], 2 * US, 5 * US);
		ck_assert_msg(ratio > 0.98 && ratio < 1.02, "waits of %d us: %.4f",
			      (int)(durations_ns[i] / US), ratio);
	}
	tear_down(&f);
}

TEST(waits_as_short_as_the_reading_weigh_four_intervals_at_most)
{
	struct fixture f;
	set_up(&f);
	uint64_t at_ns = 1000 * US;
	ck_assert_uint_eq(add_wait(&f, at_ns, 8 * US, at_ns, 7 * US), 4 * INTERVAL);
	ck_assert_uint_eq(add_wait(&f, at_ns + INTERVAL, 8 * US, at_ns + INTERVAL, 4 * US), 2 * INTERVAL);
	/* The thread was on the CPU before the reading ended. */
	at_ns += 2 * INTERVAL;
	ck_assert_uint_eq(add_wait(&f, at_ns, 8 * US, at_ns, 8 * US), 0);
	/* They are too seldom found: the sum is less, not more. */
	double ratio = sum_of_periods(&f, 10 * US, 9 * US, 10 * US);
	ck_assert_msg(ratio > 0 && ratio < 0.9, "%.4f", ratio);
	tear_down(&f);
}

/*
 * Returns the sum of the periods / the sum of the durations: one of four switches is sampled, those
 * in each fourth window of time. A snapshot finds the other waits at the first multiple of AGE / 2
 * after AGE.
 */
static double sum_of_parts(struct fixture *f, uint64_t usual_ns)
{
	const uint64_t window_ns = 25000 * US;
	uint64_t begin_ns = 1000 * US;
	double blocked = 0, periods = 0;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t duration_ns = spread(i, 0.7548776662466927, usual_ns, usual_ns / 3);
		uint64_t look_ns = (begin_ns + AGE + AGE / 2 - 1) / (AGE / 2) * (AGE / 2);
		if (begin_ns / window_ns % 4 == 0)
			add_sample(f, 0, begin_ns - 1, 1);
		else if (look_ns + US < begin_ns + duration_ns)
			add_sample(f, SP_MISC_SNAPSHOT, look_ns + US, US);
		periods += (double)end_wait(f, begin_ns, duration_ns);
		blocked += (double)duration_ns;
		begin_ns += duration_ns + spread(i, 0.5698402909980532, 100 * US, 300 * US);
	}
	return periods / blocked;
}

TEST(waits_of_one_of_four_switches_sum_to_the_blocked_time)
{
	static const uint64_t durations_ns[] = {500 * US,  1000 * US,  4000 * US,
						7000 * US, 13000 * US, 40000 * US};
	struct fixture f;
	set_up(&f);
	matcher_set_sampled(f.waits, 0, 4);
	for (size_t i = 0; i < sizeof(durations_ns) / sizeof(*durations_ns); i++) {
		double ratio = sum_of_parts(&f, durations_ns[i]);
		ck_assert_msg(ratio > 0.96 && ratio < 1.04, "waits of %d us: %.4f",
			      (int)(durations_ns[i] / US), ratio);
	}
	/* A snapshot of a young wait is the recording's last. */
	ck_assert_uint_eq(add_wait(&f, UINT64_C(1) << 60, AGE, (UINT64_C(1) << 60) + 1, US), 0);
	tear_down(&f);
}

/* Whether the thread may wait without a stack since before that time. */
static bool is_bare(struct fixture *f, uint64_t before_ns)
{
	struct matcher_thread thread;
	size_t at = 0;
	return matcher_next_bare(f->waits, before_ns, &at, &thread);
}

TEST(a_wait_with_an_early_snapshot_is_read_again)
{
	const uint64_t off_ns = 100 * INTERVAL, late_ns = off_ns + AGE + US;
	struct fixture f;
	set_up(&f);
	matcher_set_sampled(f.waits, 0, 4);
	/* The thread was chosen for an earlier wait, or by MATCHER_BARE. */
	ok_or_fail(matcher_add_switch(f.waits, 1, TID, 0, off_ns, PERF_RECORD_MISC_SWITCH_OUT));
	ck_assert(is_bare(&f, MATCHER_BARE));
	add_sample(&f, SP_MISC_SNAPSHOT, off_ns + 2 * US, US);
	ok_or_fail(matcher_write(f.waits, late_ns, &f.output));
	ck_assert(!is_bare(&f, off_ns));
	ck_assert(is_bare(&f, off_ns + 1));
	add_sample(&f, SP_MISC_SNAPSHOT, late_ns + US, US);
	ok_or_fail(matcher_write(f.waits, late_ns + 2 * US, &f.output));
	ck_assert(!is_bare(&f, MATCHER_BARE));
	ck_assert_uint_eq(f.output.count, 0);
	/* The next file's part is a wait of its own. */
	ok_or_fail(matcher_split(f.waits, 2 * late_ns, &f.output));
	ck_assert(is_bare(&f, MATCHER_BARE));
	add_sample(&f, SP_MISC_SNAPSHOT, 2 * late_ns + AGE + US, US);
	f.output.count = 0;
	ok_or_fail(matcher_add_switch(f.waits, 1, TID, 0, 3 * late_ns, 0));
	ok_or_fail(matcher_write(f.waits, UINT64_MAX, &f.output));
	uint64_t period_ns;
	ck_assert_uint_ge(f.output.count, sizeof(period_ns));
	memcpy(&period_ns, f.output.items + f.fields.sample_period, sizeof(period_ns));
	ck_assert_uint_eq(period_ns, late_ns);
	tear_down(&f);
}

TEST(a_wait_has_the_part_of_its_begin)
{
	struct fixture f;
	set_up(&f);
	for (uint64_t i = 1; i < 40; i++)
		matcher_set_sampled(f.waits, i * INTERVAL, (uint32_t)i);
	for (uint64_t i = 30; i < 40; i++) {
		add_sample(&f, 0, i * INTERVAL + US, 1);
		ck_assert_uint_eq(end_wait(&f, i * INTERVAL + 2 * US, 2000 * US), 2000 * US * i);
	}
	tear_down(&f);
}
