#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ranges of --time and steps of key time in modes of time: a program with known phases. Each range has
# all of its thread's time, and as much of it off the CPU as the table of threads says.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp" TZ=UTC
file=$tmp/data
"$SPROF" record --off-cpu --no-names --no-summary -o "$file" -- "$workload/phases" 0.3 >"$tmp/truth" \
	2>"$tmp/err"
check "it records" test -s "$tmp/truth"

# shown MODE RANGE: ns that the range has.
shown() {
	"$SPROF" report -i "$file" --mode "$1" --time "$2" --format folded 2>"$tmp/err" |
		awk '{ ns += $NF } END { printf "%d", ns }'
}

# off_cpu RANGE: ns of the range in which the thread was not on a CPU, by the table of threads.
off_cpu() {
	"$SPROF" report -i "$file" --threads --time "$1" --format csv 2>"$tmp/err" |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			{ ns += $column["self_runnable_ns"] + $column["self_blocked_ns"]
				ns += $column["self_unknown_ns"] }
			END { printf "%d", ns }'
}

near() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !((a - b) ^ 2 <= (0.01 * b) ^ 2) }'
}

# Ranges "NAME BEGIN LENGTH" in ns: whole phases, their middles, and both sides of their borders.
awk '
	{ begin[$1] = $2; end[$1] = $3 }
	function say(name, from, until) { printf "%s %.0f %.0f\n", name, from, until - from }
	END {
		say("burn_first", begin["burn_first"], end["burn_first"])
		say("sleep_long", begin["sleep_long"], end["sleep_long"])
		long = end["sleep_long"] - begin["sleep_long"]
		say("middle_of_sleep", begin["sleep_long"] + long * 0.3, begin["sleep_long"] + long * 0.6)
		say("burn_and_sleep", end["burn_first"] - 1e8, end["burn_first"] + 1e8)
		say("sleep_and_burn", begin["burn_second"] - 1e8, begin["burn_second"] + 2e8)
		say("sleep_short", begin["sleep_short"], end["sleep_short"])
		say("pulse", begin["pulse"], end["pulse"])
		say("some_pulses", begin["pulse"] + 51.3e6, begin["pulse"] + 123.9e6)
	}' "$tmp/truth" >"$tmp/ranges"

# seconds NS: of the recording's clock, as --time takes them.
seconds() {
	printf '%s.%09d' "$(($1 / 1000000000))" "$(($1 % 1000000000))"
}

while read -r name begin length; do
	range=$(seconds "$begin"),+${length}ns
	for mode in wall latency; do
		sum=$(shown $mode "$range")
		check "$mode: $name has $sum of $length ns" near "$sum" "$length"
	done
	sum=$(shown off-cpu "$range") truth=$(off_cpu "$range")
	check "off-cpu: $name has $sum of $truth ns" near "$sum" "$truth"
done <"$tmp/ranges"

read -r _ begin length <<END
$(grep middle_of_sleep "$tmp/ranges")
END
range=$(seconds "$begin"),+${length}ns
"$SPROF" report -i "$file" --mode wall --time "$range" -s symbol >"$tmp/got" 2>"$tmp/err"
check "the middle of a sleep has its function" grep -q ' sleep_long' "$tmp/got"
check "and no other phase" sh -c '! grep -qE "burn|pulse|sleep_short" "$1"' - "$tmp/got"

# A time of day is that of the recording's clock.
day=$("$SPROF" script -i "$file" -F tod,time --ns 2>"$tmp/err" | awk -v at="$begin" '
	{ sub(/:$/, "", $3); split($3, parts, "."); ns = parts[1] * 1e9 + parts[2] }
	ns <= at { time = $2; from = ns } END { printf "%s %.0f", time, from }')
from=$(seconds "${day#* }")
for mode in wall off-cpu latency; do
	sum=$(shown $mode "${day% *},+0.1s") truth=$(shown $mode "$from,+100ms")
	check "$mode: a time of day: $sum of $truth ns" near "$sum" "$truth"
done

# Steps of key time: all but the first and the last have the whole step.
for mode in wall off-cpu latency; do
	"$SPROF" report -i "$file" --mode $mode -s time --time-quantum 50ms --percent-limit 0 \
		--format csv >"$tmp/got" 2>"$tmp/err"
	check "$mode: each step has its time" awk -F, -v mode=$mode '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ n++; ns = $column["self_weight"]; sum += ns; at = $column["time"] + 0 }
		mode != "off-cpu" && (ns - 5e7) ^ 2 > 1 { odd++ }
		ns > 5e7 + 1 { bad = 1 }
		END { exit !(n > 20 && !bad && odd <= 2) }' "$tmp/got"
	all=$("$SPROF" report -i "$file" --mode $mode --format folded 2>"$tmp/err" |
		awk '{ ns += $NF } END { printf "%d", ns }')
	check "$mode: the steps have all time ($all ns)" awk -F, -v all="$all" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ sum += $column["self_weight"] } END { exit !((sum - all) ^ 2 < 1e4) }' "$tmp/got"
done
finish
