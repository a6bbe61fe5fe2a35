#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Waits: the sum of their periods for each function, compared with the program's own clock and with
# the SWITCH records.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data
functions='sleep_long sleep_short read_pipe wait_poll wait_lock'

"$SPROF" record --off-cpu -o "$file" --no-summary -- "$workload/waits" 2000 >"$tmp/truth" 2>"$tmp/err"
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

# The clock includes preemption. Waits of sleep_short are thinned: a standard deviation of 1.8 %.
for function in $functions; do
	percent=3
	[ $function != sleep_short ] || percent=8
	sum=$(awk -v name="$function" '$1 == name { ns += $2 } END { printf "%.1f", ns / 1e6 }' "$tmp/waits")
	within "$function" "$sum" "$(awk -v name="$function" '$1 == name { print $2 }' "$tmp/truth")" "$percent"
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
sum=$(awk '$1 == "all" { ns += $2 } END { printf "%.1f", ns / 1e6 }' "$tmp/waits")
within "the sum of all waits" "$sum" "$(blocked "$file")" 2

# Without thinning, both are exact.
"$SPROF" record --off-cpu=0 -o "$file" --no-summary -- "$workload/waits" 300 >"$tmp/truth" 2>"$tmp/err"
waits "$file" >"$tmp/waits"
sum=$(awk '$1 == "all" { ns += $2 } END { printf "%.1f", ns / 1e6 }' "$tmp/waits")
within "the sum of all waits with --off-cpu=0" "$sum" "$(blocked "$file")" 0.1

# A process that runs already: its threads' waits end after the recording.
"$workload/waits" 60000 >"$tmp/truth" &
target=$!
"$SPROF" record --off-cpu -p $target --duration 1 -o "$file" --no-summary 2>"$tmp/err"
kill $target
waits "$file" >"$tmp/waits"
for function in $functions; do
	check "-p: $function" grep -q "^$function " "$tmp/waits"
done

status "-G is refused" 129 "$SPROF" record --off-cpu -G / -o "$file" sleep 0
says "it says why" 'exclude each other'
status "a wrong threshold is refused" 129 "$SPROF" record --off-cpu=x true
finish
