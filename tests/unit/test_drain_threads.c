/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ring_bank/drain_threads.h"
#include <poll.h>
#include "simulated_cpus.h"

static void all_adds_up(const struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->cpus; i++) {
		const struct simulated_cpu *cpu = &simulation->cpu[i];
		ck_assert_uint_eq(cpu->wrong, 0);
		ck_assert_uint_eq(cpu->seen, cpu->made);
		ck_assert_uint_eq(cpu->made + cpu->dropped, simulation->records);
	}
}

TEST(drain_threads_bring_all_of_many_cpus)
{
	struct simulation simulation = {
		.cpus = 256, .threads = 8, .ring_bytes = 16384, .record_bytes = 104,
		.records = 400, .burst = 50, .pause_us = 500,
	};
	struct drain_threads_counts counts = simulation_run(&simulation);
	all_adds_up(&simulation);
	ck_assert_uint_eq(counts.threads, 8);
	simulation_deinit(&simulation);
}

TEST(drain_threads_count_with_what_the_producers_drop)
{
	/* No pause: rings of eight records overflow. */
	struct simulation simulation = {
		.cpus = 8, .threads = 3, .ring_bytes = 65536, .record_bytes = 8192,
		.records = 2000,
	};
	simulation_run(&simulation);
	all_adds_up(&simulation);
	simulation_deinit(&simulation);
}

/* Each time, although the reader empties the ring by itself too. */
TEST(drain_threads_wake_the_reader_for_what_waits)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 16384, 0);
	const uint64_t one = 1;
	const struct drain_place place = {.ring = &ring, .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	const struct drain_threads_options options = {
		.places = &place, .count = 1, .threads = 1, .relay_bytes = 65536,
		.record_max = 104, .notify_bytes = 104,
	};
	struct drain_threads *drain_threads;
	ck_assert_int_ge(place.fd, 0);
	ok_or_fail(drain_threads_new(&options, &drain_threads));
	struct pollfd told = {.fd = drain_threads_fd(drain_threads), .events = POLLIN};
	for (int i = 0; i < 3; i++) {
		drain_threads_move(drain_threads);
		ck_assert_int_eq(poll(&told, 1, 0), 0);
		ck_assert(memory_ring_produce(&memory, 104, 1));
		ck_assert_int_eq(write(place.fd, &one, sizeof(one)), sizeof(one));
		ck_assert_int_eq(poll(&told, 1, 5000), 1);
		ring_release(drain_threads_ring(drain_threads, 0),
			     ring_head(drain_threads_ring(drain_threads, 0)));
	}
	drain_threads_free(drain_threads);
	close(place.fd);
	memory_ring_deinit(&memory);
}

/* Nothing writes to the descriptor: some records wake no thread. */
TEST(drain_threads_that_poll_need_no_event)
{
	struct memory_ring memory;
	struct ring ring = memory_ring_init(&memory, 16384, 0);
	const struct drain_place place = {
		.ring = &ring, .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
	};
	const struct drain_threads_options options = {
		.places = &place, .count = 1, .threads = 1, .relay_bytes = 65536,
		.record_max = 104, .notify_bytes = 104, .polls = true,
	};
	struct drain_threads *drain_threads;
	ck_assert_int_ge(place.fd, 0);
	ok_or_fail(drain_threads_new(&options, &drain_threads));
	struct pollfd told = {.fd = drain_threads_fd(drain_threads), .events = POLLIN};
	ck_assert(memory_ring_produce(&memory, 104, 1));
	ck_assert_int_eq(poll(&told, 1, 5000), 1);
	drain_threads_free(drain_threads);
	close(place.fd);
	memory_ring_deinit(&memory);
}

/* Threads of cores drain CPUs in another order than the caller's. */
TEST(a_full_ring_is_that_of_its_index)
{
	struct memory_ring full, other;
	struct ring rings[] = {memory_ring_init(&full, 16384, 0),
			       memory_ring_init(&other, 16384, 0)};
	const struct drain_place places[] = {{.ring = &rings[0], .group = 1}, {.ring = &rings[1]}};
	const struct drain_threads_options options = {
		.places = places, .count = 2, .threads = 2, .relay_bytes = 65536,
		.record_max = 104, .by_reader = true,
	};
	struct drain_threads *drain_threads;
	ok_or_fail(drain_threads_new(&options, &drain_threads));
	while (memory_ring_produce(&full, 104, 1))
		;
	drain_threads_move(drain_threads);
	ck_assert(drain_threads_was_full(drain_threads, 0));
	ck_assert(!drain_threads_was_full(drain_threads, 1));
	drain_threads_free(drain_threads);
	memory_ring_deinit(&full);
	memory_ring_deinit(&other);
}

TEST(drain_threads_are_as_many_as_is_worthwhile)
{
	ck_assert_uint_eq(drain_threads_worthwhile(2, 0), 0);
	ck_assert_uint_eq(drain_threads_worthwhile(64, 0), 0);
	ck_assert_uint_eq(drain_threads_worthwhile(256, 0), 8);
	ck_assert_uint_eq(drain_threads_worthwhile(2, 8192), 2);
	ck_assert_uint_eq(drain_threads_worthwhile(16, 8192), 16);
	ck_assert_uint_eq(drain_threads_worthwhile(64, 8192), 16);
	ck_assert_uint_eq(drain_threads_worthwhile(256, 8192), 32);
}

TEST(drain_threads_bound_their_memory)
{
	ck_assert_uint_eq(drain_threads_relay_bytes(131072, 2, 8192), 16 << 20);
	ck_assert_uint_eq(drain_threads_relay_bytes(524288, 2, 0), 2 << 20);
	ck_assert_uint_eq(drain_threads_relay_bytes(524288, 256, 8192), 2 << 20);
	/* Never less than two of what is behind it. */
	ck_assert_uint_eq(drain_threads_relay_bytes(64 << 20, 4, 8192), 128 << 20);
}
