/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/config/ring_size.h"

#include "base/cleanup.h"
#include "event/rights.h"
#include "test.h"

#define FP SP_CALL_GRAPH_FP
#define DWARF SP_CALL_GRAPH_DWARF
#define LBR SP_CALL_GRAPH_LBR
#define GIB UINT64_C(1048576)
#define SECOND UINT64_C(1000000000)

/* Rings of KiB for each CPU, as wanted, and as may be locked: `lock_kb` of RLIMIT_MEMLOCK. */
static const struct row {
	uint64_t freq_hz;
	enum sp_call_graph kind;
	uint32_t stack_bytes, largest_bytes;
	size_t cpus;
	uint64_t memory_kb, lock_kb, wanted_kib, locked_kib;
} rows[] = {
	/* At the default rate, as ever. */
	{997, SP_CALL_GRAPH_NONE, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 512, 512},
	{997, FP, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 512, 512},
	{997, FP, 0, 0, 2, 8 * GIB, 8192, 512, 512},
	{997, FP, 0, 0, 2, 8 * GIB, 0, 512, 256},
	{0, FP, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 512, 512},
	/* 200 ms of 20,000 samples of 480 bytes a second are 1.9 MB, of 1,256 bytes 5 MB. */
	{20000, SP_CALL_GRAPH_NONE, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 512, 512},
	{20000, FP, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 2048, 2048},
	{20000, FP, 0, 0, 2, 8 * GIB, 8192, 2048, 2048},
	{20000, FP, 0, 0, 2, 8 * GIB, 64, 2048, 256},
	{20000, LBR, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 8192, 8192},
	{100000, FP, 0, 0, 2, 8 * GIB, UINT64_MAX >> 10, 16384, 16384},
	/* Copies of stacks: 200 ms of 8.7 KB, 50 ms of the largest. */
	{0, DWARF, 8192, 0, 2, 8 * GIB, UINT64_MAX >> 10, 2048, 2048},
	{997, DWARF, 8192, 0, 2, 8 * GIB, UINT64_MAX >> 10, 2048, 2048},
	{997, DWARF, 8192, 65528, 2, 8 * GIB, UINT64_MAX >> 10, 4096, 4096},
	{997, DWARF, 8192, 65528, 2, 8 * GIB, 8192, 4096, 4096},
	{997, DWARF, 8192, 65528, 2, 8 * GIB, 1024, 4096, 512},
	{4999, DWARF, 8192, 0, 2, 8 * GIB, UINT64_MAX >> 10, 16384, 16384},
	{UINT64_MAX, DWARF, 65528, 65528, 2, 8 * GIB, UINT64_MAX >> 10, 16384, 16384},
	/* 1 % of the memory. */
	{20000, FP, 0, 0, 4, GIB / 2, UINT64_MAX >> 10, 1024, 1024},
	{20000, DWARF, 8192, 0, 2, GIB, UINT64_MAX >> 10, 4096, 4096},
	{997, FP, 0, 0, 4, GIB / 16, UINT64_MAX >> 10, 128, 128},
	{20000, DWARF, 8192, 0, 64, 64 * GIB, UINT64_MAX >> 10, 8192, 8192},
	{997, DWARF, 8192, 0, 1000, 64 * GIB, UINT64_MAX >> 10, 512, 512},
	{20000, DWARF, 8192, 0, 2, 0, UINT64_MAX >> 10, 16384, 16384},
	{20000, FP, 0, 0, 100000, 1, UINT64_MAX >> 10, 4, 4},
};

TEST(switches_have_large_rings_if_memory_permits)
{
	struct ring_demand demand = {.sample_bytes = 480, .freq_hz = 997, .cpus = 2,
				     .memory_bytes = 8 * GIB << 10, .least_bytes = 8 << 20};
	ck_assert_uint_eq(ring_size_default(&demand), 8 << 20);
	demand.freq_hz = 200000;
	ck_assert_uint_eq(ring_size_default(&demand), 16 << 20);
	demand.cpus = 64;
	ck_assert_uint_eq(ring_size_default(&demand), 1 << 20);
}

TEST(rings_hold_200_ms_within_memory_and_lock_limit)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		const struct ring_demand demand = {
			.sample_bytes = ring_size_sample(row->kind, row->stack_bytes),
			.largest_bytes = row->largest_bytes,
			.freq_hz = row->freq_hz,
			.cpus = row->cpus,
			.memory_bytes = row->memory_kb << 10,
		};
		const struct rights rights = {
			.mlock_kb = 516, .memlock_bytes = row->lock_kb << 10,
			.online_cpus = (uint32_t)row->cpus, .page_size = 4096,
			.paranoid = 2,
		};
		uint64_t bytes = ring_size_default(&demand);
		ck_assert_msg(bytes >> 10 == row->wanted_kib, "row %zu: %llu KiB wanted", i,
			      (unsigned long long)bytes >> 10);
		CLEANUP(event_notes_deinit) struct event_notes notes = {0};
		struct ring_pages pages;
		ok_or_fail(rights_fit_rings(&rights, (uint32_t)row->cpus,
					    (struct ring_pages){(uint32_t)(bytes >> 12), 32}, &notes,
					    &pages));
		ck_assert_msg(pages.samples * 4 == row->locked_kib, "row %zu: %u KiB locked", i,
			      pages.samples * 4);
	}
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

static uint64_t window_kib(uint64_t window_ns, uint64_t freq_hz, uint64_t sample_bytes, size_t cpus)
{
	const struct ring_demand demand = {.sample_bytes = sample_bytes, .freq_hz = freq_hz,
					   .cpus = cpus};
	return ring_size_window(window_ns, &demand) >> 10;
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
	ck_assert_uint_eq(window_kib(5 * SECOND, 997, dump, 2), 65536);
	ck_assert_uint_eq(window_kib(5 * SECOND, 997, chain, 2), 4096);
	ck_assert_uint_ge(ring_size_reach_ns(65536 << 10, 997, dump), 5 * SECOND);
	ck_assert_uint_lt(ring_size_reach_ns(32768 << 10, 997, dump), 5 * SECOND);
}

TEST(rings_for_a_window_are_bounded)
{
	ck_assert_uint_eq(window_kib(3600 * SECOND, 20000, 66000, 2), 65536);
	ck_assert_uint_eq(window_kib(3600 * SECOND, 20000, 66000, 256), 8192);
	ck_assert_uint_eq(window_kib(1, 1, 80, 2), 64);
	/* No window, or a period in place of a rate. */
	ck_assert_uint_eq(window_kib(0, 997, 80, 2), 0);
	ck_assert_uint_eq(window_kib(5 * SECOND, 0, 80, 2), 0);
}
