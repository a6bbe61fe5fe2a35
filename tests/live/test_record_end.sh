#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The end of a recording: signals work again as they did, and no fifo is left.
#
# Parallel: each signal waits for the state that it is sent in.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data
record="$SPROF record --call-graph none -e cpu-clock -F 997 -o $file"

# until_it COMMAND...: runs it each 0.1 s until it succeeds, for 20 s.
until_it() {
	until_left=200
	until "$@" >"$tmp/until" 2>&1; do
		until_left=$((until_left - 1))
		[ $until_left -gt 0 ] || return 1
		sleep 0.1
	done
}

# A command that ignores the SIGTERM which the recorder sends it, and has used some CPU time.
$record -- sh -c 'trap "" TERM; "$2" 0.2; echo $$ >"$1"; exec sleep 60' sh "$tmp/pid" "$workload/proportions" \
	>"$tmp/out" 2>"$tmp/err" &
recorder=$!
check "the command runs" until_it test -s "$tmp/pid"
kill -TERM $recorder
check "SIGTERM ends the recording" until_it grep -q 'samples, .* in ' "$tmp/err"
ended() {
	kill -TERM $recorder 2>/dev/null || return 0
	return 1
}
check "another one ends the recorder, which waits for the command" until_it ended
kill -KILL "$(cat "$tmp/pid")"
kill -KILL $recorder 2>/dev/null
wait $recorder 2>"$tmp/out"
status=$?
check "its status is SIGTERM's ($status)" test $status = 143
"$SPROF" info -i "$file" >"$tmp/out" 2>&1
check "the recording is readable" test $? = 0

# Fifos are removed if they were made here, also where the command's signal ends the recorder.
for how in true 'kill -KILL $$'; do
	$record --control "fifo:$tmp/ctl,$tmp/ack" -- sh -c "$how" >"$tmp/out" 2>&1
	check "record removes the fifos that it made ($how)" test ! -e "$tmp/ctl" -a ! -e "$tmp/ack"
	"$SPROF" stat --control "fifo:$tmp/ctl,$tmp/ack" -e task-clock sh -c "$how" >"$tmp/out" 2>&1
	check "so does stat ($how)" test ! -e "$tmp/ctl" -a ! -e "$tmp/ack"
	rm -f "$tmp/ctl" "$tmp/ack"
done
mkfifo "$tmp/ctl"
$record --control "fifo:$tmp/ctl,$tmp/ack" -- true >"$tmp/out" 2>&1
check "a fifo that was there stays" test -p "$tmp/ctl" -a ! -e "$tmp/ack"
finish
