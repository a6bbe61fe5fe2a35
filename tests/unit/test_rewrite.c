/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks that are set, CPUs that stand still, and what of records is changed for them. */
#include "base/clock.h"
#include "capture/event_control/cpu_hotplug.h"
#include "capture/ring_bank/rewrite.h"
#include "capture/ring_bank/ring_bank.h"
#include "event/kernel_calls.h"
#include "record/decode.h"
#include "record/encode.h"
#include "rings.h"

#define SECOND INT64_C(1000000000)

TEST(a_clock_change_is_distinguished_from_sleep)
{
	struct wall_clock wall = {.on = true, .clock = CLOCK_REALTIME, .ahead_ns = 1000 * SECOND,
				  .now_ns = 1000 * SECOND, .asleep_ns = 7 * SECOND};
	struct wall_clock_change change;
	/* Reading clocks is not exact. */
	ck_assert(!wall_clock_changes(&wall, 1000 * SECOND + 900000, 7 * SECOND - 900000, &change));
	ck_assert(wall_clock_changes(&wall, 400 * SECOND, 7 * SECOND, &change));
	ck_assert_int_eq(change.set_ns, -600 * SECOND);
	ck_assert_int_eq(change.slept_ns, 0);
	ck_assert_int_eq(change.off_ns, -600 * SECOND);
	ck_assert(!wall_clock_changes(&wall, 400 * SECOND, 7 * SECOND, &change));
	/* Asleep for an hour, which the wall's clock went through. */
	ck_assert(wall_clock_changes(&wall, 4000 * SECOND, 3607 * SECOND, &change));
	ck_assert_int_eq(change.set_ns, 0);
	ck_assert_int_eq(change.slept_ns, 3600 * SECOND);
	ck_assert_int_eq(change.off_ns, 3000 * SECOND);
	/* Both, and it is behind what it was at the start although it was set forward. */
	wall.ahead_ns = 10000 * SECOND;
	ck_assert(wall_clock_changes(&wall, 4012 * SECOND, 3617 * SECOND, &change));
	ck_assert_int_eq(change.set_ns, 2 * SECOND);
	ck_assert_int_eq(change.slept_ns, 10 * SECOND);
	ck_assert_int_eq(change.off_ns, -5988 * SECOND);
}

TEST(clocks_that_can_be_set_start_where_they_are)
{
	struct wall_clock wall;
	struct timespec now, steady;
	ck_assert(clock_can_be_set(CLOCK_REALTIME) && clock_can_be_set(CLOCK_TAI));
	ck_assert(!clock_can_be_set(CLOCK_MONOTONIC) && !clock_can_be_set(CLOCK_BOOTTIME));
	ck_assert(!wall_clock_start(&wall, 99));
	ck_assert(wall_clock_start(&wall, CLOCK_REALTIME));
	clock_gettime(CLOCK_MONOTONIC, &steady);
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t ahead_ns = (now.tv_sec - steady.tv_sec) * SECOND + now.tv_nsec - steady.tv_nsec;
	/* A busy machine may come between these two. */
	ck_assert_int_lt(llabs(ahead_ns - (int64_t)wall.ahead_ns), SECOND);
}

TEST(a_cpu_is_offline_if_its_event_stopped)
{
	const struct hotplug_cpu cpu = {.read_ns = 5000 * SECOND, .enabled_ns = 10 * SECOND};
	uint64_t since_ns;
	ck_assert(!hotplug_cpu_stopped(&cpu, 5000 * SECOND, 10 * SECOND, &since_ns));
	ck_assert(!hotplug_cpu_stopped(&cpu, 5001 * SECOND, 11 * SECOND, &since_ns));
	/* A clock that is steered. */
	ck_assert(!hotplug_cpu_stopped(&cpu, 5010 * SECOND, 20 * SECOND - 5000000, &since_ns));
	ck_assert(!hotplug_cpu_stopped(&cpu, 5010 * SECOND, 20 * SECOND + 5000000, &since_ns));
	/* Off and on again, 10 ms. */
	ck_assert(hotplug_cpu_stopped(&cpu, 5000 * SECOND + 500000000, 10 * SECOND + 490000000,
				      &since_ns));
	ck_assert_uint_eq(since_ns, 5000 * SECOND + 490000000);
	ck_assert(hotplug_cpu_stopped(&cpu, 5100 * SECOND, 10 * SECOND, &since_ns));
	ck_assert_uint_eq(since_ns, 5000 * SECOND);
}

enum { GROUP = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | EVENT_FORMAT_LOST };

struct fixture {
	struct perf_event_attr attr;
	struct sp_event event;
	struct record_layout layout;
	struct record_fields fields;
	struct record_buffer buffer;
	struct decoder *decoder;
	struct rewrite rewrite;
};

static const uint64_t listed_ids[] = {11, 12};

static void fixture_init(struct fixture *f, uint64_t sample_type, uint64_t read_format)
{
	*f = (struct fixture){.attr = {.sample_type = sample_type, .sample_id_all = 1,
				       .read_format = read_format,
				       .size = sizeof(struct perf_event_attr)}};
	f->event = (struct sp_event){.name = "one", .attr = f->attr, .ids = listed_ids, .id_count = 2};
	f->layout = (struct record_layout){.events = &f->event, .event_count = 1, .path = "ring"};
	ck_assert(record_fields_make(sample_type, &f->fields));
	ok_or_fail(decoder_new(&f->layout, &f->decoder));
	f->rewrite.shift_ns = (uint64_t)-100;
	ok_or_fail(rewrite_rename(&f->rewrite, 51, (struct rewrite_name){
		.listed = 11, .counted = 1000, .read_format = read_format,
		.read_at = f->fields.sample_end}));
	ok_or_fail(rewrite_rename(&f->rewrite, 52, (struct rewrite_name){
		.listed = 12, .counted = 2000, .read_format = read_format,
		.read_at = f->fields.sample_end}));
}

static void fixture_deinit(struct fixture *f)
{
	decoder_free(f->decoder);
	rewrite_deinit(&f->rewrite);
	vec_deinit(&f->buffer);
}

/* In a ring, where it may wrap, and out again. */
static struct sp_record through_ring(struct fixture *f, struct sp_record *record, uint64_t start)
{
	static uint8_t copy[4096];
	struct memory_ring memory;
	struct sp_record decoded;
	struct perf_event_header header;
	f->buffer.count = 0;
	ok_or_fail(record_encode(&f->buffer, record, &f->attr));
	struct ring ring = memory_ring_init(&memory, 4096, start);
	memory_ring_put(&memory, f->buffer.items, f->buffer.count);
	ck_assert(ring_record(&ring, start, ring_head(&ring), &header));
	rewrite_record(&f->rewrite, &f->fields, &ring, start, header.type, header.size);
	ring_copy(&ring, start, header.size, copy);
	memory_ring_deinit(&memory);
	const struct raw_record raw = {.type = header.type, .misc = header.misc,
				       .size = header.size, .bytes = copy};
	ok_or_fail(decoder_decode(f->decoder, &raw, &decoded));
	return decoded;
}

TEST(samples_have_the_names_and_times_of_the_file)
{
	struct fixture f;
	fixture_init(&f, RECORD_FIELDS_NEEDED | PERF_SAMPLE_READ | PERF_SAMPLE_ID | PERF_SAMPLE_ADDR,
		     GROUP);
	struct sp_counter counters[] = {{.id = 51, .value = 5}, {.id = 52, .value = 6},
					{.id = 77, .value = 7}};
	for (uint64_t start = 8192 - 256; start <= 8192; start += 8) {
		struct sp_record record = {
			.type = PERF_RECORD_SAMPLE,
			.sample = {.id = 51, .pid = 3, .tid = 4, .time_ns = 5000, .cpu = 2, .period = 9,
				   .addr = 51, .counters = {.read_format = GROUP, .count = 3,
							  .values = counters,
							  .time_enabled_ns = 51}},
		};
		const struct sp_record got = through_ring(&f, &record, start);
		ck_assert_uint_eq(got.sample.time_ns, 4900);
		ck_assert_uint_eq(got.sample.id, 11);
		ck_assert_uint_eq(got.sample.addr, 51);
		ck_assert_uint_eq(got.sample.period, 9);
		ck_assert_uint_eq(got.sample.counters.time_enabled_ns, 51);
		ck_assert_uint_eq(got.sample.counters.count, 3);
		const uint64_t wanted[] = {11, 1005, 12, 2006, 77, 7};
		for (size_t i = 0; i < 3; i++) {
			ck_assert_uint_eq(got.sample.counters.values[i].id, wanted[2 * i]);
			ck_assert_uint_eq(got.sample.counters.values[i].value, wanted[2 * i + 1]);
		}
	}
	fixture_deinit(&f);
}

TEST(a_single_count_goes_on_from_what_was_before)
{
	struct fixture f;
	fixture_init(&f, RECORD_FIELDS_NEEDED | PERF_SAMPLE_READ,
		     PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	struct sp_counter counter = {.id = 52, .value = 5};
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.sample = {.id = 52, .time_ns = 5000,
			   .counters = {.read_format = f.attr.read_format, .count = 1,
					.values = &counter, .time_enabled_ns = 52,
					.time_running_ns = 52}},
	};
	const struct sp_record got = through_ring(&f, &record, 0);
	ck_assert_uint_eq(got.sample.id, 12);
	ck_assert_uint_eq(got.sample.counters.values[0].id, 12);
	ck_assert_uint_eq(got.sample.counters.values[0].value, 2005);
	ck_assert_uint_eq(got.sample.counters.time_enabled_ns, 52);
	ck_assert_uint_eq(got.sample.counters.time_running_ns, 52);
	fixture_deinit(&f);
}

TEST(all_other_records_have_it_too)
{
	struct fixture f;
	fixture_init(&f, RECORD_FIELDS_NEEDED, 0);
	struct sp_record records[] = {
		{.type = PERF_RECORD_FORK,
		 .task = {.pid = 1, .tid = 51, .ppid = 51, .ptid = 2, .time_ns = 300}},
		{.type = PERF_RECORD_EXIT,
		 .task = {.pid = 1, .tid = 51, .ppid = 51, .ptid = 2, .time_ns = 300}},
		{.type = PERF_RECORD_THROTTLE, .throttle = {.time_ns = 300, .id = 51, .stream_id = 51}},
		{.type = PERF_RECORD_LOST, .lost = {.id = 51, .lost = 51}},
		{.type = PERF_RECORD_COMM, .comm = {.pid = 51, .tid = 51, .comm = "x"}},
	};
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
		records[i].id = (struct sp_sample_id){.id = 51, .pid = 51, .tid = 51,
						      .time_ns = 400, .cpu = 51};
		const struct sp_record got = through_ring(&f, &records[i], 4096 - 24);
		ck_assert_uint_eq(got.id.time_ns, 300);
		ck_assert_uint_eq(got.id.id, 11);
		ck_assert_uint_eq(got.id.cpu, 51);
		ck_assert_uint_eq(got.id.tid, 51);
		if (i < 2) {
			ck_assert_uint_eq(got.task.time_ns, 200);
			ck_assert_uint_eq(got.task.tid, 51);
			ck_assert_uint_eq(got.task.ppid, 51);
		} else if (i == 2) {
			ck_assert_uint_eq(got.throttle.time_ns, 200);
			ck_assert_uint_eq(got.throttle.id, 11);
			ck_assert_uint_eq(got.throttle.stream_id, 11);
		} else if (i == 3) {
			ck_assert_uint_eq(got.lost.id, 11);
			ck_assert_uint_eq(got.lost.lost, 51);
		} else {
			ck_assert_uint_eq(got.comm.pid, 51);
		}
	}
	fixture_deinit(&f);
}
