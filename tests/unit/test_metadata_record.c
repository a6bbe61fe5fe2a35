/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metadata records in a buffer: their changes of tasks, mappings, and wrong sizes. */
#include "capture/ring_bank/metadata_record.h"
#include "test.h"

#define EXEC PERF_RECORD_MISC_COMM_EXEC
#define SYNTHESISED (1 << 13) /* FORK_EXEC, which old headers lack */

static const struct perf_event_attr attr = {
	.sample_type = RECORD_FIELDS_NEEDED,
	.sample_id_all = 1,
};
static const struct sp_sample_id id = {
	.present = PERF_SAMPLE_TIME, .pid = 5, .tid = 6, .time_ns = 77};

static const struct {
	struct sp_record record;
	struct task_change change;
} cases[] = {
	{{.type = PERF_RECORD_FORK, .task = {3, 1, 4, 2, 70}},
	 {3, 4, 1, 2, 77, TASK_FORKED, .is_process = true}},
	{{.type = PERF_RECORD_FORK, .task = {1, 1, 4, 2, 70}}, {1, 4, 1, 2, 77, TASK_FORKED}},
	{{.type = PERF_RECORD_FORK, .misc = SYNTHESISED, .task = {3, 1, 3, 1, 70}},
	 {3, 3, 1, 1, 77, TASK_FORKED, .is_process = true, .is_synthesised = true}},
	{{.type = PERF_RECORD_EXIT, .task = {3, 1, 4, 2, 70}}, {3, 4, 1, 2, 77, TASK_ENDED}},
	{{.type = PERF_RECORD_EXIT, .task = {3, 1, 3, 1, 70}},
	 {3, 3, 1, 1, 77, TASK_ENDED, .is_process = true}},
	{{.type = PERF_RECORD_COMM, .misc = EXEC, .comm = {3, 3, "name"}},
	 {3, 3, 0, 0, 77, TASK_EXECED, .is_process = true}},
	{{.type = PERF_RECORD_COMM, .comm = {3, 4, "name"}}, {3, 4, 0, 0, 77, TASK_RENAMED}},
	{{.type = PERF_RECORD_CGROUP, .cgroup = {9, "/"}}, {.kind = TASK_SAME, .time_ns = 77}},
};

static void is_same(const struct task_change *a, const struct task_change *b)
{
	ck_assert_int_eq(a->kind, b->kind);
	if (a->kind == TASK_SAME)
		return;
	ck_assert_uint_eq(a->pid, b->pid);
	ck_assert_uint_eq(a->tid, b->tid);
	ck_assert_uint_eq(a->parent_pid, b->parent_pid);
	ck_assert_uint_eq(a->parent_tid, b->parent_tid);
	ck_assert_uint_eq(a->time_ns, b->time_ns);
	ck_assert(a->is_process == b->is_process && a->is_synthesised == b->is_synthesised);
}

static struct record_fields fields;

static void encode(struct record_buffer *buffer, struct sp_record record)
{
	ck_assert(record_fields_make(attr.sample_type, &fields));
	record.id = id;
	ok_or_fail(record_encode(buffer, &record, &attr));
}

TEST(records_and_bytes_have_the_same_change)
{
	struct record_buffer buffer = {0};
	struct metadata_record record;
	struct task_change change;
	size_t at = 0, count = sizeof(cases) / sizeof(*cases);
	for (size_t i = 0; i < count; i++)
		encode(&buffer, cases[i].record);
	for (size_t i = 0; i < count; i++) {
		struct sp_record decoded = cases[i].record;
		decoded.id = id;
		ck_assert(task_change_of(&decoded, &change) == (change.kind != TASK_SAME));
		is_same(&change, &cases[i].change);
		ck_assert(metadata_next(buffer.items, buffer.count, &at, &fields, &record));
		is_same(&record.change, &cases[i].change);
		ck_assert_uint_eq(record.time_ns, 77);
	}
	ck_assert(!metadata_next(buffer.items, buffer.count, &at, &fields, &record));
	vec_deinit(&buffer);
}

TEST(short_records_have_no_change)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct record_buffer buffer = {0};
		struct metadata_record record;
		encode(&buffer, cases[i].record);
		for (uint16_t size = 0; size < buffer.count; size += 8) {
			size_t at = 0, whole = buffer.count;
			/* Cut off, it is none; its header may also state less. */
			ck_assert(!metadata_next(buffer.items, size, &at, &fields, &record));
			memcpy(buffer.items + 6, &size, sizeof(size));
			bool good = metadata_next(buffer.items, whole, &at, &fields, &record);
			ck_assert(good == (size >= 8));
			bool is_comm = cases[i].record.type == PERF_RECORD_COMM;
			bool fits = size >= (is_comm ? 16 : 32) + fields.trailer_tid;
			ck_assert(!size || fits || record.change.kind == TASK_SAME);
			ck_assert_uint_eq(at, size);
			memcpy(buffer.items + 6, &(uint16_t){(uint16_t)whole}, sizeof(size));
		}
		vec_deinit(&buffer);
	}
}

TEST(mappings_are_read_as_far_as_they_go)
{
	struct record_buffer buffer = {0};
	struct metadata_record record;
	struct metadata_mapping mapping;
	size_t at = 0;
	struct sp_record mmap = {
		.type = PERF_RECORD_MMAP2,
		.mmap = {.pid = 3, .tid = 4, .start = 0x1000, .size = 0x2000, .ino = 12, .prot = 5,
			 .filename = "/lib/a.so"},
	};
	encode(&buffer, mmap);
	mmap.type = PERF_RECORD_MMAP;
	encode(&buffer, mmap);
	encode(&buffer, cases[0].record);
	ck_assert(metadata_next(buffer.items, buffer.count, &at, &fields, &record));
	ck_assert(metadata_mapping(&record, &mapping));
	ck_assert(mapping.pid == 3 && mapping.start == 0x1000 && mapping.size == 0x2000);
	ck_assert(mapping.inode == 12 && mapping.prot == 5 && !strcmp(mapping.path, "/lib/a.so"));
	/* Without its end, there is no path; without room for fixed fields, no mapping. */
	record.body = 72 + 4;
	ck_assert(metadata_mapping(&record, &mapping) && !mapping.path && mapping.prot == 5);
	record.body = 72;
	ck_assert(metadata_mapping(&record, &mapping) && !mapping.path && !mapping.prot);
	record.body = 39;
	ck_assert(!metadata_mapping(&record, &mapping));
	ck_assert(metadata_next(buffer.items, buffer.count, &at, &fields, &record));
	ck_assert(metadata_mapping(&record, &mapping) && mapping.pid == 3 && !mapping.prot);
	ck_assert(metadata_next(buffer.items, buffer.count, &at, &fields, &record));
	ck_assert(!metadata_mapping(&record, &mapping));
	vec_deinit(&buffer);
}
