#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings in several files, of bounded size, and those that are overwritten until asked for.
. "$top_srcdir/tests/tap.sh"
need_sampling

field() { # FILE KEY: a number of sprof info
	"$SPROF" info -i "$1" --format json | sed -n "s/.*\"$2\": *\\([0-9]*\\).*/\\1/p" | head -1
}

undamaged() { # FILE
	"$SPROF" info -i "$1" --format json | grep -q '"damage": *\[\]'
}

# Prints the number of samples of a file with a known function, and of all.
named() {
	"$SPROF" report -i "$1" -s symbol --format csv 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ all += $column["self_samples"]
		  if ($column["symbol"] !~ /^("?\[unknown\]"?|"?0x)/) known += $column["self_samples"] }
		END { print known + 0, all + 0 }'
}

perf_reads() { # FILE NAME
	if command -v perf >/dev/null; then
		perf report -i "$1" --stdio --no-children -g none >"$tmp/report" 2>"$tmp/err"
		check "$2: perf reads it, with names" grep -q proportions "$tmp/report"
	else
		skip "$2: perf reads it, with names" "there is no perf"
	fi
}

# Rotation by time: each file has the running tasks, and each sample is in one file.
"$SPROF" record -F 997 --call-graph none --switch-output=1s -o "$tmp/time" -- \
	"$workload/proportions" 3 >"$tmp/out" 2>"$tmp/err"
files=$(ls "$tmp" | grep '^time\.' | sort)
count=$(echo "$files" | wc -l)
check "by time: there are several files ($count)" test "$count" -ge 3
check "by time: the last one has a name, too" test ! -e "$tmp/time"
check "by time: names are perf's" test -z "$(echo "$files" | grep -vE '^time\.[0-9]{16}$')"
wanted=$(sed -n 's/^sprof: \([0-9]*\) samples, .*/\1/p' "$tmp/err")
sum=0
for file in $files; do
	samples=$(field "$tmp/$file" SAMPLE)
	sum=$((sum + ${samples:-0}))
	check "by time: $file is whole" undamaged "$tmp/$file"
	known=$(named "$tmp/$file")
	[ "${samples:-0}" -lt 50 ] ||
		check "by time: $file names its samples ($known)" \
			sh -c 'test $(($1 * 100)) -ge $(($2 * 95))' - $known
done
check "by time: no sample is lost at the borders, and none is twice ($sum of $wanted)" \
	test "$sum" = "$wanted"
perf_reads "$tmp/$(echo "$files" | sed -n 2p)" "by time"

# By size, and a few are kept.
"$SPROF" record -v -F 4000 -g --call-graph fp --switch-output=200K --keep 2 -o "$tmp/size" -- \
	"$workload/proportions" 2 >"$tmp/out" 2>"$tmp/err"
most=$(sed -n 's/.*each file: at most \([0-9]*\) bytes.*/\1/p' "$tmp/err")
files=$(ls "$tmp" | grep '^size\.')
check "by size: two files are kept" test "$(echo "$files" | wc -l)" = 2
check "by size: there were more" test "$(grep -c 'size\.[0-9]*: ' "$tmp/err")" -gt 2
for file in $files; do
	bytes=$(wc -c <"$tmp/$file")
	check "by size: $file is as large as was said at most ($bytes of $most)" test "$bytes" -le "$most"
	check "by size: $file is whole" undamaged "$tmp/$file"
done

# The limit counts bytes written to the file: frames of stack copies, and no filtered samples.
"$SPROF" record -F 4000 --call-graph dwarf --switch-output=200K -o "$tmp/copies" -- \
	"$workload/proportions" 2 >"$tmp/out" 2>"$tmp/err"
wanted=$(sed -n 's/^sprof: \([0-9]*\) samples, .*/\1/p' "$tmp/err")
files=$(ls "$tmp" | grep '^copies\.' | sort)
last=$(echo "$files" | tail -n 1)
sum=0 wrong= least=
for file in $files; do
	bytes=$(wc -c <"$tmp/$file")
	[ "$file" = "$last" ] || [ "${least:-$bytes}" -lt "$bytes" ] || least=$bytes
	samples=$(field "$tmp/$file" SAMPLE)
	sum=$((sum + ${samples:-0}))
	[ "$bytes" -le 204800 ] || wrong="$wrong $file: $bytes bytes;"
	undamaged "$tmp/$file" || wrong="$wrong $file: damaged;"
	known=$(named "$tmp/$file")
	sh -c 'test $(($1 * 100)) -ge $(($2 * 95))' - $known || wrong="$wrong $file: names $known;"
done
check "by size, with copies of stacks: no file is larger, all are whole, with names ($wrong)" \
	test -z "$wrong"
# Up to the size of one copy, and what is kept for its end.
check "by size, with copies of stacks: files are full before they end (least: $least)" \
	test "${least:-0}" -ge 115000
check "by size, with copies of stacks: each sample is in one of them ($sum of $wanted)" \
	test "$sum" = "$wanted"

# Names go on where several files end within a hundredth of a second, and the first are gone again.
"$SPROF" record -F 9000 -g --call-graph dwarf --switch-output=40K --keep 2 -o "$tmp/order" -- \
	"$workload/proportions" 0.2 >"$tmp/out" 2>"$tmp/err"
sed -n 's/.*order\.\([0-9]\{16\}\): .*/\1/p' "$tmp/err" >"$tmp/names"
check "many files: later ones have later names ($(wc -l <"$tmp/names"))" sort -c -u "$tmp/names"

# By signal.
"$SPROF" record -F 997 --call-graph none --switch-output -o "$tmp/signal" -- \
	"$workload/proportions" 3 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
sleep 1
kill -USR2 $recorder
sleep 0.7
check "by signal: there is a file when it has come" test -n "$(ls "$tmp" | grep '^signal\.')"
wait $recorder
check "by signal: there are two in all" test "$(ls "$tmp" | grep -c '^signal\.')" = 2

# By an event, which is not recorded.
if [ "$(id -u)" = 0 ]; then
	"$SPROF" record -F 997 --call-graph none --switch-output-event syscalls:sys_enter_chroot \
		-o "$tmp/event" -- sh -c "\"$workload/proportions\" 1; chroot / true; \"$workload/proportions\" 1" \
		>"$tmp/out" 2>"$tmp/err"
	check "by an event: there are two files" test "$(ls "$tmp" | grep -c '^event\.')" -ge 2
	check "by an event: which is not in them" sh -c \
		"! \"$SPROF\" info -i \"$(ls "$tmp"/event.* | head -1)\" | sed -n '/^Events/,/^Records/p' |
		grep -q chroot"
else
	skip "by an event: there are two files" "needs root"
	skip "by an event: which is not in them" "needs root"
fi

# Killed: what is complete stays, and what is not is readable.
"$SPROF" record -q -F 997 --call-graph none --switch-output=1s -o "$tmp/killed" -- \
	"$workload/proportions" 5 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
sleep 2.6
command=$(pgrep -P $recorder -x proportions)
kill -KILL $recorder
wait $recorder 2>"$tmp/err"
[ -z "$command" ] || kill -KILL $command
for file in "$tmp"/killed*; do
	check "killed: ${file##*/} is readable" undamaged "$file"
done

# --max-size: never larger, and said.
for more in "" -z; do
	status "--max-size $more: the command is ended, which is no failure" 0 \
		"$SPROF" record -F 4000 --call-graph fp $more --max-size 100K -o "$tmp/max" -- \
		"$workload/proportions" 20
	says "--max-size $more: it says so" 'recording ended: the file reached --max-size'
	bytes=$(wc -c <"$tmp/max")
	check "--max-size $more: the file is not larger ($bytes)" test "$bytes" -le 102400
	check "--max-size $more: nor much smaller" test "$bytes" -ge 60000
	check "--max-size $more: it is whole" undamaged "$tmp/max"
done
"$SPROF" record -F 4000 --call-graph dwarf --max-size 600K -o "$tmp/max" -- \
	"$workload/proportions" 20 >"$tmp/out" 2>"$tmp/err"
bytes=$(wc -c <"$tmp/max")
check "--max-size: stacks count as they are unwound, not as they are copied ($bytes)" \
	test "$bytes" -le 614400 -a "$bytes" -ge 300000
status "--max-size: where a file's beginning is larger, nothing is recorded" 129 \
	"$SPROF" record --max-size 4K -o "$tmp/none" -- true
status "--max-size is no size of a flight recorder's" 129 \
	"$SPROF" record --overwrite --max-size 1M -o "$tmp/none" -- true
status "--keep alone is refused" 129 "$SPROF" record --keep 3 -o "$tmp/none" -- true
status "standard output has no other name" 129 "$SPROF" record --switch-output -o - -- true

# One file, named by its date.
"$SPROF" record -q --call-graph none --timestamp-filename --timestamp-boundary -o "$tmp/dated" -- \
	"$workload/proportions" 0.2 >"$tmp/out" 2>"$tmp/err"
check "--timestamp-filename: the file is named by its date" \
	sh -c "ls '$tmp' | grep -qE '^dated\.[0-9]{16}$'"

# Overwritten: a crash leaves what was last.
crash() {
	"$SPROF" record -F 4000 --call-graph none --overwrite -m 64K -o "$tmp/crash" -- \
		sh -c "$steady \"$workload/proportions\" 2; kill -SEGV \$\$" >"$tmp/out" 2>"$tmp/err"
	check "--overwrite: the command's crash is passed on" test $? -ne 0
	samples=$(field "$tmp/crash" SAMPLE)
	check "--overwrite: what rings hold is there ($samples)" test "${samples:-0}" -gt 100
	check "--overwrite: and no more" test "${samples:-0}" -lt 4000
	check "--overwrite: it is whole" undamaged "$tmp/crash"
	check "--overwrite: what it covers is said" \
		sh -c '"$1" info -i "$2" | grep -q "the last [0-9.]* .*s of [0-9]* CPU"' - "$SPROF" "$tmp/crash"
	check "--overwrite: what was overwritten is not called missing" \
		sh -c '! grep -q "samples cover" "$1"' - "$tmp/err"
	known=$(named "$tmp/crash")
	check "--overwrite: samples have names ($known)" sh -c 'test $(($1 * 100)) -ge $(($2 * 95))' - $known
	perf_reads "$tmp/crash" "--overwrite"
}
noisy crash

# A time is kept with copies of stacks, too; where it cannot be, that is said, with what can be.
window() {
	"$SPROF" record --call-graph dwarf --overwrite=2 -o "$tmp/window" -- $steady "$workload/proportions" 0.5 \
		>"$tmp/out" 2>"$tmp/err"
	if grep -q 'hold the last' "$tmp/err"; then
		check "--overwrite=2: with copies of stacks, a user's rings are as large as may be locked" \
			test "$(id -u)" != 0
	else
		samples=$(field "$tmp/window" SAMPLE)
		check "--overwrite=2: all of half a second is there, with copies of stacks ($samples)" \
			test "${samples:-0}" -gt 400
	fi
}
noisy window
"$SPROF" record -F 20000 --call-graph dwarf --overwrite=60 -m 512K -o "$tmp/window" -- true \
	>"$tmp/out" 2>"$tmp/err"
says "--overwrite=60: how far rings of 512 KiB reach back is said" 'hold the last 0\.00 s of a busy CPU, not 60'

# When asked: by signal and by --control, each sample once.
mkfifo "$tmp/ctl" "$tmp/ack"
"$SPROF" record -F 997 --call-graph none --overwrite=60 --control "fifo:$tmp/ctl,$tmp/ack" \
	-o "$tmp/flight" -- "$workload/proportions" 3 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
sleep 0.8
kill -USR2 $recorder
sleep 0.8
timeout 10 sh -c "echo snapshot >'$tmp/ctl'; head -c 4 '$tmp/ack'" >"$tmp/acked"
wait $recorder
wanted=$(sed -n 's/^sprof: \([0-9]*\) samples, .*/\1/p' "$tmp/err")
check "flight: two files and the last one" test "$(ls "$tmp" | grep -c '^flight')" = 3
sum=0
for file in "$tmp"/flight*; do
	samples=$(field "$file" SAMPLE)
	sum=$((sum + ${samples:-0}))
	check "flight: ${file##*/} is whole" undamaged "$file"
done
check "flight: each sample is there once ($sum of $wanted)" test "$sum" = "$wanted"
check "flight: nearly all are ($sum)" test "$sum" -gt 1500
finish
