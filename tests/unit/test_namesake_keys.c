/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search of functions by the name without parameters, without demangling. */
#include "symbol/namesake_keys.h"
#include "test.h"

/* Returns whether the key of the first name is that of the second. */
static bool alike(const char *raw_name, const char *other)
{
	struct namesake_keys keys = {0};
	ck_assert(namesake_keys_add(&keys, raw_name));
	bool have = namesake_keys_have(&keys, other);
	namesake_keys_deinit(&keys);
	return have;
}

TEST(functions_of_one_name_have_one_key)
{
	static const char *const groups[][6] = {
		{"helper", "helper.constprop.0", "helper.part.1.cold"},
		{"main.main", "main.main"},
		{"_Z1fi", "_Z1fd", "_ZL1fPKc", "_Z1fi.constprop.0"},
		{"_ZN1C1fEi", "_ZNK1C1fEi", "_ZNO1C1fEv", "_ZN1CL1fEd"},
		{"_Z1tIiEvT_", "_Z1tIiEvT_i"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZNSt6vectorIiSaIiEE9push_backEOi"},
		{"_ZN1CC1Ei", "_ZN1CC2Ed", "_ZN1CD0Ev", "_ZN1CplEi"},
		{"_ZN1aIN1b1cEPFviEE1dEi", "_ZN1aIN1b1cEPFviEE1dEv"},
		{"_ZN3ArrILi4EE3getEi", "_ZN3ArrILi4EE3getEv"},
		{"_ZN1aB5cxx111fEi", "_ZN1aB5cxx111fEv"},
		{"_ZZ4mainENKUliE_clEi", "_ZZ4mainENKUliE0_clEi"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5write17hfedcba9876543210E",
		 "_ZN4core3fmt5write17hfedcba9876543210E.llvm.12"},
		{"_Z", "_Z"}, {"_ZN", "_ZN"}, {"", ""}, {"_Z99f", "_Z99f"}, {"_ZNI", "_ZNI"},
	};
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		for (size_t j = 1; j < 6 && groups[i][j]; j++) {
			ck_assert_msg(alike(groups[i][0], groups[i][j]), "%s", groups[i][j]);
			ck_assert_msg(alike(groups[i][j], groups[i][0]), "%s", groups[i][j]);
		}
}

TEST(functions_of_other_names_rarely_have_it)
{
	static const char *const pairs[][2] = {
		{"helper", "helpers"}, {"main.main", "main.run"}, {"_Z1fi", "_Z1gi"},
		{"_ZN1C1fEi", "_ZN1C1gEi"}, {"_ZN1C1fEi", "_ZN1D1fEi"}, {"_Z1fi", "f"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZNSt6vectorIjSaIjEE9push_backERKj"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt4read17h0123456789abcdefE"},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		ck_assert_msg(!alike(pairs[i][0], pairs[i][1]), "%s", pairs[i][1]);
}
