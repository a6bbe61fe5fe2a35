/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/waits/wakeups.h"
#include "record/encode.h"
#include "rings.h"
#include "root.h"
#include "tests/sched_waking.h"

enum { TASK_ID = 5, OUTSIDE_ID = 6, OTHER_ID = 7, LISTED_ID = 5, HARDIRQ = 8 };

static const struct perf_event_attr attr = {
	.sample_type = RECORD_FIELDS_NEEDED | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW, .sample_id_all = 1};
#define FIELDS .pid = {SCHED_WAKING_PID, 4}, .comm = {SCHED_WAKING_COMM, 16}, .flags = {SCHED_WAKING_FLAGS, 1}
static const struct wakeup_event waking = {.on = true, FIELDS};
static const struct wakeup_event named = {.on = true, .was_named = true, FIELDS};

struct fixture {
	struct root root;
	struct memory_ring memory;
	struct ring ring;
	struct record_fields fields;
	struct membership threads;
	struct wakeups wakeups;
	uint8_t flags;         /* common_flags of samples */
	size_t depth, raw_size; /* their call chain, and raw data */
	bool outside;          /* result of the last decision */
};

/* Threads 10 and 11 are recorded. */
static void fixture_init(struct fixture *f, uint64_t start)
{
	*f = (struct fixture){.threads = {.by = MEMBERSHIP_BY_THREAD, .follow = true},
			      .depth = 3, .raw_size = SCHED_WAKING_SIZE};
	root_init(&f->root);
	f->ring = memory_ring_init(&f->memory, 4096, start);
	ck_assert(record_fields_make(attr.sample_type, &f->fields));
	ck_assert(membership_add(&f->threads, 10, 10, 100) && membership_add(&f->threads, 10, 11, 100));
	f->wakeups.options = (struct wakeups_options){.ctx = f->root.ctx, .event = &waking, .attr = &attr,
						      .threads = &f->threads, .fields = &f->fields};
	ck_assert(wakeups_add_id(&f->wakeups, TASK_ID, false));
	ck_assert(wakeups_add_id(&f->wakeups, OUTSIDE_ID, true));
}

static void fixture_deinit(struct fixture *f)
{
	wakeups_deinit(&f->wakeups);
	membership_deinit(&f->threads);
	memory_ring_deinit(&f->memory);
	root_deinit(&f->root);
}

/* Decides on a sample of that event: `waker` wakes `woken`. */
static enum wakeups_verdict decide(struct fixture *f, uint64_t id, uint32_t waker, uint32_t woken,
				   uint64_t time_ns)
{
	static const uint64_t ips[8] = {1, 2, 3};
	uint8_t raw[SCHED_WAKING_SIZE] = {[SCHED_WAKING_FLAGS] = f->flags};
	struct record_buffer bytes = {0};
	enum wakeups_verdict verdict;
	struct record_values values;
	memcpy(raw + SCHED_WAKING_PID, &woken, sizeof(woken));
	snprintf((char *)raw + SCHED_WAKING_COMM, 16, "woken %u", woken);
	const struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.sample = {.pid = waker, .tid = waker, .time_ns = time_ns, .ip = 1, .id = id, .period = 1,
			   .cpu = 1, .ips = ips, .ip_count = f->depth, .raw = {raw, f->raw_size}}};
	ok_or_fail(record_encode(&bytes, &record, &attr));
	uint64_t position = ring_head(&f->ring);
	ck_assert(memory_ring_put(&f->memory, bytes.items, bytes.count));
	ck_assert(record_values_read(&f->ring, position, ring_head(&f->ring), &f->fields, &values));
	ok_or_fail(wakeups_decide(&f->wakeups, &f->ring, &values, LISTED_ID, &verdict, &f->outside));
	ring_release(&f->ring, ring_head(&f->ring));
	vec_deinit(&bytes);
	return verdict;
}

TEST(wakeups_of_recorded_threads_are_kept_at_any_wrap)
{
	for (uint64_t start = 0; start < 4096; start += 8) {
		struct fixture f;
		fixture_init(&f, start);
		ck_assert_int_eq(decide(&f, TASK_ID, 10, 11, 200), WAKEUPS_KEEP);
		ck_assert(!f.outside);
		ck_assert_int_eq(decide(&f, OUTSIDE_ID, 20, 11, 300), WAKEUPS_KEEP);
		ck_assert(f.outside);
		ck_assert_int_eq(decide(&f, OUTSIDE_ID, 20, 12, 400), WAKEUPS_FILTERED);
		ck_assert_int_eq(decide(&f, TASK_ID, 10, 12, 500), WAKEUPS_FILTERED);
		/* Its number was another thread's. */
		ck_assert_int_eq(decide(&f, OUTSIDE_ID, 20, 11, 99), WAKEUPS_FILTERED);
		ck_assert_int_eq(decide(&f, OTHER_ID, 20, 11, 600), WAKEUPS_OTHER);
		f.wakeups.options.event = &named;
		ck_assert_int_eq(decide(&f, TASK_ID, 10, 12, 700), WAKEUPS_KEEP);
		ck_assert_int_eq(decide(&f, OUTSIDE_ID, 20, 12, 800), WAKEUPS_FILTERED);
		fixture_deinit(&f);
	}
}

TEST(a_wakeup_that_two_events_sampled_is_kept_once)
{
	struct fixture f;
	fixture_init(&f, 0);
	/* In either order, and many in a row. */
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t first = i % 2 ? OUTSIDE_ID : TASK_ID, second = TASK_ID + OUTSIDE_ID - first;
		uint64_t time_ns = 10000 * (i + 1);
		ck_assert_int_eq(decide(&f, first, 10, 11, time_ns), WAKEUPS_KEEP);
		ck_assert_int_eq(decide(&f, second, 10, 11, time_ns + 5), WAKEUPS_REPEATED);
	}
	/* The second sample was lost. */
	ck_assert_int_eq(decide(&f, TASK_ID, 10, 11, 100000), WAKEUPS_KEEP);
	ck_assert_int_eq(decide(&f, OUTSIDE_ID, 10, 11, 3000000), WAKEUPS_KEEP);
	/* Others in the meantime are of another wake-up. */
	ck_assert_int_eq(decide(&f, TASK_ID, 10, 11, 5000000), WAKEUPS_KEEP);
	ck_assert_int_eq(decide(&f, OUTSIDE_ID, 10, 10, 5000010), WAKEUPS_KEEP);
	ck_assert_int_eq(decide(&f, TASK_ID, 11, 10, 5000020), WAKEUPS_KEEP);
	/* All samples of a waker that ended are the outside event's. */
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_int_eq(decide(&f, OUTSIDE_ID, 11, 10, 9000000 + i), WAKEUPS_KEEP);
	fixture_deinit(&f);
}

/* Returns the names in COMM records, and empties the list. */
static const char *names(struct fixture *f)
{
	static char text[128];
	text[0] = 0;
	for (size_t at = 0; at < f->wakeups.records.count;) {
		struct perf_event_header header;
		struct {
			uint32_t pid, tid;
			char comm[16];
		} body;
		uint64_t id;
		const uint8_t *record = f->wakeups.records.items + at;
		memcpy(&header, record, sizeof(header));
		memcpy(&body, record + sizeof(header), sizeof(body));
		memcpy(&id, record + header.size - f->fields.trailer_id, sizeof(id));
		ck_assert_uint_eq(header.type, PERF_RECORD_COMM);
		ck_assert_uint_eq(id, LISTED_ID);
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%u:%s", used ? " " : "", body.tid, body.comm);
		at += header.size;
	}
	f->wakeups.records.count = 0;
	return text;
}

TEST(wakers_that_are_not_recorded_have_names)
{
	const uint64_t second_ns = 1000000000;
	struct fixture f;
	fixture_init(&f, 0);
	root_put(&f.root, "/proc/20/task/20/comm", "client\n");
	root_put(&f.root, "/proc/10/task/10/comm", "own\n");
	root_put(&f.root, "/proc/21/task/21/comm", "other\n");
	decide(&f, OUTSIDE_ID, 20, 11, 1000);
	decide(&f, OUTSIDE_ID, 20, 11, 2000);
	decide(&f, OUTSIDE_ID, 10, 11, 3000);
	decide(&f, OUTSIDE_ID, 0, 11, 4000); /* the idle task */
	decide(&f, OUTSIDE_ID, 20, 12, 5000);
	ck_assert_str_eq(names(&f), "20:client");
	/* Interrupts have no name; nor have threads that ended. */
	f.flags = HARDIRQ;
	decide(&f, OUTSIDE_ID, 21, 11, 6000);
	f.flags = 0;
	decide(&f, OUTSIDE_ID, 22, 11, 7000);
	ck_assert_str_eq(names(&f), "");
	root_put(&f.root, "/proc/20/task/20/comm", "renamed\n");
	decide(&f, OUTSIDE_ID, 20, 11, second_ns);
	ck_assert_str_eq(names(&f), "");
	decide(&f, OUTSIDE_ID, 20, 11, second_ns + 1000);
	decide(&f, OUTSIDE_ID, 20, 11, 3 * second_ns);
	ck_assert_str_eq(names(&f), "20:renamed");
	/* Threads that end have the name of their own wake-up. */
	decide(&f, OUTSIDE_ID, 20, 23, 3 * second_ns);
	decide(&f, OUTSIDE_ID, 23, 11, 3 * second_ns);
	decide(&f, OUTSIDE_ID, 23 + WAKEUPS_NAMES, 11, 3 * second_ns);
	ck_assert_str_eq(names(&f), "23:woken 23");
	wakeups_restart(&f.wakeups);
	decide(&f, OUTSIDE_ID, 20, 11, 3 * second_ns + 1);
	ck_assert_str_eq(names(&f), "20:renamed");
	fixture_deinit(&f);
}

TEST(names_are_bounded)
{
	struct fixture f;
	fixture_init(&f, 0);
	for (uint32_t tid = 100; tid < 100 + 3 * WAKEUPS_WAKERS_MAX; tid++) {
		decide(&f, OUTSIDE_ID, tid, 11, 1000);
		ck_assert_uint_le(f.wakeups.wakers.count, WAKEUPS_WAKERS_MAX);
	}
	fixture_deinit(&f);
}

TEST(damaged_samples_are_not_decided_on)
{
	struct fixture f;
	fixture_init(&f, 0);
	f.raw_size = SCHED_WAKING_PID - 8; /* without the woken thread, and without its padding */
	ck_assert_int_eq(decide(&f, OUTSIDE_ID, 20, 11, 200), WAKEUPS_OTHER);
	f.raw_size = SCHED_WAKING_SIZE;
	/* The call chain is longer than the sample. */
	static const uint64_t sample[8] = {[7] = 1000};
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(sample)};
	uint64_t words[8];
	memcpy(words, sample, sizeof(words));
	memcpy(words, &header, sizeof(header));
	words[f.fields.sample_id / 8] = OUTSIDE_ID;
	struct record_values values;
	enum wakeups_verdict verdict;
	uint64_t position = ring_head(&f.ring);
	ck_assert(memory_ring_put(&f.memory, words, sizeof(words)));
	ck_assert(record_values_read(&f.ring, position, ring_head(&f.ring), &f.fields, &values));
	ok_or_fail(wakeups_decide(&f.wakeups, &f.ring, &values, LISTED_ID, &verdict, &f.outside));
	ck_assert_int_eq(verdict, WAKEUPS_OTHER);
	fixture_deinit(&f);
}
