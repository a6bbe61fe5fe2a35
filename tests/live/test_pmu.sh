#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sampling by a processor's own counters, where there are some: what is recorded without a
# word, shares against what the program measured, periods, and which mode is left out.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data

# recorded OPTION... -- COMMAND: into $file, what it says in $tmp/err, what the command says in
# $tmp/truth
recorded() {
	rm -f "$file"
	"$SPROF" record -o "$file" "$@" >"$tmp/truth" 2>"$tmp/err"
}

recorded -e cycles -c 1000000 -- "$workload/proportions" 0.1 ||
	skip_all "cycles cannot be sampled: $(head -n 1 "$tmp/err")"
! grep -q 'no hardware counters' "$tmp/err" || skip_all "this machine has no counter of cycles"

info() {
	"$SPROF" info -i "$file" --format json
}
samples() {
	info | sed -n 's/.*"SAMPLE": *\([0-9]*\).*/\1/p'
}

recorded -- "$workload/proportions" 1
check "cycles are sampled where nothing else is asked for" sh -c \
	'printf %s "$1" | grep -q "\"name\": *\"cycles"' sh "$(info)"
check "so many samples as are in a second, or half of them ($(samples))" \
	test "$(samples)" -gt 250
check "none is lost" grep -q ' 0 lost' "$tmp/err"

# Shares, against the time that the program measured of its parts.
"$SPROF" report -i "$file" --no-children -s symbol --format csv >"$tmp/csv" 2>"$tmp/err"
awk -F '[ ,]' '
	FILENAME == ARGV[1] { truth[$1] += $3; next }
	{ gsub(/"/, "") }
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	$column["symbol"] in truth && $column["symbol"] != "total" {
		wrong = $column["self"] - truth[$column["symbol"]]
		if (wrong < -0.08 || wrong > 0.08)
			print $column["symbol"], truth[$column["symbol"]], $column["self"]
		rows++
	}
	END { if (rows < 4) print rows + 0, "of 4 functions are there" }' \
	"$tmp/truth" "$tmp/csv" >"$tmp/wrong"
check "shares of cycles are those of the time" sh -c 'cat "$1"; ! test -s "$1"' sh "$tmp/wrong"

# A period: each sample stands for it.
recorded -e cycles:u -c 2000000 -- "$workload/proportions" 0.5
fixed=$(samples)
recorded -e cycles:u -c 4000000 -- "$workload/proportions" 0.5
check "twice the period, half of the samples ($fixed, $(samples))" \
	test $(($(samples) * 10)) -ge $((fixed * 3)) -a $(($(samples) * 10)) -le $((fixed * 7))

modes() { # of the samples: the letters in front of symbols
	"$SPROF" report -i "$file" --no-children -s symbol 2>"$tmp/err" |
		grep -o '\[[.kugH]\]' | sort -u | tr -d '\n'
}
recorded -e cycles:u -F 500 -- "$workload/proportions" 0.3
check "user space alone" test "$(modes)" = '[.]'
recorded -e cycles:k -F 2000 -- dd if=/dev/zero of=/dev/null bs=4096 count=2000
check "the kernel alone" test "$(modes)" = '[k]'

if command -v perf >/dev/null; then
	recorded -g -- "$workload/proportions" 0.3
	perf report -i "$file" --stdio -n -g none --no-children >"$tmp/perf" 2>"$tmp/complaints"
	check "perf reads it" grep -q 'compress' "$tmp/perf"
	check "perf finds as many samples" sh -c \
		'perf report -i "$1" --stats 2>/dev/null | grep -q "SAMPLE events: *$2"' sh "$file" "$(samples)"
else
	skip "perf reads it" "there is no perf"
fi
finish
