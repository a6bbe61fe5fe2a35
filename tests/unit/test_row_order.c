/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order of rows in successive reports: the rule of overlapping intervals. */
#include "out/row_order.h"

#include <string.h>
#include "out/report.h"
#include "test.h"

static const enum sp_key keys[] = {SP_KEY_COMM};
static const struct report report = {.keys = keys, .key_count = 1};

/* A row of a report: a letter, and its share in percent with the interval's half width. */
struct shown {
	char name;
	double share, half;
};

#define ROWS_MAX 300

#define ORDERED(order, count, ...) ordered((order), (struct shown[]){__VA_ARGS__}, (count))

/* Orders rows, which are by weight. Returns their letters. */
static const char *ordered(struct row_order *order, const struct shown *shown, size_t count)
{
	static char letters[ROWS_MAX + 1];
	static char names[ROWS_MAX][2];
	static struct sp_row rows[ROWS_MAX];
	static struct table_line lines[ROWS_MAX];
	for (size_t i = 0; i < count; i++) {
		names[i][0] = shown[i].name;
		rows[i] = (struct sp_row){
			.comm = names[i],
			.self.share = {shown[i].share, shown[i].share - shown[i].half,
				       shown[i].share + shown[i].half},
		};
		lines[i] = (struct table_line){.row = &rows[i]};
	}
	row_order_apply(order, &report, lines, count);
	for (size_t i = 0; i < count; i++)
		letters[i] = lines[i].row->comm[0];
	letters[count] = '\0';
	return letters;
}

TEST(rows_keep_their_places_while_their_intervals_overlap)
{
	struct row_order order = {0};
	ck_assert_str_eq(ORDERED(&order, 3, {'a', 30, 2}, {'b', 29, 2}, {'c', 5, 1}), "abc");
	ck_assert_str_eq(ORDERED(&order, 3, {'b', 31, 2}, {'a', 28, 2}, {'c', 5, 1}), "abc");
	/* Now they do not. */
	ck_assert_str_eq(ORDERED(&order, 3, {'b', 33, 2}, {'a', 28, 2}, {'c', 5, 1}), "bac");
	ck_assert_str_eq(ORDERED(&order, 3, {'c', 40, 2}, {'a', 30, 2}, {'b', 29, 2}), "cba");
	row_order_deinit(&order);
}

TEST(a_row_that_rises_passes_only_rows_below_its_interval)
{
	struct row_order order = {0};
	ORDERED(&order, 4, {'a', 40, 5}, {'b', 30, 1}, {'c', 20, 1}, {'d', 10, 1});
	/* d overlaps a, but neither b nor c. */
	ck_assert_str_eq(ORDERED(&order, 4, {'a', 40, 5}, {'d', 36, 1}, {'b', 30, 1}, {'c', 20, 1}),
			 "adbc");
	row_order_deinit(&order);
}

TEST(rows_without_weight_are_last)
{
	struct row_order order = {0};
	ORDERED(&order, 3, {'a', 3, 2}, {'b', 2, 2}, {'c', 1, 1});
	ck_assert_str_eq(ORDERED(&order, 3, {'b', 2, 2}, {'c', 1, 1}, {'a', 0, 2}), "bca");
	ck_assert_str_eq(ORDERED(&order, 3, {'c', 2, 2}, {'a', 0, 1}, {'b', 0, 2}), "cba");
	row_order_deinit(&order);
}

TEST(new_rows_are_placed_by_weight)
{
	struct row_order order = {0};
	ORDERED(&order, 2, {'a', 30, 9}, {'b', 20, 9});
	ck_assert_str_eq(ORDERED(&order, 5, {'n', 31, 9}, {'a', 30, 9}, {'m', 25, 9},
				 {'b', 20, 9}, {'o', 1, 1}), "nambo");
	/* A row that is gone leaves no place. */
	ck_assert_str_eq(ORDERED(&order, 3, {'b', 26, 9}, {'m', 25, 9}, {'n', 24, 9}), "nmb");
	row_order_deinit(&order);
}

/* Whatever the order was, no row stands before one with an interval above its own. */
TEST(no_row_is_before_one_that_is_clearly_heavier)
{
	struct row_order order = {0};
	struct shown rows[40];
	unsigned int seed = 7;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < 40; i++) {
			seed = seed * 1103515245 + 12345;
			rows[i] = (struct shown){(char)('A' + i), seed / 65536 % 100, seed / 7 % 9};
		}
		const char *letters = ordered(&order, rows, 40);
		for (size_t i = 0; i < 40; i++)
			for (size_t j = i + 1; j < 40; j++) {
				const struct shown *x = &rows[letters[i] - 'A'];
				const struct shown *y = &rows[letters[j] - 'A'];
				ck_assert(x->share + x->half >= y->share - y->half);
			}
	}
	row_order_deinit(&order);
}

TEST(rows_after_the_first_ones_stay_by_weight)
{
	struct row_order order = {0};
	static struct shown rows[ROWS_MAX];
	for (size_t i = 0; i < ROWS_MAX; i++)
		rows[i] = (struct shown){i + 1 < ROWS_MAX ? 'a' : 'z', (double)(ROWS_MAX - i), .1};
	const char *letters = ordered(&order, rows, ROWS_MAX);
	ck_assert_int_eq(letters[ROWS_MAX - 1], 'z');
	row_order_deinit(&order);
}
