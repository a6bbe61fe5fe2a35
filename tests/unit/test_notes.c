/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/notes/notes.h"
#include "record/decode.h"
#include "test.h"

static size_t record_count(const struct record_buffer *records)
{
	size_t count = 0;
	for (size_t at = 0; at < records->count; count++) {
		struct perf_event_header header;
		memcpy(&header, records->items + at, sizeof(header));
		ck_assert_uint_gt(header.size, 0);
		at += header.size;
	}
	return count;
}

TEST(a_note_is_written_once_to_each_file)
{
	struct notes notes = {0};
	struct record_buffer records = {0};
	ok_or_fail(notes_add(&notes, NOTE_MAX_SIZE, NULL, 1 << 20));
	ok_or_fail(notes_add_text(&notes, NOTE_EVENT, "cycles: not supported"));
	ok_or_fail(notes_write(&notes, 5, &records));
	ok_or_fail(notes_write(&notes, 6, &records));
	ck_assert_uint_eq(record_count(&records), 2);
	notes_restart(&notes);
	ok_or_fail(notes_write(&notes, 7, &records));
	ck_assert_uint_eq(record_count(&records), 4);
	ck_assert_uint_eq(notes.items[1].note.time_ns, 7);
	vec_deinit(&records);
	notes_deinit(&notes);
}

TEST(strings_of_a_note_are_copied)
{
	struct notes notes = {0};
	char text[] = "libm.so", *object = text;
	ok_or_fail(notes_add(&notes, NOTE_CGROUP, object));
	memset(object, 'x', sizeof(text) - 1);
	ck_assert_ptr_nonnull(strstr(notes.items[0].line, "libm.so"));
	ck_assert_str_eq(notes.items[0].note.object, "libm.so");
	notes_deinit(&notes);
}

TEST(a_derived_note_is_kept_and_not_written)
{
	struct notes notes = {0};
	struct record_buffer records = {0};
	ok_or_fail(notes_add_text(&notes, NOTE_EVENT, "sampling cpu-clock instead"));
	notes.items[0].is_derived = true;
	ok_or_fail(notes_write(&notes, 0, &records));
	ck_assert_uint_eq(records.count, 0);
	ck_assert_uint_eq(notes.count, 1);
	notes_deinit(&notes);
}
