/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/event_control/lost_counts.h"

#include "test.h"

enum { EVENTS = 2 };

/* The second event samples switches: it also has SWITCH records. */
struct fixture {
	struct losses losses;
	struct sp_event events[EVENTS];
	uint64_t ids[EVENTS];
	struct record_buffer records;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){.ids = {5, 6}};
	for (size_t i = 0; i < EVENTS; i++) {
		f->events[i].attr = (struct perf_event_attr){
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID, .sample_id_all = 1,
			.context_switch = i,
		};
		f->events[i].ids = &f->ids[i];
		f->events[i].id_count = 1;
	}
}

static void tear_down(struct fixture *f)
{
	losses_deinit(&f->losses);
	vec_deinit(&f->records);
}

/* Ends a file with counts of the kernel (NULL: it has none), and of LOST records. */
static void end_file(struct fixture *f, const uint64_t *of_events, uint64_t reported)
{
	const struct loss_counts counts = {.events = f->events, .count = EVENTS, .of_events = of_events,
					   .reported = reported};
	f->records.count = 0;
	ok_or_fail(losses_end_file(&f->losses, &counts, &f->records));
}

/* The file has LOST_SAMPLES of the event, and no more than `records` in all. */
static void has_record(const struct fixture *f, size_t event, uint64_t lost, size_t records)
{
	size_t count = 0;
	bool found = false;
	for (size_t at = 0; at < f->records.count; count++) {
		struct perf_event_header header;
		uint64_t words[4];
		memcpy(&header, f->records.items + at, sizeof(header));
		ck_assert_uint_eq(header.type, PERF_RECORD_LOST_SAMPLES);
		ck_assert_uint_eq(header.size, sizeof(words));
		memcpy(words, f->records.items + at, sizeof(words));
		found |= words[1] == lost && words[3] == f->ids[event];
		at += header.size;
	}
	ck_assert_uint_eq(count, records);
	ck_assert(found || !records);
}

TEST(losses_without_a_record_are_added_where_a_file_ends)
{
	struct fixture f;
	set_up(&f);
	end_file(&f, (const uint64_t[EVENTS]){7, 0}, 0);
	has_record(&f, 0, 7, 1);
	ck_assert_uint_eq(f.losses.at_end, 7);
	ck_assert_uint_eq(f.losses.not_counting, 0);
	tear_down(&f);
}

TEST(each_file_has_its_own_losses)
{
	struct fixture f;
	set_up(&f);
	end_file(&f, (const uint64_t[EVENTS]){7, 0}, 4);
	has_record(&f, 0, 7, 2);
	has_record(&f, 1, 0, 2);
	end_file(&f, (const uint64_t[EVENTS]){17, 0}, 9);
	has_record(&f, 0, 10, 2);
	end_file(&f, (const uint64_t[EVENTS]){17, 0}, 9);
	has_record(&f, 0, 0, 0);
	ck_assert_uint_eq(f.losses.at_end, 3 + 5);
	ck_assert_uint_eq(f.losses.not_counting, 0);
	tear_down(&f);
}

TEST(lost_records_that_are_no_samples_do_not_count)
{
	struct fixture f;
	set_up(&f);
	/* LOST records count 12: 2 samples, 8 SWITCH records, and 2 samples of helpers. */
	end_file(&f, (const uint64_t[EVENTS]){2, 8}, 12);
	has_record(&f, 0, 2, 2);
	has_record(&f, 1, 8, 2);
	ck_assert_uint_eq(f.losses.at_end, 0);
	ck_assert_uint_eq(f.losses.not_counting, 10);
	ck_assert_uint_eq(f.losses.unreported, 0);
	/* SWITCH records make states of threads unknown. */
	end_file(&f, (const uint64_t[EVENTS]){2, 11}, 13);
	ck_assert_uint_eq(f.losses.at_end, 0);
	ck_assert_uint_eq(f.losses.unreported, 2);
	end_file(&f, (const uint64_t[EVENTS]){2, 11}, 13);
	ck_assert_uint_eq(f.losses.unreported, 0);
	tear_down(&f);
}

TEST(kernels_without_counts_leave_lost_records_as_they_are)
{
	struct fixture f;
	set_up(&f);
	end_file(&f, NULL, 12);
	ck_assert_uint_eq(f.records.count, 0);
	ck_assert_uint_eq(f.losses.reported, 12);
	ck_assert_uint_eq(f.losses.at_end + f.losses.not_counting, 0);
	tear_down(&f);
}
