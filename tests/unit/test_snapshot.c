/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ring/snapshot.h"

#include "test.h"

enum { SIZE = 4096, RINGS = 3, RECORD = 64 };

/* Rings in overwrite mode, filled by a producer that keeps the kernel's rules. */
struct machine {
	struct perf_event_mmap_page pages[RINGS];
	uint8_t data[RINGS][SIZE];
	struct ring rings[RINGS];
	bool paused[RINGS];
	uint64_t made[RINGS], lost[RINGS];
	int pauses, paused_now, most_paused;
};

static void produce(struct machine *machine, size_t index)
{
	uint64_t words[RECORD / 8] = {0};
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = 1, .size = RECORD};
	if (machine->paused[index]) {
		machine->lost[index]++;
		return;
	}
	memcpy(words, &header, sizeof(header));
	words[1] = ++machine->made[index];
	uint64_t head = machine->pages[index].data_head - RECORD;
	memcpy(machine->data[index] + (head & (SIZE - 1)), words, RECORD);
	__atomic_store_n(&machine->pages[index].data_head, head, __ATOMIC_RELEASE);
}

static void produce_all(struct machine *machine, int times)
{
	for (int i = 0; i < times; i++)
		for (size_t j = 0; j < RINGS; j++)
			produce(machine, j);
}

/* All CPUs go on while one is paused or resumed. */
static void pause_ring(void *arg, size_t index, bool pause)
{
	struct machine *machine = arg;
	ck_assert(machine->paused[index] != pause);
	machine->paused[index] = pause;
	machine->pauses += pause;
	machine->paused_now += pause ? 1 : -1;
	if (machine->paused_now > machine->most_paused)
		machine->most_paused = machine->paused_now;
	for (size_t i = 0; i < RINGS; i++)
		if (i != index)
			produce(machine, i);
}

static void machine_init(struct machine *machine, struct snapshot *snapshot)
{
	const struct snapshot_options options = {.rings = machine->rings, .count = RINGS,
						 .pause = pause_ring, .arg = machine};
	*machine = (struct machine){0};
	for (size_t i = 0; i < RINGS; i++)
		ring_init_memory(&machine->rings[i], &machine->pages[i], machine->data[i], SIZE);
	ok_or_fail(snapshot_init(snapshot, &options));
}

/* Records in order, without a gap; the number of the last. */
static uint64_t last_of(const struct backward_copy *copy)
{
	uint64_t number = 0, last = 0;
	ck_assert_uint_eq(copy->size % RECORD, 0);
	for (size_t at = 0; at < copy->size; at += RECORD) {
		memcpy(&number, copy->records + at + 8, sizeof(number));
		ck_assert(!last || number == last + 1);
		last = number;
	}
	return last;
}

/* Simulates a dump to a slow disk: all CPUs produce many records while one ring is written. */
static void write_all(struct machine *machine, struct snapshot *snapshot, uint64_t *last)
{
	for (size_t i = 0; i < RINGS; i++) {
		last[i] = last_of(snapshot_read(snapshot, i));
		produce_all(machine, 1000);
	}
}

TEST(no_ring_is_paused_while_others_are_written)
{
	struct machine machine;
	struct snapshot snapshot;
	uint64_t made[RINGS], last[RINGS];
	machine_init(&machine, &snapshot);
	for (int round = 0; round < 3; round++) {
		produce_all(&machine, 100);
		machine.pauses = machine.most_paused = 0;
		snapshot_copy_rings(&snapshot, UINT64_MAX);
		ck_assert_int_eq(machine.pauses, RINGS);
		ck_assert_int_eq(machine.most_paused, 1);
		ck_assert_int_eq(machine.paused_now, 0);
		memcpy(made, machine.made, sizeof(made));
		write_all(&machine, &snapshot, last);
		for (size_t i = 0; i < RINGS; i++) {
			ck_assert_uint_eq(machine.lost[i], 0);
			/* Records of that moment, without later ones. */
			ck_assert_uint_le(last[i], made[i]);
			ck_assert_uint_ge(last[i] + (uint64_t)2 * RINGS, made[i]);
		}
	}
	snapshot_deinit(&snapshot);
}

/* Records in a ring are not overwritten before they are read. */
TEST(without_memory_a_ring_is_paused_until_it_is_read)
{
	struct machine machine;
	struct snapshot snapshot;
	uint64_t made[RINGS], last[RINGS];
	machine_init(&machine, &snapshot);
	produce_all(&machine, 100);
	snapshot_copy_rings(&snapshot, SIZE);
	ck_assert_int_eq(machine.paused_now, RINGS - 1);
	memcpy(made, machine.made, sizeof(made));
	write_all(&machine, &snapshot, last);
	ck_assert_int_eq(machine.paused_now, 0);
	ck_assert_uint_eq(machine.lost[0], 0);
	for (size_t i = 1; i < RINGS; i++) {
		ck_assert_uint_eq(last[i], made[i]);
		ck_assert_uint_ge(machine.lost[i], i * 1000);
	}
	snapshot_deinit(&snapshot);
}

TEST(rings_that_were_not_read_go_on)
{
	struct machine machine;
	struct snapshot snapshot;
	machine_init(&machine, &snapshot);
	produce_all(&machine, 10);
	snapshot_copy_rings(&snapshot, 0);
	ck_assert_int_eq(machine.paused_now, RINGS);
	snapshot_drop(&snapshot);
	ck_assert_int_eq(machine.paused_now, 0);
	/* A ring that was read is not read again, and one that was not loses nothing. */
	snapshot_copy_rings(&snapshot, UINT64_MAX);
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_uint_ge(snapshot_read(&snapshot, i)->size, 10 * RECORD);
	snapshot_copy_rings(&snapshot, UINT64_MAX);
	for (size_t i = 0; i < RINGS; i++)
		ck_assert_uint_le(snapshot_read(&snapshot, i)->size, 4 * RINGS * RECORD);
	snapshot_deinit(&snapshot);
}
