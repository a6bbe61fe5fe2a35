#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pictures of sprof browse: the numbers at the cursor are those of the text report. TERMS chooses
# the terminals of the first part.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99
. "$top_srcdir/tests/cli/browse.sh"

# Prints "TOTAL SAMPLES NAME" of the box at the cursor.
box() {
	screen | sed 's/, self [^,]*,/,/' |
		sed -n 's/^\([0-9.<>]*%\) ([^)]*), \([0-9,]*\) samples*  \([^ ]*\).*/\1 \2 \3/p'
}

# is_box NAME BOX: waits for the box at the cursor.
is_box() {
	for _ in $(seq 100); do
		[ "$(box)" != "$2" ] || { ok "$1"; return; }
		sleep 0.1
	done
	not_ok "$1" "$(box), not $2"
}

# in_tree NAME OPTIONS: passes if the text's tree has the share of the box at the cursor.
in_tree() {
	box >at
	text "sprof report $2 --percent-limit 0 one.data" >tree
	check "$1: the tree has $(cat at)" \
		grep -qE "^ *$(cut -d' ' -f1 at) .* $(cut -d' ' -f3 at)( |\$)" tree
}

# prints_tree NAME: passes if the command that p prints has the share of the box at the cursor.
prints_tree() {
	box >at
	keys p
	wait_for '^sprof report' || not_ok "$1: p"
	command=$(sed -n 's/^\(sprof report.*\)/\1/p' now | tail -n 1)
	comment "$1: $command"
	text "$command --percent-limit 0" >tree
	check "$1: the command prints $(cat at)" \
		grep -qE "^ *$(cut -d' ' -f1 at) .* $(cut -d' ' -f3 at)( |\$)" tree
}

# are_shares COLUMNS: whether 60 % of the screen in "now" are left of draw's box.
are_shares() {
	awk -v width="$1" '/^parse/ { at = index($0, "draw") - 1 }
		END { exit !(at >= int(0.6 * width) - 1 && at <= 0.6 * width + 1) }' now
}

# The flame graph, with and without UTF-8 and colours, in all sizes. Without colours, boxes are in
# reverse video. Half cells have half the width of the narrowest box as their error.
for name in ${TERMS:-vt100 xterm xterm-256color xterm-direct linux screen tmux}; do
	TERM=$name tput -T "$name" cols >/dev/null 2>&1 || {
		skip "$name" "terminfo does not have it"
		continue
	}
	for size in "60 12" "80 24" "200 60"; do
		locale=C.UTF-8
		[ "$size" != "80 24" ] || locale=C
		start $size $name $locale "$SPROF browse one.data"
		wait_for "$ready" || not_ok "$name $size: it begins"
		keys f Down Down Down
		is_box "$name, $size, $locale: flame graph" "60.00% 240 parse"
		for _ in $(seq 50); do
			screen | sed 's/▌/#/g' >now
			! are_shares "${size% *}" || break
			sleep 0.1
		done
		are_shares "${size% *}" && ok "$name, $size: widths are shares" ||
			not_ok "$name, $size: widths are shares" "$(cat now)"
		[ $locale = C.UTF-8 ] || check "$name, $size: ASCII only" \
			test -z "$(LC_ALL=C tr -d '\000-\177' <now)"
		terminal capture-pane -e -p -t test >styles
		case $name in
		vt100) check "$name, $size: reverse video" grep -q '\[7m' styles ;;
		*) check "$name, $size: colours" grep -qE '\[(30;)?43m|;43' styles ;;
		esac
		keys q
		wait_end || not_ok "$name $size: it ends"
		check "$name, $size: status 0" test "$(cat status)" = 0
	done
done
start 100 30 xterm-256color C.UTF-8 "env NO_COLOR=1 $SPROF browse one.data"
wait_for "$ready"
keys f
wait_for '^Esc back' && ok "NO_COLOR: flame graph" || not_ok "NO_COLOR: flame graph"
terminal capture-pane -e -p -t test >styles
check "NO_COLOR: no colours" sh -c '! grep -qE "\[[0-9;]*[34][0-7]m" styles'

# Each box: the numbers of the tree from callers to callees, then from callees to callers.
start 120 30 xterm-256color C.UTF-8 "$SPROF browse one.data"
wait_for "$ready"
keys f
is_box "all" "100.00% 400 all"
keys Down Down Down
is_box "Down: the heaviest callee" "60.00% 240 parse"
in_tree "flame graph: parse" "-g caller"
keys Down
is_box "Down: its callee" "50.00% 200 mix"
in_tree "flame graph: mix" "-g caller"
prints_tree "flame graph"
keys Down Right
is_box "Right: the box of the same depth" "20.00% 80 hash"
keys Up Up
is_box "Up: the caller" "20.00% 80 draw"
keys Enter
wait_for '^draw  *▌$' && ok "Enter: zoom" || not_ok "Enter: zoom"
is_box "the zoomed box has its share of the event" "20.00% 80 draw"
keys Escape
wait_for '^parse.*▌draw' && ok "Esc: zoom out" || not_ok "Esc: zoom out"
keys r
wait_for '^hash.*▌mix' && ok "r: callers below callees" || not_ok "r: callers below callees"
keys Home Down
is_box "r: a sampled function" "50.00% 200 hash"
in_tree "r: hash" "-g callee"
prints_tree "r"
keys Down Down Right
is_box "r: a caller" "20.00% 80 draw"
keys r
wait_for '^parse.*▌draw' || not_ok "r: again"
keys / m i x Enter n
is_box "n: a box with the text of the search" "50.00% 200 mix"
keys Escape
sleep 0.3
keys s
wait_for 'filter: stacks with ^mix\$' && ok "s: stacks through the function" || not_ok "s"
keys Escape
wait_for "$ready" || not_ok "Esc: the table"
prints_screen "s in the flame graph"
keys f
is_box "zoom and cursor follow the functions" "50.00% 200 mix"
keys z
wait_for '^parse.*▌draw' && ok "z: undo" || not_ok "z: undo"
is_box "z: the cursor stays at its function" "50.00% 200 mix"

# The butterfly: callers above with the numbers of --callers, callees below with those of --callees.
keys b
wait_for '^hash' && ok "b: butterfly" || not_ok "b: butterfly"
is_box "b: the function's total" "70.00% 280 mix"
in_tree "b" "-g caller --callees mix"
keys Down
is_box "butterfly: a callee" "50.00% 200 hash"
in_tree "butterfly: a callee" "-g caller --callees mix"
prints_tree "butterfly: a callee"
keys Up Up
is_box "butterfly: a caller" "50.00% 200 parse"
in_tree "butterfly: a caller" "-g callee --callers mix"
keys Right
is_box "butterfly: another caller" "20.00% 80 draw"
in_tree "butterfly: another caller" "-g callee --callers mix"
prints_tree "butterfly: another caller"
awk '/^parse/ { callers = NR } /^mix/ { function_at = NR } /^hash/ { callees = NR }
	END { exit !(callers < function_at && function_at < callees) }' now &&
	ok "callers are above, callees below" ||
	not_ok "callers are above, callees below" "$(cat now)"
keys Enter
wait_for '^draw  *▌$' && ok "Enter: the caller's butterfly" || not_ok "Enter: butterfly"
keys Escape
wait_for '^parse.*▌draw' || not_ok "butterfly: back"
keys Escape
wait_for "$ready" || not_ok "flame graph: back"

# Code: the lines of the annotation, with the hottest marked.
keys Home a
wait_for '^code' && ok "a: code" || not_ok "a: code"
screen | grep '%' | grep -oE '^ *[0-9.]*% *[^ ]*( 100)?  [0-9a-f]*' >got
LC_ALL=C.UTF-8 "$SPROF" annotate -i one.data hash 2>/dev/null |
	grep -oE '^ *[0-9.]*% *[^ ]*( 100)?  [0-9a-f]*' >wanted
same "code: the numbers of sprof annotate" wanted got
check "code: shares are not of the library's hash, too" grep -q '^ *100.00%' wanted
check "code: the source line" grep -q 'program.c:1 *int hash' now
check "code: no row is said to be missing" sh -c '! grep -q "no row in the report" now'
terminal capture-pane -e -p -t test >styles
check "code: the hottest instruction is marked" grep -q "7m.*$(sed -n '1s/.* //p' wanted)" styles
terminal resize-window -t test -x 70 -y 20
wait_for '^code' && ok "code: another size" || not_ok "code: another size"
terminal resize-window -t test -x 120 -y 30
keys Tab Tab BTab H Escape
wait_for "$ready" && ok "code: back" || not_ok "code: back"

# The timeline: the samples of a range are those of --time.
keys T
wait_for '^all threads' && ok "T: timeline" || not_ok "T: timeline"
wait_for 'samples* .* program 7:' && ok "T: lanes of threads" || not_ok "T: lanes"
check "T: no escape sequence of a name" sh -c '! grep -q "$(printf "\\033")" now'
keys Right Right '[' Right Right ']'
wait_for 'filter: time +' && ok "[ ]: range" || not_ok "[ ]: range"
keys Escape
wait_for "$ready" || not_ok "T: back"
prints_screen "time range"
screen | sed -n 's/.*filters pass \([0-9]*\) of them.*/\1/p' >got
text "$command" | sed -n 's/.*filters pass \([0-9]*\) of them.*/\1/p' >wanted
same "time range: samples" wanted got
keys z
sleep 0.3
screen >now
check "z: the range is undone" sh -c '! grep -q filter: now'
keys T
wait_for '^all threads'
keys Enter
sleep 0.5
wait_for 'filter: time' && ok "Enter: the column's time" || not_ok "Enter: the column's time"
keys z M
sleep 0.5
wait_for '[░▒▓█]' && ok "M: heat map" || not_ok "M: heat map"
keys Right Up Up
wait_for '[01] samples*$' && ok "M: a cell's samples" || not_ok "M: a cell's samples"
keys M Escape
wait_for "$ready" || not_ok "M: back"

# Half against half of the time: shares of --time.
keys D
wait_for '^ *change' && ok "D: changes" || not_ok "D: changes"
sed -n 's/.* \([0-9.]*%\)  *\([0-9.]*%\).* mix  *program  program *$/\1 \2/p' now >got
for range in 5.001,5.2005 5.200500001,5.4; do
	text "sprof report --time $range --percentage relative one.data" |
		sed -n 's/^ *\([0-9.]*%\).* mix .*/\1/p' | head -n 1
done | paste -s -d' ' >wanted
same "D: shares of the halves" wanted got
keys Escape

# States of threads: their sums over the columns are those of the report.
. "$top_srcdir/tests/cli/waits_recording.sh"
waits_recording
start 120 30 xterm-256color C.UTF-8 "$SPROF browse waits"
wait_for "$ready"
keys T
wait_for '^main 7 .*·' && ok "states: blocked" || not_ok "states: blocked"
check "states: running" grep -q '^main 7 .*████' now
check "states: runnable" grep -q '^worker 8 .*▒' now
last= sum=0 steps=0
while [ $steps -lt 60 ]; do
	line=$(screen | sed -n 's/^[+-].* s: .* main 7: //p')
	[ "$line" != "$last" ] || sleep 0.1
	last=$line steps=$((steps + 1))
	screen | sed -n 's/^\([+-][0-9.]*\) s to .*on a CPU \([0-9.]*\) ms.*/\1 \2/p'
	keys Right
	sleep 0.05
done | sort -u | awk '{ sum += $2 } END { print sum }' >got
echo 500 >wanted
same "states: time on a CPU" wanted got

# Each question from the start, in at most four keys.
question() { # NAME RECORDING KEYS PATTERN
	start 120 30 xterm-256color C.UTF-8 "$SPROF browse $2"
	wait_for "$ready" || not_ok "$1: it begins"
	# shellcheck disable=SC2086
	[ -z "$3" ] || keys $3
	wait_for "$4" && ok "$1: ${3:-no key}" || not_ok "$1: ${3:-no key}"
}
mv waits states
. "$top_srcdir/tests/cli/wakers_recording.sh"
question "hot function" one.data "" '40.00%.* hash '
question "line" one.data "a" 'program.c:1 '
question "instruction" one.data "a" '100.00%.*mov'
question "callers" one.data "Enter" '─ mix'
question "callees" one.data "Down b" '^hash'
question "thread" one.data "s t" '50.00%.*program  *7'
question "process" one.data "s x" '60.00%.*(7)'
question "time" one.data "s T" '^all threads'
question "reason of waits" states "y" 'blocked: futex'
question "waker" waits "u" 'demo\[1\]'
question "losses" one.data "w" 'limits of the data'
question "changes" one.data "D" '^ *change'

# Without call chains: times, but no tree.
recording plain.data <<END
event cpu-clock
comm 7 7 a
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
sample 0 7 7 0 5000000000 1000000 0x401010
sample 0 7 7 0 5001000000 1000000 0x401020
END
start 100 24 xterm-256color C.UTF-8 "$SPROF browse plain.data"
wait_for "$ready"
keys T
wait_for '^all threads .*█' && ok "no call chains: timeline" || not_ok "no call chains: timeline"
keys Escape f
wait_for 'no call chains' && ok "no call chains: flame" || not_ok "no call chains: flame"

# Several keys before the answer to the first one: none is lost.
start 120 30 xterm-256color C.UTF-8 "$SPROF browse one.data"
wait_for "$ready"
keys s t z z f Down Down
is_box "keys that come while the recording is read" "100.00% 400 main"

# The mouse: tmux passes what a terminal would send.
mouse() { # BUTTON COLUMN ROW LETTER: M presses, m releases
	terminal send-keys -t test -l "$(printf '\033[<%d;%d;%d%s' "$1" "$2" "$3" "$4")"
}
mouse 0 5 9 M
mouse 0 5 9 m
is_box "mouse: a box" "60.00% 240 parse"
mouse 0 5 9 M
mouse 0 5 9 m
wait_for '^parse  *▌$' && ok "mouse: zoom" || not_ok "mouse: zoom"
keys T
wait_for '^all threads'
mouse 0 30 8 M
mouse 0 50 8 m
wait_for 'filter: time' && ok "mouse: a time range" || not_ok "mouse: a time range"

# Names with markup and control characters.
. "$top_srcdir/tests/cli/html_recordings.sh"
hostile_recording >/dev/null 2>&1
for key in f T D; do
	start 100 24 xterm-256color C.UTF-8 "$SPROF browse hostile"
	wait_for "$ready" || not_ok "hostile names: it begins"
	keys $key
	sleep 0.5
	screen >now
	check "hostile names, $key: no control characters, no marks that reorder text" sh -c \
		"! grep -q '[[:cntrl:]]' now && ! grep -q \"$(printf '\342\200\256')\" now"
done
finish
