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
# A counter's interrupt that is none of those that cannot be masked (arm64) comes when they are
# let in again, and that may be at the first instruction of the user's code.
late=$("$SPROF" report -i "$file" --no-children -s symbol 2>"$tmp/err" |
	awk '/\[\.\]/ { late += $1 } END { printf "%d", 10 * late }')
check "the kernel alone ($(modes), $late of 1,000 late)" sh -c \
	'case $1 in *k*) ;; *) exit 1 ;; esac; test "$2" -lt 100' sh "$(modes)" "$late"

if command -v perf >/dev/null; then
	recorded -g -- "$workload/proportions" 0.3
	perf report -i "$file" --stdio -n -g none --no-children >"$tmp/perf" 2>"$tmp/complaints"
	check "perf reads it" grep -q 'compress' "$tmp/perf"
	check "perf finds as many samples" sh -c \
		'perf report -i "$1" --stats 2>/dev/null | grep -q "SAMPLE events: *$2"' sh "$file" "$(samples)"
else
	skip "perf reads it" "there is no perf"
fi

# Groups: how fast the counters run against each other is the same in all of this program's
# functions, by its construction.
if ! "$SPROF" stat -x , -e instructions:u true 2>&1 | grep -q '^[1-9][0-9]*,'; then
	skip "counts of a group" "this machine counts no instructions"
	skip "samples of a leader have its members' counts" "this machine counts no instructions"
else
	"$SPROF" stat -x , -e '{cycles:u,instructions:u}' -e r11:u -o "$tmp/stat" \
		"$workload/proportions" 0.2 >"$tmp/out" 2>"$tmp/err"
	ratio=$(awk -F , '$3 == "cycles:u" { c = $1 } $3 == "instructions:u" { i = $1 }
		END { printf "%d", c ? 1000 * i / c : 0 }' "$tmp/stat")
	check "counts of a group: $ratio instructions in 1,000 cycles" test "$ratio" -gt 50
	recorded -e '{cycles:u,instructions:u}:S' -F 500 -- "$workload/proportions" 0.3
	"$SPROF" report -i "$file" --group --no-children -s symbol --format csv >"$tmp/csv" 2>"$tmp/err2"
	# Rows: self, then the same of instructions; of the program's functions each.
	awk -F , -v ratio="$ratio" '
		{ gsub(/"/, "") }
		FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; ipc = column["IPC"]; next }
		$column["symbol"] ~ /^(compress|parse|render)$/ {
			rows++
			if (!ipc || $ipc * 1000 < ratio * 0.8 || $ipc * 1000 > ratio * 1.25)
				print $0
		}
		END { if (rows < 3) print rows + 0, "of 3 functions" }' "$tmp/csv" >"$tmp/wrong"
	check "samples of a leader have its members' counts, and functions their ratio" \
		sh -c 'cat "$1" "$2"; head -n 5 "$3"; ! test -s "$1"' sh "$tmp/wrong" "$tmp/err" "$tmp/csv"
	# The same for perf: each sample is one of each event, with the same periods.
	if command -v perf >/dev/null; then
		perf script -i "$file" -F event,period 2>"$tmp/err" >"$tmp/theirs"
		"$SPROF" script -i "$file" -F event,period 2>"$tmp/err" >"$tmp/ours"
		same "and perf tells the same samples" "$tmp/theirs" "$tmp/ours"
	fi
fi

# Modes that a PMU cannot leave out, and what is never there.
recorded -e cycles:I -c 1000000 -- true
check "what a PMU cannot leave out is named" sh -c \
	'cat "$1"; test ! -s "$2" && grep -q "EVENT:I.*not supported by the PMU" "$1" || test -s "$2"' sh "$tmp/err" "$file"
if [ "$(uname -m)" = aarch64 ]; then
	"$SPROF" stat -x , -e cycles:G,cycles:H,cycles,cycles:u,cycles:k \
		-o "$tmp/stat" "$workload/proportions" 0.05 >"$tmp/out" 2>"$tmp/err"
	awk -F , '{ n[$3] = $1 }
		END {
			if (n["cycles:G"] != 0) print "guests have", n["cycles:G"]
			if (n["cycles:H"] < 0.98 * n["cycles"] || n["cycles:H"] > 1.02 * n["cycles"])
				print "hosts have", n["cycles:H"], "of", n["cycles"]
			both = n["cycles:u"] + n["cycles:k"]
			if (both < 0.95 * n["cycles"] || both > 1.05 * n["cycles"])
				print "modes have", n["cycles:u"], n["cycles:k"], "of", n["cycles"]
			if (!n["cycles:k"] || n["cycles:u"] < 2 * n["cycles:k"]) print "modes", n["cycles:k"]
		}' "$tmp/stat" >"$tmp/wrong"
	check "exclude bits add up" sh -c 'cat "$1" "$2"; ! test -s "$1"' sh "$tmp/wrong" "$tmp/stat"
	pmu=$(cd /sys/bus/event_source/devices && ls -d armv8_* | head -n 1)
	"$SPROF" stat -x , -e "cycles:u,$pmu/cpu_cycles/u,$pmu/event=0x11/u,r11:u,$pmu/cpu_cycles,long/u" \
		-o "$tmp/stat" "$workload/proportions" 0.05 >"$tmp/out" 2>"$tmp/err"
	awk -F , '$1 ~ /^[0-9]+$/ { rows++; if (!least || $1 < least) least = $1; if ($1 > most) most = $1 }
		END { if (rows != 5 || most > 1.02 * least) print rows, least, most }' "$tmp/stat" >"$tmp/wrong"
	check "by the PMU's terms, its events and raw numbers the same is counted" \
		sh -c 'cat "$1" "$2" "$3"; ! test -s "$1"' sh "$tmp/wrong" "$tmp/stat" "$tmp/err"
	recorded -e "$pmu/cpu_cycles/u" -F 500 -- "$workload/proportions" 0.2
	check "and sampled ($(samples))" test "$(samples)" -gt 40
	# ARM's counters are not precise, and the driver says nothing of that.
	recorded -e cycles:pp -F 500 -- true
	check "precise samples are refused with the reason" sh -c \
		'test ! -s "$2" && grep -q "that precisely" "$1"' sh "$tmp/err" "$file"
	recorded -e cycles:P -F 500 -- "$workload/proportions" 0.05
	check "as precise as there is: not at all" sh -c \
		'! printf %s "$1" | grep -q "\"precise_ip\": *[1-9]"' sh "$(info)"
	"$SPROF" list >"$tmp/list" 2>"$tmp/err"
	check "the list has the PMU's events and terms, and only the counters that are there" sh -c '
		grep -q "$2/cpu_cycles/ OR cpu_cycles" "$1" && grep -q "$2/event=" "$1" &&
		grep -q "^  cycles OR cpu-cycles" "$1" && ! grep -q "^  ref-cycles" "$1"' sh "$tmp/list" "$pmu"
fi
finish
