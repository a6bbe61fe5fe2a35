#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/example-unwinder.c needs nothing but the headers that are installed, and prints the stack of a process
# down to the thread's start.
#
# Parallel: nothing is recorded.
. "$top_srcdir/tests/tap.sh"
library=$top_builddir/lib/.libs
[ -e "$library/libsprof.so" ] || skip_all "there is no shared library in this build"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")

check "headers are installed" make -s -C "$top_builddir" install-pkgincludeHEADERS DESTDIR="$tmp/root" \
	includedir=/include pkgincludedir=/include/sprof
# shellcheck disable=SC2086
check "the example compiles without a warning" $CC -std=c11 -Wall -Wextra -Werror $sanitize \
	-I"$tmp/root/include" -o "$tmp/example" "$top_srcdir/doc/example-unwinder.c" -L"$library" -lsprof
export LD_LIBRARY_PATH="$library"
sleep 60 &
pid=$!
# Until it waits, it is still the shell, or starts.
i=0
until [ $i = 100 ] || { grep -q sleep /proc/$pid/comm && grep -q '^State:	S' /proc/$pid/status; }; do
	sleep 0.1
	i=$((i + 1))
done
"$tmp/example" $pid >"$tmp/out" 2>"$tmp/err"
status=$?
cp "$(readlink /proc/$pid/exe)" "$tmp/copy"
# START-END PERMISSIONS OFFSET DEVICE INODE FILE of the program's code.
copy=$(awk -v copy="$tmp/copy" -v program="$(readlink /proc/$pid/exe)" \
	'$2 == "r-xp" && $6 == program { sub("-", " ", $1); print copy, $1, $3 }' /proc/$pid/maps)
# shellcheck disable=SC2086
"$tmp/example" $pid $copy >"$tmp/copied" 2>&1
kill $pid
if [ $status = 0 ]; then
	cp "$tmp/out" "$tmp/err"
	says "the first frame is in the C library" "^ *0x[0-9a-f]* by registers in /.*libc"
	says "other frames are found by call frame information" "^ *0x[0-9a-f]* by CFI in /.*sleep"
	tail -n 1 "$tmp/out" >"$tmp/err"
	says "the stack is complete" "^start of the thread$"
	cp "$tmp/copied" "$tmp/err"
	says "a copy takes the place of the program" "by CFI in .*/copy$"
else
	skip "the example prints a stack" "ptrace is not allowed, status $status: $(cat "$tmp/err")"
fi
status "there is no such process" 1 "$tmp/example" 2147483646
finish
