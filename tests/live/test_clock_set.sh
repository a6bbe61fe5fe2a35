#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Sets the wall clock while recording or counting: durations must not depend on it, and its times
# stay in order.
. "$top_srcdir/tests/tap.sh"
[ -n "${SPROF_INVASIVE-}" ] ||
	skip_all "it sets the clock: SPROF_INVASIVE=1 allows that, and make check-vm does it in a guest"
need_sampling cpu
now=$(date +%s)
date -s "@$now" >/dev/null 2>&1 || skip_all "the clock may not be set"
trap 'rm -rf "$tmp"' EXIT

# steps STEP...: runs for a while, or sets the clock by an hour.
cat >"$tmp/steps" <<END
for step; do
	case \$step in
	back) date -s "-1 hour" ;;
	forward) date -s "+1 hour" ;;
	run) "$workload/proportions" 0.3 ;;
	new) cp "$workload/proportions" "$tmp/newcomer"; "$tmp/newcomer" 0.3 ;;
	esac
done >/dev/null
END

# Ticks of a clock that cannot be set.
uptime_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

# record STEPS OPTION...
record() {
	steps=$1
	shift
	begin=$(uptime_ms)
	timeout 60 "$SPROF" record -e cpu-clock -F 199 -o "$tmp/data" "$@" -- sh "$tmp/steps" $steps \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	took=$(($(uptime_ms) - begin))
	comment "$(grep CLOCK_ "$tmp/err")"
}

# all_there NAME FILE: checks both programs. 0.3 s at 199 Hz are 60 samples; some are the
# kernel's.
all_there() {
	"$SPROF" script -i "$2" -G -F comm,ip,sym >"$tmp/script" 2>"$tmp/err"
	for program in proportions newcomer; do
		samples=$(grep -c "^ *$program " "$tmp/script")
		named=$(grep -cE "^ *$program +[0-9a-f]+ (compress|parse|render|checksum)" "$tmp/script")
		check "$1: $program is there, with its names ($samples, $named)" \
			sh -c 'test $1 -ge 50 && test $2 -ge 20' - "$samples" "$named"
	done
}

# Recorded in order, by the clock as it was at the start.
in_order() { # NAME
	check "$1: the recording ends well" test "$status" = 0
	cp "$tmp/err" "$tmp/said"
	all_there "$1" "$tmp/data"
	cp "$tmp/said" "$tmp/err"
	span=$("$SPROF" script -i "$tmp/data" -F time -G 2>/dev/null | awk '
		NR == 1 { first = $1 + 0 } $1 + 0 < last { back++ } { last = $1 + 0 }
		END { printf "%d %d\n", (last - first) * 1000, back }')
	check "$1: times go over what it took, and never back ($span, $took ms)" \
		sh -c 'test $1 -ge 500 && test $1 -le $3 && test $2 = 0' - $span $took
}

record "run new" -k realtime --call-graph none
in_order "not set"
check "not set: nothing is said" sh -c '! grep -q CLOCK_ "$1"' - "$tmp/err"
for graph in none fp dwarf; do
	record "run back new" -k realtime --call-graph $graph
	in_order "back, $graph"
	check "back, $graph: it is said" \
		grep -Eq 'CLOCK_REALTIME was set back by 3(599|600)\.[0-9]* s' "$tmp/err"
	"$SPROF" report -i "$tmp/data" --format json >"$tmp/report" 2>&1
	check "back, $graph: by the JSON report, too" grep -q 'CLOCK_REALTIME was set back' "$tmp/report"
done
if command -v perf >/dev/null; then
	perf script -i "$tmp/data" -F comm,time 2>"$tmp/perf.err" >"$tmp/perf"
	check "back: perf sees no disorder" sh -c '! grep -qi "out of order" "$1"' - "$tmp/perf.err"
fi
record "run forward new" -k realtime --call-graph none
in_order "forward"
check "forward: it is said" \
	grep -Eq 'CLOCK_REALTIME was set forward by 3(599|600)\.[0-9]* s' "$tmp/err"
record "run back new" -k tai --call-graph none -a
in_order "back, CLOCK_TAI"
record "run back new" -k realtime --call-graph none --overwrite=20
in_order "back, overwritten rings"
record "run forward run back new" --call-graph none
in_order "the default clock"
check "the default clock: nothing is said" sh -c '! grep -q CLOCK_ "$1"' - "$tmp/err"

# perf's own recordings have times that go back: later records get later times.
if command -v perf >/dev/null; then
	perf record -k CLOCK_REALTIME -a -e cpu-clock -F 199 -o "$tmp/data" -- \
		sh "$tmp/steps" run back run new >"$tmp/out" 2>"$tmp/err"
	"$SPROF" report -i "$tmp/data" >"$tmp/report" 2>&1
	check "perf's, back: it is said" grep -Eq 'the clock was set back by 3(599|600)\.[0-9]* s or more' \
		"$tmp/report"
	all_there "perf's, back" "$tmp/data"
	says "perf's, back: by script, too" 'the clock was set back'
else
	skip "perf's, back" "there is no perf"
fi

# Recording that takes a known time.
rm -f "$tmp"/data*
record "run back run forward run run back run forward run" --call-graph none --switch-output=1s
files=$(ls "$tmp"/data.* | wc -l)
check "--switch-output: a file each second of what it took ($files, $took ms)" \
	sh -c 'test $1 -ge 2 && test $1 -le $(($2 / 1000 + 2))' - "$files" "$took"
written=$(sed -n 's/^sprof: \([0-9]*\) samples, .*/\1/p' "$tmp/err")
sum=0
for file in "$tmp"/data.*; do
	sum=$((sum + $("$SPROF" script -i "$file" -F comm 2>/dev/null | wc -l)))
done
check "--switch-output: each sample is in one of them ($sum of $written)" test "$sum" = "$written"
rm -f "$tmp"/data*
timed() { # NAME LEAST MOST COMMAND...: in milliseconds
	name=$1 least=$2 most=$3
	shift 3
	begin=$(uptime_ms)
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err"
	took=$(($(uptime_ms) - begin))
	check "$name ($took ms)" sh -c 'test $1 -ge $2 && test $1 -le $3' - $took $least $most
}
long="sh $tmp/steps run back run forward run run run run run run run run run run run run run run"
timed "--duration" 1000 3500 "$SPROF" record -q -e cpu-clock --call-graph none --duration 1 \
	-o "$tmp/data" -- $long
record "back run forward run run" --call-graph none -D 500
span=$("$SPROF" script -i "$tmp/data" -F time -G 2>/dev/null | awk '
	NR == 1 { first = $1 + 0 } { last = $1 + 0 } END { print int((last - first) * 1000) }')
check "-D: the rest of it is recorded ($span of $took ms)" \
	sh -c 'test $1 -ge 100 && test $1 -le $(($2 - 400))' - "$span" "$took"
timeout 60 "$SPROF" stat -I 300 -e cpu-clock -- sh "$tmp/steps" run back run forward run 2>"$tmp/err"
check "stat -I: times go on" awk '$2 ~ /^[0-9.]+$/ && $3 == "msec" {
	if ($1 < last || $1 > last + 1.5) bad = 1; last = $1; n++ } END { exit bad || n < 3 }' "$tmp/err"
timed "stat --timeout" 600 3500 "$SPROF" stat --timeout 600 -e cpu-clock -- $long
finish
