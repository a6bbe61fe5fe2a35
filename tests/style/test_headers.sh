#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each header compiles alone; the library's as strict C11 and as C++ too.
. "$top_srcdir/tests/tap.sh"
cd "$top_srcdir" || exit 99

alone() {
	"$@" -fsyntax-only -Wall -Wextra -Werror
}

# FILE as the only thing that a source includes.
includer() {
	printf '#include "%s"\n' "$1" >"$tmp/alone.$2"
	echo "$tmp/alone.$2"
}

for header in $(cd lib && find . -name '*.h' | sed 's|^\./||' | sort); do
	check "lib/$header compiles alone" alone $CC -std=gnu11 -include "$top_builddir/config.h" \
		-Iinclude -Ilib -x c "$(includer "$header" c)"
done
for header in $(cd src && find . -name '*.h' | sed 's|^\./||' | sort); do
	check "src/$header compiles alone" alone $CC -std=gnu11 -include "$top_builddir/config.h" \
		-Iinclude -Isrc -x c "$(includer "$header" c)"
done

cxx=
for compiler in ${CXX-} c++ g++ clang++; do
	! command -v "$compiler" >/dev/null || { cxx=$compiler; break; }
done
for header in include/sprof/*.h include/sprof/private/*.h; do
	name=${header#include/}
	check "<$name> is strict C11 without config.h" alone $CC -std=c11 -pedantic -Iinclude \
		-x c "$(includer "$name" c)"
	if [ -n "$cxx" ]; then
		check "<$name> is C++" alone $cxx -std=c++11 -Iinclude -x c++ "$(includer "$name" cc)"
	else
		skip "<$name> is C++" "no C++ compiler"
	fi
	case $name in sprof/sprof.h | sprof/private/*) continue ;; esac
	check "<$name> is included by <sprof/sprof.h>" \
		grep -q "^#include <$name>" include/sprof/sprof.h
done
finish
