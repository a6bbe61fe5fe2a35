/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tasks/tracker.h"
#include "rings.h"

enum { SAMPLE_TYPE = RECORD_FIELDS_NEEDED, RINGS = 3, OWN = RINGS };

static const struct perf_event_attr attr = {.sample_type = SAMPLE_TYPE, .sample_id_all = 1};

struct fixture {
	struct memory_ring memories[RINGS + 1]; /* the last is the command's own */
	struct ring rings[RINGS];
	struct tracker tracker;
	struct membership membership;
	struct record_buffer wanted, encoded;
};

static void fixture_init(struct fixture *f, enum membership_by by)
{
	*f = (struct fixture){.membership = {.by = by, .follow = true}};
	for (size_t i = 0; i < RINGS; i++)
		f->rings[i] = memory_ring_init(&f->memories[i], 4096, 4096 - 24);
	ck_assert(record_fields_make(SAMPLE_TYPE, &f->tracker.fields));
	f->tracker.membership = f->tracker.spaces = &f->membership;
}

static void fixture_deinit(struct fixture *f)
{
	for (size_t i = 0; i <= RINGS; i++)
		memory_ring_deinit(&f->memories[i]);
	membership_deinit(&f->membership);
	tracker_deinit(&f->tracker);
	vec_deinit(&f->wanted);
	vec_deinit(&f->encoded);
}

/* `id` and time are the trailer's. */
static void put(struct fixture *f, size_t ring, uint64_t time_ns, uint64_t id,
		struct sp_record record, bool wanted)
{
	record.id.time_ns = time_ns;
	record.id.id = id;
	if (record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT)
		record.task.time_ns = time_ns;
	f->encoded.count = 0;
	ok_or_fail(record_encode(&f->encoded, &record, &attr));
	ck_assert(memory_ring_put(&f->memories[ring], f->encoded.items, f->encoded.count));
	if (wanted)
		ok_or_fail(record_encode(&f->wanted, &record, &attr));
}

static void drain(struct fixture *f)
{
	ok_or_fail(tracker_drain(&f->tracker, f->rings, RINGS));
	for (size_t i = 0; i <= RINGS; i++)
		ck_assert_uint_eq(f->memories[i].page.data_tail, f->memories[i].page.data_head);
}

static void kept_is_wanted(const struct fixture *f)
{
	ck_assert_uint_eq(f->tracker.kept.count, f->wanted.count);
	ck_assert(!f->wanted.count ||
		  !memcmp(f->tracker.kept.items, f->wanted.items, f->wanted.count));
}

static struct sp_record forked(uint32_t parent, uint32_t pid)
{
	return (struct sp_record){.type = PERF_RECORD_FORK,
				  .task = {.pid = pid, .ppid = parent, .tid = pid, .ptid = parent}};
}

static struct sp_record exited(uint32_t pid, uint32_t tid)
{
	return (struct sp_record){.type = PERF_RECORD_EXIT,
				  .task = {.pid = pid, .ppid = 1, .tid = tid, .ptid = 1}};
}

static struct sp_record named(uint32_t pid, const char *comm, bool exec)
{
	return (struct sp_record){.type = PERF_RECORD_COMM,
				  .misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
				  .comm = {.pid = pid, .tid = pid, .comm = comm}};
}

static struct sp_record mapped(uint32_t pid, uint32_t tid, uint64_t start)
{
	return (struct sp_record){.type = PERF_RECORD_MMAP2,
				  .mmap = {.pid = pid, .tid = tid, .start = start, .size = 4096,
					   .filename = "/usr/lib/libx.so"}};
}

TEST(tracker_merges_rings_by_time)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	f.tracker.membership = f.tracker.spaces = NULL;
	put(&f, 2, 10, 1, named(1, "a", false), true);
	put(&f, 0, 20, 1, named(1, "b", false), true);
	put(&f, 2, 30, 1, named(1, "c", false), true);
	put(&f, 1, 40, 1, named(1, "d", false), true);
	put(&f, 0, 50, 1, named(1, "e", false), true);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert_uint_eq(f.tracker.last_ns, 50);
	/* The next round is put behind it. */
	put(&f, 1, 60, 1, named(1, "f", false), true);
	drain(&f);
	kept_is_wanted(&f);
	fixture_deinit(&f);
}

/* Linux does this with two recorders: one sample_id too long, and old bytes in it. */
static void put_inflated(struct fixture *f, struct sp_record record, uint64_t time_ns)
{
	record.id.time_ns = time_ns;
	f->encoded.count = 0;
	ok_or_fail(record_encode(&f->encoded, &record, &attr));
	ok_or_fail(record_encode(&f->wanted, &record, &attr));
	uint16_t size = (uint16_t)(f->encoded.count + f->tracker.fields.trailer_tid);
	ck_assert(vec_reserve(&f->encoded, size));
	memset(f->encoded.items + f->encoded.count, 0xee, size - f->encoded.count);
	memcpy(f->encoded.items + offsetof(struct perf_event_header, size), &size, sizeof(size));
	ck_assert(memory_ring_put(&f->memories[1], f->encoded.items, size));
}

TEST(tracker_mends_sizes_that_the_kernel_gets_wrong)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	f.tracker.membership = f.tracker.spaces = NULL;
	struct sp_record symbol = {.type = PERF_RECORD_KSYMBOL,
				   .ksymbol = {.start = 0xffff, .size = 8, .type = 1,
					       .name = "bpf_prog_0123456789abcdef"}};
	struct sp_record program = {.type = PERF_RECORD_BPF_EVENT, .bpf_event = {.type = 1, .id = 7}};
	const uint8_t code[] = {1, 2, 3, 4, 5};
	struct sp_record poke = {.type = PERF_RECORD_TEXT_POKE,
				 .text_poke = {0xffff, {code, 5}, {code, 5}}};
	/* By their true times, though they come last. */
	put_inflated(&f, symbol, 10);
	put_inflated(&f, program, 20);
	put_inflated(&f, poke, 30);
	symbol.ksymbol.name = "exactly8";
	put_inflated(&f, symbol, 40);
	put(&f, 1, 50, 1, symbol, true); /* a good one stays as it is */
	put(&f, 0, 60, 1, named(1, "b", false), true);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert_uint_eq(f.tracker.last_ns, 60);
	fixture_deinit(&f);
}

TEST(tracker_follows_forks_across_rings)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	ck_assert(membership_add(&f.membership, 10, 10, 0));
	/* The child forks on another CPU; that CPU's ring comes first. */
	put(&f, 1, 100, 1, forked(10, 20), true);
	put(&f, 0, 110, 1, forked(20, 30), true);
	put(&f, 2, 120, 1, mapped(30, 30, 0x1000), true);
	put(&f, 2, 125, 1, mapped(40, 40, 0x1000), false);
	put(&f, 0, 130, 1, forked(40, 50), false);
	put(&f, 0, 140, 1, exited(30, 30), true);
	put(&f, 1, 150, 1, named(20, "x", true), true);
	put(&f, 1, 160, 1, named(40, "y", true), false);
	struct sp_record ksymbol = {.type = PERF_RECORD_KSYMBOL,
				    .ksymbol = {.start = 5, .size = 8, .name = "bpf_prog_1"}};
	put(&f, 1, 170, 1, ksymbol, true);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert_uint_eq(f.tracker.counts.filtered, 3);
	ck_assert_uint_eq(f.membership.live.count, 2);
	fixture_deinit(&f);
}

TEST(tracker_knows_when_each_thread_was_followed)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	struct membership threads = {.by = MEMBERSHIP_BY_THREAD, .follow = true};
	f.tracker.threads = &threads;
	ck_assert(membership_add(&f.membership, 10, 10, 0) && membership_add(&threads, 10, 10, 0));
	struct sp_record thread = forked(10, 10);
	thread.task.tid = 11;
	put(&f, 0, 100, 1, thread, true);
	put(&f, 0, 110, 1, forked(10, 20), true);
	put(&f, 1, 120, 1, forked(40, 50), false);
	put(&f, 0, 130, 1, exited(10, 11), true);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert(membership_has(&threads, 0, 11, 105) && !membership_has(&threads, 0, 11, 99));
	ck_assert(membership_has(&threads, 0, 20, 200) && !membership_has(&threads, 0, 50, 200));
	/* The number becomes another's, and is forgotten. */
	ck_assert(membership_on_change(&threads, &(struct task_change){
		.kind = TASK_FORKED, .is_process = true, .pid = 11, .tid = 11, .parent_pid = 40,
		.parent_tid = 40, .time_ns = 140}));
	ck_assert(membership_has(&threads, 0, 11, 139) && !membership_has(&threads, 0, 11, 140));
	membership_deinit(&threads);
	fixture_deinit(&f);
}

TEST(tracker_of_a_followed_thread_is_its_process)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_THREAD);
	struct membership spaces = {.by = MEMBERSHIP_BY_PROCESS, .follow = true};
	f.tracker.spaces = &spaces;
	ck_assert(membership_add(&f.membership, 10, 11, 0));
	ck_assert(membership_add(&spaces, 10, 11, 0));
	put(&f, 0, 100, 1, mapped(10, 12, 0x1000), true);
	put(&f, 0, 110, 1, mapped(13, 13, 0x1000), false);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert(!membership_has(&f.membership, 10, 12, 200));
	membership_deinit(&spaces);
	fixture_deinit(&f);
}

TEST(tracker_starts_the_command_at_its_exec)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	f.tracker.command_pid = 10;
	put(&f, 0, 90, 1, mapped(10, 10, 0x1000), false);
	put(&f, 0, 95, 1, named(10, "before", false), false);
	put(&f, 0, 100, 1, named(10, "cmd", true), true);
	put(&f, 0, 110, 1, mapped(10, 10, 0x1000), true);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert(f.tracker.command_started);
	ck_assert(!membership_has(&f.membership, 10, 10, 99));
	ck_assert(membership_has(&f.membership, 10, 10, 100));
	ck_assert_uint_eq(f.membership.live.count, 1);
	fixture_deinit(&f);
}

TEST(tracker_keeps_what_a_command_by_thread_maps)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_THREAD);
	struct membership spaces = {.by = MEMBERSHIP_BY_PROCESS};
	f.membership.follow = false;
	f.tracker.spaces = &spaces;
	f.tracker.command_pid = 10;
	put(&f, 0, 90, 1, mapped(10, 10, 0x1000), false);
	put(&f, 0, 100, 1, named(10, "cmd", true), true);
	put(&f, 0, 110, 1, mapped(10, 10, 0x1000), true);
	put(&f, 0, 120, 1, mapped(11, 11, 0x1000), false);
	drain(&f);
	kept_is_wanted(&f);
	membership_deinit(&spaces);
	fixture_deinit(&f);
}

TEST(tracker_leaves_out_what_two_events_say_twice)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	f.tracker.membership = f.tracker.spaces = NULL;
	/* Two events, 1 and 2, of one task; the same thing happens twice. */
	for (uint64_t time_ns = 100; time_ns <= 200; time_ns += 100) {
		put(&f, 0, time_ns, 1, named(10, "x", false), true);
		put(&f, 0, time_ns + 1, 2, named(10, "x", false), false);
		put(&f, 0, time_ns + 2, 1, forked(10, 20), true);
		put(&f, 0, time_ns + 3, 2, forked(10, 20), false);
		put(&f, 0, time_ns + 4, 3, forked(10, 20), false);
		put(&f, 0, time_ns + 5, 1, mapped(10, 10, 0x1000), true);
		put(&f, 0, time_ns + 6, 2, mapped(10, 10, 0x1000), false);
	}
	/* Alike, but not the same: another thread, another address, the same event, later. */
	put(&f, 0, 300, 1, mapped(10, 10, 0x1000), true);
	put(&f, 0, 301, 2, mapped(10, 11, 0x1000), true);
	put(&f, 0, 302, 1, mapped(10, 11, 0x2000), true);
	put(&f, 0, 303, 1, mapped(10, 11, 0x2000), true);
	put(&f, 1, 304, 2, mapped(10, 11, 0x2000), true);
	put(&f, 0, 303 + 1000001, 2, mapped(10, 11, 0x2000), true);
	drain(&f);
	kept_is_wanted(&f);
	ck_assert_uint_eq(f.tracker.counts.repeated, 8);
	fixture_deinit(&f);
}

TEST(tracker_counts_losses_and_damage)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	struct sp_record lost = {.type = PERF_RECORD_LOST, .lost = {.id = 1, .lost = 9}};
	put(&f, 0, 10, 1, lost, true);
	uint64_t zero[8] = {0};
	ck_assert(memory_ring_put(&f.memories[0], zero, sizeof(zero)));
	drain(&f);
	kept_is_wanted(&f);
	ck_assert_uint_eq(f.tracker.counts.lost, 9);
	ck_assert_uint_eq(f.tracker.counts.damaged, sizeof(zero));
	fixture_deinit(&f);
}

TEST(tracker_collects_births_by_time)
{
	struct fixture f;
	fixture_init(&f, MEMBERSHIP_BY_PROCESS);
	f.tracker.collect_births = true;
	put(&f, 1, 100, 1, forked(10, 20), false);
	put(&f, 0, 200, 1, forked(10, 30), false);
	put(&f, 2, 150, 1, forked(20, 40), false);
	drain(&f);
	ck_assert_uint_eq(f.tracker.births.count, 3);
	ck_assert_uint_eq(f.tracker.births.items[0].pid, 20);
	ck_assert_uint_eq(f.tracker.births.items[1].pid, 40);
	ck_assert_uint_eq(f.tracker.births.items[1].parent_tid, 20);
	ck_assert_uint_eq(f.tracker.births.items[2].time_ns, 200);
	fixture_deinit(&f);
}

/* Process 10 is the command: its own records have id 9, and id 4 in the file. */
static void own_init(struct fixture *f)
{
	fixture_init(f, MEMBERSHIP_BY_PROCESS);
	f->tracker.own.ring = memory_ring_init(&f->memories[OWN], 4096, 4096 - 24);
	f->tracker.own.tid = f->tracker.command_pid = 10;
	f->tracker.own.listed_id = 4;
}

static struct sp_record by(uint32_t tid, struct sp_record record)
{
	record.id.pid = 10;
	record.id.tid = tid;
	return record;
}

/* Puts a record of the command's first thread into its own ring; wanted, with the file's id. */
static void put_own(struct fixture *f, uint64_t time_ns, struct sp_record record)
{
	put(f, OWN, time_ns, 9, by(10, record), false);
	record = by(10, record);
	record.id.time_ns = time_ns;
	record.id.id = 4;
	if (record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT)
		record.task.time_ns = time_ns;
	if (record.type == PERF_RECORD_LOST)
		record.lost.id = 4;
	ok_or_fail(record_encode(&f->wanted, &record, &attr));
}

TEST(the_command_is_followed_by_its_own_ring_if_others_lose_its_records)
{
	struct fixture f;
	own_init(&f);
	put_own(&f, 20, named(10, "command", true));
	put_own(&f, 30, mapped(10, 10, 0x1000));
	put_own(&f, 40, forked(10, 11));
	/* The child's record is older in its ring than the heads that are read first. */
	put(&f, 0, 50, 1, mapped(11, 11, 0x2000), true);
	put_own(&f, 60, (struct sp_record){.type = PERF_RECORD_LOST, .lost = {.id = 9, .lost = 3}});
	drain(&f);
	kept_is_wanted(&f);
	ck_assert(f.tracker.command_started);
	ck_assert(membership_has(&f.membership, 11, 11, 45));
	ck_assert_uint_eq(f.tracker.counts.lost, 3);
	fixture_deinit(&f);
}

TEST(records_of_the_own_ring_are_kept_once)
{
	struct fixture f;
	own_init(&f);
	put(&f, 1, 20, 1, by(10, named(10, "command", true)), false);
	put_own(&f, 21, named(10, "command", true));
	put(&f, 1, 30, 1, by(10, mapped(10, 10, 0x1000)), false);
	put_own(&f, 31, mapped(10, 10, 0x1000));
	/* Another thread's records are in the CPUs' rings alone. */
	put(&f, 2, 40, 1, by(12, mapped(10, 12, 0x3000)), true);
	drain(&f);
	/* One ring may be read before the record comes. */
	put(&f, 1, 50, 1, by(10, mapped(10, 10, 0x4000)), false);
	drain(&f);
	put_own(&f, 51, mapped(10, 10, 0x4000));
	drain(&f);
	kept_is_wanted(&f);
	ck_assert_uint_eq(f.tracker.counts.repeated, 3);
	fixture_deinit(&f);
}

/* Its first thread ends, and the one that calls exec() gets its number, but not its event. */
TEST(a_thread_that_replaces_the_first_by_exec_is_followed)
{
	for (int own_first = 0; own_first < 2; own_first++) {
		struct fixture f;
		own_init(&f);
		put_own(&f, 20, named(10, "command", true));
		put_own(&f, 100, exited(10, 10));
		put(&f, 1, own_first ? 101 : 99, 1, by(10, exited(10, 10)), false);
		put(&f, 1, 200, 1, by(10, named(10, "other", true)), true);
		put(&f, 2, 300, 1, by(10, mapped(10, 10, 0x1000)), true);
		drain(&f);
		kept_is_wanted(&f);
		fixture_deinit(&f);
	}
}
