#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Clocks of whole CPUs are dithered: their samples have periods that vary, and the recording
# says so. A program on a 1 ms timer then has its true shares at any rate.
. "$top_srcdir/tests/tap.sh"
need_sampling -a

# record_periods OPTION...: records all CPUs; writes "CPU TIME_NS PERIOD" of each sample.
record_periods() {
	"$SPROF" record -a --call-graph none "$@" -o "$tmp/data" -- sleep 1.5 2>"$tmp/err" &&
		"$SPROF" script -i "$tmp/data" -F cpu,time,period --ns 2>/dev/null |
		tr -d '[]:.' >"$tmp/periods"
}

# Writes "FIT DISTINCT": percentage of samples that came their period after the last one of their CPU,
# as far as the dropped time allows, and number of different periods. Samples of the recorder are left
# out, and a host may steal time from timers.
fit_of_periods() {
	awk '{ if ($1 in last) { all++; gap = ($2 - last[$1]) / $3; fit += gap > 0.95 && gap < 1.01 }
		last[$1] = $2; if (!seen[$3]++) distinct++ }
		END { printf "%.0f %d\n", all ? 100 * fit / all : 0, distinct }' "$tmp/periods"
}

periods() {
	record_periods -F 997
	read -r percent distinct <<-EOF
		$(fit_of_periods)
	EOF
	comment "$percent % of the samples came their period after the last"
	check "samples have the period in force" [ "$percent" -ge 60 ]
	check "... which varies" [ "$distinct" -gt 10 ]
}
noisy periods

note='clock events are dithered: they sample at random rates of 50 % to 150 % of -F'
"$SPROF" info -i "$tmp/data" >"$tmp/info" 2>&1
check "info has the note" grep -qF "$note" "$tmp/info"
"$SPROF" info --format json -i "$tmp/data" >"$tmp/json" 2>&1
check "... with its kind and values in JSON" grep -q '"kind": 74, "values": \[500, 1500\]' "$tmp/json"
check "... and says nothing while recording" [ "$(grep -c dithered "$tmp/err")" = 0 ]
"$SPROF" report --format json -i "$tmp/data" >"$tmp/json" 2>&1
check "the report has it, too" grep -qF "$note" "$tmp/json"

record_periods -F 997 --no-dither
check "--no-dither: one period" [ "$(awk '{ print $3 }' "$tmp/periods" | sort -u)" = 1003009 ]
"$SPROF" info -i "$tmp/data" >"$tmp/info" 2>&1
check "... and no note" [ "$(grep -c dithered "$tmp/info")" = 0 ]
record_periods -c 1200000
check "-c N: one period" [ "$(awk '{ print $3 }' "$tmp/periods" | sort -u)" = 1200000 ]

# The periods of all samples are the weight of the report.
record_periods -F 997
sum=$(awk '{ sum += $3 } END { printf "%.0f\n", sum }' "$tmp/periods")
"$SPROF" report --format json --no-children -s comm --percent-limit 0 -i "$tmp/data" >"$tmp/json" 2>&1
check "the report's weights are the periods" \
	[ "$(sed -n 's/.*"self_weight": \([0-9]*\).*/\1/p' "$tmp/json" | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" = "$sum" ]
if command -v perf >/dev/null; then
	perf script -i "$tmp/data" -F period 2>/dev/null |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }' >"$tmp/got"
	check "perf reads the same periods" [ "$(cat "$tmp/got")" = "$sum" ]
else
	skip "perf reads the same periods" "no perf"
fi

# error_of OPTION...: records the workload, and writes the error of one half's share, in percent points.
error_of() {
	"$SPROF" record --scope cpu --call-graph none -e cpu-clock:u "$@" -o "$tmp/data" -- \
		$steady "$workload/beat" 1 >"$tmp/truth" 2>"$tmp/err" &&
		"$SPROF" report -i "$tmp/data" --no-children -s symbol --format csv 2>/dev/null |
		awk -F , -v truth="$(cut -d ' ' -f 2 "$tmp/truth")" '
			/early_half/ { share = $1 } /late_half/ { other = $1 }
			END { error = share / (share + other) - truth
				printf "%.0f\n", 100 * (error < 0 ? -error : error) }'
}

# Four standard errors of 500 samples are 9 points. In step, samples see one half only.
lock_in() {
	worst=0 fixed=0
	for run in 1 2 3 4 5 6; do
		error=$(error_of -F 1000)
		[ "$error" -le "$worst" ] || worst=$error
		error=$(error_of -F 1000 --no-dither)
		[ "$error" -le "$fixed" ] || fixed=$error
	done
	comment "largest errors: $worst points dithered, $fixed points at a fixed rate"
	check "a 1 ms timer: no share is wrong at 1000 Hz" [ "$worst" -le 9 ]
	check "... as it is at a fixed rate" [ "$fixed" -gt 9 ]
}
if [ -n "$steady" ]; then
	noisy lock_in
else
	skip "a 1 ms timer: no share is wrong at 1000 Hz" "needs two CPUs and real-time priority"
fi
warning='sampling at 1000 Hz can lock in step with 1 ms timers'
error_of -F 1000 >"$tmp/out"
"$SPROF" report -i "$tmp/data" --format json >"$tmp/json" 2>&1
check "no warning of lock-in" [ "$(cat "$tmp/err" "$tmp/json" | grep -c 'lock in')" = 0 ]
error_of -F 1000 --no-dither >"$tmp/out"
check "--no-dither: there is one" grep -qF "$warning" "$tmp/err"
finish
