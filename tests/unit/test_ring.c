/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings over plain memory, filled by a thread that keeps the kernel's rules. */
#include "ring/ring.h"
#include <pthread.h>
#include <sched.h>
#include "rings.h"

enum { TYPE = PERF_RECORD_SAMPLE };

/* Releases all there is; each record's words must be the next seed. */
static uint64_t consume(struct ring *ring, uint64_t seed)
{
	uint64_t head = ring_head(ring), wrong = 0;
	ck_assert(head - ring->tail <= ring->size);
	for (uint64_t at = ring->tail; at < head; seed++) {
		struct perf_event_header header;
		if (!ring_record(ring, at, head, &header) || header.type != TYPE)
			ck_abort_msg("no record at %#llx", (unsigned long long)at);
		for (uint64_t word = 8; word < header.size; word += 8)
			wrong += ring_u64(ring, at + word) != seed;
		at += header.size;
	}
	ck_assert_uint_eq(wrong, 0);
	ring_release(ring, head);
	return seed;
}

TEST(ring_gives_one_span_or_two)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 4096, 0);
	struct iovec spans[2];
	ck_assert_int_eq(ring_spans(&ring, 40, 40, spans), 0);
	ck_assert_int_eq(ring_spans(&ring, 0, 4096, spans), 1);
	ck_assert_ptr_eq(spans[0].iov_base, memory.data);
	ck_assert_uint_eq(spans[0].iov_len, 4096);
	ck_assert_int_eq(ring_spans(&ring, 4096 - 8, 4096 + 16, spans), 2);
	ck_assert_ptr_eq(spans[0].iov_base, memory.data + 4088);
	ck_assert_uint_eq(spans[0].iov_len, 8);
	ck_assert_ptr_eq(spans[1].iov_base, memory.data);
	ck_assert_uint_eq(spans[1].iov_len, 16);
	ck_assert_int_eq(ring_spans(&ring, 3 * 4096 + 8, 4 * 4096 + 8, spans), 2);
	ck_assert_uint_eq(spans[0].iov_len, 4088);
	memory_ring_deinit(&memory);
}

TEST(ring_copies_across_the_wrap)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 64, 0);
	for (int i = 0; i < 64; i++)
		memory.data[i] = (uint8_t)i;
	uint8_t copy[32];
	ring_copy(&ring, 64 + 48, 32, copy);
	for (int i = 0; i < 32; i++)
		ck_assert_uint_eq(copy[i], (48 + i) % 64);
	memory_ring_deinit(&memory);
}

TEST(ring_refuses_sizes_that_cannot_be)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 4096, 0);
	struct perf_event_header header = {.type = TYPE}, found;
	const uint16_t wrong[] = {0, 4, 7, 9, 12, 48, UINT16_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		header.size = wrong[i];
		memcpy(memory.data, &header, sizeof(header));
		ck_assert(!ring_record(&ring, 0, 40, &found));
	}
	header.size = 40;
	memcpy(memory.data, &header, sizeof(header));
	ck_assert(ring_record(&ring, 0, 40, &found));
	ck_assert_uint_eq(found.size, 40);
	memory_ring_deinit(&memory);
}

TEST(ring_is_full_until_released)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 4096, 0);
	uint64_t made = 0, seen = 0;
	/* 24 does not divide 4096: the fill ends with a gap and later records wrap. */
	for (int round = 0; round < 100; round++) {
		while (memory_ring_produce(&memory, 24, made))
			made++;
		ck_assert_uint_eq(made - seen, 4096 / 24);
		seen = consume(&ring, seen);
		ck_assert_uint_eq(seen, made);
		ck_assert_uint_eq(memory.page.data_tail, memory.page.data_head);
	}
	memory_ring_deinit(&memory);
}

TEST(ring_goes_on_where_another_reader_stopped)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 4096, 0);
	ck_assert(memory_ring_produce(&memory, 64, 0));
	consume(&ring, 0);
	ck_assert(memory_ring_produce(&memory, 64, 1));
	struct ring again;
	ring_init_memory(&again, &memory.page, memory.data, memory.size);
	ck_assert_uint_eq(again.tail, 64);
	ck_assert_uint_eq(consume(&again, 1), 2);
	memory_ring_deinit(&memory);
}

/* Many times round the ring; each side gives way where it must wait, for machines that are busy. */
enum { MANY = 30000 };

static void *produce_many(void *arg)
{
	struct memory_ring *memory = arg;
	unsigned int random = 1;
	for (uint64_t seed = 0; seed < MANY;) {
		random = random * 1103515245 + 12345;
		uint16_t size = (uint16_t)(16 + 8 * (random >> 16) % 600);
		if (memory_ring_produce(memory, size, seed))
			seed++;
		else
			sched_yield();
	}
	return NULL;
}

TEST(ring_loses_and_tears_nothing_between_threads)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 8192, 0);
	pthread_t producer;
	ck_assert_int_eq(pthread_create(&producer, NULL, produce_many, &memory), 0);
	for (uint64_t seen = 0, before = 0; seen < MANY; before = seen) {
		seen = consume(&ring, seen);
		if (seen == before)
			sched_yield();
	}
	pthread_join(producer, NULL);
	memory_ring_deinit(&memory);
}
