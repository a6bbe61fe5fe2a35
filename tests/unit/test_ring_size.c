/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ring_size.h"
#include "test.h"

static uint64_t size_kib(uint32_t stack_bytes, uint32_t stack_most, uint64_t freq_hz, size_t cpus)
{
	const struct ring_demand demand = {stack_bytes, stack_most, freq_hz, cpus};
	return ring_size_default(&demand) >> 10;
}

TEST(rings_hold_what_comes_while_the_drain_waits)
{
	ck_assert_uint_eq(size_kib(0, 0, 997, 2), 512);
	ck_assert_uint_eq(size_kib(0, 0, 20000, 2), 512);
	ck_assert_uint_eq(size_kib(8192, 0, 0, 2), 2048);
	ck_assert_uint_eq(size_kib(8192, 0, 997, 2), 2048);
	/* 50 ms of 997 samples of 66 KB a second are 3.3 MB. */
	ck_assert_uint_eq(size_kib(8192, 65528, 997, 2), 4096);
	/* 80 ms of 4,999 samples of 8.7 KB a second are 3.5 MB. */
	ck_assert_uint_eq(size_kib(8192, 0, 4999, 2), 4096);
	ck_assert_uint_eq(size_kib(8192, 65528, 4999, 2), 8192);
	ck_assert_uint_eq(size_kib(8192, 0, 20000, 2), 8192);
	ck_assert_uint_eq(size_kib(65528, 65528, UINT64_MAX, 2), 8192);
}

TEST(many_cpus_share_what_is_locked)
{
	ck_assert_uint_eq(size_kib(8192, 0, 20000, 16), 8192);
	ck_assert_uint_eq(size_kib(8192, 0, 20000, 32), 4096);
	ck_assert_uint_eq(size_kib(8192, 0, 20000, 100), 2048);
	ck_assert_uint_eq(size_kib(8192, 0, 20000, 1000), 2048);
}

TEST(the_drain_is_woken_long_before_a_ring_is_full)
{
	for (uint64_t bytes = 4096; bytes <= UINT64_C(1) << 31; bytes *= 2) {
		ck_assert_uint_le(ring_size_watermark(bytes), bytes / 4);
		ck_assert_uint_gt(ring_size_watermark(bytes), 0);
	}
	ck_assert_uint_eq(ring_size_watermark(UINT64_C(512) << 10), 128 << 10);
	ck_assert_uint_eq(ring_size_watermark(UINT64_C(16) << 20), 256 << 10);
}
