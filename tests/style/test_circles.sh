#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Within a folder, no object calls another in a circle, and no header includes another in a
# circle. A source may include a header of a part that calls it: it needs the types alone.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/style/rules.sh"

# Prints "PART OTHER" for each header that includes one of the same folder.
include_edges() { # FOLDER
	for header in "$1"/*.h; do
		[ ! -f "$header" ] ||
			sed -nE "s|^[ \t]*#[ \t]*include[ \t]*\"${1#*/}/([a-z0-9_]+)\.h\".*|$(basename "$header" .h) \1|p" "$header"
	done
}

# Prints "PART OTHER" for each call between objects of the folder.
call_edges() { # FOLDER
	awk -v folder="$1/" '
		index($1, folder) == 1 && index($2, folder) == 1 {
			from = substr($1, length(folder) + 1)
			to = substr($2, length(folder) + 1)
			if (from !~ /\// && to !~ /\//) print from, to
		}' "$tmp/calls"
}

# Prints the edges that are left after parts without an edge to, or from, the rest are removed
# again and again. x_none.c is x.c of a build without a library.
circle() { # FOLDER WORD
	sed 's/_none\b//g' | sort -u | awk -v folder="$1" -v verb="$2" '
		$1 != $2 { from[++n] = $1; to[n] = $2 }
		END {
			do {
				changed = 0
				split("", uses); split("", used)
				for (i = 1; i <= n; i++)
					if (!gone[i]) { uses[from[i]] = 1; used[to[i]] = 1 }
				for (i = 1; i <= n; i++)
					if (!gone[i] && (!(to[i] in uses) || !(from[i] in used)))
						gone[i] = changed = 1
			} while (changed)
			for (i = 1; i <= n; i++)
				if (!gone[i]) print folder ": " from[i] " " verb " " to[i]
		}'
}

circles() {
	object_calls lib src >"$tmp/calls"
	for folder in $(find lib src -name '*.[ch]' 2>/dev/null | sed 's|/[^/]*$||' | sort -u); do
		include_edges "$folder" | circle "$folder" includes
		call_edges "$folder" | circle "$folder" calls
	done
}

# Without objects the calls would be none.
objects_are_there() {
	for folder in lib/reader src/cmd/record; do
		[ -n "$(object_calls $folder)" ] || echo "$folder: no objects in $objects"
	done
}

objects=$(cd "$top_builddir" && pwd)
clean "folders have objects to read" objects_are_there
clean "no circle in a folder" circles

objects=$tmp/tree
mkdir -p "$tmp/tree/lib/one" "$tmp/tree/lib/two" "$tmp/tree/lib/three"
(
	cd "$tmp/tree" || exit
	printf '#include "one/b.h"\n' >lib/one/a.c
	printf '#include "one/b.h"\n' >lib/one/a.h
	printf '#include "one/c.h"\n' >lib/one/b.h
	printf '#include "one/a.h"\n#include "one/d.h"\n' >lib/one/c.h
	: >lib/one/d.h
	printf 'int y(void);\nint x(void) { return y(); }\n' >lib/two/x.c
	printf 'int x(void);\nint y(void) { return x(); }\n' >lib/two/y.c
	printf 'int x(void);\nint z(void) { return x(); }\n' >lib/two/z.c
	printf '#include "three/v.h"\n' >lib/three/u.h
	printf '#include "three/u.h"\n' >lib/three/v.c
	for part in x y z; do $CC -c -o "lib/two/made-$part.o" "lib/two/$part.c"; done
)
catches "circles by includes and by calls are caught" circles \
'lib/one: a includes b
lib/one: b includes c
lib/one: c includes a
lib/two: x calls y
lib/two: y calls x'
finish
