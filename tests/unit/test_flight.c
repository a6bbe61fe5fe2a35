/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/flight.h"
#include "capture/recorder.h"
#include "capture/config/ring_size.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)

static uint64_t ring_kib(uint64_t window_ns, uint64_t freq_hz, uint64_t sample_bytes, size_t cpus)
{
	const struct flight flight = {.on = true, .window_ns = window_ns};
	return flight_ring_bytes(&flight, freq_hz, sample_bytes, cpus) >> 10;
}

TEST(rings_hold_the_window_with_what_samples_hold)
{
	uint64_t dump = ring_size_sample(SP_CALL_GRAPH_DWARF, 8192);
	uint64_t chain = ring_size_sample(SP_CALL_GRAPH_FP, 8192);
	uint64_t plain = ring_size_sample(SP_CALL_GRAPH_NONE, 8192);
	ck_assert_uint_ge(dump, 8192);
	ck_assert_uint_lt(chain, 1000);
	ck_assert_uint_lt(plain, chain);
	/* 5 s of 997 samples of 8.7 KB a second are 43 MB, of 480 bytes 2.4 MB. */
	ck_assert_uint_eq(ring_kib(5 * SECOND, 997, dump, 2), 65536);
	ck_assert_uint_eq(ring_kib(5 * SECOND, 997, chain, 2), 4096);
	ck_assert_uint_ge(flight_reach_ns(65536 << 10, 997, dump), 5 * SECOND);
	ck_assert_uint_lt(flight_reach_ns(32768 << 10, 997, dump), 5 * SECOND);
}

TEST(rings_for_a_window_are_bounded)
{
	ck_assert_uint_eq(ring_kib(3600 * SECOND, 20000, 66000, 2), 65536);
	ck_assert_uint_eq(ring_kib(3600 * SECOND, 20000, 66000, 256), 8192);
	ck_assert_uint_eq(ring_kib(1, 1, 80, 2), 64);
	/* No window, or a period in place of a rate: the caller's own size. */
	ck_assert_uint_eq(ring_kib(0, 997, 80, 2), 0);
	ck_assert_uint_eq(ring_kib(5 * SECOND, 0, 80, 2), 0);
}

/* With many CPUs, the first ring is older than the window when the last one has been copied. */
TEST(a_dump_keeps_the_window_of_its_beginning)
{
	struct event_plan plan = {.clock_id = CLOCK_MONOTONIC};
	struct sp_capture capture = {.config.plan = &plan, .flight = {.on = true, .window_ns = SECOND}};
	capture.tasks.parts.config = &capture.config;
	capture.tasks.parts.retouch = &capture.bank.retouch;
	struct roster *roster = &capture.out.switching.roster;
	uint64_t begin_ns = capture_record_time_ns(&capture);
	capture.flight.dump_ns = begin_ns > 5 * SECOND ? begin_ns - 2 * SECOND : 3 * SECOND;
	ok_or_fail(capture_forget_flight(&capture));
	ck_assert_uint_eq(roster->base_ns, capture.flight.dump_ns - SECOND);
	/* After it, the window moves on. */
	capture.flight.dump_ns = 0;
	ok_or_fail(capture_forget_flight(&capture));
	ck_assert_uint_ge(roster->base_ns, begin_ns - SECOND);
	roster_deinit(roster);
}
