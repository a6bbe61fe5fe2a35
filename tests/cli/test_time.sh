#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Time: --time in each of its forms, compared with perf; rows by time; the curve in report's head.
. "$top_srcdir/tests/cli/lib.sh"
export LC_ALL=C
cd "$tmp" || exit 99
report() { "$SPROF" report -i data "$@"; }
script() { "$SPROF" script -i data -F time "$@"; }

# 300 samples: one each 10 ms for 2 s, a pause of 2 s, and one each 20 ms for 2 s.
{
	echo "event cpu-clock"
	echo "comm 7 7 demo"
	awk 'BEGIN {
		for (i = 0; i < 200; i++)
			printf "sample 0 7 7 0 %d000000 1000000 0x401000\n", 2971669 + i * 10
		for (i = 0; i < 100; i++)
			printf "sample 0 7 7 0 %d000000 1000000 0x401000\n", 2975669 + i * 20
	}'
} | recording data

# passes N TIME: report and script show N samples.
passes() {
	check "--time '$2': $1 samples in script" test "$(script -q --time "$2" | wc -l)" = "$1"
	got=$(report --format csv -q -s comm --time "$2" | awk -F, 'NR > 1 { n += $4 } END { print n + 0 }')
	check "--time '$2': $1 samples in report" test "$got" = "$1"
}
passes 200 +0,+2
passes 100 +1,+2.5
passes 51 ,+0.5
passes 100 +3,
passes 50 +5,+6
passes 21 '+0,+0.1 +5.8,+6'
passes 101 2971.669,+1
passes 50 +5,2977.7
passes 101 2971.669,2972.669
passes 200 0%-50%
passes 0 +2.5,+3.5

for wrong in +3,+1 +1 +, +,+ ++1,+2 +1,+2x +2s,+3 24:00,+1s 2026-13-01T12:00,+1s 9999-01-01T12:00,+1s 12:60,+1s 12:03:07,+0s 5,3 ,; do
	check "'$wrong' is refused" sh -c '! "$SPROF" script -i data --time "$1" 2>/dev/null' - "$wrong"
done

# The end of perf's ranges is inclusive, too.
if perf --version >/dev/null 2>&1; then
	for time in 2971.669,2972.669 ,2972.0005 2975.67, 2972.005,2972.015; do
		perf script -i data -F time --time "$time" 2>/dev/null | tr -d ' ' >theirs
		script -q --time "$time" | tr -d ' ' >ours
		check "perf has samples in $time" test -s theirs
		same "as perf: $time" theirs ours
	done
else
	skip "as perf: absolute seconds" "no perf"
fi

# Nothing passes: the span is named.
span='the recording spans 2971.669 s to 2977.649 s (+0 to +5.980 s)'
for time in 0,1 +90, +2.5,+3.5; do
	prints "script names the span for $time" script --time "$time" <<END
(stderr) sprof: no sample is in the given time; $span
END
	report --time "$time" 2>&1 >/dev/null | grep -v '^ ' >got
	echo "sprof: no sample is in the given time; $span" >wanted
	same "report names the span for $time" wanted got
done
script --pid 8 --time +1,+2 2>got
check "the time is not blamed for other filters" grep -q "no sample passes the filters; $span" got
script -q --time 0,1 2>got
check "-q: nothing" test ! -s got

prints "rows in order of time" report -q -s time --time-quantum 1s <<'END'
  self   low-high  time
33.33%  28.2-38.8  +0.000 s
33.33%  28.2-38.8  +1.000 s
16.67%  12.9-21.3  +4.000 s
16.67%  12.9-21.3  +5.000 s
END
# Steps of 1.5 s have 50, 16.7, 8.3 and 25 %.
steps() { report -q -s time --time-quantum 1500ms "$@" | awk '/[+]/ { printf "%s ", $3 }'; }
check "a limit hides a light step alone" \
	test "$(steps --percent-limit 10)" = "+0.000 +1.500 +4.500 "
check "the hottest steps keep their order" test "$(steps --limit 2)" = "+0.000 +4.500 "
prints "csv keeps the clock and the order of shares" sh -c \
	'"$SPROF" report -i data --format csv -s time --time-quantum 2s | cut -d , -f 4,11' <<'END'
self_samples,time
166,2972.000000
83,2976.000000
34,2970.000000
17,2974.000000
END

prints "the span and samples over time" sh -c '"$SPROF" report -i data | sed -n 2p' <<'END'
  time: 5.98 s from 2971.669 s  |@@@@@@@@@@@@@@@@@@@@                    ============+=======|
END
prints "the part of --time" sh -c '"$SPROF" report -i data --time +4,+5 | sed -n 2p' <<'END'
  time: 5.98 s from 2971.669 s, shown +4.000 s to +5.000 s  |                                        ==========          |
END
report -q >got
check "-q: no curve" sh -c '! grep -q time: got'
report --format json >got
check "JSON: no curve" sh -c '! grep -q "@@" got'
finish
