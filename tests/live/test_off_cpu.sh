#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Waits: the sum of their periods for each function, compared with the program's own clock and with
# the SWITCH records.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"
file=$tmp/data

"$SPROF" record --off-cpu -o "$file" --no-summary -- "$workload/waits" 2 >"$tmp/truth" 2>"$tmp/err"
check "it records" test -s "$file"
grep -q 'stacks of waiting threads: from context switches' "$tmp/err" ||
	skip_all "context switches cannot be sampled: $(grep 'stacks of waiting' "$tmp/err")"
ok "it names the source of the stacks"

# waits FILE: "FUNCTION NS" of each wait, for each function of its stack; "all NS" for each wait.
waits() {
	"$SPROF" script -i "$1" -F event,period,ip,sym 2>"$tmp/err" | awk '
		/offcpu-time:/ { period = $1; print "all", period; next }
		/^$/ { period = 0 }
		period && NF > 1 { print $2, period }'
}
waits "$file" >"$tmp/waits"

# within NAME A B PERCENT: A and B differ by less.
within() {
	check "$1: $2 ms, not $3" awk -v a="$2" -v b="$3" -v percent="$4" \
		'BEGIN { exit !(b > 0 && (a - b) ^ 2 < (percent / 100 * b) ^ 2) }'
}

# sum FUNCTION: ms of its waits.
sum() {
	awk -v name="$1" '$1 == name { ns += $2 } END { printf "%.1f", ns / 1e6 }' "$tmp/waits"
}

# off FUNCTION: ms that its threads were not on a CPU there, by their own clocks.
off() {
	awk -v name="$1" '$1 == name { ns += $2 - $3 } END { printf "%.1f", ns / 1e6 }' "$tmp/truth"
}

# The clocks include preemption. All these functions wait longer than 1 ms at a time.
for function in sleep_b pipe_wait epoll_tick cond_wait lock_hold; do
	within "$function" "$(sum $function)" "$(off $function)" 4
done

# blocked FILE: ms from each switch off the CPU to the switch back, without preemption.
blocked() {
	"$SPROF" script -i "$1" -F tid,time --ns --show-switch-events 2>"$tmp/err" | awk '
		/PERF_RECORD_SWITCH/ {
			time = $2; sub(/:$/, "", time); split(time, part, ".")
			ns = (part[1] % 100000) * 1e9 + part[2]
			if (/ OUT/) off[$1] = /preempt/ ? 0 : ns
			else { if (off[$1]) sum += ns - off[$1]; off[$1] = 0 }
		}
		END { printf "%.1f", sum / 1e6 }'
}
within "the sum of all waits" "$(sum all)" "$(blocked "$file")" 2

# Without thinning, both are exact.
"$SPROF" record --off-cpu=0 -o "$file" --no-summary -- "$workload/waits" 0.3 >"$tmp/truth" 2>"$tmp/err"
waits "$file" >"$tmp/waits"
within "the sum of all waits with --off-cpu=0" "$(sum all)" "$(blocked "$file")" 0.1

# A process that runs already.
"$workload/waits" 60 sleep pipe lock >"$tmp/truth" &
target=$!
until grep -q ready "$tmp/truth" || ! kill -0 $target; do sleep 0.01; done
"$SPROF" record --off-cpu -p $target --duration 1 -o "$file" --no-summary 2>"$tmp/err"
kill $target
waits "$file" >"$tmp/waits"
for function in sleep_a sleep_b pipe_feed pipe_wait lock_hold lock_wait; do
	check "-p: $function" grep -q "^$function " "$tmp/waits"
done

# Periods of other events do not concern waits.
"$SPROF" record --off-cpu -e page-faults -c 100 -o "$file" --no-summary -- "$workload/waits" 0.2 sleep \
	>"$tmp/truth" 2>"$tmp/err"
waits "$file" >"$tmp/waits"
check "-c: waits have their durations" awk '$1 == "sleep_b" && $2 > 1e6 { n++ } END { exit !n }' "$tmp/waits"

status "-G is refused" 129 "$SPROF" record --off-cpu -G / -o "$file" sleep 0
says "it says why" 'exclude each other'
status "a wrong threshold is refused" 129 "$SPROF" record --off-cpu=x true
finish
