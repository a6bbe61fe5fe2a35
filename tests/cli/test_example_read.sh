#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/example-read.c needs nothing but the headers that are installed, and reads recordings from files and pipes.
. "$top_srcdir/tests/cli/lib.sh"
library=$top_builddir/lib/.libs
[ -e "$library/libsprof.so" ] || skip_all "there is no shared library in this build"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")

check "headers are installed" make -s -C "$top_builddir" install-pkgincludeHEADERS DESTDIR="$tmp/root" \
	includedir=/include pkgincludedir=/include/sprof
# shellcheck disable=SC2086
check "the example compiles without a warning" $CC -std=gnu11 -Wall -Wextra -Werror $sanitize \
	-I"$tmp/root/include" -o "$tmp/example" "$top_srcdir/doc/example-read.c" -L"$library" -lsprof
LD_LIBRARY_PATH=$library
export LD_LIBRARY_PATH

recording "$tmp/plain" <<END
event cycles
sample 0 1 1 0 1000 1 0x10200
END
"$tmp/example" <"$tmp/plain" >"$tmp/err" 2>&1
says "a file is read" '^100.0% '
"$tmp/example" '' "$tmp" <"$tmp/plain" >"$tmp/err" 2>&1
says "with another machine's files" '^100.0% '
cat "$tmp/plain" | "$tmp/example" >"$tmp/err" 2>&1
says "a pipe is read" '^100.0% '
echo "no recording" | "$tmp/example" >"$tmp/err" 2>&1
says "other input is an error" '^standard input: '

switches=${SPROF_CORPUS:-$top_srcdir/../shared/corpus}/mslt/lt.perf.data
if [ -f "$switches" ]; then
	"$tmp/example" next_comm <"$switches" | sed -n 's/^sched:sched_switch: //p' | sort >"$tmp/got"
	"$SPROF" script -q -i "$switches" -e sched:sched_switch -F trace |
		sed -n 's/.*next_comm=\(.*\) next_pid=.*/\1/p' | sort >"$tmp/wanted"
	same "fields are those of sprof script" "$tmp/wanted" "$tmp/got"
	"$tmp/example" <"$switches" >"$tmp/err"
	says "all fields" '^sched:sched_switch: *prev_comm=.* next_pid='
else
	skip "fields of tracepoints" "no corpus"
fi
finish
