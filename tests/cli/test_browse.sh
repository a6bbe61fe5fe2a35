#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof browse in a terminal of tmux: numbers are those of the text report, each key works, and the terminal
# is restored. RANDOM_KEYS and SEED choose the number and the order of random keys.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99
. "$top_srcdir/tests/cli/browse.sh"

for name in vt100 xterm xterm-256color xterm-direct linux screen tmux; do
	TERM=$name tput -T "$name" cols >/dev/null 2>&1 || {
		skip "$name" "terminfo does not have it"
		continue
	}
	for size in "60 12" "80 24" "200 60"; do
		locale=C.UTF-8
		[ "$size" != "80 24" ] || locale=C
		start $size $name $locale "$SPROF browse one.data"
		wait_for "$ready" || not_ok "$name $size: it begins"
		equals "$name, $size, $locale: self" "sprof report one.data"
		keys o
		wait_for '^ *total' || not_ok "$name $size: order"
		equals "$name, $size, $locale: total" "sprof report --children one.data"
		screen >now
		if [ $locale = C ]; then
			check "$name: ASCII only" test -z "$(LC_ALL=C tr -d '\000-\177' <now)"
		fi
		check "$name, $size: no escape sequence of a name" grep -qv '31m' now
		keys q
		wait_end || not_ok "$name $size: it ends"
		check "$name, $size: the modes of the terminal are restored" cmp before after
		check "$name, $size: status 0" test "$(cat status)" = 0
		check "$name, $size: the cursor is shown on the first screen" test \
			"$(terminal display -p -t test '#{cursor_flag} #{alternate_on}')" = "1 0"
	done
done

# Each key of the table.
start 160 40 xterm-256color C.UTF-8 "$SPROF browse one.data"
wait_for "$ready"
prints_screen "first view"
keys d
wait_for 'filter: dso program' && ok "d: dso" || not_ok "d: dso"
prints_screen "d"
keys n
wait_for 'comm program' && ok "n: comm" || not_ok "n: comm"
prints_screen "n"
keys F
sleep 0.5
prints_screen "F"
keys z
sleep 0.3
keys z
wait_for 'filter: dso program *' && ! grep -q 'filter.*comm' now && ok "z: undo" || not_ok "z: undo"
keys Escape
sleep 0.5
screen >now
check "Esc: undo" sh -c '! grep -q filter: now'
keys t
wait_for 'tid' && ok "t: threads" || not_ok "t: threads"
keys Down t
wait_for 'filter: thread 8' && ok "t: one thread" || not_ok "t: one thread"
prints_screen "t"
keys z z
sleep 0.3
keys Tab
wait_for 'page-faults \[2/2\]' && ok "Tab: event" || not_ok "Tab: event"
prints_screen "Tab"
keys BTab
wait_for 'cpu-clock \[1/2\]' && ok "Shift-Tab: event" || not_ok "Shift-Tab: event"
keys /
keys -l MIX
wait_for '/MIX' && ok "/: search" || not_ok "/: search"
keys Enter
screen >now
check "/: only rows with the text" test "$(numbers <now | grep -cv ' mix$')" = 0 -a "$(numbers <now | wc -l)" -ge 1
keys Escape
sleep 0.3
check "Esc: all rows" test "$(screen | numbers | wc -l)" -gt 4

# Callers of hash add up to its self; callees of main to its total.
keys Home Enter
wait_for '─ mix' && ok "Enter: unfold" || not_ok "Enter: unfold"
screen | sed -n 's/^[^0-9]*\([0-9.]*%\).*[├└]─ \([^ ]*\).*/\1 \2/p' >got
first=$(screen | numbers | head -n 1)
text "sprof report -g callee -S hash -c program -d program one.data" >tree
check "callers: numbers of the tree" grep -q "^ *$(sed -n 's/ mix$//p' got | head -n 1) " tree
check "callers: they add up to self" awk -v self="${first%\%*}" '
	/ mix$/ { sum += $1 } END { exit !(sum > self - 0.02 && sum < self + 0.02) }' got
keys C
sleep 0.3
check "C: fold" sh -c "! tmux -L $socket -f /dev/null capture-pane -p -t test | grep -q '─ mix'"
keys E
wait_for 'main' && ok "E: unfold all" || not_ok "E: unfold all"
keys c o Home +
wait_for '─ parse' && ok "+: callees" || not_ok "+: callees"
screen | sed -n 's/^[^0-9]*\([0-9.]*%\).*[├└]─ \([^ ]*\).*/\1 \2/p' >got
text "sprof report --callees main -g -c program one.data --percent-limit 0" >tree
for name in parse draw; do
	share=$(sed -n "s/ $name$//p" got | head -n 1)
	check "callees: $name has the number of the tree ($share)" grep -qE "^ *$share .* $name" tree
done
keys -- -
sleep 0.3
check "-: fold" sh -c "! tmux -L $socket -f /dev/null capture-pane -p -t test | grep -q '─ parse'"
keys Right
wait_for '─ parse' && ok "Right: unfold" || not_ok "Right: unfold"
keys Left
sleep 0.3
check "Left: fold" sh -c "! tmux -L $socket -f /dev/null capture-pane -p -t test | grep -q '─ parse'"
for key in w i '?' h F1; do
	keys "$key"
	wait_for '^Esc back' && ok "$key: text" || not_ok "$key: text"
	keys Down PgDn Up PgUp Home End '?' Escape
	wait_for "$ready" || not_ok "$key: back"
done
keys '?'
wait_for '^Esc back'
for key in $(sed -n '/^\.SH KEYS/,/^While/{s/^\.BR* //p}' "$top_srcdir/doc/sprof-browse.1" |
	sed 's/\\-/-/g;s/[",]/ /g'); do
	grep -qF -e "$key" now || cat "$top_srcdir"/src/tui/browse*.c | grep -qF -e "$key" ||
		not_ok "help names $key of the manual"
done
keys Escape PgDn End Home Space Up '!'
wait_for 'no meaning' && ok "another key is explained" || not_ok "another key is explained"

# Threads with numbered names are one row, and its callers are those of all of them.
recording pool.data <<END
event cpu-clock chain
arch x86_64
comm 7 7 main
comm 7 8 worker-1
comm 7 10 worker-2
comm 7 11 worker-3
comm 9 9 other
mmap 7 $map $tmp/program
mmap 9 $map $tmp/program
$(for i in $(seq 30); do
	echo "sample 0 7 $((i % 3 ? 9 + i % 3 : 8)) 0 $((5000000000 + i * 1000000)) 1000000 $hash $hash $mix $main"
	echo "sample 0 9 9 0 $((5000500000 + i * 1000000)) 1000000 $parse $parse $main"
done)
END
start 160 40 xterm-256color C.UTF-8 "$SPROF browse pool.data"
wait_for "$ready"
keys / w o r k e r - Enter Enter
wait_for '50.00%.*─ mix' && ok "a pool's callers" || not_ok "a pool's callers"
keys Escape Home n
wait_for 'filter: comm' && ok "a filter of one comm" || not_ok "a filter of one comm"
prints_screen "n of the first row"

start 160 40 xterm-256color C.UTF-8 "$SPROF browse one.data"
wait_for "$ready"
keys o
# Sizes.
for i in $(seq 20); do
	terminal resize-window -t test -x $((20 + i * 37 % 150)) -y $((2 + i * 23 % 50))
done
terminal resize-window -t test -x 100 -y 30
keys Home
wait_for '^q quit' && ok "it survives other sizes" || not_ok "it survives other sizes"
wait_for '^▸.* parse ' || not_ok "rows after other sizes"
equals "numbers after other sizes" "sprof report --children one.data"

# Random keys of all views.
count=${RANDOM_KEYS:-5000}
awk -v count="$count" -v seed="${SEED:-1}" 'BEGIN {
	srand(seed)
	n = split("Up Down Left Right PPage NPage Home End Enter Escape BSpace Tab BTab F1 Space " \
		"a b c d e f g h i j k l m n o p r s t u v w x y z / ? + - A C D E F H M P T [ ] z z z w 5 ~ é", key, " ")
	for (i = 1; i <= count; i++)
		printf "%s%s", key[1 + int(rand() * n)], i % 50 && i < count ? " " : "\n"
}' >random
while read -r line; do
	# shellcheck disable=SC2086
	keys -- $line
	[ ! -s status ] || break
done <random
keys Escape
sleep 1
keys Enter Escape
wait_for 'sprof\|one.data' && [ ! -s status ] && ok "$count random keys" || not_ok "$count random keys"
keys Escape Escape
sleep 0.5
keys q
wait_end && ok "q after random keys" || not_ok "q after random keys" "$(cat now)"
check "status 0 after random keys" test "$(cat status)" = 0

# Signals restore the terminal.
for signal in TERM HUP INT SEGV; do
	[ $signal != SEGV ] || ! grep -q 'fsanitize' "$top_builddir/Makefile" || continue
	start 80 24 xterm-256color C.UTF-8 "$SPROF browse one.data"
	wait_for "$ready"
	tty=$(terminal display -p -t test '#{pane_tty}')
	kill -s $signal "$(pgrep -n -t "${tty#/dev/}" -f 'browse one.data')"
	wait_end && ok "SIG$signal ends it" || not_ok "SIG$signal ends it"
	check "SIG$signal: the modes are restored" cmp before after
	check "SIG$signal: the cursor and the first screen are shown" test \
		"$(terminal display -p -t test '#{cursor_flag} #{alternate_on}')" = "1 0"
	check "SIG$signal: the status is the signal's" test "$(cat status)" -gt 128
done

# Suspended by a shell with job control, and continued.
cat >jobs.sh <<END
set -m
TERM=xterm-256color LC_ALL=C.UTF-8 $SPROF browse one.data
stty -a >suspended
: >ready
read -r line
fg >/dev/null
END
start 80 24 xterm C.UTF-8 "sh jobs.sh"
wait_for "$ready"
keys C-z
for _ in $(seq 100); do [ -e ready ] && break || sleep 0.1; done
check "Ctrl-Z: the modes are restored" cmp before suspended
check "Ctrl-Z: the cursor and the first screen are shown" test \
	"$(terminal display -p -t test '#{cursor_flag} #{alternate_on}')" = "1 0"
keys Enter
wait_for '^q quit' && ok "fg shows it again" || not_ok "fg shows it again"
keys q

# Other ways to begin, and what it refuses.
start 80 24 xterm C.UTF-8 "$SPROF report --tui one.data"
wait_for '^q quit' && ok "report --tui" || not_ok "report --tui"
start 80 24 xterm C.UTF-8 "env SPROF_UI=tui $SPROF report one.data"
wait_for '^q quit' && ok "SPROF_UI=tui" || not_ok "SPROF_UI=tui"
start 80 24 xterm C.UTF-8 "env SPROF_PAGER=cat $SPROF report one.data"
wait_end
screen | grep -v '^$' | tail -n 1 >got
echo 'Browse it with keys: sprof browse one.data' >wanted
same "text names the browser" wanted got
start 80 24 xterm C.UTF-8 "sh -c '$SPROF browse - <one.data'"
wait_for '^q quit' && ok "a recording from standard input" || not_ok "a recording from standard input"
status "no terminal" 1 "$SPROF" browse one.data
says "no terminal: the reason" "needs a terminal; 'sprof report' prints text"
start 80 24 nonsense C.UTF-8 "$SPROF browse one.data 2>err"
wait_end
check "an unknown terminal is named" grep -q "terminal of type 'nonsense'" err
status "--tui and -o" 129 "$SPROF" report --tui -o x.html one.data
SPROF_UI=tui "$SPROF" report one.data >got 2>&1
check "SPROF_UI does not change a pipe" grep -q 'hash' got
finish
