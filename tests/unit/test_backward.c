/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ring/backward.h"

#include "test.h"

enum { SIZE = 4096 };

struct producer {
	struct perf_event_mmap_page page;
	uint8_t data[SIZE];
};

/* Writes like the kernel: from higher to lower positions, over older records. */
static void produce(struct producer *producer, uint32_t number, uint16_t size)
{
	uint8_t record[SIZE];
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = 1, .size = size};
	for (size_t i = 0; i < size; i += 4)
		memcpy(record + i, &number, sizeof(number));
	memcpy(record, &header, sizeof(header));
	uint64_t head = producer->page.data_head - size;
	for (size_t i = 0; i < size; i++)
		producer->data[(head + i) & (SIZE - 1)] = record[i];
	__atomic_store_n(&producer->page.data_head, head, __ATOMIC_RELEASE);
}

static void take(const struct ring *ring, uint64_t since, uint8_t *memory, struct backward_copy *copy,
		 uint64_t *head_ret)
{
	const struct backward_bytes bytes = backward_read(ring, since, memory, head_ret);
	backward_order(&bytes, copy);
}

static uint16_t size_of(uint32_t number, uint64_t seed)
{
	return (uint16_t)(16 + 8 * ((number * 2654435761u + seed * 40503u) % 50));
}

/* All records of the copy are whole, and the last `count` that were made; how many. */
static uint32_t check_copy(const struct backward_copy *copy, uint32_t last, uint64_t seed)
{
	uint32_t count = 0, number = 0;
	for (size_t at = 0; at < copy->size; count++) {
		struct perf_event_header header;
		uint32_t this;
		memcpy(&header, copy->records + at, sizeof(header));
		memcpy(&this, copy->records + at + header.size - 4, sizeof(this));
		ck_assert_uint_eq(header.size, size_of(this, seed));
		ck_assert(!count || this == number + 1);
		for (size_t i = sizeof(header); i < header.size; i += 4)
			ck_assert(!memcmp(copy->records + at + i, &this, 4));
		number = this;
		at += header.size;
	}
	ck_assert(!count || number == last);
	return count;
}

/* After each record, wherever it wraps: as many of the newest as have room, the oldest first. */
TEST(the_newest_that_have_room_are_there)
{
	uint8_t scratch[SIZE];
	struct backward_copy copy;
	ok_or_fail(backward_copy_init(&copy, SIZE));
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct producer producer = {0};
		struct ring ring;
		uint64_t head, written = 0;
		ring_init_memory(&ring, &producer.page, producer.data, SIZE);
		for (uint32_t number = 1; number < 600; number++) {
			produce(&producer, number, size_of(number, seed));
			written += size_of(number, seed);
			take(&ring, 0, scratch, &copy, &head);
			uint32_t count = check_copy(&copy, number, seed);
			uint64_t room = 0;
			uint32_t fitting = 0;
			while (fitting < number && room + size_of(number - fitting, seed) <= SIZE)
				room += size_of(number - fitting++, seed);
			ck_assert_uint_eq(count, fitting);
			ck_assert_uint_eq(copy.size, room);
			ck_assert_uint_eq(copy.overwritten, written - room);
			ck_assert_uint_eq(copy.damaged, 0);
		}
	}
	backward_copy_deinit(&copy);
}

/* Records that were copied are not copied again; records overwritten in between are counted. */
TEST(each_record_is_taken_once)
{
	uint8_t scratch[SIZE];
	struct backward_copy copy;
	struct producer producer = {0};
	struct ring ring;
	uint64_t head = 0, taken = 0, overwritten = 0, written = 0;
	ok_or_fail(backward_copy_init(&copy, SIZE));
	ring_init_memory(&ring, &producer.page, producer.data, SIZE);
	for (uint32_t number = 1; number < 5000; number++) {
		produce(&producer, number, size_of(number, 3));
		written += size_of(number, 3);
		if (number * 7919 % 23)
			continue;
		take(&ring, head, scratch, &copy, &head);
		check_copy(&copy, number, 3);
		taken += copy.size;
		overwritten += copy.overwritten;
		ck_assert_uint_eq(taken + overwritten, written);
		take(&ring, head, scratch, &copy, &head);
		ck_assert_uint_eq(copy.size, 0);
		ck_assert_uint_eq(copy.overwritten, 0);
	}
	ck_assert_uint_gt(taken, 0);
	ck_assert_uint_gt(overwritten, 0);
	backward_copy_deinit(&copy);
}

/* Whatever bytes there are, nothing beyond the ring is looked at, and it ends. */
TEST(garbage_ends_the_walk)
{
	uint8_t scratch[SIZE];
	struct backward_copy copy;
	struct producer producer = {0};
	struct ring ring;
	uint64_t head, seed = 1;
	ok_or_fail(backward_copy_init(&copy, SIZE));
	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < SIZE; i++) {
			seed = seed * 6364136223846793005u + 1;
			producer.data[i] = seed >> 60 ? (uint8_t)(seed >> 56) & 24 : (uint8_t)(seed >> 50);
		}
		producer.page.data_head = seed & ~UINT64_C(7);
		ring_init_memory(&ring, &producer.page, producer.data, SIZE);
		take(&ring, round % 2 ? 0 : producer.page.data_head + seed % 5000 / 8 * 8,
		     scratch, &copy, &head);
		ck_assert_uint_le(copy.size, SIZE);
	}
	backward_copy_deinit(&copy);
}
