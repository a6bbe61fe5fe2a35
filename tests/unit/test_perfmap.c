/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbol/perfmap.h"

/* A map of the text's first `size` bytes. `more` has what is known of it; its text is replaced. */
static struct perfmap *parse_known(const char *text, size_t size, struct perfmap_text more)
{
	struct perfmap *map = NULL;
	more.text = malloc(size + 1);
	ck_assert_ptr_nonnull(more.text);
	memcpy(more.text, text, size);
	more.size = size;
	more.memory = UINT64_MAX;
	ok_or_fail(perfmap_take(&more, &map));
	return map;
}

static struct perfmap *parse(const char *text)
{
	return parse_known(text, strlen(text), (struct perfmap_text){0});
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
		struct perfmap *map = parse_known(text, size, (struct perfmap_text){0});
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

/* Forms that runtimes, editors and other systems write. */
TEST(perfmap_in_other_forms)
{
	struct perfmap *map = parse("1000\t10\ttabs\r\n0X2000 0XA0 CAPITALS\n"
				    "0000000000003000 4 zeros\n4000 10 a <b> (c) d\n\r\n"
				    "5000 10 \r\n");
	ck_assert_str_eq(name_at(map, 0x1000), "tabs");
	ck_assert_str_eq(name_at(map, 0x209f), "CAPITALS");
	ck_assert_str_eq(name_at(map, 0x3000), "zeros");
	ck_assert_str_eq(name_at(map, 0x4000), "a <b> (c) d");
	ck_assert_str_eq(name_at(map, 0x5000), "-");
	ck_assert_uint_eq(perfmap_bad_lines(map), 2);
	perfmap_free(map);
}

/* perf lets such a symbol reach to the next one, too. */
TEST(perfmap_lines_without_a_size)
{
	struct perfmap *map = parse("3000 0 last\n1000 0 first\n2000 0 same\n2000 10 start\n");
	ck_assert_str_eq(name_at(map, 0x1000), "first");
	ck_assert_str_eq(name_at(map, 0x1fff), "first");
	ck_assert_str_eq(name_at(map, 0x2000), "start");
	ck_assert_str_eq(name_at(map, 0x2010), "same");
	ck_assert_str_eq(name_at(map, 0x3000), "last");
	ck_assert_str_eq(name_at(map, 0x4fff), "last");
	ck_assert_str_eq(name_at(map, 0x5000), "-");
	perfmap_free(map);
	map = parse("ffffffffffffe001 0 over\nffffffffffffdfff 0 below\n");
	ck_assert_uint_eq(perfmap_bad_lines(map), 1);
	ck_assert_str_eq(name_at(map, 0xffffffffffffdfff), "below");
	perfmap_free(map);
}

/* After its process has ended, no line is half written. */
TEST(perfmap_that_is_whole)
{
	static const char text[] = "1000 100 alpha\n2000 10 bet";
	struct perfmap *map = parse_known(text, strlen(text), (struct perfmap_text){.whole = true});
	ck_assert_str_eq(name_at(map, 0x2008), "bet");
	perfmap_free(map);
	/* The recorder noted an earlier size: what was written since is of a later time. */
	const struct map_mark mark = {.size = strlen(text) - 2};
	map = parse_known(text, strlen(text), (struct perfmap_text){
		.whole = true, .marks = &mark, .mark_count = 1});
	ck_assert_uint_eq(perfmap_count(map), 1);
	perfmap_free(map);
}

static const char *timed_name(const struct perfmap *map, size_t index)
{
	struct perfmap_entry entry;
	const struct perfmap_timed timed = perfmap_timed(map, index);
	ck_assert(perfmap_find_timed(map, timed.offset + timed.size - 1, &entry));
	ck_assert_uint_eq(entry.start, timed.start);
	ck_assert_uint_eq(entry.end - entry.start, timed.size);
	return entry.name;
}

TEST(perfmap_marks_give_times)
{
	static const char first[] = "1000 100 alpha\n5000 10 alone\n", second[] = "1080 100 beta\n",
			  third[] = "1000 10 gamma\n7000 10 late\n7000 10 later\n";
	char text[200];
	const struct map_mark marks[] = {
		{50, strlen(first)},
		{100, strlen(first) + strlen(second)},
		{200, strlen(first) + strlen(second) + strlen(third)},
	};
	snprintf(text, sizeof(text), "%s%s%s", first, second, third);
	struct perfmap *map = parse_known(text, strlen(text), (struct perfmap_text){
		.marks = marks, .mark_count = 3, .from_ns = 7});
	/* Only what overlaps code of another time has one. */
	ck_assert_uint_eq(perfmap_timed_count(map), 3);
	ck_assert_str_eq(timed_name(map, 0), "alpha");
	ck_assert_str_eq(timed_name(map, 1), "beta");
	ck_assert_str_eq(timed_name(map, 2), "gamma");
	ck_assert_uint_eq(perfmap_timed(map, 0).time_ns, 7);
	ck_assert_uint_eq(perfmap_timed(map, 1).time_ns, 100);
	ck_assert_uint_eq(perfmap_timed(map, 2).time_ns, 200);
	ck_assert_str_eq(name_at(map, 0x5000), "alone");
	ck_assert_str_eq(name_at(map, 0x7000), "later");
	ck_assert(!perfmap_is_ambiguous(map, 0x1000));
	struct perfmap_entry entry;
	ck_assert(!perfmap_find_timed(map, 0x100 + 0x100 + 0x10, &entry));
	perfmap_free(map);
	/* A process that runs inherited code: each line counts for it alone. */
	map = parse_known(text, strlen(text), (struct perfmap_text){
		.marks = marks, .mark_count = 1, .inherited = true, .from_ns = 7});
	ck_assert_uint_eq(perfmap_timed_count(map), 2);
	ck_assert_uint_eq(perfmap_timed(map, 1).time_ns, 7);
	perfmap_free(map);
}

/* An entry that has ended hides the others. */
TEST(perfmap_is_ambiguous_after_the_end_of_another_entry)
{
	struct perfmap *map = parse("1025 fdb old\n1000 30 ended\n1020 e0 new\n1050 10 short\n");
	ck_assert_str_eq(name_at(map, 0x1070), "new");
	ck_assert(perfmap_is_ambiguous(map, 0x1070));
	ck_assert(!perfmap_is_ambiguous(map, 0x1010));
	perfmap_free(map);
}

TEST(perfmap_without_marks_is_ambiguous)
{
	struct perfmap *map = parse("1000 100 old\n1000 80 new\n2000 10 same\n2000 10 same\n");
	ck_assert(perfmap_is_ambiguous(map, 0x1000));
	ck_assert(!perfmap_is_ambiguous(map, 0x1080));
	ck_assert(!perfmap_is_ambiguous(map, 0x2000));
	ck_assert(!perfmap_is_ambiguous(map, 0x3000));
	perfmap_free(map);
}
