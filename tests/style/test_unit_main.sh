#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Output of tests/unit/main.c for cases that pass, fail, are skipped or end their process, for
# selected cases, and for a program without cases. Links with check alone.
. "$top_srcdir/tests/tap.sh"

flags=$(pkg-config --cflags --libs check 2>/dev/null) || skip_all "needs pkg-config and check"

build() { # PROGRAM, from $tmp/PROGRAM.c
	# shellcheck disable=SC2086
	$CC -I"$top_srcdir/tests/unit" -I"$top_srcdir/include" -o "$tmp/$1" "$tmp/$1.c" \
		"$top_srcdir/tests/unit/main.c" $flags || not_ok "$1 is built"
}

cat >"$tmp/cases.c" <<'END'
#include <stdlib.h>
#include "test.h"
TEST(one_passes) { ck_assert_int_eq(1, 1); }
TEST(one_is_skipped) { skip_test("needs %s", "wings"); ck_abort(); }
TEST(one_fails)
{
	ck_abort_msg("as it should");
}
TEST(one_ends) { abort(); }
END
build cases
cat >"$tmp/wanted" <<'END'
ok 1 - one_passes
ok 2 - one_is_skipped # SKIP needs wings
not ok 3 - one_fails
not ok 4 - one_ends
1..4
END
"$tmp/cases" >"$tmp/out"
grep -v '^#' "$tmp/out" >"$tmp/got"
same "each case has its line" "$tmp/wanted" "$tmp/got"
check "the source is named" grep -q '^# .*/cases.c$' "$tmp/out"
check "with place and reason of a failure" grep -q '^# .*cases.c:7: as it should' "$tmp/out"

cat >"$tmp/wanted.selected" <<'END'
ok 1 - one_is_skipped # SKIP needs wings
ok 2 - one_passes
1..2
END
"$tmp/cases" one_is_skipped 'one_p*' | grep -v '^#' >"$tmp/got"
same "cases are selected by name, in that order" "$tmp/wanted.selected" "$tmp/got"
"$tmp/cases" tests/unit/test_cases.c | grep -v '^#' >"$tmp/got"
same "a source's name selects its cases" "$tmp/wanted" "$tmp/got"
status "a name without a case fails" 1 "$tmp/cases" one_passes case
check "and is printed" grep -q '^Bail out! .* case\.$' "$tmp/out"

sed '/ends\|fails/,$d' "$tmp/cases.c" >"$tmp/single.c"
build single
CK_FORK=no "$tmp/single" | grep -v '^#' | sed -n 2p >"$tmp/got"
sed -n 2p "$tmp/wanted" >"$tmp/line"
same "skips are printed without a process for each case, too" "$tmp/line" "$tmp/got"

echo '#include "test.h"' >"$tmp/empty.c"
build empty
status "a program without cases fails" 1 "$tmp/empty"
check "which is printed" grep -q '^Bail out! This program has no case' "$tmp/out"
finish
