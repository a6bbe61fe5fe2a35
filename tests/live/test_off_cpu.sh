#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Waits: the sum of their periods for each function, compared with the program's own clock and with
# the SWITCH records.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"
file=$tmp/data
# Allowed difference in %. A recorder without CPU time suspends samples of switches when many come at once;
# stack snapshots then stand for them.
of_function=5 of_all=3
! nm -P "$SPROF" "${SPROF%/*}/.libs/sprof" 2>/dev/null | grep -qE '^__(asan|tsan|ubsan)' ||
	of_function=10 of_all=10

"$SPROF" record --off-cpu -o "$file" --no-summary -- "$workload/waits" 0.1 sleep >"$tmp/truth" 2>"$tmp/err"
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

# within NAME A B PERCENT: A and B differ by less.
within() {
	check "$1: $2 ms, not $3" awk -v a="$2" -v b="$3" -v percent="$4" \
		'BEGIN { exit !(b > 0 && (a - b) ^ 2 < (percent / 100 * b) ^ 2) }'
}

# sum FUNCTION: ms of its waits.
sum() {
	awk -v name="$1" '$1 == name { ns += $2 } END { printf "%.1f", ns / 1e6 }' "$tmp/waits"
}

# switches FILE: "TID NS [OUT|IN] [preempt]" of each switch.
switches() {
	"$SPROF" script -i "$1" -F tid,time --ns --show-switch-events 2>"$tmp/err" |
		awk '/PERF_RECORD_SWITCH/ { sub(/:$/, "", $2); sub(/[.]/, "", $2); print $1, $2, $4, $5 }'
}

# off FUNCTION: ms that its thread was not on a CPU there, by its own clocks; then those less the time
# for which the thread was preempted, which may all have been there.
off() {
	awk -v name="$1" '
		FNR == NR { if ($1 == name) { ns += $2 - $3; tid = $5 } next }
		$1 != tid { next }
		$3 == "OUT" { from = $4 == "preempt" ? $2 : 0; next }
		from { preempted += $2 - from; from = 0 }
		END { printf "%.1f %.1f", ns / 1e6, (ns - preempted) / 1e6 }' "$tmp/truth" "$tmp/switches"
}

# blocked FILE: ms from each switch off the CPU to the switch back, without preemption.
blocked() {
	switches "$1" | awk '
		$3 == "OUT" { off[$1] = $4 == "preempt" ? 0 : $2; next }
		{ if (off[$1]) sum += $2 - off[$1]; off[$1] = 0 }
		END { printf "%.1f", sum / 1e6 }'
}

# compare GROUPS FUNCTION...: without thinning. Less than 5,000 switches a second are each sampled.
compare() {
	groups=$1
	shift
	"$SPROF" record --off-cpu=0 -o "$file" --no-summary -- "$workload/waits" 2 $groups >"$tmp/truth" \
		2>"$tmp/err"
	waits "$file" >"$tmp/waits"
	switches "$file" >"$tmp/switches"
	for function; do
		range=$(off $function)
		check "$function: $(sum $function) ms, not ${range#* } to ${range% *}" awk \
			-v sum="$(sum $function)" -v most="${range% *}" -v least="${range#* }" -v percent=$of_function \
			'BEGIN { exit !(sum < most * (1 + percent / 100) && sum > least * (1 - percent / 100)) }'
	done
	within "the sum of all waits of $groups" "$(sum all)" "$(blocked "$file")" $of_all
}
noisy compare "sleep pipe" sleep_b pipe_wait
noisy compare "lock epoll" lock_hold epoll_tick

# Thinned, the sum is the same but for chance: some waits are short. Snapshots replace the samples while a
# busy machine delays the recorder, and do not find woken threads that wait for a CPU.
thinned() {
	"$SPROF" record --off-cpu -o "$file" --no-summary -- "$workload/waits" 1 sleep lock >"$tmp/truth" 2>"$tmp/err"
	waits "$file" >"$tmp/waits"
	within "the sum of all waits, thinned" "$(sum all)" "$(blocked "$file")" 15
}
noisy thinned

# A process that runs already.
"$workload/waits" 60 sleep pipe lock >"$tmp/truth" &
target=$!
until grep -q ready "$tmp/truth" || ! kill -0 $target; do sleep 0.01; done
attached() {
	"$SPROF" record --off-cpu -p $target --duration 1 -o "$file" --no-summary 2>"$tmp/err"
	waits "$file" >"$tmp/waits"
	for function in sleep_a sleep_b pipe_feed pipe_wait lock_hold lock_wait; do
		check "-p: $function" grep -q "^$function " "$tmp/waits"
	done

	# The main thread was blocked before, and all the time: only a snapshot has its stack.
	check "-p: a thread that does not wake: $(sum join_all) ms" awk -v ms="$(sum join_all)" \
		'BEGIN { exit !(ms > 900 && ms < 5000) }'
}
noisy attached

# Snapshots, as an ordinary user with kernel.perf_event_paranoid 2. Each function is found, in the
# order of their times; a loaded machine allows no stricter check.
user=
if [ "$(id -u)" != 0 ]; then
	user=env
elif command -v setpriv >/dev/null; then
	publish_programs
	user="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all env"
fi
if [ -n "$user" ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ]; then
	mkdir -p "$tmp/user"
	chmod 777 "$tmp" "$tmp/user"
	# A wait of disk_wait is often shorter than the reading of its stack: few of its snapshots remain.
	snapshots() {
		$user HOME="$tmp/user" TMPDIR="$tmp/user" XDG_CACHE_HOME="$tmp/user" "$SPROF" record --off-cpu \
			-o "$tmp/user/data" --no-summary -- "$workload/waits" 2 >"$tmp/truth" 2>"$tmp/user.err"
		check "an ordinary user is told of snapshots" grep -q 'from snapshots every 10 ms' "$tmp/user.err"
		waits "$tmp/user/data" >"$tmp/waits"
		for function in sleep_a sleep_b pipe_wait epoll_tick cond_wait lock_hold disk_wait; do
			check "snapshots: $function: $(sum $function) ms" grep -q "^$function " "$tmp/waits"
		done
	}
	noisy snapshots
	# A process that is not dumpable belongs to root: PR_SET_DUMPABLE is 4.
	if python=$(PATH=/usr/bin:/bin command -v python3); then
		$user HOME="$tmp/user" TMPDIR="$tmp/user" XDG_CACHE_HOME="$tmp/user" "$SPROF" record --off-cpu \
			-o "$tmp/user/data" --no-summary -- "$python" -c 'import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
time.sleep(0.3)' 2>"$tmp/user.err"
		check "denied snapshots are noted" grep -q 'snapshots of waiting threads were denied.*as root' \
			"$tmp/user.err"
	else
		skip "denied snapshots" "needs python3"
	fi
else
	skip "snapshots" "needs kernel.perf_event_paranoid 2"
fi
kill $target

# main_thread FILE: "BEGIN END UNKNOWN" of the main thread's life, in ns.
main_thread() {
	"$top_builddir/tests/live/thread_lives" "$1" 2>"$tmp/err" |
		awk -F, '$1 == $2 { printf "%.0f %.0f %.0f\n", $4, $5, $9 }'
}

# Each file of a rotation has the states of its own time. The main thread is blocked from begin to end.
rotated() {
	rm -f "$tmp"/turn.*
	"$SPROF" record -q --off-cpu --switch-output=1s -o "$tmp/turn" -- "$workload/waits" 1.6 sleep >"$tmp/truth" \
		2>"$tmp/err"
	for turn in "$tmp"/turn.*; do
		main_thread "$turn"
	done >"$tmp/lives"
	check "files of a rotation do not overlap: $(tr '\n' ' ' <"$tmp/lives")" awk '
		NR == 1 { begin = $1 }
		{ sum += $2 - $1; end = $2; unknown += $3 }
		END { exit !(NR > 1 && sum <= (end - begin) * 1.05 && unknown < 0.05 * sum) }' "$tmp/lives"
}
noisy rotated

# A wait has parts in several slices of time. Filters of code apply to all of them.
slices() {
	"$SPROF" report -i "$tmp/data" --mode off-cpu -s time,function -g none --format csv \
		--percent-limit 0 "$@" 2>"$tmp/err" | grep -c clock_nanosleep
}
"$SPROF" record -q --off-cpu -o "$tmp/data" -- sleep 1.2 >"$tmp/out" 2>"$tmp/err"
comment "$(slices) slices, with focus $(slices --focus clock_nanosleep), without $(slices --ignore clock_nanosleep)"
check "filters of code apply to all parts of a wait" sh -c \
	'[ "$1" -gt 5 ] && [ "$2" = "$1" ] && [ "$3" = 0 ]' sh "$(slices)" "$(slices --focus clock_nanosleep)" \
	"$(slices --ignore clock_nanosleep)"

# A thread that blocks until the end has no more records: of a hang, all time is one wait.
sleep 60 &
sleeper=$!
sleep 0.2
"$SPROF" record --off-cpu --no-summary --duration 0.5 -p "$sleeper" -o "$file" 2>"$tmp/err"
kill "$sleeper"
"$SPROF" report -i "$file" --format json >"$tmp/hang.json"
check "a thread that never runs is blocked all the time" awk '
	/"weight":/ && !seen++ { gsub(/[^0-9]/, ""); weight = $0 }
	END { exit !(weight + 0 >= 4.9e8 && weight + 0 < 1e9) }' "$tmp/hang.json"
check "its wait has a stack" grep -q '"blocked_ns": [1-9].*"function": "[^"]*nanosleep\|"function": "[^"]*nanosleep' "$tmp/hang.json"

# Before events are enabled, states are unknown.
delayed() {
	"$SPROF" record -q --off-cpu -D 300 -o "$file" -- "$workload/waits" 0.6 sleep >"$tmp/truth" 2>"$tmp/err"
	check "-D: no state before: $(main_thread "$file")" awk '$3 < 2.5e8 { bad = 1 } END { exit bad || !NR }' <<-END
	$(main_thread "$file")
END
}
noisy delayed

# Periods of other events do not concern waits.
of_another_event() {
	"$SPROF" record --off-cpu -e page-faults -c 100 -o "$file" --no-summary -- "$workload/waits" 0.2 sleep \
		>"$tmp/truth" 2>"$tmp/err"
	waits "$file" >"$tmp/waits"
	check "-c: waits have their durations" awk '$1 == "sleep_b" && $2 > 1e6 { n++ } END { exit !n }' "$tmp/waits"
}
noisy of_another_event

# Samples of Python programs wake the drain thread, which preempts the program; those of switches must not.
if python=$(command -v python3); then
	"$SPROF" record --off-cpu -o "$file" --no-summary -- "$python" -c '
import time
for _ in range(300):
	time.sleep(0.001)' 2>"$tmp/err"
	switches=$("$SPROF" info -i "$file" --format json | sed -n 's/.*"SWITCH": \([0-9]*\).*/\1/p')
	check "Python: $switches switches for 300 waits" test "$switches" -ge 600 -a "$switches" -lt 6000
else
	skip "switches of a Python program" "needs python3"
fi

status "-G is refused" 129 "$SPROF" record --off-cpu -G / -o "$file" sleep 0
says "it says why" 'exclude each other'
says "and the remedy" 'record the group.s processes'
status "a wrong threshold is refused" 129 "$SPROF" record --off-cpu=x true
finish
