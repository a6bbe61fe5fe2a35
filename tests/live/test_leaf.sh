#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains of a program with the known path main, outer, middle, leaf. leaf keeps no frame (on
# arm64: its caller is in a register). Return addresses are signed, or not.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data
case $(uname -m) in
aarch64) kinds='fp dwarf' ;;
x86_64) kinds=dwarf ;; # no frame pointer leads to the caller of a leaf, and no register
*) skip_all "stacks of $(uname -m) are not unwound" ;;
esac

# whole: of the samples in leaf, in thousandths, how many have the whole path and no more of it
whole() {
	"$SPROF" report -i "$file" --format folded --no-inline 2>"$tmp/err" >"$tmp/folded"
	awk '/;leaf [0-9]+$/ {
			all += $NF
			if ($0 ~ /;main;outer;middle;leaf [0-9]+$/) good += $NF
		}
		END { printf "%d", all ? 1000 * good / all : 0 }' "$tmp/folded"
}

has_path() { # PROGRAM KIND
	rm -f "$file"
	"$SPROF" record -F 500 --call-graph "$2" -o "$file" -- "$workload/$1" 0.3 2>"$tmp/record"
	got=$(whole)
	check "$1, $2: $got of 1,000 chains have the path" sh -c \
		'head -n 5 "$2"; test "$1" -ge 980' sh "$got" "$tmp/folded"
}
for program in leaf leaf_signed; do
	for kind in $kinds; do
		noisy has_path $program $kind
	done
done

# perf of the same machine on the same files, function by function. (Of return addresses that
# are signed it takes the register's as it is: "[unknown]" in place of middle.)
functions() { # without what is at the ends of programs
	awk '{ print $2 }' | grep -v -e '^\[unknown\]$' -e '^0x' -e '^fn@' -e '^$' >"$1"
}
if [ "$(uname -m)" = aarch64 ] && command -v perf >/dev/null; then
	"$SPROF" record -F 300 --call-graph fp -e cpu-clock:u -o "$file" -- "$workload/leaf" 0.2 \
		2>"$tmp/record"
	perf script -i "$file" --no-inline -F ip,sym 2>"$tmp/err" | functions "$tmp/theirs"
	"$SPROF" script -i "$file" --no-inline -F ip,sym 2>"$tmp/err" | functions "$tmp/ours"
	same "perf tells the same chains of our recording" "$tmp/theirs" "$tmp/ours"
	perf record -q -F 300 --call-graph fp -e cpu-clock:u -o "$file" "$workload/leaf" 0.2 \
		>"$tmp/out" 2>"$tmp/err"
	perf script -i "$file" --no-inline -F ip,sym 2>"$tmp/err" | functions "$tmp/theirs"
	"$SPROF" script -i "$file" --no-inline -F ip,sym 2>"$tmp/err" | functions "$tmp/ours"
	same "and of its own" "$tmp/theirs" "$tmp/ours"
fi

# Our unwinder and others on the same copies of stacks; of signed return addresses libdw and
# libunwind of Debian 12 take the signature for a part of them.
compare=$top_builddir/tests/unwind/unwind_compare
if command -v perf >/dev/null && [ -x "$compare" ]; then
	# perf asks for a register of SVE, too, which clocks do not give.
	event=cpu-clock:u
	[ "$(uname -m)" != aarch64 ] || event=cycles:u
	perf record -q --no-buildid -e $event -F 500 --call-graph dwarf,8192 -o "$file" -- \
		"$workload/leaf" 0.3 >"$tmp/out" 2>"$tmp/err"
	"$compare" "$file" >"$tmp/compared" 2>"$tmp/err"
	for oracle in libunwind libdw; do
		set -- $(awk -v oracle=$oracle '
			$1 == oracle && $2 == "samples" { print $3, $5 }' "$tmp/compared")
		if [ $# -lt 2 ]; then
			skip "as $oracle unwinds it" "no $oracle: $(head -n 1 "$tmp/err")"
			continue
		fi
		check "as $oracle unwinds it, $2 of $1" sh -c 'cat "$3" "$4"
			test "$1" -ge 30 && test $(($2 * 100)) -ge $(($1 * 97))' \
			sh "$1" "$2" "$tmp/compared" "$tmp/err"
	done
fi
finish
