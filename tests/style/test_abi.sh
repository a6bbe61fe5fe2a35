#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports how the library's ABI differs from that of SPROF_ABI_BASE, an older libsprof.so. Before 1.0
# no ABI is promised: differences are shown, and are no failure.
. "$top_srcdir/tests/tap.sh"
library=$top_builddir/lib/.libs/libsprof.so
[ -e "$library" ] || skip_all "there is no shared library in this build"
command -v abidiff >/dev/null || skip_all "needs abidiff (abigail-tools)"

# Bits 0 and 1 of the status: the tool failed, or was called in a wrong way.
differences() { # OLD NEW
	abidiff --no-added-syms --headers-dir2 "$top_srcdir/include" "$1" "$2" >"$tmp/report" 2>"$tmp/err"
	differences_status=$?
	[ $((differences_status & 3)) = 0 ]
}

check "the library is compared with itself" differences "$library" "$library"
check "it equals itself" test "$differences_status" = 0

printf 'struct sp_made { int a; };\nint sp_made(struct sp_made *made) { return made->a; }\n' >"$tmp/old.c"
printf 'struct sp_made { long b, a; };\nint sp_made(struct sp_made *made) { return (int)made->a; }\n' >"$tmp/new.c"
if $CC -g -shared -fPIC -o "$tmp/old.so" "$tmp/old.c" && $CC -g -shared -fPIC -o "$tmp/new.so" "$tmp/new.c"; then
	abidiff "$tmp/old.so" "$tmp/new.so" >"$tmp/report" 2>&1
	check "a changed struct is reported" test $(($? & 4)) != 0
else
	skip "a changed struct is reported" "this compiler makes no shared library"
fi

if [ -n "${SPROF_ABI_BASE-}" ]; then
	check "the library is compared with $SPROF_ABI_BASE" differences "$SPROF_ABI_BASE" "$library"
	sed 's/^/# /' "$tmp/report"
else
	skip "the library is compared with an older one" "SPROF_ABI_BASE names none"
fi
finish
