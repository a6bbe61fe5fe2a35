#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/example-record.c is short, needs nothing but the headers that are installed, records a command and
# prints its hottest function.
#
# Parallel: the program has one hot function.
. "$top_srcdir/tests/tap.sh"
need_sampling
library=$top_builddir/lib/.libs
[ -e "$library/libsprof.so" ] || skip_all "there is no shared library in this build"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")
source=$top_srcdir/doc/example-record.c

lines=$(sed '/^\/\*/,/\*\//d;/^#include/d;/^$/d' "$source" | wc -l)
check "the example has at most 30 lines of code ($lines)" test "$lines" -gt 10 -a "$lines" -le 30
check "headers are installed" make -s -C "$top_builddir" install-pkgincludeHEADERS DESTDIR="$tmp/root" \
	includedir=/include pkgincludedir=/include/sprof
# shellcheck disable=SC2086
check "it compiles without a warning" $CC -std=c11 -Wall -Wextra -Werror $sanitize \
	-I"$tmp/root/include" -o "$tmp/example" "$source" -L"$library" -lsprof
cd "$tmp" || exit 99
export LD_LIBRARY_PATH="$library"
hottest() {
	status "it records a command" 0 "$tmp/example" "$workload/busy" 1 0.5
	head -n 1 "$tmp/out" >"$tmp/err"
	says "the hottest function is printed first" "^ *[0-9][0-9.]*% deep in busy$"
}
noisy hottest
status "the recording is readable" 0 "$SPROF" info -i sprof.data
status "a command that is not there is an error" 1 "$tmp/example" /nonexistent/command
says "it is printed" "cannot run /nonexistent/command: No such file"
finish
