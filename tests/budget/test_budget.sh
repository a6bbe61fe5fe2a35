#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions, allocated bytes and opened files of jobs, compared with tests/budget/table (HACKING, "Budgets").
# UPDATE_BUDGETS=1 writes the table anew.
. "$top_srcdir/tests/tap.sh"
here=$top_srcdir/tests/budget
table=$here/table
[ "$(uname -m)" = x86_64 ] || skip_all "the table is of x86-64"
for needed in valgrind taskset nm; do
	command -v $needed >/dev/null || skip_all "needs $needed"
done
compiler="compiler $($CC --version 2>/dev/null | head -n 1)"
wanted=$(sed -n '/^compiler /p' "$table")
[ -n "${UPDATE_BUDGETS:-}" ] || [ "$compiler" = "$wanted" ] || skip_all "the table is of $wanted, not $compiler"
grep -qx 'CFLAGS = -g -O2' "$top_builddir/Makefile" || skip_all "the table is of CFLAGS='-g -O2'"
! grep -qE '^(SANITIZE|FUZZING)_FLAGS = ..*|^FUZZING_CFLAGS = ..*' "$top_builddir/Makefile" ||
	skip_all "instrumented builds have other counts"
[ -x "$top_builddir/src/.libs/sprof" ] || skip_all "needs the shared library"

# run COMMAND...: with one worker, without settings and caches, and by the C library's functions for any
# x86-64 CPU.
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
tunables=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-BMI1,-BMI2,-LZCNT,-MOVBE,-POPCNT,-SSSE3
tunables=$tunables,-SSE4_1,-SSE4_2,-FMA,-FMA4,-ERMS,-FSRM,-RTM,-XSAVE,-XSAVEC,-AVX_Fast_Unaligned_Load
tunables=$tunables,-Fast_Unaligned_Load,-Slow_BSF:glibc.cpu.x86_non_temporal_threshold=0x1000000
run() {
	rm -rf "$tmp/home"
	env -i PATH=/usr/bin:/bin HOME="$tmp/home" TMPDIR="$tmp" LC_ALL=C TERM=dumb GLIBC_TUNABLES=$tunables \
		LD_LIBRARY_PATH="$top_builddir/lib/.libs" COUNTS="$tmp/counts" taskset -c "$cpu" "$@"
}

fail() {
	comment "$1 failed: $(tail -n 20 "$tmp/err")"
	exit 99
}

# profile COMMAND...: its instructions, to $tmp/cg.*
profile() {
	rm -f "$tmp"/cg.*
	run valgrind -q --tool=callgrind --callgrind-out-file="$tmp/cg.%p" "$@"
}

# put NAME COUNTS [SOURCES]: adds what was profiled to today's table. The tolerance remains.
put() {
	percent=$(sed -n "s/^job $1 .* //p" "$table")
	awk -v job="job $1" -v counts="$2 ${percent:-3}" -v sources="${3-}" -f "$here/totals.awk" "$tmp"/cg.* \
		>>"$tmp/now"
}

# job NAME COMMAND...: fails if its output under valgrind is different.
job() {
	name=$1
	shift
	: >"$tmp/counts"
	run env LD_PRELOAD="$top_builddir/tests/budget/.libs/counts.so" "$@" >native 2>"$tmp/err" <"$input" &&
		profile "$@" >out 2>>"$tmp/err" <"$input" && cmp native out 2>>"$tmp/err" &&
		put "$name" "$(cat "$tmp/counts")" || fail "$name"
}

# simulated SCENARIO: of the recorder, without the simulation.
simulated() {
	profile "$top_builddir/tests/sim/simulate" -s "$1" --steady -v >"$tmp/err" 2>&1 || fail "$1"
	counts=$(sed -n 's/^# \([0-9]*\) bytes allocated, \([0-9]*\) files opened.*/\1 \2/p' "$tmp/err")
}

# Four programs of the same functions.
id=123456789abcdef0123456789abcdef01234567
cd "$tmp" && awk -f "$here/program.awk" >program.c &&
	$CC -O2 -g -fno-omit-frame-pointer -fno-shrink-wrap -fno-ipa-icf -fasynchronous-unwind-tables \
		-fno-pie -ffile-prefix-map="$tmp"=/budget -c program.c || exit 99
for i in 0 1 2 3; do
	$CC -nostdlib -static -no-pie -Wl,--build-id=0x$i$id,--eh-frame-hdr,-Ttext=0x401000,-e,f0 \
		-o program$i program.o || exit 99
done
nm -nSt d program0 >functions
# made NAME KIND SAMPLES: a recording.
made() {
	awk -v kind="$2" -v count="$3" -v id=$id -f "$here/recording.awk" functions |
		"$top_builddir/tests/cli/recording" "$1" || exit 99
}
made chains chain 20000
made copies copies 20000
made waits wall 20000
made one chain 1
awk '/ [Tt] f/ { for (i = 0; i < 25; i++) printf "%x\n", $1 + 5 * i }' functions >addresses

sprof=$top_builddir/src/.libs/sprof
input=/dev/null
job chains "$sprof" report --no-inline -i chains
job copies "$sprof" report --no-inline -i copies
job between "$sprof" report --no-inline --children --format csv -i chains
job inlines "$sprof" report -g -i chains
job wall "$sprof" report --mode wall -i waits
job html "$sprof" report -i chains -o page.html
job script "$sprof" script -i chains
job start "$sprof" report -i one
input=addresses
job symbolizer "$top_builddir/bench/.libs/symbolize" program0
simulated many-samples
put filter "$counts" '^lib/(base|capture|event|proc|ring|record|machine)/'
put writer "0 0" '^lib/(file|writer)/'
simulated many-samples-live
put unwinder "$counts" '^lib/'

if [ -n "${UPDATE_BUDGETS:-}" ]; then
	{
		sed -n '/^#/p' "$table"
		echo "$compiler"
		awk '$1 == "job" { sum += $3 } END { printf "sum %.0f\n", sum }' now
		awk '$1 == "job" { n = 0 } n++ < 13' now
	} >new && cp new "$table" || exit 99
fi
awk -f "$here/compare.awk" "$table" now >verdicts
while IFS='	' read -r verdict name why; do
	case $verdict in
	ok) ok "$name ($why)" ;;
	not_ok) not_ok "$name" "$why" ;;
	*) comment "$name: $why" ;;
	esac
done <verdicts
finish
