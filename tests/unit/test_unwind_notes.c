/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/samples/unwind_notes.h"

#include <string.h>
#include "record/note.h"
#include "test.h"

/* A recording of 1,000 stacks, with copies of 8 KiB. */
struct fixture {
	struct live_unwind_counts counts;
	struct call_graph graph;
	uint32_t most_bytes;
	struct notes notes;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){.counts.stacks.complete = 1000, .graph.stack_bytes = 8192,
			      .most_bytes = 8192};
}

static void cut(struct fixture *f, uint64_t stacks, enum stack_hold_cut cause)
{
	f->counts.stacks.complete -= stacks;
	f->counts.stacks.truncated += stacks;
	f->counts.cuts[cause] += stacks;
}

/* The only note has that kind and these values. It is removed. */
static void has_note(struct fixture *f, const struct sp_note wanted)
{
	ok_or_fail(unwind_notes_add(&f->counts, &f->graph, f->most_bytes, &f->notes));
	ck_assert_uint_eq(f->notes.count, 1);
	const struct sp_note *note = &f->notes.items[0].note;
	ck_assert_uint_eq(note->kind, wanted.kind);
	for (size_t i = 0; i < wanted.value_count; i++)
		ck_assert_uint_eq(note->values[i], wanted.values[i]);
	notes_deinit(&f->notes);
	f->notes = (struct notes){0};
}

static void has_none(struct fixture *f)
{
	ok_or_fail(unwind_notes_add(&f->counts, &f->graph, f->most_bytes, &f->notes));
	ck_assert_uint_eq(f->notes.count, 0);
}

TEST(complete_stacks_get_no_note)
{
	struct fixture f;
	set_up(&f);
	has_none(&f);
}

TEST(dropped_mappings_get_a_note)
{
	struct fixture f;
	set_up(&f);
	f.counts.maps_dropped = 2;
	has_note(&f, NOTE_OF(NOTE_MAPS_DROPPED, NULL, 2));
}

TEST(one_truncated_stack_in_a_thousand_gets_a_note)
{
	struct fixture f;
	set_up(&f);
	cut(&f, 1, STACK_CUT_BY_HOLE);
	has_note(&f, NOTE_OF(NOTE_STACKS_TRUNCATED, NULL, 1, 1000, 0, 1, 0, 0, 0));
	f.counts.stacks.complete++;
	has_none(&f);
}

/* The remedy where 100 stacks of up to `kib` KiB are truncated, all others being whole. */
static void has_remedy(struct fixture *f, uint32_t kib, uint64_t remedy)
{
	memset(&f->counts, 0, sizeof(f->counts));
	f->counts.stacks.complete = 1000;
	cut(f, 100, STACK_CUT_BY_SIZE);
	f->counts.sizes.known = kib ? 100 : 0;
	f->counts.sizes.steps[kib ? kib - 1 : 0] = kib ? 100 : 0;
	has_note(f, NOTE_OF(NOTE_STACKS_TRUNCATED, NULL, 100, 1000, 100, 0, 0, 0, remedy));
}

TEST(the_remedy_is_a_size_that_holds_the_truncated_stacks)
{
	struct fixture f;
	set_up(&f);
	has_remedy(&f, 20, 20 << 10);
	has_remedy(&f, 0, 0);
	has_remedy(&f, STACK_SIZE_STEPS + 1, SP_STACK_BYTES_MAX);
	/* Copies are larger already, except of what has a fixed size. */
	f.most_bytes = 32 << 10;
	has_remedy(&f, 20, 0);
	f.graph.fixed_size = true;
	has_remedy(&f, 20, 20 << 10);
	f.most_bytes = SP_STACK_BYTES_MAX;
	has_remedy(&f, STACK_SIZE_STEPS + 1, NOTE_STACK_NO_MORE);
}

TEST(skipped_stacks_are_part_of_all)
{
	struct fixture f;
	set_up(&f);
	f.counts.stacks.skipped = 5;
	has_note(&f, NOTE_OF(NOTE_STACKS_SKIPPED, NULL, 5, 1005));
}

TEST(a_few_missing_python_frames_get_no_note)
{
	struct fixture f;
	set_up(&f);
	f.graph.python_remedy = PYTHON_AT_EACH_WAIT;
	f.counts.python = (struct python_counts){.samples = 500, .groups = 100, .dropped = 4};
	has_none(&f);
	f.counts.python.dropped = 5;
	has_note(&f, NOTE_OF(NOTE_PYTHON_DROPPED, NULL, 5, 100, PYTHON_AT_EACH_WAIT));
	/* Samples with unreadable frames have no groups. */
	f.counts.python = (struct python_counts){.samples = 500, .groups = 90, .unreadable = 10};
	has_note(&f, NOTE_OF(NOTE_PYTHON_DROPPED, NULL, 10, 100,
			     PYTHON_AT_EACH_WAIT));
	f.counts.python.samples = 499;
	has_note(&f, NOTE_OF(NOTE_PYTHON_DROPPED, NULL, 10, 100, PYTHON_LONGER));
	f.counts.python = (struct python_counts){.groups = 90, .damaged = 10, .damaged_pid = 7};
	has_note(&f, NOTE_OF(NOTE_PYTHON_DAMAGED, NULL, 10, 100, 7));
}

TEST(unreadable_pages_and_shortened_stacks_get_notes)
{
	struct fixture f;
	set_up(&f);
	f.counts.refused = 3;
	f.counts.refused_pid = 77;
	has_note(&f, NOTE_OF(NOTE_STACK_PAGES_UNREADABLE, NULL, 3, 77));
	f.counts.refused = 0;
	f.counts.stacks.shortened = 2;
	has_note(&f, NOTE_OF(NOTE_STACKS_SHORTENED, NULL, 2));
}
