/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sprof/profile.h>
#include "profile/analysis_options.h"
#include "test.h"

TEST(keys_come_back_by_their_names)
{
	enum sp_key key;
	for (enum sp_key i = 0; i <= SP_KEY_TRACE; i++) {
		ck_assert(sp_key_parse(sp_key_name(i), &key));
		ck_assert_int_eq(key, i);
	}
	ck_assert(sp_key_parse("sym", &key));
	ck_assert_int_eq(key, SP_KEY_SYMBOL);
	ck_assert(!sp_key_parse("symbols", &key));
	ck_assert(!sp_key_parse("field", &key));
	ck_assert(!sp_key_parse("", &key));
	ck_assert_ptr_null(sp_key_name(SP_KEY_TRACE + 1));
	ck_assert_ptr_null(sp_key_name(SP_KEY_FIELD + SP_FIELDS_MAX));
	ck_assert_str_eq(sp_key_name(SP_KEY_FIELD), "field");
}

TEST(a_number_between_the_keys_and_the_fields_is_refused)
{
	const enum sp_key keys[] = {SP_KEY_COMM, (enum sp_key)(SP_KEY_TRACE + 1)};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2};
	const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows};
	struct analysis_options copy;
	struct sp_error *error = analysis_options_copy(&copy, &options);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(sp_error_code(error), SP_ERROR_INVALID);
	sp_error_free(error);
}
