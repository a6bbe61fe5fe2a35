#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof top: shares of a known program in each window, JSON, the saved window, ordinary users, ends
# of targets, and the terminal.
. "$top_srcdir/tests/tap.sh"
need_sampling
publish_programs
cd "$tmp" || exit 99
chmod 755 "$tmp"
program="$workload/proportions"
top="$SPROF top -e cpu-clock"

status "text without a terminal" 0 $top --refreshes 2 -d 0.5 "$program" 3
check "a title for each refresh" test "$(grep -c '^..:..:..  last .* sprof itself .*%' out)" = 2
check "with rows" grep -q '\[\.\] compress ' out
says "the command is ended" "sent SIGTERM"

# Window after window: true shares are in the intervals as often as these promise.
shares() {
	$top --format json --window 1 -d 1 --duration 13 "$program" 30 >objects 2>err
	python3 - <<'END' >inside
import json
true = {"compress": .5, "parse": .25, "blend": .15}
inside = tries = refreshes = 0
last = 0
for line in open("objects"):
    report = json.loads(line)
    live = report["live"]
    assert live["end_ns"] > live["begin_ns"] and live["end_ns"] > last and live["own_cpu"] >= 0
    last = live["end_ns"]
    assert not any(f.get("cause") in ("damage", "unfinished") for f in report["findings"])
    rows = report["events"][0]["rows"]
    assert len(rows) <= 20 and report["events"][0]["samples"] > 0
    assert [row["self"] for row in rows] == sorted((row["self"] for row in rows), reverse=True)
    refreshes += 1
    for row in rows:
        if row["function"] in true:
            tries += 1
            inside += row["self_low"] <= true[row["function"]] <= row["self_high"]
print(refreshes, tries, inside)
END
	comment "refreshes, intervals, and those with the true share: $(cat inside)"
	read -r refreshes tries inside <inside
	check "an object for each second" test "${refreshes:-0}" -ge 9
	check "shares are in their intervals" test "${inside:-0}" -ge $((${tries:-1} * 85 / 100))
}
if command -v python3 >/dev/null; then
	noisy shares
else
	skip "shares" "needs python3"
fi

# Text has each window's rows by self, even if their intervals overlap.
status "text of five windows" 0 $top --stdio --refreshes 5 -d 0.5 --window 1 --limit 0 "$program" 9
falls='/^..:..:..  last/ { last = 101 } /^ *[0-9.]+% +[0-9]/ { wrong += $1 + 0 > last
	last = $1 + 0; rows++ } END { exit wrong > 0 || rows < 15 }'
check "rows are in order of self" awk "$falls" out

# Functions in all stacks of a thread have a line, so that few rows are left.
sleep 30 &
status "text of a waiting program" 0 $top --off-cpu --stdio --refreshes 1 -p $!
cp out limited
status "and without a limit" 0 $top --off-cpu --stdio --refreshes 1 -p $! --limit 0
kill $!
check "no row is missing" sh -c '! grep -q " more row" limited'
rows() { sed -n "s/.*%.*\[[.k]\] \([^ ]*\).*/\1/p" "$1" | sort; }
rows limited >limited_rows
rows out >all_rows
same "all rows are there" all_rows limited_rows

# The saved window.
status "the last window is saved" 0 $top --refreshes 3 -d 2 --window 3 -o saved.data "$program" 20
says "which is said" "saved.data has the window: sprof report -i saved.data"
status "sprof reads it" 0 "$SPROF" report -i saved.data -s function --format csv --interval within
check "with the function" grep -q 'compress' out
count=$("$SPROF" script -i saved.data -F time 2>/dev/null | wc -l)
check "it has samples ($count)" test "$count" -gt 100
"$SPROF" info -i saved.data >info.txt 2>&1
check "it has no damage" sh -c '! grep -qi damage info.txt'
if command -v perf >/dev/null; then
	perf script -i saved.data -F time >perf.out 2>perf.err
	check "perf reads the same samples" test "$(grep -c . perf.out)" = "$count"
else
	skip "perf reads the same samples" "there is no perf"
fi

# Ends of targets.
status "the command's status" 3 $top -d 0.5 sh -c 'exit 3'
status "a command that is not there" 127 $top ./nothing
"$program" 2 >/dev/null &
status "the target ends" 0 $top -d 60 --stdio -p $!
check "a last report is printed" test "$(grep -c '^..:..:..  last ' out)" -ge 1
status "no such option" 129 $top -z
says "what replaces it" "a window is shown"
status "a window that is too short" 129 $top --window 0.1

for signal in INT TERM; do
	$top -d 60 --stdio "$program" 60 >out 2>err &
	pid=$!
	sleep 1
	kill -$signal $pid
	wait $pid
	check "SIG$signal ends it, and its command" grep -q "sent SIGTERM to process" err
done

# An ordinary user watches own processes.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent"
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	status "an ordinary user" 0 $nobody $top --refreshes 2 -d 1 "$program" 5
	check "sees own functions" grep -q '%  .*compress' out
	$nobody "$program" 6 >/dev/null &
	sleep 0.2
	status "without a target" 0 $nobody $top --refreshes 2 -d 1
	check "own processes are watched" grep -q 'own processes$' out
	check "which have rows" grep -q 'compress' out
	echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
	wait
else
	skip "an ordinary user" "needs root and setpriv"
fi

# The screen.
socket=sprof-$$
terminal() { LC_ALL=C.UTF-8 tmux -u -L "$socket" -f /dev/null "$@"; }
screen() { terminal capture-pane -p -t test >now; }
wait_for() { # PATTERN
	for _ in $(seq 100); do
		screen
		grep -qe "$1" now && return 0
		sleep 0.1
	done
	sed 's/^/# /' now
	return 1
}
start() { # OPTION...
	rm -f before after messages
	cat >run.sh <<END
stty -a >before
env TERM=xterm $top $* 2>messages
echo \$? >code
stty -a >after
sleep 1000
END
	# Another session keeps the server, which else may end after the next one begins.
	terminal new-session -d -s keep sleep 1000 >/dev/null 2>&1
	terminal kill-session -t test >/dev/null 2>&1
	terminal new-session -d -s test -x 120 -y 30 sh run.sh
}
wait_end() {
	for _ in $(seq 100); do
		[ -s after ] && return 0
		sleep 0.1
	done
	return 1
}
if ! command -v tmux >/dev/null || "$SPROF" browse nothing 2>&1 </dev/null | grep -q 'built without'; then
	skip "the screen" "needs tmux and ncurses"
	finish
	exit
fi
trap 'terminal kill-server >/dev/null 2>&1; rm -rf "$tmp"' EXIT
start -d 0.5 -o shown.data "$program" 60
check "rows are shown" wait_for '%  \[\.\] compress '
terminal send-keys -t test ' '
check "Space freezes" wait_for '^..:..:..  frozen: last'
screen
cp now frozen
sleep 1.5
screen
same "a frozen window stays" frozen now
terminal send-keys -t test S
check "S saves it" wait_for 'shown.data has the window'
# Text names a dso that all its rows have above them, and then lines end with the function.
numbers() { sed -n 's/^[^0-9%]*\([0-9.]*%\).*\[\.\] \(compress\|parse\)\( .*\)*$/\1 \2/p'; }
numbers <frozen >wanted
"$SPROF" report -i shown.data --interval within >saved 2>err
numbers <saved >got
[ -s got ] || comment "no rows: $(cat saved err)"
same "the file has the numbers on the screen" wanted got
check "both functions" test "$(wc -l <got)" = 2
terminal send-keys -t test ' ' d
check "filters work live" wait_for '^filter: dso proportions'
# All files of a window are on one line of time.
terminal send-keys -t test z ' '
wait_for 'frozen: last' >/dev/null
terminal send-keys -t test T
check "T shows when" wait_for '^all threads'
screen
check "a thread has one lane" test "$(grep -c '^proportions [0-9]' now)" = 1
terminal send-keys -t test '[' Right Right Right ']'
check "a range of time is a filter" wait_for '^filter: time +0.000 s to '
terminal send-keys -t test Escape D
check "which has halves" wait_for '^ change .*low to high'
terminal send-keys -t test q
check "q quits" wait_end
same "the terminal is restored" before after
for signal in INT TERM; do
	start -d 0.5 "$program" 60
	wait_for 'compress' >/dev/null
	pkill -$signal -x -P "$(terminal list-panes -t test -F '#{pane_pid}')" sprof
	check "SIG$signal quits" wait_end
	same "it restores the terminal" before after
	check "and ends the command" grep -q 'sent SIGTERM' messages
done
finish
