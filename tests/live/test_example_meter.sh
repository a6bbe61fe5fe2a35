#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/example-meter.c and doc/example-meter-control.c need nothing but the headers that are installed,
# and run. The first is also C++.
#
# Parallel: events are counted, not times.
. "$top_srcdir/tests/tap.sh"
need_sampling
library=$top_builddir/lib/.libs
[ -e "$library/libsprof.so" ] || skip_all "there is no shared library in this build"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")

check "headers are installed" make -s -C "$top_builddir" install-pkgincludeHEADERS DESTDIR="$tmp/root" \
	includedir=/include pkgincludedir=/include/sprof

cxx=
for compiler in ${CXX-} c++ g++ clang++; do
	! command -v "$compiler" >/dev/null || { cxx=$compiler; break; }
done

# example NAME COMPILER [FLAG]...
example() {
	name=$1
	shift
	# shellcheck disable=SC2086
	check "$name compiles without a warning" "$@" -Wall -Wextra -Werror $sanitize \
		-I"$tmp/root/include" -o "$tmp/example" "$top_srcdir/doc/example-meter.c" -L"$library" -lsprof
	LD_LIBRARY_PATH=$library "$tmp/example" >"$tmp/got" 2>&1
	status=$?
	# 256 pages of 4 KiB, or less of larger ones, or of huge ones.
	if [ $status = 0 ] && grep -qE '^page-faults:u +[1-9][0-9]*$' "$tmp/got" &&
		grep -qE '^samples +[0-9]+$' "$tmp/got"; then
		ok "$name counts and samples"
	else
		not_ok "$name counts and samples" "status $status: $(cat "$tmp/got")"
	fi
}

# shellcheck disable=SC2086
example "C" $CC -std=gnu11
if [ -n "$cxx" ] && [ -z "$sanitize" ]; then
	example "C++" "$cxx" -x c++
else
	skip "C++" "needs a C++ compiler, and no sanitizers"
fi

# shellcheck disable=SC2086
check "control: compiles without a warning" $CC -std=gnu11 -Wall -Wextra -Werror $sanitize \
	-I"$tmp/root/include" -o "$tmp/example" "$top_srcdir/doc/example-meter-control.c" -L"$library" -lsprof
LD_LIBRARY_PATH=$library "$tmp/example" >"$tmp/out" 2>"$tmp/err"
check "control: counts, samples and shares a ring" test $? = 0
cat "$tmp/out" >>"$tmp/err"
says "control: counts only parts" '^page-faults:u: 600 faults'
says "control: sums are certain without multiplexing" '^ten times: 6000 (6000 to 6000)$'
says "control: takes a batch of samples" '^4 samples, [1-4] signals$'
finish
