/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/live.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "test.h"

static struct live *live_or_fail(void)
{
	struct live *live = NULL;
	ok_or_fail(live_new(true, &live));
	return live;
}

static struct sp_record at(uint32_t type, uint64_t time_ns)
{
	return (struct sp_record){.type = type, .event = SP_EVENT_NONE,
				  .id = {.present = PERF_SAMPLE_TIME, .time_ns = time_ns}};
}

static struct sp_record mapping(uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t size,
				const char *filename)
{
	struct sp_record record = at(PERF_RECORD_MMAP2, time_ns);
	record.misc = PERF_RECORD_MISC_USER;
	record.mmap = (struct sp_mmap){.pid = pid, .tid = pid, .start = start, .size = size,
				       .filename = filename, .prot = PROT_READ | PROT_EXEC};
	return record;
}

static struct sp_record exec(uint64_t time_ns, uint32_t pid)
{
	struct sp_record record = at(PERF_RECORD_COMM, time_ns);
	record.misc = PERF_RECORD_MISC_COMM_EXEC;
	record.comm = (struct sp_comm){.pid = pid, .tid = pid, .comm = "program"};
	return record;
}

static struct sp_record task(uint32_t type, uint64_t time_ns, uint32_t ppid, uint32_t pid,
			     uint32_t tid)
{
	struct sp_record record = at(type, time_ns);
	record.task = (struct sp_task){.pid = pid, .tid = tid, .ppid = ppid, .ptid = ppid,
				       .time_ns = time_ns};
	return record;
}

static void add(struct live *live, struct sp_record record)
{
	struct sp_error *error = live_add(live, &record);
	if (error)
		ck_abort_msg("%s", sp_error_message(error));
}

static void leads_to(struct live *live, uint32_t pid, uint64_t time_ns, uint64_t ip,
		     const char *name, uint64_t offset)
{
	struct location location = live_locate(live, live_view(live, pid, time_ns), ip);
	ck_assert_msg(location.module != NULL, "%d at %d: nothing", (int)pid, (int)time_ns);
	ck_assert_str_eq(location.module->name, name);
	ck_assert_uint_eq(location.offset, offset);
}

static void leads_nowhere(struct live *live, uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	ck_assert_ptr_null(live_locate(live, live_view(live, pid, time_ns), ip).module);
}

TEST(added_records_take_effect_when_applied)
{
	struct live *live = live_or_fail();
	add(live, mapping(10, 7, 0x1000, 0x1000, "/bin/old"));
	ok_or_fail(live_apply(live));
	leads_nowhere(live, 7, 9, 0x1234);
	leads_to(live, 7, 10, 0x1234, "old", 0x234);
	add(live, mapping(20, 7, 0x1000, 0x1000, "/bin/new"));
	leads_to(live, 7, 20, 0x1234, "old", 0x234);
	ok_or_fail(live_apply(live));
	leads_to(live, 7, 20, 0x1234, "new", 0x234);
	leads_to(live, 7, 19, 0x1234, "old", 0x234);
	live_free(live);
}

TEST(a_view_that_was_given_out_never_changes)
{
	struct live *live = live_or_fail();
	add(live, mapping(10, 7, 0x1000, 0x1000, "/bin/program"));
	ok_or_fail(live_apply(live));
	uint32_t view = live_view(live, 7, 10);
	ck_assert_ptr_null(live_locate(live, view, 0x5000).module);
	/* A mapping at a free place: its absence may be cached. Also at the same time. */
	add(live, mapping(10, 7, 0x5000, 0x1000, "/lib/loaded.so"));
	ok_or_fail(live_apply(live));
	ck_assert_ptr_null(live_locate(live, view, 0x5000).module);
	ck_assert_uint_ne(live_view(live, 7, 10), view);
	leads_to(live, 7, 10, 0x5000, "loaded.so", 0);
	leads_to(live, 7, 10, 0x1000, "program", 0);
	live_free(live);
}

static uint64_t space_at(struct live *live, uint32_t pid, uint64_t time_ns)
{
	return live_space(live, live_view(live, pid, time_ns));
}

/* Stacks of a program differ from those of the earlier program in the same process. */
TEST(each_program_of_a_process_has_a_space_of_its_own)
{
	struct live *live = live_or_fail();
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/shell"));
	add(live, task(PERF_RECORD_FORK, 10, 1, 2, 2));
	add(live, exec(20, 2));
	add(live, mapping(21, 2, 0x1000, 0x1000, "/bin/program"));
	ok_or_fail(live_apply(live));
	uint64_t first = space_at(live, 2, 25);
	ck_assert_uint_eq(space_at(live, 2, 15), space_at(live, 1, 15));
	ck_assert_uint_ne(first, space_at(live, 1, 25));
	/* The same program, at the same place, once more. */
	add(live, mapping(30, 2, 0x5000, 0x1000, "/lib/loaded.so"));
	add(live, exec(40, 2));
	add(live, mapping(41, 2, 0x1000, 0x1000, "/bin/program"));
	ok_or_fail(live_apply(live));
	uint64_t second = space_at(live, 2, 45);
	ck_assert_uint_ne(live_view(live, 2, 35), live_view(live, 2, 25));
	ck_assert_uint_eq(space_at(live, 2, 35), first);
	ck_assert_uint_ne(second, first);
	ck_assert_uint_ne(second, space_at(live, 1, 45));
	/* A late record makes new views of it, but no new space. */
	uint32_t view = live_view(live, 2, 45);
	add(live, mapping(24, 2, 0x8000, 0x1000, "/lib/late.so"));
	ok_or_fail(live_apply(live));
	ck_assert_uint_ne(live_view(live, 2, 45), view);
	ck_assert_uint_eq(space_at(live, 2, 25), first);
	ck_assert_uint_eq(space_at(live, 2, 45), second);
	ck_assert_uint_eq(live_space(live, view), second);
	ck_assert_uint_eq(space_at(live, 3, 45), 0);
	live_free(live);
}

TEST(late_records_are_inserted_at_their_time)
{
	struct live *live = live_or_fail();
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/shell"));
	add(live, exec(20, 2));
	add(live, mapping(21, 2, 0x9000, 0x1000, "/bin/program"));
	add(live, mapping(30, 1, 0x1000, 0x1000, "/lib/replaced.so"));
	ok_or_fail(live_apply(live));
	leads_nowhere(live, 2, 15, 0x1000);
	add(live, task(PERF_RECORD_FORK, 10, 1, 2, 2));
	ok_or_fail(live_apply(live));
	leads_to(live, 2, 15, 0x1000, "shell", 0);
	leads_nowhere(live, 2, 25, 0x1000);
	leads_to(live, 2, 25, 0x9000, "program", 0);
	leads_to(live, 1, 30, 0x1000, "replaced.so", 0);
	ck_assert_uint_eq(live_counts(live).late, 0);
	live_free(live);
}

TEST(too_late_records_change_nothing)
{
	struct live *live = live_or_fail();
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/shell"));
	add(live, exec(20, 2));
	add(live, mapping(21, 2, 0x9000, 0x1000, "/bin/program"));
	ok_or_fail(live_apply(live));
	ok_or_fail(live_expire(live, 22));
	add(live, task(PERF_RECORD_FORK, 10, 1, 2, 2));
	add(live, mapping(15, 1, 0x7000, 0x1000, "/lib/missed.so"));
	ok_or_fail(live_apply(live));
	ck_assert_uint_eq(live_counts(live).late, 2);
	leads_to(live, 1, 40, 0x7000, "missed.so", 0);
	leads_to(live, 1, 40, 0x1000, "shell", 0);
	live_free(live);
}

/* A made-up history: forks, execs, mappings, ends, of few numbers and few times. */
#define STEPS 3000
#define PIDS 12

struct history {
	struct sp_record records[STEPS];
	char names[STEPS][16];
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % below;
}

static void make_history(struct history *history, uint64_t *seed)
{
	uint64_t time_ns = 100;
	for (size_t i = 0; i < STEPS; i++) {
		uint32_t pid = 1 + draw(seed, PIDS), other = 1 + draw(seed, PIDS);
		struct sp_record *record = &history->records[i];
		time_ns += 1 + draw(seed, 3);
		snprintf(history->names[i], sizeof(history->names[i]), "/f%u", draw(seed, 6));
		switch (draw(seed, 12)) {
		case 0:
			*record = exec(time_ns, pid);
			break;
		case 1:
		case 2:
			*record = task(PERF_RECORD_FORK, time_ns, other == pid ? 99 : other, pid, pid);
			break;
		case 3:
			*record = task(PERF_RECORD_FORK, time_ns, pid, pid, pid + 1000);
			break;
		default:
			*record = mapping(time_ns, pid, 0x1000 * draw(seed, 8),
					  0x1000 * (1 + draw(seed, 3)), history->names[i]);
			record->mmap.file_offset = 0x1000 * draw(seed, 4);
			break;
		}
	}
}

/* The plainest way: what holds at a time, page by page. */
struct page {
	const char *name;
	uint64_t offset;
};

#define PAGES 12

static void truth_at(const struct history *history, uint64_t time_ns,
		     struct page spaces[100][PAGES])
{
	memset(spaces, 0, 100 * sizeof(*spaces));
	for (size_t i = 0; i < STEPS && history->records[i].id.time_ns <= time_ns; i++) {
		const struct sp_record *record = &history->records[i];
		const struct sp_mmap *mmap = &record->mmap;
		if (record->type == PERF_RECORD_COMM)
			memset(spaces[record->comm.pid], 0, sizeof(*spaces));
		else if (record->type == PERF_RECORD_FORK && record->task.pid != record->task.ppid)
			memcpy(spaces[record->task.pid], spaces[record->task.ppid], sizeof(*spaces));
		for (uint64_t at_ip = mmap->start; record->type == PERF_RECORD_MMAP2 &&
						   at_ip < mmap->start + mmap->size; at_ip += 0x1000)
			spaces[mmap->pid][at_ip >> 12] = (struct page){
				mmap->filename, at_ip - mmap->start + mmap->file_offset};
	}
}

static void check_times(struct live *live, const struct history *history, uint64_t from_ns,
			uint64_t until_ns, uint64_t *seed)
{
	static struct page spaces[100][PAGES];
	for (int i = 0; i < 3 && from_ns < until_ns; i++) {
		uint64_t time_ns = from_ns + draw(seed, (uint32_t)(until_ns - from_ns));
		truth_at(history, time_ns, spaces);
		for (uint32_t pid = 1; pid <= PIDS; pid++) {
			uint32_t view = live_view(live, pid, time_ns);
			for (uint64_t page = 0; page < PAGES; page++) {
				struct location location = live_locate(live, view, page << 12);
				const struct page *truth = &spaces[pid][page];
				if (!truth->name != !location.module ||
				    (truth->name && (strcmp(truth->name, location.module->path) ||
						     truth->offset != location.offset)))
					ck_abort_msg("%u at %d, page %d: %s, not %s", pid, (int)time_ns,
						     (int)page,
						     location.module ? location.module->path : "none",
						     truth->name ? truth->name : "none");
			}
		}
	}
}

/* The machine of a file, of all records at once, agrees where it may. */
static void check_sealed(const struct history *history, uint64_t *seed)
{
	static struct page spaces[100][PAGES];
	struct machine *machine;
	ok_or_fail(machine_new(&machine));
	for (size_t i = 0; i < STEPS; i++)
		ok_or_fail(machine_add(machine, &history->records[i]));
	ok_or_fail(machine_seal(machine));
	for (int i = 0; i < 20; i++) {
		uint64_t time_ns = 100 + draw(seed, 2 * STEPS);
		truth_at(history, time_ns, spaces);
		for (uint32_t pid = 1; pid <= PIDS; pid++)
			for (uint64_t page = 0; page < PAGES; page++) {
				const struct page *truth = &spaces[pid][page];
				struct location location = machine_locate(
					machine, machine_view(machine, pid, time_ns),
					PERF_RECORD_MISC_USER, page << 12);
				if (truth->name)
					ck_assert_str_eq(truth->name, location.module->path);
			}
	}
	machine_free(machine);
}

/* Records come in parts, in some disorder, behind what is asked for and forgotten. */
TEST(any_order_gives_what_the_whole_gives)
{
	static struct history history;
	static bool given[STEPS];
	for (uint64_t run = 1; run <= 30; run++) {
		uint64_t seed = run;
		struct live *live = live_or_fail();
		make_history(&history, &seed);
		if (run <= 3)
			check_sealed(&history, &seed);
		memset(given, 0, sizeof(given));
		uint64_t forgotten_ns = 0;
		for (size_t begin = 0; begin < STEPS;) {
			size_t end = begin + 1 + draw(&seed, 60);
			size_t ahead = end + draw(&seed, 40);
			/* All before `begin` is there; of what is behind, some. */
			for (size_t i = begin; i < ahead && i < STEPS; i++) {
				size_t turned = i & 1 || i + 1 >= STEPS ? i : i + 1;
				if (given[turned] || (turned >= end && draw(&seed, 2)))
					continue;
				given[turned] = true;
				add(live, history.records[turned]);
			}
			for (size_t i = begin; i < end && i < STEPS; i++)
				if (!given[i]) {
					given[i] = true;
					add(live, history.records[i]);
				}
			ok_or_fail(live_apply(live));
			begin = end;
			uint64_t known_ns = history.records[end < STEPS ? end : STEPS - 1].id.time_ns;
			check_times(live, &history, forgotten_ns ? forgotten_ns : 100, known_ns, &seed);
			if (draw(&seed, 2) && known_ns > forgotten_ns + 100) {
				forgotten_ns = known_ns - 1 - draw(&seed, 90);
				ok_or_fail(live_expire(live, forgotten_ns));
			}
		}
		ck_assert_uint_eq(live_counts(live).late, 0);
		live_free(live);
	}
}

/* A process that makes a thread and a child, which runs a program. */
static void live_a_life(struct live *live, uint64_t time_ns, uint32_t pid)
{
	add(live, task(PERF_RECORD_FORK, time_ns, 1, pid, pid));
	add(live, exec(time_ns + 1, pid));
	for (uint64_t i = 0; i < 20; i++)
		add(live, mapping(time_ns + 2 + i, pid, 0x1000 * i, 0x1000, "/lib/some.so"));
	add(live, task(PERF_RECORD_FORK, time_ns + 30, pid, pid, pid + 1));
	add(live, task(PERF_RECORD_EXIT, time_ns + 40, pid, pid, pid));
	ok_or_fail(live_apply(live));
	/* The other thread lives on. */
	ck_assert_ptr_nonnull(live_locate(live, live_view(live, pid, time_ns + 41), 0x3000).module);
	add(live, task(PERF_RECORD_EXIT, time_ns + 50, pid, pid, pid + 1));
	ok_or_fail(live_apply(live));
}

TEST(memory_is_taken_back_when_processes_have_ended)
{
	struct live *live = live_or_fail();
	uint64_t time_ns = 1000;
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/shell"));
	for (uint32_t i = 0; i < 50000; i++, time_ns += 100) {
		live_a_life(live, time_ns, 100 + 2 * (i % 15000));
		ok_or_fail(live_expire(live, time_ns - 200));
		ck_assert_uint_lt(live_counts(live).spaces, 3000);
		ck_assert_uint_lt(live_counts(live).views, 40000);
		ck_assert_uint_lt(live_counts(live).events, 200);
	}
	leads_to(live, 1, time_ns, 0x1000, "shell", 0);
	ck_assert_uint_eq(live_counts(live).modules, 2);
	live_free(live);
}

TEST(a_main_thread_that_ended_before_is_not_counted)
{
	struct live *live = live_or_fail();
	add(live, task(PERF_RECORD_FORK, 0, 1, 10, 10));
	add(live, task(PERF_RECORD_EXIT, 0, 1, 10, 10));
	add(live, task(PERF_RECORD_FORK, 0, 10, 10, 11));
	add(live, task(PERF_RECORD_FORK, 0, 10, 10, 12));
	add(live, mapping(0, 10, 0x1000, 0x1000, "/bin/program"));
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/program"));
	add(live, task(PERF_RECORD_EXIT, 20, 10, 10, 11));
	ok_or_fail(live_apply(live));
	leads_to(live, 10, 30, 0x1000, "program", 0);
	for (uint64_t i = 0; i < 40000; i++)
		add(live, mapping(100 + i, 1, 0x100000 + 0x1000 * (i & 1), 0x1000, i & 2 ? "/a" : "/b"));
	ok_or_fail(live_apply(live));
	ok_or_fail(live_expire(live, 40000));
	ck_assert_uint_eq(live_counts(live).spaces, 2);
	add(live, task(PERF_RECORD_EXIT, 50000, 10, 10, 12));
	for (uint64_t i = 0; i < 40000; i++)
		add(live, mapping(50100 + i, 1, 0x100000 + 0x1000 * (i & 1), 0x1000, i & 2 ? "/a" : "/b"));
	ok_or_fail(live_apply(live));
	ok_or_fail(live_expire(live, 90000));
	ck_assert_uint_eq(live_counts(live).spaces, 1);
	live_free(live);
}

TEST(ended_processes_are_dropped)
{
	struct live *live = live_or_fail();
	const uint32_t there[] = {1};
	for (uint32_t pid = 1; pid < 1000; pid++)
		add(live, mapping(10, pid, 0x1000, 0x1000, "/bin/program"));
	ok_or_fail(live_apply(live));
	ok_or_fail(live_retain(live, there, 1, 20));
	for (uint64_t i = 0; i < 40000; i++)
		add(live, mapping(100 + i, 1, 0x100000 + 0x1000 * (i & 1), 0x1000, i & 2 ? "/a" : "/b"));
	ok_or_fail(live_apply(live));
	ok_or_fail(live_expire(live, 40000));
	ck_assert_uint_eq(live_counts(live).spaces, 1);
	leads_to(live, 1, 50000, 0x1000, "program", 0);
	live_free(live);
}

/* Any user can map files under ever new names. */
TEST(modules_that_are_mapped_nowhere_are_dropped)
{
	enum { NAMES = 200000, ROUND = 100, MODULES_MAX = 60000 };
	struct live *live = live_or_fail();
	char name[512], last[512];
	size_t most = 0;
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/program"));
	for (uint32_t i = 0; i < NAMES; i++) {
		uint64_t time_ns = 1000 + 10 * (uint64_t)i;
		snprintf(name, sizeof(name), "/tmp/%0300u", i);
		add(live, mapping(time_ns, 2, 0x1000, 0x1000, name));
		if (i % ROUND)
			continue;
		ok_or_fail(live_apply(live));
		live_view(live, 2, time_ns);
		ok_or_fail(live_expire(live, time_ns - 10 * ROUND));
		if (live_has_many_modules(live))
			ok_or_fail(live_drop_modules(live));
		most = live_counts(live).modules > most ? live_counts(live).modules : most;
		/* A sample may still need the view before the newest. */
		snprintf(last, sizeof(last), "%0300u", i ? i - 1 : 0);
		leads_to(live, 2, i ? time_ns - 10 : time_ns, 0x1000, last, 0);
	}
	ck_assert_uint_lt(most, MODULES_MAX);
	leads_to(live, 1, 1000 + 10 * NAMES, 0x1800, "program", 0x800);
	live_free(live);
}

/* The kernel reports no munmap(2), so a process may seem to have any number of mappings. */
TEST(the_largest_address_spaces_lose_their_mappings)
{
	enum { MAPPINGS = 1900000, LARGE = 3 };
	struct live *live = live_or_fail();
	add(live, mapping(1, 9, 0x1000, 0x1000, "/bin/program"));
	for (uint64_t i = 0; i < MAPPINGS; i++)
		add(live, mapping(10, 1 + (uint32_t)(i % LARGE), 0x10000 + 0x2000 * i, 0x1000,
				  "/bin/other"));
	ok_or_fail(live_apply(live));
	ok_or_fail(live_expire(live, 10 + MAPPINGS));
	/* One has room, one is cut, one comes too late. */
	ck_assert_uint_eq(live_counts(live).dropped, 2);
	leads_to(live, 1, 10 + MAPPINGS, 0x10000, "other", 0);
	leads_nowhere(live, 2, 10 + MAPPINGS, 0x12000);
	leads_nowhere(live, 3, 10 + MAPPINGS, 0x14000);
	leads_to(live, 9, 10 + MAPPINGS, 0x1800, "program", 0x800);
	live_free(live);
}

struct asker {
	struct live *live;
	uint32_t view;
	bool stop, wrong;
};

static void *ask(void *arg)
{
	struct asker *asker = arg;
	while (!__atomic_load_n(&asker->stop, __ATOMIC_RELAXED)) {
		struct location location = live_locate(asker->live, asker->view, 0x1800);
		if (!location.module || location.offset != 0x800)
			asker->wrong = true;
	}
	return NULL;
}

TEST(others_ask_meanwhile)
{
	struct live *live = live_or_fail();
	add(live, mapping(1, 1, 0x1000, 0x1000, "/bin/program"));
	ok_or_fail(live_apply(live));
	struct asker asker = {.live = live, .view = live_view(live, 1, 1)};
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, &asker), 0);
	for (uint64_t time_ns = 1000; time_ns < 300000; time_ns += 100) {
		live_a_life(live, time_ns, 100 + time_ns % 1000);
		ok_or_fail(live_expire(live, time_ns - 200));
	}
	__atomic_store_n(&asker.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert(!asker.wrong);
	live_free(live);
}
