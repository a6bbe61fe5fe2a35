/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ring behind a ring, with a producer, a mover and a reader that are threads. */
#include "ring/relay.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "rings.h"

#define SMALL 4096
#define LARGE 16384

/* Releases what there is; the words of each record must be the next seed. */
static uint64_t consume(struct ring *ring, uint64_t seed)
{
	uint64_t head = ring_head(ring), at = ring->tail;
	for (; at < head; seed++) {
		struct perf_event_header header;
		ck_assert(ring_record(ring, at, head, &header));
		for (uint64_t word = 8; word < header.size; word += 8)
			ck_assert_uint_eq(ring_u64(ring, at + word), seed);
		at += header.size;
	}
	ck_assert_uint_eq(at, head);
	ring_release(ring, head);
	return seed;
}

TEST(relay_gives_back_at_once_and_keeps_all)
{
	struct memory_ring memory;
	struct ring source = memory_ring_init(&memory, SMALL, SMALL - 40);
	struct relay relay;
	ok_or_fail(relay_init(&relay, &source, LARGE));
	uint64_t put = 0, seen = 0;
	/* Four small rings' worth, before anybody reads. */
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 10; i++)
			ck_assert(memory_ring_produce(&memory, 400, put++));
		ck_assert_uint_eq(relay_move(&relay, 500), put * 400);
		ck_assert_uint_eq(ring_head(&source), source.tail);
	}
	seen = consume(&relay.out, seen);
	ck_assert_uint_eq(seen, put);
	ck_assert_uint_eq(relay_move(&relay, 500), 0);
	relay_deinit(&relay);
	memory_ring_deinit(&memory);
}

TEST(relay_leaves_what_has_no_room)
{
	struct memory_ring memory;
	struct ring source = memory_ring_init(&memory, SMALL, 8);
	struct relay relay;
	ok_or_fail(relay_init(&relay, &source, LARGE));
	uint64_t put = 0, seen = 0;
	while (put * 1000 + 1000 <= LARGE) {
		while (put * 1000 + 1000 <= LARGE && memory_ring_produce(&memory, 1000, put))
			put++;
		relay_move(&relay, 1000);
	}
	/* 384 bytes are left there: whole records only. */
	ck_assert(memory_ring_produce(&memory, 200, put++));
	ck_assert(memory_ring_produce(&memory, 200, put++));
	ck_assert_uint_eq(relay_move(&relay, 1000), 16200);
	ck_assert_uint_eq(ring_head(&source) - source.tail, 200);
	ck_assert(relay_is_full(&relay));
	ck_assert_uint_eq(consume(&relay.out, seen), put - 1);
	ck_assert_uint_eq(relay_move(&relay, 1000), 200);
	ck_assert(!relay_is_full(&relay));
	ck_assert_uint_eq(consume(&relay.out, put - 1), put);
	relay_deinit(&relay);
	memory_ring_deinit(&memory);
}

TEST(relay_says_that_the_source_was_full)
{
	struct memory_ring memory;
	struct ring source = memory_ring_init(&memory, SMALL, 0);
	struct relay relay;
	ok_or_fail(relay_init(&relay, &source, LARGE));
	for (int i = 0; i < 9; i++)
		ck_assert(memory_ring_produce(&memory, 400, 0));
	relay_move(&relay, 400);
	ck_assert(!relay_was_full(&relay));
	for (int i = 0; i < 10; i++)
		ck_assert(memory_ring_produce(&memory, 400, 0));
	relay_move(&relay, 400);
	ck_assert(relay_was_full(&relay));
	relay_deinit(&relay);
	memory_ring_deinit(&memory);
}

TEST(relay_prepares_pages_up_to_its_size)
{
	struct memory_ring memory;
	struct ring source = memory_ring_init(&memory, SMALL, 0);
	struct relay relay;
	ok_or_fail(relay_init(&relay, &source, 1 << 20));
	relay_prepare(&relay, 1000);
	ck_assert_uint_eq(relay.prepared, 256 << 10);
	relay_prepare(&relay, 1000);
	ck_assert_uint_eq(relay.prepared, 256 << 10);
	relay_prepare(&relay, 8 << 20);
	ck_assert_uint_eq(relay.prepared, 1 << 20);
	relay_deinit(&relay);
	memory_ring_deinit(&memory);
}

struct rush {
	struct memory_ring memory;
	struct relay relay;
	uint64_t wanted;
};

static void *produce_all(void *arg)
{
	struct rush *rush = arg;
	for (uint64_t i = 0; i < rush->wanted;)
		if (memory_ring_produce(&rush->memory, (uint16_t)(16 + 8 * (i % 97)), i))
			i++;
		else
			sched_yield();
	return NULL;
}

static void *move_all(void *arg)
{
	struct rush *rush = arg;
	uint64_t bytes = 0;
	for (uint64_t i = 0; i < rush->wanted; i++)
		bytes += 16 + 8 * (i % 97);
	while (rush->relay.head < bytes) {
		relay_move(&rush->relay, 1024);
		sched_yield();
	}
	return NULL;
}

TEST(relay_keeps_order_among_threads)
{
	struct rush rush = {.wanted = 20000};
	struct ring source = memory_ring_init(&rush.memory, SMALL, 0);
	pthread_t producer, mover;
	ok_or_fail(relay_init(&rush.relay, &source, LARGE));
	ck_assert_int_eq(pthread_create(&producer, NULL, produce_all, &rush), 0);
	ck_assert_int_eq(pthread_create(&mover, NULL, move_all, &rush), 0);
	for (uint64_t seen = 0; seen < rush.wanted; sched_yield())
		seen = consume(&rush.relay.out, seen);
	pthread_join(producer, NULL);
	pthread_join(mover, NULL);
	relay_deinit(&rush.relay);
	memory_ring_deinit(&rush.memory);
}

/* Flags of the mapping at an address, as in smaps ("VmFlags: rd wr mr …"). */
static void mapping_flags(const void *address, char *flags, size_t size)
{
	char line[256];
	unsigned long begin, end;
	bool found = false;
	FILE *file = fopen("/proc/self/smaps", "r");
	ck_assert_ptr_nonnull(file);
	*flags = 0;
	while (!*flags && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			found = begin <= (uintptr_t)address && (uintptr_t)address < end;
		else if (found && !strncmp(line, "VmFlags:", 8))
			snprintf(flags, size, "%s", line + 8);
	}
	fclose(file);
}

TEST(relays_are_not_shared_with_children_and_large_ones_have_huge_pages)
{
	struct memory_ring memory;
	struct ring source = memory_ring_init(&memory, SMALL, 8);
	bool has_huge = access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0;
	for (size_t size = LARGE; size <= 16 << 20; size *= 1024) {
		struct relay relay;
		char flags[256];
		ok_or_fail(relay_init(&relay, &source, size));
		mapping_flags(relay.out.data, flags, sizeof(flags));
		ck_assert_msg(strstr(flags, " dc") != NULL, "%s", flags);
		ck_assert_int_eq(strstr(flags, " hg") != NULL, has_huge && size >= 16 << 20);
		relay_deinit(&relay);
	}
	memory_ring_deinit(&memory);
}
