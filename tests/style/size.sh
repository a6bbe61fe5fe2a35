#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# size.sh [FOLDER]...: prints the C files, lines and tokens of each folder (lib and src). Comments are no
# tokens, and a string is one: the number does not change with comments and layout.
cd "$(dirname "$0")/../.." || exit 1
. tests/style/rules.sh
[ $# -gt 0 ] || set -- lib src
for folder; do
	code "$folder" | awk -v folder="$folder" '
		BEGIN { FS = ":" }
		$1 != file { file = $1; files++ }
		{
			sub(/^[^:]*:[0-9]*:/, "")
			tokens += gsub(/"[^"]*"|[A-Za-z_0-9]+|->|\+\+|--|&&|\|\||<<=|>>=|<<|>>|[-+*\/%&|^=<>!]=|[^ \t]/, "&")
		}
		END { print folder ": " files " files, " NR " lines, " tokens " tokens" }'
done
