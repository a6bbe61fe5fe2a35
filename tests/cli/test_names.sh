#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Names that programs chose: none reaches a terminal, or standard error, with control characters,
# and none forges a record.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99
faults=$top_builddir/tests/faults
export SPROF

# ESC, BEL, CR, LF, CSI as a byte and as UTF-8, and what reverses text.
evil=$(printf '\033]0;x\007\r\nforged 9 1.0: \2331m\302\2331m\342\200\256')
escaped='\x1b]0;x\x07\x0d\x0aforged\x209\x201.0:\x20\x9b1m\xc2\x9b1m\xe2\x80\xae'
mkdir "$evil" && "$faults/hostile" symbol "$evil/made" "s$evil" && mv "$evil" folder ||
	skip_all "no file of such a name can be made here"
ln -s folder "$evil"

recording data <<END
event cpu-clock chain cgroup
hostname h$escaped
cmdline w$escaped
comm 7 7 c$escaped
mmap 7 0x401000 0x1000 0x1000 $tmp/$escaped/made
mmap 7 0x501000 0x1000 0x1000 $tmp/$escaped/none
cgroup 3 /g$escaped
with cgroup 3
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020
sample 0 7 7 0 2000000 1000000 0x501010 0x501010 0x401020
END

# clean NAME FILE: no control character but tab and line feed, no byte that is C1, no mark.
clean() {
	check "$1" sh -c '[ -s "$1" ] && ! LC_ALL=C grep -q "$2" "$1"' sh "$2" \
		"$(printf '[\001-\010\013-\037\177\233]\\|\302[\200-\237]\\|\342\200\256')"
}

# shown NAME COMMAND [ARG]...: what it writes, and its messages, are clean and no line is forged.
shown() {
	shown_name=$1
	shift
	"$@" >got 2>&1 </dev/null
	clean "$shown_name" got
	check "$shown_name: no line is forged" sh -c '! grep -q "^forged" got'
}

for locale in C C.UTF-8; do
	export LC_ALL=$locale
	shown "report, $locale" "$SPROF" report -i data --symfs / --sort comm,dso,symbol -g caller
	shown "report by an unknown key, $locale" "$SPROF" report -i data --symfs / --sort "$evil"
	shown "info, $locale" "$SPROF" info -v -i data
	shown "no such file, $locale" "$SPROF" report -i "$evil/nothing"
	shown "no such command, $locale" "$SPROF" "$evil"
	shown "no such option, $locale" "$SPROF" record "--$evil"
	shown "no such event, $locale" "$SPROF" record -e "$evil" -- true
	shown "not executable, $locale" "$SPROF" stat -- "./$evil/made"
	"$SPROF" script -i data --symfs / >/dev/null 2>got
	clean "messages of script, $locale" got
done
shown "report, csv" "$SPROF" report -i data --symfs / --format csv --sort comm,dso,symbol
shown "report, json" "$SPROF" report -i data --symfs / --format json --sort comm,dso,symbol
shown "report, folded" "$SPROF" report -i data --symfs / --format folded
shown "info, json" "$SPROF" info --format json -i data
shown "script, json" "$SPROF" script --format json -i data --symfs /

recording formulas <<'END'
event cpu-clock
comm 1 1 =SUM(1)
comm 2 2 -x
comm 3 3 +x
comm 4 4 @x
comm 5 5 x=-1
sample 0 1 1 0 1000000 5 0x10
sample 0 2 2 0 1000000 4 0x10
sample 0 3 3 0 1000000 3 0x10
sample 0 4 4 0 1000000 2 0x10
sample 0 5 5 0 1000000 1 0x10
END
prints "csv: no cell is a formula" sh -c \
	'"$SPROF" report --format csv -s comm -i formulas | sed "1d; s/.*,//"' <<'END'
"'=SUM(1)"
"'-x"
"'+x"
"'@x"
x=-1
END

# In a pipe: perf's bytes, but a line of a record is one line.
"$SPROF" script -i data --symfs / -F comm,pid,tid,cpu,time,event,ip,sym,dso 2>/dev/null >got
check "script in a pipe: as many records as there are" [ "$(grep -c 'cpu-clock' got)" = 2 ]
check "script in a pipe: no line is forged" sh -c '! grep -q "^forged" got'
printf '%s' "c$evil" | sed 's/\r$/\\r\\n/' | tr -d '\n' >wanted
check "script in a pipe: a name's bytes" sh -c \
	'LC_ALL=C grep -qF "$(cat wanted)" got'
check "script in a pipe: a symbol's bytes" sh -c \
	'LC_ALL=C grep -qF "s$(cut -c 2- wanted)" got'

# Live: a program of such a name, and what others write.
if "$SPROF" record -q -o live -- true 2>err; then
	cp "$(command -v sleep)" "$evil/run"
	mkfifo fifo
	(echo "$evil" | tr -d '\n' && echo) >fifo &
	shown "record" "$SPROF" record -o "live$evil" --control fifo:fifo -- "./$evil/run" 0.3
	wait
	shown "record of a program that is gone" "$SPROF" record -o live -p "$evil"
	for kind in "" -x, -j; do
		# shellcheck disable=SC2086
		shown "stat ${kind:-text}" "$SPROF" stat $kind --per-thread -e task-clock -- \
			"./$evil/run" 0.1
	done
else
	skip "live" "$(head -n 1 err)"
fi

if script -qec true /dev/null >/dev/null 2>&1; then
	export TERM=xterm
	# on_terminal NAME ARGUMENTS
	on_terminal() {
		script -qec "\"\$SPROF\" $2 -i data --symfs / --no-pager" /dev/null </dev/null | tr -d '\r' >got
		clean "$1 on a terminal" got
		check "$1 on a terminal: no line is forged" sh -c '! grep -q "^forged" got'
	}
	for locale in C C.UTF-8; do
		export LC_ALL=$locale
		on_terminal "script, $locale" script
		on_terminal "all records, $locale" \
			"script --header --show-task-events --show-mmap-events --show-cgroup-events"
		on_terminal "script -D, $locale" "script -D"
		on_terminal "report, $locale" "report --color never"
	done
else
	skip "on a terminal" "there is no script(1)"
fi
finish
