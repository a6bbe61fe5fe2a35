#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Includes and calls of lib/ obey lib/LAYERS; the command includes only the public API and its own.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/style/rules.sh"

# Every #include of lib/ as "FILE FOLDER INCLUDED".
includes() {
	find lib -mindepth 2 -name '*.[ch]' | sort | xargs -r awk '
		/^[ \t]*#[ \t]*include[ \t]*"/ {
			folder = FILENAME
			gsub(/^lib\/|\/[^\/]*$/, "", folder)
			split($0, quoted, "\"")
			print FILENAME ":" FNR, folder, quoted[2]
		}'
}

# Every call between objects of lib/ as "PART FOLDER CALLED-FOLDER".
calls() {
	object_calls lib | awk '{
		from = $1
		gsub(/^lib\/|\/[^\/]*$/, "", $1)
		gsub(/^lib\/|\/[^\/]*$/, "", $2)
		if ($1 != $2) print from ".c", $1, $2
	}'
}

# Prints the lines of standard input, "PLACE FOLDER NEEDED", that lib/LAYERS does not allow.
not_allowed() { # VERB
	awk -v verb="$1" '
		FILENAME == "lib/LAYERS" {
			if (/^#/ || !/:/) next
			folder = $1
			sub(/:.*/, "", folder)
			known[folder] = 1
			allowed[folder, folder] = allowed[folder, "base"] = 1
			for (i = 2; i <= NF; i++) allowed[folder, $i] = 1
			next
		}
		!($2 in known) { print $1 ": lib/LAYERS does not know the folder " $2; next }
		verb == "include" {
			if ($3 !~ /\//) { print $1 ": \"" $3 "\" does not name its folder"; next }
			sub(/\/[^\/]*$/, "", $3)
		}
		!(($2, $3) in allowed) { print $1 ": " $2 " may not " verb " " $3 " (lib/LAYERS)" }
	' lib/LAYERS - | sort -u
}

library_includes() {
	includes | not_allowed include
}

library_calls() {
	calls | not_allowed call
}

# Permissions of lib/LAYERS that neither an include nor a call needs.
unused_permissions() {
	{
		includes | sed 's|/[^/]*$||'
		calls
	} | awk '
		FILENAME == "-" { needed[$2, $3] = 1; next }
		/^#/ || !/:/ { next }
		{
			folder = $1
			sub(/:.*/, "", folder)
			for (i = 2; i <= NF; i++)
				if (!((folder, $i) in needed))
					print "lib/LAYERS:" FNR ": " folder " does not need " $i
		}' - lib/LAYERS
}

# A folder may include only folders listed above it, so there is no cycle.
layers_have_no_cycle() {
	awk '
		/^#/ || !/:/ { next }
		{
			folder = $1
			sub(/:.*/, "", folder)
			for (i = 2; i <= NF; i++)
				if (!($i in seen))
					print "lib/LAYERS:" FNR ": " folder " may include " $i ", which is not above it"
			seen[folder] = 1
		}' lib/LAYERS
}

# The command: <sprof/…>, its own headers, and the C library; out/ not cmd/.
command_includes() {
	find src -name '*.[ch]' | sort | xargs -r awk '
		!/^[ \t]*#[ \t]*include/ { next }
		/"/ {
			split($0, quoted, "\"")
			if (quoted[2] ~ /\.\./ || system("test -f src/" quoted[2]))
				print FILENAME ":" FNR ": \"" quoted[2] "\" is no header of the command"
			if (FILENAME ~ /^src\/out\// && quoted[2] ~ /^cmd\//)
				print FILENAME ":" FNR ": out/ may not include cmd/"
			next
		}
		/<(libelf|gelf|dwarf|elfutils\/.*|zstd|libunwind.*)\.h>/ {
			print FILENAME ":" FNR ": only lib/ uses that library"
		}'
}

# libelf and libdw are used by lib/elf (files), lib/dwarf and lib/unwind (CFI) alone.
elf_users() {
	find lib -name '*.[ch]' ! -path 'lib/elf/*' ! -path 'lib/dwarf/*' ! -path 'lib/unwind/*' | sort | xargs -r \
		grep -nE '#[ \t]*include[ \t]*<(libelf|gelf|dwarf|elfutils/[a-z]+)\.h>'
}

public_includes() {
	grep -nE '#[ \t]*include[ \t]*"' include/sprof/*.h
}

objects=$(cd "$top_builddir" && pwd)
clean "lib/ includes as lib/LAYERS allows" library_includes
clean "objects of lib/ call as lib/LAYERS allows" library_calls
absent=$(find "$objects/lib" -name '*_none.o' | head -n 1)
if [ -n "$absent" ]; then
	skip "lib/LAYERS allows nothing that is not needed" "this build lacks libraries: ${absent##*/}"
else
	clean "lib/LAYERS allows nothing that is not needed" unused_permissions
fi
clean "lib/LAYERS has no cycle" layers_have_no_cycle
clean "src/ includes the public API and its own headers" command_includes
clean "libelf and libdw are used in their folders alone" elf_users
clean "public headers include with <sprof/...>" public_includes

objects=$tmp/tree
mkdir -p "$tmp/tree/lib/low" "$tmp/tree/lib/high" "$tmp/tree/lib/lost" "$tmp/tree/src/out" "$tmp/tree/src/cmd"
(
	cd "$tmp/tree" || exit
	printf 'low:\nodd: high\nhigh: low odd\n' >lib/LAYERS
	printf '#include "high/high.h"\n' >lib/low/low.c
	printf '#include "low/low.h"\n#include "base/vec.h"\n#include "high.h"\n#include <libelf.h>\n' >lib/high/high.c
	printf '#include "base/vec.h"\n' >lib/lost/lost.c
	printf '#include "base/vec.h"\n#include <elfutils/libdw.h>\n#include <sprof/sprof.h>\n' >src/main.c
	printf '#include "cmd/report.h"\n' >src/out/table.c
	: >src/cmd/report.h
	printf 'int h(void);\nint l(void) { return h(); }\n' >lib/low/calls.c
	printf 'int l(void);\nint h(void) { return l(); }\n' >lib/high/calls.c
	for folder in low high; do $CC -c -o "lib/$folder/made-calls.o" "lib/$folder/calls.c"; done
)
catches "a wrong include in lib/ is caught" library_includes \
'lib/high/high.c:3: "high.h" does not name its folder
lib/lost/lost.c:1: lib/LAYERS does not know the folder lost
lib/low/low.c:1: low may not include high (lib/LAYERS)'
catches "a wrong call in lib/ is caught" library_calls \
'lib/low/calls.c: low may not call high (lib/LAYERS)'
catches "a permission without use is caught" unused_permissions \
'lib/LAYERS:2: odd does not need high
lib/LAYERS:3: high does not need odd'
catches "a cycle in lib/LAYERS is caught" layers_have_no_cycle \
'lib/LAYERS:2: odd may include high, which is not above it'
catches "a wrong include in src/ is caught" command_includes \
'src/main.c:1: "base/vec.h" is no header of the command
src/main.c:2: only lib/ uses that library
src/out/table.c:1: out/ may not include cmd/'
catches "a stray use of libelf is caught" elf_users \
'lib/high/high.c:4:#include <libelf.h>'
finish
