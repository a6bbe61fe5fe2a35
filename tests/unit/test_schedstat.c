/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of schedstat: which threads have one, and when. The counts are in a made-up /proc. */
#include "capture/tasks/schedstat.h"

#include <sprof/record.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "made_tasks.h"

#define MS UINT64_C(1000000)

static struct made_tasks made;
static struct record_buffer notes;
static struct schedstat schedstat;

static void begin(void)
{
	made_tasks_init(&made, CAPTURE_PROCESSES);
	tasks_connect(&made.tasks);
	schedstat = (struct schedstat){.tasks = &made.tasks, .notes = &notes};
}

static void end(void)
{
	schedstat_deinit(&schedstat);
	vec_deinit(&notes);
	made_tasks_deinit(&made);
}

static void put(uint32_t pid, uint32_t tid, const char *text)
{
	CLEANUP_FREE char *path = format_text("/proc/%u/task/%u/schedstat", pid, tid);
	root_put(&made.root, path, text);
}

/* Returns the number of notes in the buffer, and empties it. */
static size_t take_notes(void)
{
	size_t count = 0;
	for (size_t at = 0; at < notes.count; at += record_header_of(notes.items + at).size)
		count++;
	notes.count = 0;
	return count;
}

TEST(young_threads_are_due_more_often)
{
	uint64_t last_ns = 0;
	size_t count = 0;
	begin();
	put(1, 2, "5000 70 3\n");
	for (uint64_t at_ns = MS; at_ns <= 5000 * MS; at_ns += 10 * MS) {
		ok_or_fail(schedstat_on_switch(&schedstat, 1, 2));
		ok_or_fail(schedstat_round(&schedstat, at_ns + SCHEDSTAT_FIRST_NS));
		size_t noted = take_notes();
		count += noted;
		if (noted)
			last_ns = at_ns;
		/* It was due in the last half of its life, or in the last interval, if it ends now.
		 */
		uint64_t age_ns = at_ns - last_ns;
		ck_assert(2 * age_ns <= at_ns + 20 * MS || age_ns <= SCHEDSTAT_LAST_NS);
	}
	/* 10, 30, 70, 150, 310, 630, 1,270 and 2,550 ms; then each two seconds. */
	ck_assert_uint_eq(count, 9);
	/* A thread that sleeps is not due, but is noted when a file ends. */
	ok_or_fail(schedstat_round(&schedstat, 9000 * MS));
	ck_assert_uint_eq(take_notes(), 1);
	ok_or_fail(schedstat_round(&schedstat, 19000 * MS));
	ck_assert_uint_eq(take_notes(), 0);
	ok_or_fail(schedstat_note_all(&schedstat));
	ck_assert_uint_eq(take_notes(), 1);
	end();
}

TEST(threads_end_by_their_records)
{
	begin();
	for (uint32_t tid = 2; tid < 6; tid++) {
		put(1, tid, "5000 70 3\n");
		ok_or_fail(schedstat_on_switch(&schedstat, 1, tid));
	}
	ok_or_fail(schedstat_on_switch(&schedstat, 1, 9)); /* has no file: it has ended */
	ok_or_fail(schedstat_on_switch(&schedstat, 0, 0));
	ok_or_fail(schedstat_on_switch(&schedstat, UINT32_MAX, UINT32_MAX));
	ok_or_fail(schedstat_note_all(&schedstat));
	ck_assert_uint_eq(take_notes(), 4);
	schedstat_remove(&schedstat, 3);
	schedstat_remove(&schedstat, 3);
	ok_or_fail(schedstat_note_all(&schedstat));
	ck_assert_uint_eq(take_notes(), 3);
	ck_assert_uint_eq(schedstat.threads.count, schedstat.index_of.count);
	end();
}

/* Threads beyond the limit have no notes; the others are still due. */
TEST(a_full_table_knows_its_threads)
{
	size_t most = 0;
	begin();
	for (uint32_t tid = 2; schedstat.threads.count == tid - 2; tid++) {
		ok_or_fail(schedstat_on_switch(&schedstat, 1, tid));
		most = schedstat.threads.count;
	}
	struct schedstat_thread *first = schedstat.threads.items;
	first->switched = false;
	ok_or_fail(schedstat_on_switch(&schedstat, 1, first->tid));
	ck_assert(first->switched);
	ck_assert_uint_eq(schedstat.threads.count, most);
	end();
}
