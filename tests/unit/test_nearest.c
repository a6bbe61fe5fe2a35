/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nearest.h"

#include <string.h>
#include "test.h"

/* The nearest of the commands and of some options; "" if none is near. */
static const char *nearest_to(const char *typed)
{
	static const char *const names[] = {"info", "list", "record", "report", "script", "stat",
					    "freq", "fields", "children", "max-stack"};
	struct nearest nearest = {.name = NULL};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		nearest_add(&nearest, typed, strlen(typed), names[i]);
	return nearest.name ? nearest.name : "";
}

TEST(nearest_finds_names_with_up_to_two_edits)
{
	ck_assert_str_eq(nearest_to("repotr"), "report");
	ck_assert_str_eq(nearest_to("recrod"), "record");
	ck_assert_str_eq(nearest_to("reprot"), "report");
	ck_assert_str_eq(nearest_to("scipt"), "script");
	ck_assert_str_eq(nearest_to("sttat"), "stat");
	ck_assert_str_eq(nearest_to("chidlern"), "children");
	ck_assert_str_eq(nearest_to("max_stack"), "max-stack");
	ck_assert_str_eq(nearest_to("chlidrne"), "children");
	ck_assert_str_eq(nearest_to("chxxxren"), "");
}

TEST(nearest_finds_names_that_continue_each_other)
{
	ck_assert_str_eq(nearest_to("frequenzy"), "freq");
	ck_assert_str_eq(nearest_to("statistics"), "stat");
	ck_assert_str_eq(nearest_to("rec"), "record");
	ck_assert_str_eq(nearest_to("repo"), "report");
}

TEST(nearest_does_not_guess)
{
	char longest[200] = "";
	ck_assert_str_eq(nearest_to(""), "");
	ck_assert_str_eq(nearest_to("x"), "");
	ck_assert_str_eq(nearest_to("top"), "");
	ck_assert_str_eq(nearest_to("sxxt"), "");
	memset(longest, 'a', sizeof(longest) - 1);
	ck_assert_str_eq(nearest_to(longest), "");
}
