/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "samples/time_bins.h"
#include "test.h"

static uint64_t sum(const struct time_bins *bins)
{
	uint64_t all = 0;
	for (size_t i = 0; i < TIME_BINS; i++)
		all += bins->counts[i];
	return all;
}

/* Sums samples in [begin_ns, end_ns); both ends are bin borders. */
static uint64_t sum_between(const struct time_bins *bins, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t all = 0;
	for (size_t i = 0; i < TIME_BINS; i++) {
		uint64_t at_ns = (bins->first + i) << bins->shift;
		if (bins->counts[i] && at_ns >= begin_ns && at_ns < end_ns)
			all += bins->counts[i];
	}
	return all;
}

TEST(bins_keep_each_sample_while_they_widen)
{
	struct time_bins bins = {0};
	const uint64_t start_ns = UINT64_C(2971668801147);
	for (uint64_t i = 0; i < 100000; i++)
		time_bins_add(&bins, start_ns + i * 50000, 1);
	ck_assert_uint_eq(sum(&bins), 100000);
	uint64_t used = bins.highest - bins.lowest + 1;
	ck_assert_uint_le(used, TIME_BINS);
	ck_assert_uint_gt(used, TIME_BINS / 8);
	ck_assert_uint_eq(bins.lowest, start_ns >> bins.shift);
	ck_assert_uint_eq(bins.highest, (start_ns + UINT64_C(99999) * 50000) >> bins.shift);
	/* Each inner bin has what falls into its time. */
	for (uint64_t n = bins.lowest + 1; n < bins.highest; n++) {
		uint64_t width_ns = UINT64_C(1) << bins.shift;
		uint64_t count = bins.counts[n - bins.first];
		ck_assert_uint_ge(count, width_ns / 50000);
		ck_assert_uint_le(count, width_ns / 50000 + 1);
	}
}

TEST(bins_accept_times_in_any_order)
{
	struct time_bins up = {0}, down = {0};
	for (uint64_t i = 0; i < 5000; i++) {
		time_bins_add(&up, 1 + i * 1000, 1);
		time_bins_add(&down, 1 + (4999 - i) * 1000, 1);
	}
	ck_assert_uint_eq(sum(&up), 5000);
	ck_assert_uint_eq(sum(&down), 5000);
	uint64_t border_ns = UINT64_C(1) << 20;
	ck_assert_uint_lt(up.shift, 20);
	ck_assert_uint_eq(sum_between(&up, 0, border_ns), 1049);
	ck_assert_uint_eq(sum_between(&down, 0, border_ns), 1049);
}

TEST(bins_accept_the_extremes_of_time)
{
	struct time_bins bins = {0};
	time_bins_add(&bins, UINT64_MAX, 1);
	time_bins_add(&bins, 1, 1);
	time_bins_add(&bins, UINT64_MAX / 2, 3);
	ck_assert_uint_eq(sum(&bins), 5);
	ck_assert_uint_eq(sum_between(&bins, UINT64_C(1) << 62, UINT64_C(1) << 63), 3);
}

/* Samples of 0 to 799 us in two parts; the second begins at sample `split`. */
static struct time_bins in_two_parts(uint64_t split)
{
	struct time_bins parts[2] = {0};
	for (uint64_t i = 0; i < 800; i++)
		time_bins_add(&parts[i >= split], i * 1024, 1);
	time_bins_merge(&parts[0], &parts[1]);
	time_bins_finish(&parts[0]);
	return parts[0];
}

TEST(finished_bins_do_not_depend_on_the_order)
{
	struct time_bins whole = in_two_parts(800);
	ck_assert_uint_eq(sum(&whole), 800);
	for (uint64_t split = 1; split < 800; split += 7) {
		struct time_bins other = in_two_parts(split);
		ck_assert_uint_eq(other.shift, whole.shift);
		ck_assert_uint_eq(other.lowest, whole.lowest);
		ck_assert_uint_eq(other.highest, whole.highest);
		for (uint64_t i = whole.lowest; i <= whole.highest; i++)
			ck_assert_uint_eq(other.counts[i - other.first], whole.counts[i - whole.first]);
	}
}

TEST(merged_bins_have_the_samples_of_both)
{
	struct time_bins wide = {0}, narrow = {0}, before = {0}, none = {0};
	for (uint64_t i = 0; i < 1000; i++) {
		time_bins_add(&wide, 5000000000 + i * 3000000, 1);
		time_bins_add(&narrow, 6000000000 + i * 100, 2);
		time_bins_add(&before, 1000000000 + i * 777777, 1);
	}
	ck_assert_uint_ne(wide.shift, narrow.shift);
	struct time_bins merged = narrow;
	time_bins_merge(&merged, &wide);
	ck_assert_uint_eq(sum(&merged), 3000);
	time_bins_merge(&wide, &narrow);
	ck_assert_uint_eq(sum(&wide), 3000);
	time_bins_merge(&wide, &before);
	time_bins_merge(&wide, &none);
	ck_assert_uint_eq(sum(&wide), 4000);
	ck_assert_uint_le(wide.lowest << wide.shift, 1000000000);
	time_bins_merge(&none, &wide);
	ck_assert_uint_eq(sum(&none), 4000);
}
