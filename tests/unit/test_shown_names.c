/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions that share their name without parameters. */
#include "frames/shown_names.h"
#include <string.h>
#include "symbol/demangle.h"
#include "test.h"

static const struct {
	const char *dso, *name, *raw, *file;
	uint64_t start;
	const char *shown;
} cases[] = {
	{"/a", "alone", "_Z5alonei", NULL, 0x10, "alone"},
	{"/a", "f", "_Z1fi", NULL, 0x20, "f(int)"},
	{"/a", "f", "_Z1fd", NULL, 0x30, "f(double)"},
	{"/a", "run", "_Z3runi", NULL, 0x40, "run"},
	{"/a", "run", "_Z3runi._omp_fn.0", NULL, 0x50, "run [clone ._omp_fn.0]"},
	{"/a", "C::~C", "_ZN1CD0Ev", NULL, 0x60, "C::~C [deleting]"},
	{"/a", "C::~C", "_ZN1CD1Ev", NULL, 0x70, "C::~C"},
	{"/a", "help", "help", "/s/x/a.c", 0x80, "help (x/a.c)"},
	{"/a", "help", "help", "/s/y/a.c", 0x90, "help (y/a.c)"},
	{"/a", "g", "_ZL1gi", "a.cc", 0xa0, "g (a.cc)"},
	{"/a", "g", "_ZL1gi", "b.cc", 0xb0, "g (b.cc)"},
	{"/a", "g", "_ZL1gd", "a.cc", 0xc0, "g(double)"},
	{"/a", "bare", "bare", NULL, 0xd0, "bare@0xd0"},
	{"/a", "bare", "bare", NULL, 0xe0, "bare@0xe0"},
	{"/a", "m", "m", "/s/u.c", 0xf0, "m (u.c)"},
	{"/a", "m", "m", "/s/v.c", 0x100, "m (v.c)"},
	{"/b", "alone", "_Z5alonei", NULL, 0x10, "alone"},
	/* Files of another dso change no names. */
	{"/b", "n", "n", "/t/u.c", 0x20, "n (u.c)"},
	{"/b", "n", "n", "/t/v.c", 0x30, "n (v.c)"},
};
enum { COUNT = sizeof(cases) / sizeof(*cases) };

static const struct named *add(struct functions *rows, size_t i)
{
	const struct dso dso = {.name = functions_text(rows, "dso"), .is_file = true,
				.path = functions_text(rows, cases[i].dso)};
	const struct named named = {
		.dso = functions_dso(rows, &dso),
		.name = functions_text(rows, cases[i].name),
		.raw = functions_text(rows, cases[i].raw),
		.file = cases[i].file ? functions_text(rows, cases[i].file) : NULL,
		.start = cases[i].start, .place = cases[i].start,
	};
	return functions_named(rows, &named);
}

TEST(names_are_the_shortest_unique_ones)
{
	if (!demangle_available())
		return;
	struct functions rows = {0}, nodes = {0};
	const struct named *named[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		named[i] = add(&rows, i);
	ck_assert(name_functions(&rows, &nodes));
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_str_eq(named[i]->shown, cases[i].shown);
		ck_assert(shown_name_is(named[i], cases[i].shown));
		ck_assert(shown_name_is(named[i], cases[i].name));
		ck_assert_str_eq(named[i]->identity.path, cases[i].dso);
		ck_assert_uint_eq(named[i]->identity.address, cases[i].start);
		ck_assert(named[i]->identity.name_is_shared == !strcmp(cases[i].name, "alone"));
	}
	functions_deinit(&rows);
}

TEST(any_form_of_a_name_is_accepted)
{
	const struct named named = {
		.name = "g", .raw = "_ZL1gi", .file = "/s/x/a.cc", .start = 0x10, .dso = "b.so",
	};
	if (!demangle_available())
		return;
	static const char *const good[] = {
		"g", "g(int)", "g (a.cc)", "g(int) (x/a.cc)", "g(int)@0x10", "g(…)",
		"g [b.so]", "g(int) [lib/b.so]",
	};
	static const char *const bad[] = {
		"g(", "g()", "gx", "g (b.cc)", "g (.cc)", "g(int) ()", "g@0x20", "",
		"g [.so]", "g [c.so]", "h [b.so]", "g(…) (b.cc)",
	};
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ck_assert_msg(shown_name_is(&named, good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(!shown_name_is(&named, bad[i]), "%s", bad[i]);
}

TEST(files_are_the_same_by_path_or_build_id)
{
	struct functions rows = {0}, nodes = {0};
	const char *name = functions_text(&rows, "x"), *one = functions_text(&rows, "01");
	const char *two = functions_text(&rows, "02");
	const char *a = functions_text(&rows, "/a/x"), *b = functions_text(&rows, "/b/x");
	const char *first = functions_dso(&rows, &(struct dso){name, a, one, true, NULL});
	ck_assert_ptr_eq(functions_dso(&rows, &(struct dso){name, b, one, true, NULL}), first);
	ck_assert_ptr_eq(functions_dso(&rows, &(struct dso){name, a, two, true, NULL}), first);
	const char *c = functions_text(&rows, "/c/x");
	const char *other = functions_dso(&rows, &(struct dso){name, c, NULL, true, NULL});
	ck_assert_ptr_ne(other, first);
	const struct function function = {.dso = first, .dso_path = a};
	const struct function second = {.dso = other, .dso_path = c};
	uint32_t index = functions_add(&rows, &function), last = functions_add(&rows, &second);
	ck_assert_uint_ne(index, last);
	ck_assert(name_functions(&rows, &nodes));
	ck_assert_str_eq(rows.items[index].dso, "a/x");
	ck_assert_str_eq(rows.items[last].dso, "c/x");
	functions_deinit(&rows);
}
