#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks of programs with known call chains: counts whole and wrong ones. tests/workload/stacks
# has the programs, tests/workload/chains.c the judge.
#
# STACKS_SECONDS: how long each is recorded (0.4); STACKS_ONLY: these scenarios alone.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
: "${STACKS_SECONDS:=0.4}"
: "${CXX:=c++}"
export CC CXX

"$SPROF" record -q -F 999 --call-graph dwarf -o "$tmp/data" true 2>"$tmp/err" ||
	skip_all "$(tail -n 1 "$tmp/err")"

# made KIND: the program, made that way, or else a skipped test.
made() {
	[ ! -d "$tmp/$1" ] || return 0
	sh "$top_srcdir/tests/workload/stacks/build.sh" "$tmp/$1" "$1" >"$tmp/err" 2>&1 && return 0
	skip "programs made as $1" "$(tail -n 1 "$tmp/err")"
	return 1
}

# The judgement's number of that name.
number() {
	sed -n "s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$tmp/judgement"
}

all_samples=0 all_wrong=0

# judge NAME WHOLE: reports $tmp/data and holds it to $tmp/truth: of a thousand stacks that
# many must be whole, and none wrong, or cut without saying so. One in a hundred may be
# wrong in one scenario (its few samples outside its loop), one in a thousand in all.
judge() {
	"$SPROF" report -i "$tmp/data" --format folded --no-inline >"$tmp/folded" 2>"$tmp/err" || {
		not_ok "$1" "$(cat "$tmp/err")"
		return
	}
	"$workload/chains" "$tmp/truth" <"$tmp/folded" >"$tmp/judgement" 2>"$tmp/shown"
	samples=$(number samples) whole=$(number complete) foreign=$(number foreign)
	wrong=$(($(number wrong) + $(number unmarked)))
	all_samples=$((all_samples + samples)) all_wrong=$((all_wrong + wrong))
	# exec and ld.so are not the program's: much of the time where pages are slow to come.
	ours=$((samples - foreign))
	# libgcc leaves its own unwinding by registers that its tables do not know: 0.2 to 1.2 %.
	percent=1
	[ "$1" != "C++ exceptions" ] || percent=3
	comment "$1: $(cat "$tmp/judgement")"
	if [ "$ours" -lt 20 ] || [ "$ours" -lt $foreign ]; then
		not_ok "$1" "$ours samples of the program, $foreign others"
	elif [ $((wrong * 100)) -gt $((samples * percent)) ]; then
		not_ok "$1" "$(head -c 2000 "$tmp/shown")
$(sort -k 2 "$tmp/folded" | cut -c 1-300 | grep -v '^[^;]*;\(_start\|\[\)' | head -n 5)"
	elif [ $((whole * 1000)) -lt $((ours * $2)) ]; then
		not_ok "$1" "$whole of $ours are whole, not $2 of 1,000
$(cut -c 1-200 "$tmp/folded" | head -n 5)"
	else
		ok "$1"
	fi
}

# recorded KIND SCENARIO OPTION...
recorded() {
	kind=$1 scenario=$2
	shift 2
	"$tmp/$kind/stacks" --truth "$scenario" >"$tmp/truth"
	"$SPROF" record -q -F 1999 "$@" -o "$tmp/data" -- \
		"$tmp/$kind/stacks" "$scenario" "$STACKS_SECONDS" >"$tmp/err" 2>&1 && return 0
	not_ok "$kind $scenario $*" "$(cat "$tmp/err")"
	return 1
}

# wanted_of SCENARIO CLASS OPTION...: what of a thousand stacks must be whole. What does not
# fit a copy of 8 KB is repaired: live, the recorder soon copies more, and nothing is cut any
# more; later, stacks of all depths must be there. What is honest may stop early.
wanted_of() {
	case "$*" in
	deep240*later) echo 500 ;;
	large*later | untouched*later | either*later | deep1000*later | deep10000*) echo 0 ;;
	deep240* | deep1000* | either* | large* | untouched*) echo 900 ;;
	# Its caller is the C library, which has no frame pointers.
	sort*) [ "$kind_of" = fp ] && echo 0 || echo 985 ;;
	*) [ "$2" = honest ] && echo 0 || echo 985 ;;
	esac
}

# is_in WORD LIST: or there is no list.
is_in() {
	case " ${2:-$1} " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
}

# measured KIND SCENARIO CLASS OPTION...: a machine that runs other programs copies fewer stacks whole.
measured() {
	measured_kind=$1 measured_name=$2 measured_class=$3
	shift 3
	recorded "$measured_kind" "$measured_name" "$@" || return 0
	judge "$measured_kind $measured_name $*" "$(wanted_of "$measured_name" "$measured_class" "$@")"
}

# scenarios KIND OPTION...: all of them, or those of $some.
scenarios() {
	kind_of=$1
	shift
	made "$kind_of" || return
	"$tmp/$kind_of/stacks" --list >"$tmp/list"
	while read -r name class <&3; do
		is_in "$name" "$some" && is_in "$name" "${STACKS_ONLY-}" || continue
		noisy measured "$kind_of" "$name" "$class" "$@"
	done 3<"$tmp/list"
}

some=
scenarios omit --call-graph dwarf
scenarios omit --call-graph dwarf --unwind later
some='deep60 alloca aligned noreturn tail split short signal sort threads jit pointed rbx expression push_pop'
for kind in static static-pie lld; do
	scenarios $kind --call-graph dwarf
done
some='deep60 alloca threads sort jit pointed'
scenarios fp --call-graph fp

# Without frame pointers, the last word of a chain is arbitrary.
if made omit; then
	"$SPROF" record -q -F 1999 --call-graph fp -o "$tmp/data" -- "$tmp/omit/stacks" sort \
		"$STACKS_SECONDS" >"$tmp/err" 2>&1
	"$SPROF" report -i "$tmp/data" --format folded --no-inline >"$tmp/folded" 2>"$tmp/err"
	check "what frame pointers lead to is no caller where nothing is mapped" \
		awk '/\[truncated stacks\]/ { n += $NF } /\[truncated stacks\];\[unknown\]/ { bad++ }
			END { exit n < 20 || bad }' "$tmp/folded"
fi

# By frame pointers, how a stack ends is seen where it does. In a C library without names
# callers of callbacks are not taken for those of main() and of threads' functions; as on
# most machines, where its debug information is not installed.
if made fp && command -v "${OBJCOPY:-objcopy}" >/dev/null; then
	library=$(ldd "$tmp/fp/stacks" | sed -n 's/.*=> *\(.*\/libc\.so[^ ]*\).*/\1/p')
	mkdir "$tmp/strip"
	"${OBJCOPY:-objcopy}" --strip-all -R .note.gnu.build-id -R .gnu_debuglink "$library" \
		"$tmp/strip/libc.so.6" 2>"$tmp/err"
	for scenario in sort threads deep60; do
		"$tmp/fp/stacks" --truth $scenario >"$tmp/truth"
		LD_LIBRARY_PATH=$tmp/strip "$SPROF" record -q -F 1999 --call-graph fp \
			-o "$tmp/data" -- "$tmp/fp/stacks" $scenario "$STACKS_SECONDS" \
			>"$tmp/out" 2>&1 ||
			skip "$scenario in a stripped C library" "$(cat "$tmp/out")"
		case $scenario in
		sort) judge "$scenario in a stripped C library" 0 ;;
		*) judge "$scenario in a stripped C library" 970 ;;
		esac
	done
fi

if made throws; then
	"$tmp/throws/throws" --truth >"$tmp/truth"
	if "$SPROF" record -q -F 1999 --call-graph dwarf -o "$tmp/data" -- "$tmp/throws/throws" \
		"$STACKS_SECONDS" >"$tmp/err" 2>&1; then
		judge "C++ exceptions" 970
	else
		not_ok "C++ exceptions" "$(cat "$tmp/err")"
	fi
fi

# Frame pointers lead astray in the C++ library: no frame is shown at which no code was mapped.
bogus() {
	"$SPROF" report -i "$tmp/data" --children -s dso --format csv 2>"$tmp/err" | tr -d '"' >"$tmp/csv"
	"$SPROF" report -i "$tmp/data" -g caller >"$tmp/report" 2>"$tmp/err"
	comment "$1: $(sed -n 's/^ *stacks: //p' "$tmp/report")"
	check "$1: no frame without code" [ "$(grep -cE '\[(unknown|stack|heap)\]|//anon' "$tmp/csv")" = 0 ]
	check "$1: what ended there is counted" sh -c \
		'"$SPROF" report -i "$1" --format json 2>&1 | grep -q "invalid_address\": [1-9]"' - "$tmp/data"
	check "... and the tree says why" grep -q '\[truncated: invalid return address\]' "$tmp/report"
}
if made streams; then
	"$SPROF" record -q -F 1999 -e cpu-clock:u --call-graph fp -o "$tmp/data" -- \
		"$tmp/streams/streams" "$STACKS_SECONDS" >"$tmp/err" 2>&1
	bogus "sprof's recording of C++"
	if perf record -q -F 1999 -e cpu-clock:u -g -o "$tmp/data" -- "$tmp/streams/streams" \
		"$STACKS_SECONDS" >"$tmp/err" 2>&1; then
		bogus "perf's recording of C++"
	else
		skip "perf's recording of C++" "perf does not record here"
	fi
fi

# Within execve(2) registers are of the old program, and the memory is the new one's.
for how in dwarf fp; do
	"$SPROF" record -q -F 4999 --call-graph $how -o "$tmp/data" -- sh -c \
		'i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done' >"$tmp/err" 2>&1
	"$SPROF" report -i "$tmp/data" --format folded --no-inline -s symbol 2>"$tmp/err" |
		awk '
		/execve_\[k\]/ { n = $NF; inside += n; unknown += /;\[unknown\];entry_/ ? n : 0 }
		END { print inside + 0, unknown + 0 }' >"$tmp/counts"
	read -r inside unknown <"$tmp/counts"
	comment "$how: $inside samples in execve(2)"
	if [ "$inside" -lt 10 ]; then
		skip "what execve(2) replaces, $how" \
			"$inside samples of it (are the kernel's names readable?)"
	else
		check "what execve(2) replaces is no part of the new program's stacks, $how" \
			test $((unknown * 50)) -le "$inside"
	fi
done

comment "$all_wrong wrong of $all_samples"
check "one in a thousand is wrong at most" test $((all_wrong * 1000)) -le "$all_samples"
finish
