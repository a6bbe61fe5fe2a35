/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sprof/profile.h>
#include "test.h"

TEST(keys_come_back_by_their_names)
{
	enum sp_key key;
	for (enum sp_key i = 0; i < SP_KEY_FIELD; i++) {
		ck_assert(sp_key_parse(sp_key_name(i), &key));
		ck_assert_int_eq(key, i);
	}
	ck_assert(sp_key_parse("sym", &key));
	ck_assert_int_eq(key, SP_KEY_SYMBOL);
	ck_assert(!sp_key_parse("symbols", &key));
	ck_assert(!sp_key_parse("field", &key));
	ck_assert(!sp_key_parse("", &key));
}
