#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/example-symbolizer.c is C and C++, needs only installed headers, and prints the lines of a
# program and of a process.
. "$top_srcdir/tests/tap.sh"
library=$top_builddir/lib/.libs
[ -e "$library/libsprof.so" ] || skip_all "there is no shared library in this build"
command -v nm >/dev/null || skip_all "needs nm (binutils)"
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")

check "headers are installed" make -s -C "$top_builddir" install-pkgincludeHEADERS DESTDIR="$tmp/root" \
	includedir=/include pkgincludedir=/include/sprof

cxx=
for compiler in ${CXX-} c++ g++ clang++; do
	! command -v "$compiler" >/dev/null || { cxx=$compiler; break; }
done

cat >"$tmp/target.c" <<'END'
#include <unistd.h>
static inline __attribute__((always_inline)) unsigned int inner(unsigned int x)
{
	return sleep(x);
}
__attribute__((noinline)) int outer(unsigned int x)
{
	return (int)inner(x) + 1;
}
int main(int argc, char **argv)
{
	return argv[0][0] != '/' && outer(argc > 1 ? 600 : 0);
}
END
# shellcheck disable=SC2086
check "the target compiles" $CC -O2 -g -no-pie -o "$tmp/target" "$tmp/target.c"
(cd "$tmp" && exec ./target stay) &
target=$!
start=0x$(nm "$tmp/target" | awk '$3 == "outer" { print $1 }')
# One of its bytes is in the inlined call.
addresses=$(awk -v start="$((start))" 'BEGIN { for (i = 0; i < 16; i++) printf "0x%x ", start + i }')

# shown WHAT: the output has both functions, with their lines.
shown() {
	if grep -q 'inner at .*/target\.c:4 (inlined)' "$tmp/got" && grep -q 'outer at .*/target\.c:8$' "$tmp/got"; then
		ok "$1"
	else
		not_ok "$1" "$(cat "$tmp/got")"
	fi
}

# example NAME COMPILER [FLAG]...
example() {
	name=$1
	shift
	# shellcheck disable=SC2086
	check "$name compiles without a warning" "$@" -Wall -Wextra -Werror $sanitize \
		-I"$tmp/root/include" -o "$tmp/example" "$top_srcdir/doc/example-symbolizer.c" -L"$library" -lsprof
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$library "$tmp/example" "$tmp/target" $addresses >"$tmp/got" 2>&1
	shown "$name symbolizes a file"
	check "$name prints the file's own addresses" grep -qE '^(0x[0-9a-f]+) is \1 of .*/target$' "$tmp/got"
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$library "$tmp/example" $target $addresses >"$tmp/got" 2>&1
	shown "$name symbolizes a process"
}

# shellcheck disable=SC2086
example "C" $CC -std=gnu11
if [ -n "$cxx" ] && [ -z "$sanitize" ]; then
	example "C++" "$cxx" -x c++
else
	skip "C++" "needs a C++ compiler, and no sanitizers"
fi
kernel=$(awk '$1 !~ /^0*$/ && $2 == "T" && $3 == "schedule" { print $1 }' /proc/kallsyms)
if [ -n "$kernel" ]; then
	LD_LIBRARY_PATH=$library "$tmp/example" kernel "$kernel" >"$tmp/got" 2>&1
	check "the kernel's functions have names" grep -q '^	schedule at ' "$tmp/got"
else
	skip "the kernel's functions have names" "kernel addresses are hidden"
fi
kill "$target"
wait "$target" 2>/dev/null
LD_LIBRARY_PATH=$library "$tmp/example" "$target" "$start" >"$tmp/got" 2>&1
check "a process that has ended is an error" test $? = 1
check "the error has a remedy" grep -q "process $target does not exist; .*sprof record -p PID" "$tmp/got"
finish
