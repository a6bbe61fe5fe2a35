#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Within a folder, no object calls another in a circle, and no header includes another in a
# circle. A source may include a header of a part that calls it: it needs the types alone.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/style/rules.sh"

folders='lib/analysis lib/aggregate lib/capture lib/capture/config lib/capture/event_control
	lib/capture/metadata lib/capture/notes lib/capture/output lib/capture/python
	lib/capture/ring_bank lib/capture/samples lib/capture/tasks lib/capture/waits lib/event lib/file lib/findings
	lib/info lib/reader lib/sideband lib/walk lib/writer src src/cmd/common src/cmd/info src/cmd/list
	src/cmd/record src/cmd/report src/cmd/script src/cmd/stat src/export src/html src/out'

# Prints "PART OTHER" for each header that includes one of the same folder.
include_edges() { # FOLDER
	for header in "$1"/*.h; do
		[ ! -f "$header" ] ||
			sed -nE "s|^[ \t]*#[ \t]*include[ \t]*\"${1#*/}/([a-z0-9_]+)\.h\".*|$(basename "$header" .h) \1|p" "$header"
	done
}

# Prints "PART OTHER" for each symbol that the object of a part takes from another's.
call_edges() { # FOLDER, below $objects
	find "$objects/$1" "$objects/$1/.libs" -maxdepth 1 -name '*.o' 2>/dev/null | while read -r object; do
		part=$(basename "$object" .o)
		part=${part##*-}
		# Objects of removed sources may be left in a build folder.
		[ ! -f "$1/$part.c" ] || nm -P "$object" | sed "s/^/$part /"
	done | sort -u | awk '
		$3 ~ /^[TDBRVW]$/ { owner[$2] = $1 }
		$3 == "U" { part[++n] = $1; symbol[n] = $2 }
		END { for (i = 1; i <= n; i++) if (symbol[i] in owner) print part[i], owner[symbol[i]] }'
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
	for folder in $folders; do
		include_edges "$folder" | circle "$folder" includes
		call_edges "$folder" | circle "$folder" calls
	done
}

# Without objects the calls would be none.
objects_are_there() {
	for folder in $folders; do
		[ -d "$folder" ] || echo "$folder is no folder"
	done
	[ -n "$(call_edges lib/reader)" ] || echo "lib/reader: no objects in $objects"
	[ -n "$(call_edges src/cmd/record)" ] || echo "src/cmd/record: no objects in $objects"
}

objects=$(cd "$top_builddir" && pwd)
clean "folders have objects to read" objects_are_there
clean "no circle in a folder" circles

objects=$tmp/tree
folders='lib/one lib/two lib/three'
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
