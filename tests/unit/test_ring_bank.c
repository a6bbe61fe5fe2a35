/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rounds over the rings of several CPUs, in plain memory. */
#include "capture/ring_bank/drain_threads.h"
#include "capture/ring_bank/ring_bank.h"
#include "rings.h"

#define RING_BYTES (2 * RING_RECORD_MAX)
#define CPUS 3

struct fixture {
	struct memory_ring metadata[CPUS], samples[CPUS];
	struct ring_bank bank;
};

/* Rings with records that wrap: positions begin close to the end. */
static void set_up(struct fixture *fixture)
{
	const struct ring_place places[CPUS] = {
		{0, -1, -1}, {1, -1, -1}, {2, -1, -1},
	};
	*fixture = (struct fixture){0};
	ok_or_fail(ring_bank_init(&fixture->bank, places, CPUS));
	for (size_t i = 0; i < CPUS; i++) {
		fixture->bank.metadata[i] = memory_ring_init(&fixture->metadata[i], RING_BYTES, 0);
		fixture->bank.samples[i] =
			memory_ring_init(&fixture->samples[i], RING_BYTES, RING_BYTES - 64);
	}
}

static void tear_down(struct fixture *fixture)
{
	ring_bank_deinit(&fixture->bank);
	for (size_t i = 0; i < CPUS; i++) {
		memory_ring_deinit(&fixture->metadata[i]);
		memory_ring_deinit(&fixture->samples[i]);
	}
}

static void produce(struct fixture *fixture, size_t cpu, size_t count, uint16_t size)
{
	for (size_t i = 0; i < count; i++)
		ck_assert(memory_ring_produce(&fixture->samples[cpu], size, i));
}

static uint64_t round_bytes_of(const struct fixture *fixture, size_t cpu)
{
	return ring_bank_end(&fixture->bank, cpu) - ring_bank_ring(&fixture->bank, cpu)->tail;
}

TEST(a_round_ends_where_the_rings_ended)
{
	struct fixture fixture;
	set_up(&fixture);
	produce(&fixture, 0, 4, 104);
	ring_bank_end_round(&fixture.bank, true);
	produce(&fixture, 0, 1, 104);
	produce(&fixture, 2, 1, 104);
	ck_assert_uint_eq(round_bytes_of(&fixture, 0), 4 * 104);
	ck_assert_uint_eq(round_bytes_of(&fixture, 2), 0);
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 4 * 104);
	ring_bank_end_round(&fixture.bank, false);
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 0);
	ck_assert(!fixture.bank.was_full);
	tear_down(&fixture);
}

TEST(a_limit_gives_each_ring_its_share_of_whole_records)
{
	struct fixture fixture;
	set_up(&fixture);
	produce(&fixture, 0, 40, 104);
	produce(&fixture, 1, 20, 104);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(ring_bank_limit(&fixture.bank, 30 * 104));
	ck_assert_uint_eq(round_bytes_of(&fixture, 0), 20 * 104);
	ck_assert_uint_eq(round_bytes_of(&fixture, 1), 10 * 104);
	/* Half a record more is no record more. */
	ck_assert(ring_bank_limit(&fixture.bank, 30 * 104 + 103));
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 30 * 104);
	/* A limit is of the whole round, not of the limit before. */
	ck_assert(ring_bank_limit(&fixture.bank, UINT64_MAX));
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 60 * 104);
	ck_assert(!ring_bank_limit(&fixture.bank, 0));
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 0);
	tear_down(&fixture);
}

/* No ring's share has room for a record, but the room is one record's. */
TEST(the_fullest_ring_gets_the_room_that_is_no_share)
{
	struct fixture fixture;
	set_up(&fixture);
	produce(&fixture, 0, 1, 2048);
	produce(&fixture, 1, 3, 2048);
	produce(&fixture, 2, 1, 2048);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(ring_bank_limit(&fixture.bank, 2048));
	ck_assert_uint_eq(round_bytes_of(&fixture, 0), 0);
	ck_assert_uint_eq(round_bytes_of(&fixture, 1), 2048);
	ck_assert(!ring_bank_limit(&fixture.bank, 2040));
	tear_down(&fixture);
}

TEST(a_limit_in_time_ends_all_rings_at_one_time)
{
	struct fixture fixture;
	struct record_fields fields;
	set_up(&fixture);
	ck_assert(record_fields_make(RECORD_FIELDS_NEEDED, &fields));
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert(memory_ring_produce(&fixture.samples[0], 104, 10 * i + 10));
		ck_assert(memory_ring_produce(&fixture.samples[2], 104, 10 * i + 11));
	}
	ring_bank_end_round(&fixture.bank, true);
	ck_assert_uint_eq(ring_bank_limit_in_time(&fixture.bank, &fields, 4 * 104 - 1), 21);
	ck_assert_uint_eq(round_bytes_of(&fixture, 0), 2 * 104);
	ck_assert_uint_eq(round_bytes_of(&fixture, 2), 104);
	ck_assert_uint_eq(ring_bank_limit_in_time(&fixture.bank, &fields, 103), 10);
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 0);
	ck_assert_uint_eq(ring_bank_limit_in_time(&fixture.bank, &fields, 6 * 104), UINT64_MAX);
	ck_assert_uint_eq(ring_bank_round_bytes(&fixture.bank), 6 * 104);
	tear_down(&fixture);
}

TEST(rings_without_room_for_a_record_were_full)
{
	struct fixture fixture;
	set_up(&fixture);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(!fixture.bank.was_full && !fixture.bank.metadata_was_full);
	produce(&fixture, 1, 1032, 64);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(fixture.bank.was_full);
	ck_assert(fixture.bank.reads[1].was_full && !fixture.bank.reads[0].was_full);
	/* Without a later record, none can report the loss. */
	ring_release(ring_bank_ring(&fixture.bank, 1), ring_bank_end(&fixture.bank, 1));
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(fixture.bank.reads[1].was_full);
	produce(&fixture, 1, 1, 64);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(!fixture.bank.reads[1].was_full && fixture.bank.was_full);
	/* Not the last: one that has room comes after it. */
	while (fixture.metadata[1].size - fixture.metadata[1].page.data_head > 4352)
		ck_assert(memory_ring_produce(&fixture.metadata[1], 64, 1));
	ck_assert(memory_ring_produce(&fixture.metadata[1], 64, 1));
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(fixture.bank.metadata_was_full);
	tear_down(&fixture);
}

/* The kernel's rings are read-only: after a rename, samples are read from a copy. */
TEST(changed_records_are_read_from_a_copy)
{
	struct fixture fixture;
	set_up(&fixture);
	ok_or_fail(ring_bank_copy_changed(&fixture.bank));
	ck_assert_ptr_null(fixture.bank.drain_threads);
	ok_or_fail(rewrite_rename(&fixture.bank.rewrite, 7, (struct rewrite_name){.listed = 1}));
	ok_or_fail(ring_bank_copy_changed(&fixture.bank));
	produce(&fixture, 1, 2, 104);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert_ptr_ne(ring_bank_ring(&fixture.bank, 1), &fixture.bank.samples[1]);
	ck_assert_uint_eq(round_bytes_of(&fixture, 1), 2 * 104);
	ck_assert_int_eq(ring_bank_fd(&fixture.bank), -1);
	/* The ring before the copy can be full. */
	ck_assert(!fixture.bank.was_full);
	produce(&fixture, 1, 1032, 64);
	ring_bank_end_round(&fixture.bank, true);
	ck_assert(fixture.bank.was_full);
	tear_down(&fixture);
}

TEST(parts_of_cpus_are_equal_and_numbered_in_order)
{
	uint32_t numbers[6] = {0, 1, 2, 3, 8, 9}, groups[6];
	const struct cpu_list cpus = {.items = numbers, .count = 6};
	size_t count;
	ok_or_fail(drain_groups_make(NULL, SP_CAPTURE_THREADS_FIXED, 3, &cpus, groups, &count));
	ck_assert_uint_eq(count, 3);
	for (size_t i = 0; i < 6; i++)
		ck_assert_uint_eq(groups[i], i / 2);
}

TEST(options_say_how_many_threads_drain)
{
	struct capture_options options = {
		.buffers = {.threads = SP_CAPTURE_THREADS_FIXED, .thread_count = 9},
	};
	ck_assert_uint_eq(drain_groups_wanted(&options, 4, 0), 4);
	options.buffers.threads = SP_CAPTURE_THREADS_NONE;
	ck_assert_uint_eq(drain_groups_wanted(&options, 4, 8192), 0);
	options.buffers.threads = SP_CAPTURE_THREADS_CPU;
	ck_assert_uint_eq(drain_groups_wanted(&options, 4, 0), 4);
	options.buffers.overwrite = true;
	ck_assert_uint_eq(drain_groups_wanted(&options, 4, 0), 0);
}
