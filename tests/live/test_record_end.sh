#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The end of a recording: signals work again as they did, and no fifo is left.
#
# Parallel: each signal waits for the state that it is sent in.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data
case $SPROF in /*) ;; *) SPROF=$PWD/$SPROF ;; esac
case $workload in /*) ;; *) workload=$PWD/$workload ;; esac
cd "$tmp" || exit 99
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

# SIGINT or SIGTERM of the whole process group, as of ^C: a program that ends in its own time is recorded
# until then.
cp "$workload/proportions" "$tmp/shutdown"
cat >"$tmp/ends_slowly" <<'END'
trap stop=1 INT TERM
until [ "$stop" ]; do "$1" 0.05; done
"$2" 0.5
exit 7
END
# The shell makes commands in the background ignore SIGINT.
group="setsid env --default-signal=INT"
own_time_signal=INT
own_time() { # WORDS: those before the program
	rm -f "$file" "$tmp/out"
	$group "$@" sh "$tmp/ends_slowly" "$workload/proportions" "$tmp/shutdown" >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	until_it test -s "$tmp/out"
	# The order of timeout(1).
	kill -$own_time_signal $recorder
	kill -$own_time_signal -$recorder
	wait $recorder
	status=$?
	check "after SIG$own_time_signal of the group, the program ends as it wants to ($1 $2, status $status)" \
		test $status = 7
}
own_time $record --
check "no other signal is sent" sh -c '! grep -q SIGTERM "$1"' sh "$tmp/err"
says "it is said" "^sprof: SIGINT reached process [0-9]*, too; recording goes on until it ends"
"$SPROF" report -i "$file" -s comm --format csv >"$tmp/out" 2>&1
check "its end is in the recording" grep -q shutdown "$tmp/out"
own_time "$SPROF" stat -e task-clock
own_time "$SPROF"
rm -f sprof.data

own_time_term() { # WORDS: those before the program
	own_time_signal=TERM
	own_time "$@"
	own_time_signal=INT
}
own_time_term $record --
says "SIGTERM of the group, too" "^sprof: SIGTERM reached process [0-9]*, too; recording goes on until it ends"
own_time_term "$SPROF" stat -e task-clock
status "a signal of the group ends the runs of stat -r" 124 timeout 1 "$SPROF" stat -r 20 -e task-clock sleep 10

# A supervisor's SIGTERM follows the user's ^C: the program still has its own time, longer than the
# recorder waits after a signal that asks for the end.
cat >"$tmp/ends_at_both" <<'END'
trap interrupted=1 INT
trap terminated=1 TERM
until [ "$interrupted" ]; do "$1" 0.05; done
echo interrupted
until [ "$terminated" ]; do "$1" 0.05; done
"$2" 1.5
exit 7
END
rm -f "$file" "$tmp/out"
$group $record -- sh "$tmp/ends_at_both" "$workload/proportions" "$tmp/shutdown" >"$tmp/out" 2>"$tmp/err" &
recorder=$!
until_it test -s "$tmp/out"
kill -INT -$recorder
until_it grep -q interrupted "$tmp/out"
kill -TERM -$recorder
wait $recorder
status=$?
check "after SIGINT and SIGTERM of the group, the program ends as it wants to (status $status)" test $status = 7
"$SPROF" report -i "$file" -s comm --format csv >"$tmp/csv" 2>&1
check "its end is in the recording, too" grep -q shutdown "$tmp/csv"

# A sender that must wait for its CPU between the recorder and the group, and one that does not.
for pause in 0.02 ''; do
	cat >"$tmp/sends" <<-END
		kill -INT \$1
		${pause:+i=0; while [ \$i -lt 20000 ]; do i=\$((i + 1)); done}
		kill -INT -\$1
	END
	rm -f "$file" "$tmp/out"
	$group $record -- sh "$tmp/ends_slowly" "$workload/proportions" "$tmp/shutdown" >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	until_it test -s "$tmp/out"
	sh "$tmp/sends" $recorder
	wait $recorder
	status=$?
	check "a signal to the recorder, then to the group, is one (${pause:-no} pause, status $status)" \
		test $status = 7
done

# A signal before sampling: a pipe without a reader cannot be opened.
mkfifo "$tmp/unread"
$record -o "$tmp/unread" -- true >"$tmp/out" 2>"$tmp/err" &
recorder=$!
until_it pgrep -P $recorder
sleep 0.5
kill -TERM $recorder
wait $recorder 2>"$tmp/out"
status=$?
check "SIGTERM before sampling ends the recorder (status $status)" test $status = 143
says "and it is said" "^sprof: ended by SIGTERM before sampling began: nothing was recorded"

# SIGINT of the recorder alone ends both, and it is said.
$record -- "$workload/proportions" 60 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
until_it test -s "$file"
sleep 0.5
kill -INT $recorder
wait $recorder
says "a signal that the recorder sends is said" "^sprof: sent SIGTERM to process [0-9]* (.*/prop"

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
