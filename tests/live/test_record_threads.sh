#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All threads of the recorder at work, in five ways. CI runs it under TSan, where each way takes
# 5 s (LIVE_SECONDS): a data race must not be found.
#
# Parallel: it asks for samples, not for their number.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
binary=$top_builddir/src/.libs/sprof
[ -e "$binary" ] || binary=$top_builddir/src/sprof
seconds=1
! grep -q __tsan_init "$binary" || seconds=5
seconds=${LIVE_SECONDS:-$seconds}
file=$tmp/data

# Threads that come and go, so that side-band is busy as well.
target() { # SECONDS
	exec "$workload/threads" 4 "$1" 50
}

# result NAME STATUS FILE...: checks a recording; its messages are in $tmp/err.
result() {
	result_name=$1 result_status=$2
	shift 2
	check "$result_name: it succeeds ($result_status)" test "$result_status" = 0
	check "$result_name: no data race" sh -c '! grep -A 40 "WARNING: ThreadSanitizer" "$1"' sh "$tmp/err"
	samples=0
	for part; do
		"$SPROF" info -i "$part" --format json >"$tmp/info" 2>"$tmp/info.err"
		check "$result_name: ${part##*/} is readable" grep -q '"damage": *\[\]' "$tmp/info"
		samples=$((samples + $("$SPROF" script -i "$part" -F time 2>"$tmp/info.err" | wc -l)))
	done
	check "$result_name: it has samples ($samples)" test $samples -gt 0
	rm -f "$file"*
}

# record NAME OPTION...: of a command.
record() {
	record_name=$1
	shift
	"$SPROF" record -F 1999 -o "$file" "$@" -- "$workload/threads" 4 "$seconds" 50 >"$tmp/out" 2>"$tmp/err"
	result "$record_name" $? "$file"*
}

record "dwarf" --call-graph dwarf
record "--threads" --call-graph dwarf --threads=2 -z
record "--switch-output" --call-graph dwarf --switch-output=300K

# Attaches to a running process: its workload outlives the recording.
(target $((seconds + 30)) >"$tmp/target") &
target=$!
"$SPROF" record -F 1999 -o "$file" --call-graph dwarf -p $target --duration "$seconds" >"$tmp/out" 2>"$tmp/err"
result "attach" $? "$file"*

# Dumps while it records on; the last one at its end.
"$SPROF" record -F 1999 -o "$file" --call-graph dwarf --overwrite=1 -p $target >"$tmp/out" 2>"$tmp/err" &
recorder=$!
for dump in 1 2 3; do
	sleep "$seconds"
	kill -USR2 $recorder
done
sleep 1
kill -INT $recorder
wait $recorder
status=$?
kill -KILL $target
wait $target 2>"$tmp/out"
dumps=$(ls "$file".2* | wc -l)
check "--overwrite: each SIGUSR2 writes a file ($dumps)" test "$dumps" -ge 2
result "--overwrite" $status "$file"*

# SCHED_FIFO is 1; field 40 of stat is the priority.
if chrt -f 7 true 2>"$tmp/err"; then
	"$SPROF" record -q --no-summary -r 7 -o "$file" sh -c 'cat /proc/$PPID/task/*/stat' >"$tmp/stat" 2>"$tmp/err"
	check "-r sets the priority of a thread that reads the buffers" \
		awk '{ sub(/.*[)] /, ""); found = found || $38 == 7 } END { exit !found }' "$tmp/stat"
fi
finish
