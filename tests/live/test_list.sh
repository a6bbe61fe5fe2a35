#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof list compared to perf list: sprof lists and counts all events that perf lists and counts
# here.
#
# Parallel: nothing is recorded.
. "$top_srcdir/tests/tap.sh"
need_sampling

"$SPROF" list >"$tmp/all" 2>"$tmp/err"
check "sprof list lists events" test -s "$tmp/all"

# Names and aliases, one a line.
sed 's/ *\[.*//;s/^ *//;s/ OR /\n/g' "$tmp/all" | sort -u >"$tmp/ours"

# Prints the events of a list that COMMAND counts here, by its CSV.
counted() {
	"$@" -x '|' -e "$events" true 2>&1 | awk -F '|' '$1 !~ /</ && NF > 3 { print $3 }' |
		sed 's/:u$//' | sort -u
}

if command -v perf >/dev/null && perf list --raw-dump sw >"$tmp/raw" 2>/dev/null; then
	perf list --raw-dump hw sw cache pmu 2>/dev/null | tr ' ' '\n' | grep . | sort -u >"$tmp/theirs"
	events=$(paste -s -d , "$tmp/theirs")
	counted perf stat >"$tmp/wanted"
	counted "$SPROF" stat >"$tmp/got"
	check "perf counts some events here" test -s "$tmp/wanted"
	: >"$tmp/none"
	comm -23 "$tmp/wanted" "$tmp/got" >"$tmp/missing"
	same "sprof counts what perf list names and perf counts" "$tmp/none" "$tmp/missing"
	comm -23 "$tmp/wanted" "$tmp/ours" >"$tmp/missing"
	same "and lists it" "$tmp/none" "$tmp/missing"
	perf list --raw-dump tracepoint 2>/dev/null | tr ' ' '\n' | grep : | sort -u >"$tmp/theirs"
	comm -23 "$tmp/theirs" "$tmp/ours" >"$tmp/missing"
	same "tracepoints are perf's ($(wc -l <"$tmp/theirs"))" "$tmp/none" "$tmp/missing"
	"$SPROF" list --json >"$tmp/json"
	perf list -j >"$tmp/theirs.json" 2>/dev/null
	if grep -q EventName "$tmp/theirs.json"; then
		# Aliases and kinds have other names there, and events that cannot be opened are listed.
		sed -n 's/.*"EventName": *"\([^"]*\)".*/\1/p' "$tmp/json" | sort -u >"$tmp/ours.json"
		while read -r name; do
			grep -qxF -e "$name" "$tmp/ours.json" || echo "$name"
		done <"$tmp/wanted" >"$tmp/missing"
		same "as JSON too" "$tmp/none" "$tmp/missing"
	else
		skip "as JSON too" "this perf has no list -j"
	fi
else
	skip "sprof lists what perf list does" "needs perf"
fi

# Missing events have a reason.
for kind in hw cache; do
	if "$SPROF" list $kind >"$tmp/out" 2>"$tmp/err"; then
		check "$kind events are listed" test -s "$tmp/out"
	else
		check "why there are no $kind events is said" grep -q 'no hardware counters' "$tmp/err"
	fi
done
"$SPROF" list metric 2>"$tmp/err"
check "why there are no metrics is said" grep -q "formulas in perf.s own database" "$tmp/err"
"$SPROF" list -o "$tmp/written" 2>"$tmp/err"
same "-o writes the same to a file" "$tmp/all" "$tmp/written"
"$SPROF" list -o "$tmp/absent/file" 2>"$tmp/err"
says "a file that cannot be written is named" "$tmp/absent/file: No such file"
ln -s elsewhere "$tmp/link"
"$SPROF" list -o "$tmp/link" 2>"$tmp/err"
check "a link is not followed" sh -c 'grep -q "is a symbolic link" "$1/err" && [ ! -e "$1/elsewhere" ]' sh "$tmp"
"$SPROF" list no-such-event 2>"$tmp/err"
check "a pattern without events is told of" grep -q 'no event matches' "$tmp/err"
finish
