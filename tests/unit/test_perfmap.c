/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbol/perfmap.h"

static struct perfmap *parse(const char *text)
{
	struct perfmap *map = NULL;
	ok_or_fail(perfmap_parse(text, strlen(text), &map));
	return map;
}

static const char *name_at(const struct perfmap *map, uint64_t ip)
{
	struct perfmap_entry entry;
	if (!perfmap_find(map, ip, &entry))
		return "-";
	ck_assert(entry.start <= ip && ip < entry.end);
	return entry.name;
}

TEST(perfmap_reads_lines)
{
	struct perfmap *map = parse("1000 10 first\n0x2000 0x20 two words\n3000 4 last\n");
	ck_assert_uint_eq(perfmap_count(map), 3);
	ck_assert_uint_eq(perfmap_bad_lines(map), 0);
	ck_assert_str_eq(name_at(map, 0xfff), "-");
	ck_assert_str_eq(name_at(map, 0x1000), "first");
	ck_assert_str_eq(name_at(map, 0x100f), "first");
	ck_assert_str_eq(name_at(map, 0x1010), "-");
	ck_assert_str_eq(name_at(map, 0x201f), "two words");
	ck_assert_str_eq(name_at(map, 0x3003), "last");
	ck_assert_str_eq(name_at(map, 0x3004), "-");
	perfmap_free(map);
}

TEST(perfmap_passes_over_bad_lines)
{
	struct perfmap *map =
		parse("\nx 10 a\n1000\n1000 10\n1000 10 \n"
		      "ffffffffffffffff 10 over\n11111111111111111 1 long\n20 1 ok\n");
	ck_assert_uint_eq(perfmap_count(map), 1);
	ck_assert_uint_eq(perfmap_bad_lines(map), 7);
	ck_assert_str_eq(name_at(map, 0x20), "ok");
	perfmap_free(map);
}

/* Read at any moment while it is written: no name, no size is half of one. */
TEST(perfmap_that_grows)
{
	static const char text[] = "1000 100 alpha\n1000 100 beta\n2000 1000 gamma\n";
	for (size_t size = 0; size < sizeof(text); size++) {
		struct perfmap *map = NULL;
		ok_or_fail(perfmap_parse(text, size, &map));
		ck_assert_str_eq(name_at(map, 0x1080), size < 15 ? "-" : size < 29 ? "alpha" : "beta");
		ck_assert_str_eq(name_at(map, 0x2008), size + 1 < sizeof(text) ? "-" : "gamma");
		perfmap_free(map);
	}
}

TEST(perfmap_empty)
{
	struct perfmap *map = parse("");
	ck_assert_str_eq(name_at(map, 0), "-");
	perfmap_free(map);
}

TEST(perfmap_later_line_holds)
{
	/*
	 * V8 does this when it compiles a function anew, moves one, or reuses the space of several.
	 */
	struct perfmap *map = parse("1000 100 old\n1000 100 new\n"
				    "2000 10 small\n1f00 1000 over all\n"
				    "3000 100 wide\n3040 10 within\n");
	ck_assert_str_eq(name_at(map, 0x1000), "new");
	ck_assert_str_eq(name_at(map, 0x2005), "over all");
	ck_assert_str_eq(name_at(map, 0x3000), "wide");
	ck_assert_str_eq(name_at(map, 0x3045), "within");
	ck_assert_str_eq(name_at(map, 0x3050), "wide");
	perfmap_free(map);
}

/* Against the plain reading: of the lines that cover an address, the last. */
TEST(perfmap_agrees_with_a_linear_search)
{
	enum { LINES = 400, SPACE = 3000 };
	static unsigned int starts[LINES], sizes[LINES];
	static char text[LINES * 40];
	size_t used = 0;
	srand(1);
	for (int i = 0; i < LINES; i++) {
		starts[i] = (unsigned int)rand() % SPACE;
		sizes[i] = 1 + (unsigned int)rand() % (i % 10 ? 30 : 500);
		used += (size_t)sprintf(text + used, "%x %x f%d\n", starts[i], sizes[i], i);
	}
	struct perfmap *map = parse(text);
	for (unsigned int ip = 0; ip < SPACE + 600; ip++) {
		char expected[16] = "-";
		for (int i = 0; i < LINES; i++)
			if (starts[i] <= ip && ip < starts[i] + sizes[i])
				sprintf(expected, "f%d", i);
		ck_assert_str_eq(name_at(map, ip), expected);
	}
	perfmap_free(map);
}
