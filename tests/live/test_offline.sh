#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPUs that go offline while they are recorded or counted, and come back. The kernel takes their
# events off them for good and says nothing, so that perf record -a has nothing of what runs there
# afterwards.
. "$top_srcdir/tests/tap.sh"
[ -n "${SPROF_INVASIVE-}" ] ||
	skip_all "it takes CPUs offline: SPROF_INVASIVE=1 allows that, and make check-vm does it in a guest"
online=/sys/devices/system/cpu/cpu1/online
[ -w $online ] || skip_all "there is no second CPU, or it cannot be taken offline"
need_sampling cpu
trap 'echo 1 >$online; rm -rf "$tmp"' EXIT

# steps FILE STEP...: a command that runs on CPU 1, takes it off, brings it back. When it was back
# is in $tmp/back, by the clock of the recordings.
cat >"$tmp/steps" <<END
for step; do
	case \$step in
	off) echo 0 >$online ;;
	on) echo 1 >$online; cut -d ' ' -f 1 /proc/uptime >"$tmp/back" ;;
	here) taskset -c 1 "$workload/proportions" 0.4 ;;
	new) taskset -c 1 sh -c 'cp "$workload/proportions" "$tmp/newcomer"; "$tmp/newcomer" 1.2' ;;
	there) "$workload/proportions" 0.4 ;;
	esac
done >/dev/null
END

# record STEPS OPTION...
record() {
	steps=$1
	shift
	timeout 60 "$SPROF" record -o "$tmp/data" "$@" -- sh "$tmp/steps" $steps >"$tmp/out" 2>"$tmp/err"
	status=$?
	comment "$(grep 'CPU 1' "$tmp/err")"
	[ "$(cat $online)" = 1 ] || echo 1 >$online
}

# Samples of a program on CPU 1, from when it was back on.
back_samples() { # FILE PROGRAM
	"$SPROF" script -i "$1" -G -F comm,cpu,time 2>/dev/null | awk -v back="$(cat "$tmp/back")" -v comm="$2" '
		$1 ~ comm && $2 == "[001]" && $3 + 0 >= back + 0 { n++ } END { print n + 0 }'
}

# At 99 Hz, 1.2 s are 118. What is begun as soon as it is back is there, too, with its names. On an
# emulated machine the recorder needs up to half a second to open the events and to read /proc.
watched_again() { # NAME
	samples=$(back_samples "$tmp/data" newcomer)
	check "$1: the recording ends well" test "$status" = 0
	check "$1: what ran there then is recorded ($samples)" test "$samples" -ge 40
	check "$1: it is said, with times" \
		grep -Eq 'CPU 1 was offline after [0-9.]* s, is recorded again after [0-9.]* s' "$tmp/err"
	"$SPROF" report -i "$tmp/data" --no-inline -s comm,symbol --format csv >"$tmp/report" 2>&1
	named=$(grep -cE 'newcomer.*(compress|parse|render|checksum)' "$tmp/report")
	check "$1: it has its names ($named)" test "$named" -ge 3
	"$SPROF" report -i "$tmp/data" --format json >"$tmp/report" 2>&1
	check "$1: the JSON report says it" grep -q 'CPU 1 was offline' "$tmp/report"
	if command -v perf >/dev/null; then
		perf script -i "$tmp/data" -F comm,event,cpu >"$tmp/perf" 2>"$tmp/perf.err"
		check "$1: perf has the same of it" test "$("$SPROF" script -i "$tmp/data" -F comm,event,cpu \
			2>/dev/null | sort | uniq -c | md5sum)" = "$(sort "$tmp/perf" | uniq -c | md5sum)"
	fi
}

all="-e cpu-clock -F 99 --call-graph none"
record "here off there on new" $all -a
watched_again "-a"
check "-a: that it went is said, too" grep -q 'CPU 1 went offline after' "$tmp/err"
record "here off there on new" -e cpu-clock -F 99
watched_again "a command, by its stacks"
record "here off on new" $all
watched_again "off and on at once"
record "off on off on here off there on new" $all -a --threads=cpu
watched_again "again and again, with threads that drain"
record "here off there on new" -e '{cpu-clock,context-switches}:S' -F 99 --call-graph none -a
watched_again "a group"
record "here off there on new" -e cpu-clock,context-switches -F 1200 --call-graph none -C 1
watched_again "events with twins, -C 1"
record "here off there on new" $all -a --overwrite=20
watched_again "overwritten rings"

# Events of tasks are the kernel's to move.
record "here off there on new" $all --scope task
check "tasks: nothing is to be said" sh -c '! grep -q "CPU 1" "$1"' - "$tmp/err"
samples=$(back_samples "$tmp/data" newcomer)
check "tasks: and nothing is missing ($samples)" test "$samples" -ge 40

# Several files: what is known holds in each.
rm -f "$tmp/data"
record "here off there on new" $all -a --switch-output=1s
check "several files: the recording ends well" test "$status" = 0
last=$(ls "$tmp"/data.* | tail -n 1)
total=0
for file in "$tmp"/data.*; do
	total=$((total + $(back_samples "$file" newcomer)))
done
check "several files: what ran there then is recorded ($total)" test $total -ge 40
"$SPROF" report -i "$last" --format json >"$tmp/report" 2>&1
check "several files: the last one says it, too" grep -q 'CPU 1 was offline' "$tmp/report"
rm -f "$tmp"/data.*

# It stays away.
record "here off there" $all -a
check "it stays away: the recording ends well" test "$status" = 0
check "it stays away: it is said" grep -q 'CPU 1 went offline after .* until it is back' "$tmp/err"
before=$("$SPROF" script -i "$tmp/data" -F comm,cpu 2>/dev/null | grep -c 'proportions *\[001\]')
check "it stays away: what was there before is in the file ($before)" test "$before" -ge 10

# Counted: a count that stood still is no count of the whole time.
count() {
	steps=$1
	shift
	timeout 60 "$SPROF" stat "$@" -- sh "$tmp/steps" $steps >"$tmp/out" 2>"$tmp/err"
	status=$?
	comment "$(cat "$tmp/err")"
	[ "$(cat $online)" = 1 ] || echo 1 >$online
}
for events in cpu-clock '{cpu-clock,page-faults}'; do
	count "here off there on new" -a -e "$events"
	check "stat -a $events: ends well" test "$status" = 0
	check "stat -a $events: it is said" grep -q 'CPU 1: it was offline' "$tmp/err"
	msec=$(awk '/cpu-clock/ { print int($1) }' "$tmp/err")
	elapsed=$(awk '/elapsed/ { print int($1 * 1000) }' "$tmp/err")
	# Both CPUs, but for the 0.4 s that one was off, and what it takes to switch it.
	check "stat -a $events: what ran there then is counted ($msec ms in $elapsed)" \
		test "$msec" -ge $((elapsed * 2 - 1000))
done
finish
