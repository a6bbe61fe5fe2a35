#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/PERF_EVENT_OPEN.md is whole and true: all that <linux/perf_event.h> has is in it,
# its options are in the help, and its tests exist and speak of what they stand for.
# perf_event.h is the compiler's, which may be newer than the one the table was made by.
. "$top_srcdir/tests/tap.sh"
doc=$top_srcdir/doc/PERF_EVENT_OPEN.md

# The cells of each row, with tabs between; the heading above it comes first.
awk '
	/^## / { heading = substr($0, 4) }
	/^\| *`/ {
		row = $0
		gsub(/^\| *| *\|$/, "", row)
		gsub(/ *\| */, "\t", row)
		print heading "\t" row
	}' "$doc" >"$tmp/rows"
check "the table has rows" test "$(wc -l <"$tmp/rows")" -gt 100

awk -F '\t' 'NF != 6' "$tmp/rows" >"$tmp/wrong"
same "each row has five cells" /dev/null "$tmp/wrong"

# Words in backquotes of a cell: "CELL-NUMBER" -> "LINE WORD".
words() {
	awk -F '\t' -v cell="$1" '{
		n = split($cell, part, "`")
		for (i = 2; i <= n; i += 2) {
			m = split(part[i], word, " ")
			for (j = 1; j <= m; j++)
				print NR, word[j]
		}
	}' "$tmp/rows"
}
words 2 >"$tmp/names"
words 4 >"$tmp/hows"
words 5 >"$tmp/tests"

# Declarations of the header, except limits and padding.
header=$(echo '#include <linux/perf_event.h>' | $CC -E -x c - |
	sed -n 's/^# [0-9]* "\(.*linux\/perf_event\.h\)".*/\1/p' | head -n 1)
declared() {
	awk '
		{ gsub(/\/\*[^*]*(\*+[^*\/][^*]*)*\*+\//, "") }
		/\/\*/ { comment = 1; sub(/\/\*.*/, "") }
		/\*\// { comment = 0; sub(/.*\*\//, "") }
		comment { next }
		/^struct perf_event_attr \{/ { fields = "attr" }
		/^struct perf_event_mmap_page \{/ { fields = "page" }
		/^\};/ { fields = "" }
		fields != "" {
			line = $0
			sub(/^[ \t]*(__u64|__s64|__u32|__s32|__u16|__u8)[ \t]+/, "", line)
			while (match(line, /^[ \t]*[a-z_0-9]+[ \t]*(\[[^]]*\])?[ \t]*(:[ \t]*[0-9]+)?[ \t]*[,;]/)) {
				name = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				sub(/^[ \t]*/, "", name)
				sub(/[^a-z_0-9].*$/, "", name)
				if (name !~ /^__reserved|^cap_____res/)
					print fields "." name
			}
		}
		match($0, /^[ \t]*(#[ \t]*define[ \t]+)?PERF_[A-Z0-9_]+[ \t]*([=,(]|[ \t][^ \t])/) {
			name = $0
			sub(/^[ \t]*(#[ \t]*define[ \t]+)?/, "", name)
			sub(/[^A-Z0-9_].*/, "", name)
			if (name !~ /_(MAX|SHIFT|MASK)$|_MAX_SHIFT$|^PERF_MEM_S$|INFO_BITS_MAX$/)
				print name
		}' "$1" | sort -u
}
declared "$header" >"$tmp/declared"
check "the header declares something" test "$(wc -l <"$tmp/declared")" -gt 250

# Names of the table: of fields with their struct, and PERF_X_* for a family.
awk -F '\t' 'NR == FNR { heading[FNR] = $1; next }
	{
		split($0, at, " ")
		name = at[2]
		if (name ~ /^[a-z]/)
			name = (heading[at[1]] ~ /mmap page/ ? "page." : "attr.") name
		print name
	}' "$tmp/rows" "$tmp/names" | sort -u >"$tmp/known"
awk 'NR == FNR { if (sub(/\*$/, "")) family[$0] = 1; else known[$0] = 1; next }
	{
		found = $0 in known
		for (begin in family)
			found = found || index($0, begin) == 1
		if (!found)
			print
	}' "$tmp/known" "$tmp/declared" >"$tmp/missing"
same "all of linux/perf_event.h is in the table" /dev/null "$tmp/missing"

# Options: `record --x` must be in `sprof record --help-all`.
: >"$tmp/missing"
for command in $("$SPROF" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	"$SPROF" "$command" --help-all >"$tmp/help.$command" 2>&1
done
awk '{
	if ($1 != line || ($2 ~ /^(record|report|script|stat|list|info)$/)) command = ""
	line = $1
	if ($2 ~ /^(record|report|script|stat|list|info)$/) command = $2
	else if ($2 ~ /^-/ && command) print command, $2
}' "$tmp/hows" | sed 's/=.*//' | sort -u >"$tmp/options"
while read -r command option; do
	grep -qE -- "(^|[ ,])$(echo "$option" | sed 's/^--no-/--(\\[no-\\]|no-)/')([][ ,=]|\$)" \
		"$tmp/help.$command" 2>/dev/null ||
		grep -qE -- "--\[no-\]${option#--}" "$tmp/help.$command" 2>/dev/null ||
		echo "sprof $command $option" >>"$tmp/missing"
done <"$tmp/options"
check "the table names options" test -s "$tmp/options"
same "the options of the table are in the help" /dev/null "$tmp/missing"

: >"$tmp/missing"
while read -r line test; do
	if [ ! -f "$top_srcdir/tests/$test" ]; then
		echo "tests/$test does not exist" >>"$tmp/missing"
		continue
	fi
	awk -v line="$line" '$1 == line && length($2) > 1 &&
		$2 !~ /^(record|report|script|stat|list|info|sprof)$/ {
			sub(/\*$/, "", $2)
			print $2
			# Tests speak of SET_OUTPUT and set_output, too.
			if (sub(/^PERF_(SAMPLE|RECORD|EVENT_IOC|COUNT_SW)_/, "", $2) && length($2) > 5)
				print $2
		}' "$tmp/names" "$tmp/hows" >"$tmp/tokens"
	grep -qiFf "$tmp/tokens" "$top_srcdir/tests/$test" ||
		echo "tests/$test says nothing of $(head -n 1 "$tmp/tokens")" >>"$tmp/missing"
done <"$tmp/tests"
sort -u -o "$tmp/missing" "$tmp/missing"
same "the tests of the table exist, and are about it" /dev/null "$tmp/missing"
finish
