/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "term.h"
#include "test.h"

TEST(text_every_code_point_comes_back_and_surrogates_do_not)
{
	for (uint32_t code = 1; code <= 0x10ffff; code++) {
		char buffer[5] = {0};
		size_t size = text_put(code, buffer);
		const char *at = buffer;
		uint32_t got = text_next(&at);
		if (code >= 0xd800 && code <= 0xdfff) {
			ck_assert_uint_eq(got, TEXT_INVALID);
			continue;
		}
		ck_assert_uint_eq(got, code);
		ck_assert_ptr_eq(at, buffer + size);
	}
}

TEST(text_bytes_that_are_not_utf8_are_passed_one_by_one)
{
	static const char *const wrong[] = {"\xff", "\xc0\x80", "\xe0\x80\x80", "\xf5\x80\x80\x80",
					    "\xc3", "\xe2\x82", "\x80", "\xed\xa0\x80"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *at = wrong[i];
		ck_assert_uint_eq(text_next(&at), TEXT_INVALID);
		ck_assert_ptr_eq(at, wrong[i] + 1);
	}
	const char *after = "\xe2\x82!";
	text_next(&after);
	text_next(&after);
	ck_assert_uint_eq(text_next(&after), '!');
	ck_assert_uint_eq(text_next(&after), 0);
}

static char *written; /* by the last OUTPUT() */

#define OUTPUT(...)                                                            \
	do {                                                                  \
		size_t size_;                                                 \
		free(written);                                                \
		FILE *out = open_memstream(&written, &size_);                 \
		ck_assert_ptr_nonnull(out);                                   \
		__VA_ARGS__                                                   \
		fclose(out);                                                  \
	} while (0)

TEST(text_plain_ends_at_the_first_byte_that_is_not)
{
	char text[600];
	for (size_t size = 0; size < sizeof(text) - 1; size += size < 40 ? 1 : 37) {
		memset(text, 'x', size);
		text[size] = '\0';
		ck_assert_uint_eq(text_plain_size(text), size);
		for (int byte = 1; byte < 256 && size; byte++) {
			size_t at = (size_t)byte * 7919 % size;
			bool plain = byte >= 0x20 && byte < 0x7f;
			text[at] = (char)byte;
			ck_assert_uint_eq(text_plain_size(text), plain ? size : at);
			text[at] = 'x';
		}
	}
}

TEST(json_is_valid_whatever_the_strings_hold)
{
	OUTPUT({
		struct json json = {.out = out};
		json_begin_lines(&json, NULL, '{');
		json_string(&json, "a\"b", "q\" b\\ n\n e\x1b \xff\xc3 \xc3\xa9");
		json_begin_lines(&json, "rows", '[');
		json_begin(&json, NULL, '{');
		json_double(&json, "nan", NAN);
		json_double(&json, "inf", 1.0 / 0.0);
		json_double(&json, "third", 1.0 / 3.0);
		json_end(&json, '}');
		json_begin(&json, NULL, '[');
		json_signed(&json, NULL, -1);
		json_unsigned(&json, NULL, UINT64_MAX);
		json_end(&json, ']');
		json_end_lines(&json, ']');
		json_begin_lines(&json, "none", '[');
		json_end_lines(&json, ']');
		json_bool(&json, "last", false);
		json_end_lines(&json, '}');
	});
	ck_assert_str_eq(written,
			 "{\n"
			 " \"a\\\"b\": \"q\\\" b\\\\ n\\n e\\u001b \xef\xbf\xbd\xef\xbf\xbd \xc3\xa9\",\n"
			 " \"rows\": [\n"
			 "  {\"nan\": null, \"inf\": null, \"third\": 0.3333333333},\n"
			 "  [-1, 18446744073709551615]\n"
			 " ],\n"
			 " \"none\": [],\n"
			 " \"last\": false\n"
			 "}\n");
}

TEST(term_writes_no_control_character_and_cuts_at_the_width)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct term utf8 = {.utf8 = true}, plain = {0};
	OUTPUT(ck_assert_int_eq(term_put(&plain, "a\x1b[31mb\n\xc3\xa9", 0, out), 9););
	ck_assert_str_eq(written, "a?[31mb??");
	OUTPUT(ck_assert_int_eq(term_put(&utf8, "a\x1b" "b\xc2\x9b\xe2\x80\xae\xff", 0, out), 6););
	ck_assert_str_eq(written, "a\xef\xbf\xbd" "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	OUTPUT(ck_assert_int_eq(term_put(&utf8, "abcdef", 4, out), 4););
	ck_assert_str_eq(written, "abc…");
	OUTPUT(ck_assert_int_eq(term_put(&plain, "abcdef", 4, out), 4););
	ck_assert_str_eq(written, "abc~");
	OUTPUT(ck_assert_int_eq(term_put(&utf8, "abcd", 4, out), 4););
	ck_assert_str_eq(written, "abcd");
	OUTPUT(ck_assert_int_eq(term_put(&utf8, "漢字x", 4, out), 3););
	ck_assert_str_eq(written, "漢…");
}
