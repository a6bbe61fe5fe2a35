/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/metadata_hold.h"
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)

/* A sample_id of {pid, tid}, time, {cpu, 0}, id. */
static const struct perf_event_attr attr = {
	.sample_type = RECORD_FIELDS_NEEDED,
	.sample_id_all = 1,
};

struct made {
	struct metadata_hold hold;
	struct record_buffer records;
};

static struct made made_hold(uint64_t rate)
{
	struct made made = {.hold.rate = rate};
	ck_assert(record_fields_make(attr.sample_type, &made.hold.fields));
	return made;
}

static void made_free(struct made *made)
{
	metadata_hold_deinit(&made->hold);
	vec_deinit(&made->records);
}

static void add(struct made *made, struct sp_record record, uint32_t pid, uint64_t time_ns)
{
	record.id = (struct sp_sample_id){.pid = pid, .tid = pid, .time_ns = time_ns};
	ok_or_fail(record_encode(&made->records, &record, &attr));
}

static void add_name(struct made *made, uint32_t pid, uint64_t time_ns, const char *name)
{
	add(made,
	    (struct sp_record){.type = PERF_RECORD_COMM,
			       .comm = {.pid = pid, .tid = pid, .comm = name}},
	    pid, time_ns);
}

static void add_exec(struct made *made, uint32_t pid, uint64_t time_ns)
{
	add(made,
	    (struct sp_record){.type = PERF_RECORD_COMM,
			       .misc = PERF_RECORD_MISC_COMM_EXEC,
			       .comm = {.pid = pid, .tid = pid, .comm = "exec"}},
	    pid, time_ns);
}

static void add_map(struct made *made, uint32_t pid, uint64_t time_ns, uint64_t start)
{
	add(made,
	    (struct sp_record){.type = PERF_RECORD_MMAP2,
			       .misc = PERF_RECORD_MISC_USER,
			       .mmap = {.pid = pid,
					.tid = pid,
					.start = start,
					.size = 0x1000,
					.filename = "/lib/some.so"}},
	    pid, time_ns);
}

static void add_fork(struct made *made, uint32_t parent, uint32_t pid, uint64_t time_ns)
{
	add(made,
	    (struct sp_record){.type = PERF_RECORD_FORK,
			       .task = {.pid = pid,
					.tid = pid,
					.ppid = parent,
					.ptid = parent,
					.time_ns = time_ns}},
	    pid, time_ns);
}

/* A round at `now_ns`, with a sample of `pid` at `sample_ns`; 0: without. */
static bool filter(struct made *made, uint64_t now_ns, uint32_t pid, uint64_t sample_ns)
{
	if (!metadata_hold_is_needed(&made->hold, &made->records, now_ns))
		return false;
	if (sample_ns)
		ck_assert(metadata_hold_add_need(&made->hold, pid, pid, sample_ns));
	ck_assert(metadata_hold_filter(&made->hold, &made->records, now_ns - SECOND / 10));
	return true;
}

/* Returns the number of records of `pid` (0: of all), and empties the round. */
static size_t written(struct made *made, uint32_t pid)
{
	size_t count = 0;
	for (size_t at = 0; at < made->records.count;) {
		struct perf_event_header header;
		memcpy(&header, made->records.items + at, sizeof(header));
		count += !pid || bytes_u32(made->records.items + at + 8) == pid;
		at += header.size;
	}
	made->records.count = 0;
	return count;
}

/* Uses up the room, with mappings of process 9 that is never sampled. */
static void fill(struct made *made, uint64_t now_ns)
{
	ck_assert(!metadata_hold_is_needed(&made->hold, &made->records, now_ns));
	for (uint64_t i = 0; made->records.count <= (size_t)HOLD_BURST; i++)
		add_map(made, 9, now_ns, 0x1000 * i);
	ck_assert(filter(made, now_ns, 0, 0));
	ck_assert_uint_gt(made->records.count, (size_t)HOLD_BURST - 4096);
	made->records.count = 0;
}

TEST(few_records_are_not_held)
{
	struct made made = made_hold(HOLD_RATE);
	for (uint64_t i = 1; i < 100; i++) {
		for (uint32_t j = 0; j < 1000; j++)
			add_name(&made, 7, i * SECOND, "name");
		ck_assert(!filter(&made, i * SECOND, 0, 0));
		ck_assert_uint_eq(written(&made, 7), 1000);
	}
	made_free(&made);
}

TEST(a_sample_needs_the_records_before_it)
{
	struct made made = made_hold(HOLD_RATE);
	fill(&made, SECOND);
	add_name(&made, 7, SECOND + 1, "held");
	add_map(&made, 7, SECOND + 2, 0x1000);
	add_map(&made, 7, SECOND + 5, 0x9000);
	add_name(&made, 8, SECOND + 3, "other");
	ck_assert(filter(&made, SECOND + 9, 0, 0));
	ck_assert_uint_eq(written(&made, 0), 0);
	ck_assert(filter(&made, SECOND + 10, 7, SECOND + 4));
	ck_assert_uint_eq(written(&made, 7), 2);
	/* Records of an earlier round have the time of the last one. */
	ck_assert(filter(&made, 2 * SECOND, 7, 2 * SECOND));
	ck_assert_uint_eq(
		bytes_u64(made.records.items + made.records.count - made.hold.fields.trailer_time),
		2 * SECOND - SECOND / 10);
	/* There is room for the other process's record again. */
	ck_assert_uint_eq(written(&made, 0), 2);
	ck_assert_uint_eq(made.hold.counts.dropped, 0);
	made_free(&made);
}

TEST(a_fork_needs_the_parents_records)
{
	struct made made = made_hold(HOLD_RATE);
	fill(&made, SECOND);
	add_map(&made, 7, SECOND + 1, 0x1000);
	ck_assert(filter(&made, SECOND + 2, 0, 0));
	ck_assert_uint_eq(written(&made, 0), 0);
	add_fork(&made, 7, 70, SECOND + 3);
	ck_assert(filter(&made, SECOND + 4, 0, 0));
	ck_assert_uint_eq(written(&made, 0), 2);
	made_free(&made);
}

/* Its next program has the number, and other mappings. */
TEST(an_exec_or_a_new_process_drops_what_is_held)
{
	struct made made = made_hold(HOLD_RATE);
	fill(&made, SECOND);
	add_map(&made, 7, SECOND + 1, 0x1000);
	add_map(&made, 8, SECOND + 1, 0x1000);
	ck_assert(filter(&made, SECOND + 2, 0, 0));
	add_exec(&made, 7, SECOND + 3);
	add_fork(&made, 1, 8, SECOND + 3);
	add_map(&made, 7, SECOND + 4, 0x2000);
	ck_assert(filter(&made, SECOND + 5, 0, 0));
	ck_assert_uint_eq(made.hold.counts.dropped, 2);
	ck_assert_uint_eq(written(&made, 0), 2);
	ck_assert(filter(&made, SECOND + 6, 7, SECOND + 5));
	ck_assert_uint_eq(written(&made, 7), 1);
	made_free(&made);
}

/* A thread with a million names has one for each sample. */
TEST(replaced_records_are_dropped_unless_a_sample_is_between)
{
	struct made made = made_hold(HOLD_RATE);
	fill(&made, SECOND);
	for (uint64_t i = 1; i <= 1000; i++) {
		add_name(&made, 7, SECOND + 10 * i, "name");
		add_map(&made, 7, SECOND + 10 * i, 0x1000);
	}
	ck_assert(metadata_hold_is_needed(&made.hold, &made.records, SECOND + 20000));
	for (uint64_t i = 100; i <= 500; i += 100)
		ck_assert(metadata_hold_add_need(&made.hold, 7, 7, SECOND + 10 * i + 5));
	ck_assert(metadata_hold_filter(&made.hold, &made.records, SECOND));
	ck_assert_uint_eq(written(&made, 7), 2 * 5);
	ck_assert_uint_eq(made.hold.counts.dropped, 2 * (1000 - 5 - 1));
	made_free(&made);
}

TEST(a_process_with_dropped_records_is_read_when_it_has_a_sample)
{
	struct made made = made_hold(HOLD_RATE);
	struct task_list threads = {0};
	uint32_t pid;
	fill(&made, SECOND);
	for (uint64_t i = 0; made.records.count < 2 * HOLD_BYTES_MAX; i++)
		add_map(&made, 7, SECOND, 0x1000 * i);
	ck_assert(filter(&made, SECOND + 1, 0, 0));
	ck_assert_uint_eq(written(&made, 0), 0);
	ck_assert_uint_le(made.hold.held.count, HOLD_BYTES_MAX);
	ck_assert_uint_gt(made.hold.counts.dropped, 10000);
	ck_assert(!metadata_hold_next(&made.hold, &pid, &threads));
	/* When there is room again. */
	ck_assert(metadata_hold_is_needed(&made.hold, &made.records, 100 * SECOND));
	ck_assert(metadata_hold_add_need(&made.hold, 7, 3, 100 * SECOND));
	ck_assert(metadata_hold_add_need(&made.hold, 7, 12, 100 * SECOND));
	ck_assert(metadata_hold_filter(&made.hold, &made.records, 99 * SECOND));
	ck_assert(metadata_hold_next(&made.hold, &pid, &threads));
	ck_assert_uint_eq(pid, 7);
	ck_assert_uint_eq(threads.count, 3);
	ck_assert_uint_eq(threads.items[0], 7);
	ck_assert(!metadata_hold_next(&made.hold, &pid, &threads));
	ck_assert_uint_eq(made.hold.counts.read, 1);
	task_list_deinit(&threads);
	made_free(&made);
}

/* Process 7 has samples all the time, and new mappings. */
TEST(a_sampled_process_has_a_limit_too)
{
	struct made made = made_hold(HOLD_RATE);
	size_t bytes = 0;
	uint64_t place = 0;
	for (uint64_t i = 1; i <= 100; i++) {
		uint64_t now_ns = SECOND + i * SECOND / 10;
		while (made.records.count < (size_t)1 << 20)
			add_map(&made, 7, now_ns, 0x1000 * place++);
		filter(&made, now_ns, 7, now_ns);
		bytes += made.records.count;
		made.records.count = 0;
	}
	ck_assert_uint_le(bytes, 10 * HOLD_RATE + 2 * (size_t)HOLD_BURST + ((size_t)1 << 20));
	ck_assert_uint_le(made.hold.held.count, HOLD_BYTES_MAX);
	made_free(&made);
}

/* The command, or processes by pid: deferred ones are read, but nothing is held. */
TEST(without_a_rate_nothing_is_held)
{
	struct made made = made_hold(0);
	struct task_list threads = {0};
	uint32_t pid;
	ck_assert(!filter(&made, SECOND, 0, 0));
	ck_assert(metadata_hold_defer(&made.hold, 7));
	for (uint64_t i = 0; made.records.count < 2 * (size_t)HOLD_BURST; i++)
		add_map(&made, 7, SECOND, 0x1000);
	size_t before = made.records.count;
	ck_assert(filter(&made, 2 * SECOND, 7, SECOND));
	ck_assert_uint_eq(made.records.count, before);
	ck_assert(metadata_hold_next(&made.hold, &pid, &threads));
	ck_assert_uint_eq(pid, 7);
	task_list_deinit(&threads);
	made_free(&made);
}
