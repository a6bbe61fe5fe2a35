#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Perf maps that processes write while they are recorded: of children, of code that replaces other
# code, of containers that end. The recording stores the names, so that reports need no map.
. "$top_srcdir/tests/tap.sh"
need_sampling
"$workload/perfmap" removed 0 >"$tmp/out" || skip_all "the workload makes no code for this machine"
export HOME="$tmp"
mkdir "$tmp/empty"

# record MODE SECONDS: a recording of the workload, and the percents of its code on another machine.
record() {
	"$SPROF" record -q -e cpu-clock -F 499 -o "$tmp/data" -- "$workload/perfmap" "$1" "$2" \
		>"$tmp/maps" 2>"$tmp/err"
	judge "$tmp/data"
	xargs rm -f <"$tmp/maps"
}

# judge DATA: percents of alpha and beta as $alpha and $beta.
judge() {
	await_names "$1"
	"$SPROF" report -q -i "$1" --symfs "$tmp/empty" -s symbol --no-children \
		>"$tmp/report" 2>"$tmp/err"
	alpha=$(percent alpha) beta=$(percent beta)
}
percent() { awk -v name="$1" '$NF == name { print int($1) }' "$tmp/report" | grep . || echo 0; }

reused() {
	record reuse 1
	check "code in the place of other code has its name from then on ($alpha, $beta %)" \
		test "$alpha" -ge 40 -a "$beta" -ge 40
}
noisy reused
"$SPROF" archive "$tmp/data" >"$tmp/out" 2>"$tmp/err"
judge "$tmp/data"
check "so it is once names are stored again ($alpha, $beta %)" \
	test "$alpha" -ge 40 -a "$beta" -ge 40

shared() {
	record fork 0.5
	check "a child has code of its parent and of its own ($alpha, $beta %)" \
		test "$alpha" -ge 40 -a "$beta" -ge 40
}
noisy shared
record forked 0.3
check "a child without a map runs its parent's code ($alpha %)" test "$alpha" -ge 80
record cut 0.3
check "a last line without a newline counts ($alpha %)" test "$alpha" -ge 80
removed() {
	record removed 1.2
	check "a map that is removed at the end is held ($alpha %)" test "$alpha" -ge 80
}
noisy removed

# -- A container that ends before the recording ---------------------------------
if [ "$(id -u)" = 0 ] && unshare -p -f -m --mount-proc mount -t tmpfs none /tmp 2>"$tmp/err"; then
	ended() {
		"$SPROF" record -q -e cpu-clock -F 499 -o "$tmp/data" -- \
			unshare -p -f -m --mount-proc sh -c 'mount -t tmpfs none "$3" &&
				mount --bind "$3" /tmp && "$1" "$2" 1.2' sh \
			"$workload/perfmap" "$1" "$tmp/empty" >"$tmp/out" 2>"$tmp/err"
		judge "$tmp/data"
		check "in a container that has ended: $1 ($alpha %)" test "$alpha" -ge 70
	}
	cut_ended() { ended cut; }
	late_ended() { ended late; }
	removed_ended() { ended removed; }
	dump_ended() {
		"$SPROF" record -q -e cpu-clock -F 499 -o "$tmp/data" -- \
			unshare -p -f -m --mount-proc sh -c 'mount -t tmpfs none "$2" &&
				"$1" "$2" 0.2' sh "$workload/jitdump" "$tmp/empty" \
			>"$tmp/out" 2>"$tmp/err"
		judge "$tmp/data"
		check "in a container that has ended: a jitdump ($alpha, $beta %)" \
			test "$alpha" -ge 10 -a "$beta" -ge 20
	}
	noisy dump_ended
	noisy cut_ended
	noisy late_ended
	noisy removed_ended
else
	skip "a container that has ended" "this user can make none"
fi

# -- Recordings without times ----------------------------------------------------
"$SPROF" record -q --no-names -e cpu-clock -F 499 -o "$tmp/data" -- "$workload/perfmap" reuse 0.2 \
	>"$tmp/maps" 2>"$tmp/err"
"$SPROF" info --findings -i "$tmp/data" >"$tmp/findings" 2>&1
xargs rm -f <"$tmp/maps"
check "without times, a finding counts the samples whose name is ambiguous" \
	grep -q 'may have wrong names' "$tmp/findings"
check "its remedy is the option that the recorder lacks" \
	grep -q 'record without --no-names' "$tmp/findings"
finish
