/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AUX areas over memory, filled by another thread as a PMU would. */
#include "ring/aux.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "test.h"

#define SIZE ((size_t)4096)
#define TOTAL ((uint64_t)4 << 20)

static struct perf_event_mmap_page page;
static uint8_t data[SIZE];

/* A different value for every byte of the position. */
static uint8_t byte_at(uint64_t position)
{
	return (uint8_t)(position * 131 + (position >> 8) * 7 + 1);
}

/* Writes TOTAL bytes in pieces of odd sizes, and never over what was not released. */
static void *produce(void *arg)
{
	uint64_t head = 0;
	unsigned int seed = 1;
	(void)arg;
	while (head < TOTAL) {
		uint64_t tail = __atomic_load_n(&page.aux_tail, __ATOMIC_ACQUIRE);
		uint64_t room = SIZE - (head - tail), size = (uint64_t)rand_r(&seed) % 1000 + 1;
		if (size > room)
			size = room;
		if (size > TOTAL - head)
			size = TOTAL - head;
		if (!size)
			sched_yield();
		for (uint64_t i = 0; i < size; i++)
			data[(head + i) % SIZE] = byte_at(head + i);
		head += size;
		__atomic_store_n(&page.aux_head, head, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void take(struct aux *aux, uint64_t begin, uint64_t end)
{
	struct iovec spans[2];
	int count = aux_spans(aux, begin, end, spans);
	for (int i = 0; i < count; i++)
		for (size_t at = 0; at < spans[i].iov_len; at++, begin++)
			if (((uint8_t *)spans[i].iov_base)[at] != byte_at(begin))
				ck_abort_msg("byte %llu is another", (unsigned long long)begin);
	ck_assert(begin == end);
}

TEST(a_running_area_gives_each_byte_once)
{
	struct aux aux;
	pthread_t thread;
	aux_init_memory(&aux, &page, data, SIZE, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, produce, NULL), 0);
	while (aux.tail < TOTAL) {
		uint64_t head = aux_head(&aux), tail = aux.tail;
		if (head - tail > SIZE)
			ck_abort_msg("more than the area holds");
		take(&aux, tail, head);
		aux_release(&aux, head);
	}
	pthread_join(thread, NULL);
	ck_assert_uint_eq(page.aux_tail, TOTAL);
	aux_deinit(&aux);
}

static void overwrite(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		data[i % SIZE] = byte_at(i) | 1;
}

TEST(a_snapshot_that_has_not_gone_round_begins_at_the_start)
{
	struct aux aux;
	aux_init_memory(&aux, &page, data, SIZE, true);
	ck_assert_uint_eq(aux_snapshot(&aux).end, 0);
	overwrite(100);
	page.aux_head = 100;
	struct aux_extent extent = aux_snapshot(&aux);
	ck_assert_uint_eq(extent.begin, 0);
	ck_assert_uint_eq(extent.end, 100);
}

/* Whether its head counts on or begins again, what is at the head is the oldest. */
TEST(a_snapshot_that_has_gone_round_is_all_of_it)
{
	for (int counts_on = 0; counts_on < 2; counts_on++) {
		struct aux aux;
		memset(data, 0, sizeof(data));
		aux_init_memory(&aux, &page, data, SIZE, true);
		overwrite(SIZE + 300);
		page.aux_head = counts_on ? SIZE + 300 : 300;
		struct aux_extent extent = aux_snapshot(&aux);
		struct iovec spans[2];
		ck_assert_uint_eq(extent.end - extent.begin, SIZE);
		ck_assert_int_eq(aux_spans(&aux, extent.begin, extent.end, spans), 2);
		ck_assert_ptr_eq(spans[0].iov_base, data + 300);
		ck_assert_uint_eq(spans[0].iov_len, SIZE - 300);
		ck_assert_ptr_eq(spans[1].iov_base, data);
		/* Nothing is released: the tail means nothing here. */
		aux_release(&aux, extent.end);
		ck_assert_uint_eq(page.aux_tail, 0);
	}
}

TEST(an_event_without_an_aux_area_is_reported)
{
	struct perf_event_mmap_page control = {0};
	struct ring ring = {.page = &control, .size = SIZE};
	struct aux aux;
	/* -1 is no event at all. */
	struct sp_error *error = aux_map(&aux, &ring, -1, SIZE * 16, false);
	ck_assert_ptr_nonnull(error);
	sp_error_free(error);
	ck_assert_uint_eq(control.aux_size, SIZE * 16);
	ck_assert_uint_gt(control.aux_offset, SIZE);
}
