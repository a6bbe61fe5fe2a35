#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Generated code in a jitdump: each sample gets the function of its time, at addresses that are
# reused.
. "$top_srcdir/tests/tap.sh"
need_sampling
"$workload/jitdump" "$tmp" 0 >"$tmp/out" || skip_all "the workload makes no code for this machine"
rm -f "$tmp"/jit-*

# record NAME RECORDER...: a recording of the workload, and what it did when.
record() {
	name=$1
	shift
	mkdir "$tmp/$name"
	"$@" -o "$tmp/$name/data" -- "$workload/jitdump" "$tmp/$name" 0.08 $clock \
		>"$tmp/$name/truth" 2>"$tmp/err"
}

# judge DATA SLACK: of the samples at a place while its code ran, how many have its name, and
# how many have another; those within SLACK seconds of the begin or end are not asked.
judge() {
	"$SPROF" script -i "$1/data" --ns -G -F time,ip,sym 2>"$tmp/err" >"$tmp/told"
	awk -v slack="$2" '
		NR == FNR {
			name[NR] = $1; at[NR] = $2; begin[NR] = $3; end[NR] = $4; n = NR
			next
		}
		{
			split($1, time, /[.:]/)
			now = time[1] * 1000000000 + time[2]
			for (i = 1; i <= n; i++) {
				if (substr($2, 1, length($2) - 2) != substr(at[i], 1, length(at[i]) - 2))
					continue
				if (now < begin[i] + slack * 1e9 || now > end[i] - slack * 1e9)
					continue
				if ($3 == name[i])
					good[name[i]]++
				else
					bad++
			}
		}
		END {
			for (i in good)
				kinds += good[i] > 10
			print kinds + 0, bad + 0
		}' "$1/truth" "$tmp/told"
}

# report DATA: a report of the functions in $tmp/report, and in one line in $tmp/line.
report() {
	"$SPROF" report -i "$1" -s symbol --no-children >"$tmp/report" 2>"$tmp/err"
	"$SPROF" info --findings -i "$1" >"$tmp/findings" 2>>"$tmp/err"
	cat "$tmp/report" "$tmp/findings" | tr -s '\n ' '  ' >"$tmp/line"
}

clock=
ours() {
	rm -rf "$tmp/ours"
	record ours "$SPROF" record -q --no-names -e cpu-clock -F 997
	check "each sample has the name of what ran then (kinds of code, wrong names)" \
		test "$(judge "$tmp/ours" 0)" = "4 0"
}
noisy ours
"$SPROF" report -i "$tmp/ours/data" -s dso,symbol --no-children >"$tmp/report" 2>"$tmp/err"
check "report names it" sh -c 'grep -c "\[JIT\] .*\(alpha\|beta\|gamma\|delta\)" "$1" | grep -qx 4' \
	- "$tmp/report"
check "nothing is said against the dump" sh -c '! grep -q "jit-[0-9]" "$1"' - "$tmp/report"
"$SPROF" report -i "$tmp/ours/data" -s symbol,srcline --no-children >"$tmp/report" 2>"$tmp/err"
check "lines are the dump's" grep -q 'alpha .*alpha.js:10' "$tmp/report"
check "code without lines has none" grep -q 'gamma .*\[no source line\]$' "$tmp/report"
"$SPROF" script -i "$tmp/ours/data" -G -F ip,sym,insn >"$tmp/told" 2>"$tmp/err"
case $(uname -m) in
x86_64) check "instructions are the dump's" grep -q 'alpha.* insn: \(48 ff cf\|75 fb\)' "$tmp/told" ;;
*) skip "instructions are the dump's" "lengths of instructions are known of x86 alone" ;;
esac

# perf has it by files that it makes of each function.
if command -v perf >/dev/null; then
	(cd "$tmp/ours" && perf inject --jit -i data -o injected >"$tmp/out" 2>"$tmp/err")
	perf report -i "$tmp/ours/injected" --stdio --no-children -g none -s symbol 2>"$tmp/err" |
		awk '$3 ~ /^(alpha|beta|gamma|delta)$/ { print $3, $1 }' | sort >"$tmp/wanted"
	"$SPROF" report -i "$tmp/ours/data" -s symbol --no-children 2>"$tmp/err" |
		awk '$NF ~ /^(alpha|beta|gamma|delta)$/ { print $NF, $1 }' | sort >"$tmp/got"
	check "perf finds the four" test "$(wc -l <"$tmp/wanted")" = 4
	same "shares are those of perf inject --jit" "$tmp/wanted" "$tmp/got"
	"$SPROF" report -i "$tmp/ours/injected" -s symbol --no-children 2>"$tmp/err" |
		awk '$NF ~ /^(alpha|beta|gamma|delta)$/ { print $NF, $1 }' | sort >"$tmp/got"
	same "so they are in what it made" "$tmp/wanted" "$tmp/got"
	"$SPROF" report -i "$tmp/ours/injected" -s symbol,srcline --no-children \
		>"$tmp/report" 2>"$tmp/err"
	check "whose lines are read" grep -q 'alpha .*alpha.js:10' "$tmp/report"

	# perf's own clock is another than the dump's.
	record theirs perf record -q -e cpu-clock -F 997
	report "$tmp/theirs/data"
	check "perf's clock: all are found" \
		sh -c 'grep -c "\] \(alpha\|beta\|gamma\|delta\)" "$1" | grep -qx 4' - "$tmp/report"
	check "perf's clock: what was done is said" \
		grep -q 'clock is not the recording.s' "$tmp/line"
else
	skip "as perf inject --jit" "there is no perf"
fi

# A dump with times hours ahead, in a recording of that clock, can only be applied by its order.
clock=clock
ahead() {
	rm -rf "$tmp/ahead"
	record ahead "$SPROF" record -q -e cpu-clock -F 997 -k boottime
	check "another clock: moved to the recording's" test "$(judge "$tmp/ahead" 0.02)" = "4 0"
}
noisy ahead
clock=

# Attached to while it runs: the file was mapped before.
attached() {
	rm -rf "$tmp/attached"
	mkdir "$tmp/attached"
	"$workload/jitdump" "$tmp/attached" 0.2 >"$tmp/attached/truth" &
	running=$!
	sleep 0.1
	"$SPROF" record -q -e cpu-clock -F 997 -p $running -o "$tmp/attached/data" 2>"$tmp/err"
	wait $running
	check "attached to: as well" sh -c 'test "${1#* }" = 0 && test "${1% *}" -ge 3' - \
		"$(judge "$tmp/attached" 0)"
}
noisy attached

# Code that keeps no frame pointer is unwound by the dump's call frame information.
mkdir "$tmp/frames"
if "$SPROF" record -q --no-names -e cpu-clock -F 997 --call-graph dwarf --unwind later -o "$tmp/frames/data" \
	"$workload/jitframes" "$tmp/frames" 0.2 2>"$tmp/err"; then
	"$SPROF" report -i "$tmp/frames/data" --format folded >"$tmp/folded" 2>"$tmp/err"
	awk '/;generated/ { all += $NF; if (/main;.*calls_generated;generated/) whole += $NF }
		END { print (all > 50 && whole > 0.98 * all) }' "$tmp/folded" >"$tmp/got"
	check "stacks of code without frame pointers are whole" grep -qx 1 "$tmp/got"
	"$SPROF" record -q -e cpu-clock -F 997 --call-graph dwarf -o "$tmp/frames/data" \
		"$workload/jitframes" "$tmp/frames" 0.2 trampoline 2>"$tmp/err"
	"$SPROF" report -i "$tmp/frames/data" --format folded >"$tmp/folded" 2>"$tmp/err"
	awk '/;burns/ { all += $NF; if (/main;.*calls_generated;[^;]*JIT[^;]*;burns/) whole += $NF }
		END { print (all > 50 && whole > 0.98 * all) }' "$tmp/folded" >"$tmp/got"
	check "stacks through trampolines are whole" grep -qx 1 "$tmp/got"
else
	skip "stacks through trampolines are whole" "the code is for x86-64"
	skip "stacks of code without frame pointers are whole" "the code is for x86-64"
fi

# The dump as it was while it was written: named as far as it goes, and that is said.
dump=$(echo "$tmp"/ours/jit-*.dump)
cp "$dump" "$tmp/whole"
ln "$dump" "$tmp/kept" # so that no other file has its inode
truncate -s -100 "$dump"
report "$tmp/ours/data"
check "a dump that is cut: what is there is used" grep -q '\] alpha' "$tmp/report"
check "a dump that is cut: it is said" grep -q "jit-.* ends within a record" "$tmp/line"

# Nothing of it is left.
rm "$dump"
report "$tmp/ours/data"
check "no dump: it is said" grep -q 'jit-[0-9]*.dump not found' "$tmp/line"

"$SPROF" script -i "$tmp/ours/data" -F ip,sym >"$tmp/told" 2>"$tmp/err"
check "script says it, too" grep -q 'jit-[0-9]*.dump not found' "$tmp/err"

# Users who may have planted it.
ln -s "$tmp/whole" "$dump"
report "$tmp/ours/data"
check "a link is not followed" sh -c '! grep -q "\] alpha" "$1"' - "$tmp/report"
rm "$dump"
cp "$tmp/whole" "$dump"
report "$tmp/ours/data"
check "another file in its place is not used" sh -c '! grep -q "\] alpha" "$1"' - "$tmp/report"
check "another file in its place: it is said" grep -q 'is not the recorded file: inode' \
	"$tmp/line"
finish
