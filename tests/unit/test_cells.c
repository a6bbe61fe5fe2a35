/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/cells.h"
#include "test.h"

static void add(struct cells *cells, uint64_t time_ns, uint32_t thread, uint32_t node)
{
	const struct sp_cell cell = {
		.time_ns = time_ns, .weight = 10, .thread = thread, .node = node, .samples = 1};
	ck_assert(cells_add(cells, &cell));
}

/* Sums of the cells of one thread and node. */
static struct sp_cell sum_of(const struct cells *cells, uint32_t thread, uint32_t node)
{
	struct sp_cell sum = {0};
	for (size_t i = 0; i < cells->count; i++) {
		const struct sp_cell *cell = &cells->items[i];
		if (cell->thread != thread || cell->node != node)
			continue;
		sum.samples += cell->samples;
		sum.weight += cell->weight;
	}
	return sum;
}

TEST(each_sample_has_its_cell_below_the_limit)
{
	struct cells cells = {.limit = 100};
	for (uint64_t i = 0; i < 100; i++)
		add(&cells, 1000003 * (99 - i), (uint32_t)i % 3, 7);
	ck_assert(cells_sort(&cells));
	ck_assert_uint_eq(cells.count, 100);
	ck_assert_uint_eq(cells.shift, 0);
	for (uint64_t i = 0; i < 100; i++) {
		ck_assert_uint_eq(cells.items[i].time_ns, 1000003 * i);
		ck_assert_uint_eq(cells.items[i].thread, (99 - i) % 3);
		ck_assert_uint_eq(cells.items[i].samples, 1);
	}
	cells_deinit(&cells);
}

TEST(equal_cells_are_one)
{
	struct cells cells = {.limit = 100};
	add(&cells, 5, 1, 2);
	add(&cells, 5, 1, 3);
	add(&cells, 5, 1, 2);
	ck_assert(cells_sort(&cells));
	ck_assert_uint_eq(cells.count, 2);
	ck_assert_uint_eq(cells.items[0].samples, 2);
	ck_assert_uint_eq(cells.items[0].weight, 20);
	ck_assert_uint_eq(cells.items[1].node, 3);
	cells_deinit(&cells);
}

TEST(sums_stay_exact_when_bins_widen)
{
	struct cells cells = {.limit = 1000};
	const uint64_t begin_ns = UINT64_C(2971668801147), step_ns = 50000;
	const uint32_t count = 300000;
	for (uint32_t i = 0; i < count; i++)
		add(&cells, begin_ns + i * step_ns, i % 3, i % 2);
	ck_assert_uint_le(cells.count, cells.limit);
	ck_assert_uint_eq(cells.limit, 1000);
	ck_assert(cells_sort(&cells));
	uint64_t width_ns = UINT64_C(1) << cells.shift;
	for (uint32_t thread = 0; thread < 3; thread++)
		for (uint32_t node = 0; node < 2; node++) {
			struct sp_cell sum = sum_of(&cells, thread, node);
			ck_assert_uint_eq(sum.samples, count / 6);
			ck_assert_uint_eq(sum.weight, 10 * (uint64_t)count / 6);
		}
	/* Each inner bin has the samples of its time. */
	for (size_t i = 0; i < cells.count; i++) {
		const struct sp_cell *cell = &cells.items[i];
		ck_assert_uint_eq(cell->time_ns % width_ns, 0);
		if (cell->time_ns < begin_ns || cell->time_ns + width_ns > begin_ns + count * step_ns)
			continue;
		ck_assert_uint_ge(cell->samples, width_ns / step_ns / 6 - 1);
		ck_assert_uint_le(cell->samples, width_ns / step_ns / 6 + 2);
	}
	cells_deinit(&cells);
}

TEST(more_places_than_the_limit_raise_it)
{
	struct cells cells = {.limit = 16};
	for (uint32_t i = 0; i < 1000; i++)
		add(&cells, i % 4, 0, i);
	ck_assert(cells_sort(&cells));
	ck_assert_uint_eq(cells.count, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(sum_of(&cells, 0, i).samples, 1);
	cells_deinit(&cells);
}

/* Equal cells that are far from each other are found when nothing else makes room. */
TEST(distant_equal_cells_are_added_up)
{
	const uint32_t places = 100000;
	struct cells cells = {.limit = 240000};
	for (uint32_t i = 0; i < 3 * places; i++)
		add(&cells, i % 5, 1, i % places);
	ck_assert_uint_eq(cells.limit, 240000);
	ck_assert(cells_sort(&cells));
	ck_assert_uint_eq(cells.count, places);
	for (uint32_t i = 0; i < places; i++) {
		ck_assert_uint_eq(cells.items[i].node, i);
		ck_assert_uint_eq(cells.items[i].samples, 3);
	}
	cells_deinit(&cells);
}

TEST(order_is_by_time_thread_and_node)
{
	struct cells cells = {.limit = 5000};
	for (uint32_t i = 0; i < 3000; i++)
		add(&cells, i % 100 ? i * 7919 % 1000 : UINT64_MAX - i, i * 31 % 7, i * 17 % 11);
	ck_assert(cells_sort(&cells));
	ck_assert_uint_gt(cells.count, 2000);
	for (size_t i = 1; i < cells.count; i++) {
		const struct sp_cell *a = &cells.items[i - 1], *b = &cells.items[i];
		ck_assert(a->time_ns < b->time_ns ||
			  (a->time_ns == b->time_ns &&
			   (a->thread < b->thread || (a->thread == b->thread && a->node < b->node))));
	}
	cells_deinit(&cells);
}

TEST(times_are_of_any_order_and_size)
{
	struct cells cells = {.limit = 64};
	for (uint64_t i = 0; i < 10000; i++)
		add(&cells, i % 2 ? UINT64_MAX - i : i, (uint32_t)i % 2, 0);
	ck_assert_uint_eq(sum_of(&cells, 0, 0).samples, 5000);
	ck_assert_uint_eq(sum_of(&cells, 1, 0).samples, 5000);
	ck_assert_uint_le(cells.count, 64);
	cells_deinit(&cells);
}

TEST(counts_saturate)
{
	struct cells cells = {.limit = 4};
	const struct sp_cell cell = {.weight = UINT64_MAX - 1, .samples = UINT32_MAX};
	ck_assert(cells_add(&cells, &cell));
	ck_assert(cells_add(&cells, &cell));
	ck_assert(cells_sort(&cells));
	ck_assert_uint_eq(cells.count, 1);
	ck_assert_uint_eq(cells.items[0].samples, UINT32_MAX);
	ck_assert(cells.items[0].weight == UINT64_MAX);
	cells_deinit(&cells);
}
