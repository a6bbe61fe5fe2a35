/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings over plain memory, filled by a thread that keeps the kernel's rules. */
#include "ring/ring.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "test.h"

enum { TYPE = PERF_RECORD_SAMPLE };

struct fixture {
	struct perf_event_mmap_page page;
	uint8_t *data;
	size_t size;
	struct ring ring;
};

static void fixture_init(struct fixture *fixture, size_t size)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->data = calloc(1, size);
	fixture->size = size;
	ck_assert_ptr_nonnull(fixture->data);
	ring_init_memory(&fixture->ring, &fixture->page, fixture->data, size);
}

static void fixture_deinit(struct fixture *fixture)
{
	ring_deinit(&fixture->ring);
	free(fixture->data);
}

static void put(struct fixture *fixture, uint64_t at, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fixture->data[(at + i) & (fixture->size - 1)] = ((const uint8_t *)bytes)[i];
}

/* As the kernel: a record that does not fit is dropped. Every word of it is `seed`. */
static bool produce(struct fixture *fixture, uint16_t size, uint64_t seed)
{
	uint64_t head = fixture->page.data_head;
	uint64_t tail = __atomic_load_n(&fixture->page.data_tail, __ATOMIC_ACQUIRE);
	if (fixture->size - (head - tail) < size)
		return false;
	struct perf_event_header header = {.type = TYPE, .size = size};
	put(fixture, head, &header, sizeof(header));
	for (uint64_t at = sizeof(header); at < size; at += 8)
		put(fixture, head + at, &seed, 8);
	__atomic_store_n(&fixture->page.data_head, head + size, __ATOMIC_RELEASE);
	return true;
}

/* Releases all there is; each record's words must be the next seed. */
static uint64_t consume(struct ring *ring, uint64_t seed)
{
	uint64_t head = ring_head(ring);
	ck_assert(head - ring->tail <= ring->size);
	for (uint64_t at = ring->tail; at < head; seed++) {
		struct perf_event_header header;
		ck_assert(ring_record(ring, at, head, &header));
		ck_assert_uint_eq(header.type, TYPE);
		for (uint64_t word = 8; word < header.size; word += 8)
			ck_assert_uint_eq(ring_u64(ring, at + word), seed);
		at += header.size;
	}
	ring_release(ring, head);
	return seed;
}

TEST(ring_gives_one_span_or_two)
{
	struct fixture fixture;
	fixture_init(&fixture, 4096);
	struct ring *ring = &fixture.ring;
	struct iovec spans[2];
	ck_assert_int_eq(ring_spans(ring, 40, 40, spans), 0);
	ck_assert_int_eq(ring_spans(ring, 0, 4096, spans), 1);
	ck_assert_ptr_eq(spans[0].iov_base, fixture.data);
	ck_assert_uint_eq(spans[0].iov_len, 4096);
	ck_assert_int_eq(ring_spans(ring, 4096 - 8, 4096 + 16, spans), 2);
	ck_assert_ptr_eq(spans[0].iov_base, fixture.data + 4088);
	ck_assert_uint_eq(spans[0].iov_len, 8);
	ck_assert_ptr_eq(spans[1].iov_base, fixture.data);
	ck_assert_uint_eq(spans[1].iov_len, 16);
	ck_assert_int_eq(ring_spans(ring, 3 * 4096 + 8, 4 * 4096 + 8, spans), 2);
	ck_assert_uint_eq(spans[0].iov_len, 4088);
	fixture_deinit(&fixture);
}

TEST(ring_copies_across_the_wrap)
{
	struct fixture fixture;
	fixture_init(&fixture, 64);
	for (int i = 0; i < 64; i++)
		fixture.data[i] = (uint8_t)i;
	uint8_t copy[32];
	ring_copy(&fixture.ring, 64 + 48, 32, copy);
	for (int i = 0; i < 32; i++)
		ck_assert_uint_eq(copy[i], (48 + i) % 64);
	fixture_deinit(&fixture);
}

TEST(ring_refuses_sizes_that_cannot_be)
{
	struct fixture fixture;
	fixture_init(&fixture, 4096);
	struct perf_event_header header = {.type = TYPE}, found;
	const uint16_t wrong[] = {0, 4, 7, 9, 12, 48, UINT16_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		header.size = wrong[i];
		put(&fixture, 0, &header, sizeof(header));
		ck_assert(!ring_record(&fixture.ring, 0, 40, &found));
	}
	header.size = 40;
	put(&fixture, 0, &header, sizeof(header));
	ck_assert(ring_record(&fixture.ring, 0, 40, &found));
	ck_assert_uint_eq(found.size, 40);
	fixture_deinit(&fixture);
}

TEST(ring_is_full_until_released)
{
	struct fixture fixture;
	fixture_init(&fixture, 4096);
	uint64_t made = 0, seen = 0;
	/* 24 does not divide 4096: the fill ends with a gap and later records wrap. */
	for (int round = 0; round < 100; round++) {
		while (produce(&fixture, 24, made))
			made++;
		ck_assert_uint_eq(made - seen, 4096 / 24);
		seen = consume(&fixture.ring, seen);
		ck_assert_uint_eq(seen, made);
		ck_assert_uint_eq(fixture.page.data_tail, fixture.page.data_head);
	}
	fixture_deinit(&fixture);
}

TEST(ring_goes_on_where_another_reader_stopped)
{
	struct fixture fixture;
	fixture_init(&fixture, 4096);
	ck_assert(produce(&fixture, 64, 0));
	consume(&fixture.ring, 0);
	ck_assert(produce(&fixture, 64, 1));
	struct ring again;
	ring_init_memory(&again, &fixture.page, fixture.data, fixture.size);
	ck_assert_uint_eq(again.tail, 64);
	ck_assert_uint_eq(consume(&again, 1), 2);
	fixture_deinit(&fixture);
}

/* Many times round the ring; each side gives way where it must wait, for machines that are busy. */
enum { MANY = 30000 };

static void *produce_many(void *arg)
{
	struct fixture *fixture = arg;
	unsigned int random = 1;
	for (uint64_t seed = 0; seed < MANY;) {
		random = random * 1103515245 + 12345;
		uint16_t size = (uint16_t)(16 + 8 * (random >> 16) % 600);
		if (produce(fixture, size, seed))
			seed++;
		else
			sched_yield();
	}
	return NULL;
}

TEST(ring_loses_and_tears_nothing_between_threads)
{
	struct fixture fixture;
	fixture_init(&fixture, 8192);
	pthread_t producer;
	ck_assert_int_eq(pthread_create(&producer, NULL, produce_many, &fixture), 0);
	for (uint64_t seen = 0, before = 0; seen < MANY; before = seen) {
		seen = consume(&fixture.ring, seen);
		if (seen == before)
			sched_yield();
	}
	pthread_join(producer, NULL);
	fixture_deinit(&fixture);
}
