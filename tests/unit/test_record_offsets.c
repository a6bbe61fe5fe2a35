/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ring_bank/record_offsets.h"
#include "record/encode.h"
#include "rings.h"

#define RING_BYTES 4096

struct fixture {
	struct memory_ring memory;
	struct ring ring;
	struct record_fields fields;
	struct perf_event_attr attr;
	struct record_buffer encoded;
};

static void set_up(struct fixture *f, uint64_t sample_type, uint64_t start)
{
	*f = (struct fixture){.attr = {.sample_type = sample_type, .sample_id_all = 1}};
	f->ring = memory_ring_init(&f->memory, RING_BYTES, start);
	ck_assert(record_fields_make(sample_type, &f->fields));
}

static void tear_down(struct fixture *f)
{
	memory_ring_deinit(&f->memory);
	vec_deinit(&f->encoded);
}

/* Puts a record, and reads its values. */
static struct record_values values_of(struct fixture *f, const struct sp_record *record)
{
	struct record_values values;
	uint64_t position = ring_head(&f->ring);
	f->encoded.count = 0;
	ok_or_fail(record_encode(&f->encoded, record, &f->attr));
	ck_assert(memory_ring_put(&f->memory, f->encoded.items, f->encoded.count));
	ck_assert(record_values_read(&f->ring, position, ring_head(&f->ring), &f->fields, &values));
	ck_assert_uint_eq(values.position, position);
	ck_assert_uint_eq(values.header.type, record->type);
	ck_assert_uint_eq(values.header.size, f->encoded.count);
	return values;
}

TEST(fields_follow_the_sample_type)
{
	struct record_fields fields;
	ck_assert(!record_fields_make(PERF_SAMPLE_IP | PERF_SAMPLE_TID, &fields));
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID,
				     &fields));
	ck_assert_uint_eq(fields.sample_cpu, 56);
	ck_assert_uint_eq(fields.sample_period, 64);
	ck_assert_uint_eq(fields.trailer_time, 32);
	ck_assert_uint_eq(fields.trailer_tid, 40);
	ck_assert_uint_eq(fields.sample_id_again, 48);
	ck_assert_uint_eq(fields.trailer_id_again, 24);
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID,
				     &fields));
	ck_assert_uint_eq(fields.sample_id_again, 40);
	ck_assert_uint_eq(fields.trailer_id_again, 32);
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED, &fields));
	ck_assert_uint_eq(fields.sample_id_again, 0);
	ck_assert_uint_eq(fields.sample_end, fields.sample_period + 8);
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED & ~PERF_SAMPLE_PERIOD, &fields));
	ck_assert_uint_eq(fields.sample_period, 0);
	ck_assert_uint_eq(fields.sample_end, fields.sample_cpu + 8);
}

static void sample_has_its_values(uint64_t sample_type, uint64_t start)
{
	struct fixture f;
	const struct sp_record sample = {
		.type = PERF_RECORD_SAMPLE,
		.sample = {.pid = 1, .tid = 2, .cpu = 3, .time_ns = 4, .id = 5, .period = 6, .ip = 7,
			   .addr = 8, .stream_id = 9},
	};
	set_up(&f, sample_type, start);
	const struct record_values values = values_of(&f, &sample);
	ck_assert_uint_eq(values.pid, 1);
	ck_assert_uint_eq(values.tid, 2);
	ck_assert_uint_eq(values.cpu, 3);
	ck_assert_uint_eq(values.time_ns, 4);
	ck_assert_uint_eq(values.id, 5);
	ck_assert_uint_eq(values.period, sample_type & PERF_SAMPLE_PERIOD ? 6 : 1);
	ck_assert_uint_eq(values.lost, 0);
	tear_down(&f);
}

TEST(samples_have_their_values_at_any_wrap)
{
	for (uint64_t start = 0; start < RING_BYTES; start += 8) {
		sample_has_its_values(RECORD_FIELDS_NEEDED, start);
		sample_has_its_values(RECORD_FIELDS_NEEDED & ~PERF_SAMPLE_PERIOD, start);
		sample_has_its_values(RECORD_FIELDS_NEEDED | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
				      PERF_SAMPLE_STREAM_ID, start);
	}
}

static void trailer_has_its_values(uint64_t sample_type, uint64_t start)
{
	const struct sp_sample_id id = {.pid = 1, .tid = 2, .cpu = 3, .time_ns = 4, .id = 5, .stream_id = 9};
	const struct {
		struct sp_record record;
		uint64_t lost;
	} cases[] = {
		{{.type = PERF_RECORD_SWITCH, .id = id}, 0},
		{{.type = PERF_RECORD_SWITCH_CPU_WIDE, .id = id}, 0},
		{{.type = PERF_RECORD_LOST, .id = id, .lost = {.id = 8, .lost = 7}}, 7},
		{{.type = PERF_RECORD_LOST_SAMPLES, .id = id, .lost = {.lost = 6}}, 6},
		{{.type = PERF_RECORD_THROTTLE, .id = id, .throttle = {.time_ns = 9, .id = 9}}, 0},
	};
	struct fixture f;
	set_up(&f, sample_type, start);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct record_values values = values_of(&f, &cases[i].record);
		ck_assert_uint_eq(values.pid, 1);
		ck_assert_uint_eq(values.tid, 2);
		ck_assert_uint_eq(values.cpu, 3);
		ck_assert_uint_eq(values.time_ns, 4);
		ck_assert_uint_eq(values.id, 5);
		ck_assert_uint_eq(values.period, 0);
		ck_assert_uint_eq(values.lost, cases[i].lost);
	}
	tear_down(&f);
}

TEST(other_records_have_their_values_at_any_wrap)
{
	for (uint64_t start = 0; start < RING_BYTES; start += 8) {
		trailer_has_its_values(RECORD_FIELDS_NEEDED, start);
		trailer_has_its_values(RECORD_FIELDS_NEEDED | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID, start);
	}
}

/* One word less than the fields need. */
static void is_too_short(uint32_t type, size_t size)
{
	struct fixture f;
	struct record_values values;
	uint64_t words[16];
	const struct perf_event_header header = {.type = type, .size = (uint16_t)size};
	memset(words, 0xff, sizeof(words));
	memcpy(words, &header, sizeof(header));
	set_up(&f, RECORD_FIELDS_NEEDED, 0);
	ck_assert_uint_eq(size, 8 * (size / 8));
	ck_assert(memory_ring_put(&f.memory, words, size));
	memset(&values, 0xff, sizeof(values));
	ck_assert(record_values_read(&f.ring, 0, size, &f.fields, &values));
	ck_assert_uint_eq(values.header.size, size);
	ck_assert(!values.pid && !values.tid && !values.cpu && !values.time_ns && !values.id &&
		  !values.period && !values.lost);
	ck_assert(!record_values_read(&f.ring, 0, size - 8, &f.fields, &values));
	tear_down(&f);
}

TEST(short_records_have_no_values)
{
	struct record_fields fields;
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED, &fields));
	is_too_short(PERF_RECORD_SAMPLE, fields.sample_end - 8);
	is_too_short(PERF_RECORD_LOST, fields.trailer_tid);
}
