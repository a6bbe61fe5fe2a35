/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include "file/damage.h"
#include "test.h"

static void add(struct damage_list *list, uint64_t offset, const char *what, bool of_data)
{
	const struct damage damage = {.shown = {offset, what}, .of_data = of_data};
	damage_list_add(list, &damage);
}

static void is(const struct damage_list *list, size_t index, uint64_t offset, const char *what)
{
	const struct sp_damage *item = damage_list_item(list, index);
	ck_assert_uint_eq(item->offset, offset);
	ck_assert_str_eq(item->what, what);
}

TEST(places_are_sorted_by_offset)
{
	struct damage_list list;
	damage_list_init(&list);
	ck_assert_uint_eq(damage_list_count(&list), 0);
	add(&list, 30, "c", false);
	add(&list, 10, "a", false);
	add(&list, 20, "b", false);
	ck_assert_uint_eq(damage_list_count(&list), 3);
	is(&list, 0, 10, "a");
	is(&list, 1, 20, "b");
	is(&list, 2, 30, "c");
	damage_list_deinit(&list);
}

TEST(equal_damage_is_listed_once)
{
	struct damage_list list;
	damage_list_init(&list);
	add(&list, 10, "a", false);
	add(&list, 10, "b", false);
	add(&list, 10, "a", false);
	ck_assert_uint_eq(damage_list_count(&list), 2);
	is(&list, 0, 10, "a");
	is(&list, 1, 10, "b");
	damage_list_deinit(&list);
}

TEST(the_list_owns_its_texts)
{
	struct damage_list list;
	char text[] = "a";
	damage_list_init(&list);
	add(&list, 10, text, false);
	*text = 'b';
	is(&list, 0, 10, "a");
	damage_list_deinit(&list);
}

TEST(a_full_list_counts)
{
	struct damage_list list;
	damage_list_init(&list);
	for (uint64_t i = 0; i < DAMAGE_LISTED; i++) {
		ck_assert(!damage_list_count_unlisted(&list, i));
		add(&list, i, "bad", false);
	}
	ck_assert_uint_eq(damage_list_count(&list), DAMAGE_LISTED);
	ck_assert(damage_list_count_unlisted(&list, 5000));
	add(&list, 6000, "bad", false);
	/* Listed already: neither listed nor counted again. */
	add(&list, 7, "bad", false);
	ck_assert(!damage_list_count_unlisted(&list, 7));
	ck_assert_uint_eq(damage_list_count(&list), DAMAGE_LISTED + 1);
	is(&list, DAMAGE_LISTED, 5000, "2 more places are damaged");
	damage_list_deinit(&list);
}

TEST(damage_of_the_data_can_be_removed)
{
	struct damage_list list;
	damage_list_init(&list);
	add(&list, 10, "header", false);
	for (uint64_t i = 0; i < DAMAGE_LISTED; i++)
		add(&list, 100 + i, "record", true);
	ck_assert_uint_eq(damage_list_count(&list), DAMAGE_LISTED + 1);
	damage_list_remove_data(&list);
	ck_assert_uint_eq(damage_list_count(&list), 1);
	is(&list, 0, 10, "header");
	damage_list_deinit(&list);
}
