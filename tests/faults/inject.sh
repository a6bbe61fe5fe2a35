#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# inject.sh: commands in which one thing fails: allocation number 1, 2, …, system call number 1, 2,
# …. INJECT_STEP (0: a few) is how far apart the numbers are, INJECT_SEEDS ("0") choose the errnos
# of calls. None may crash, hang, leave a process behind, fail without a word, or have another
# result without saying why; what record leaves must be readable.
#
# Parallel: results are compared with those of the same command.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
inject=$top_builddir/tests/faults/inject
step=${INJECT_STEP:-0}
# libtool's script would count; its program wants the library.
binary=$top_builddir/src/.libs/sprof
library=$top_builddir/tests/faults/.libs/no_memory.so
[ -x "$binary" ] && [ -e "$library" ] || skip_all "this build has no shared library"
! grep -qE '__(a|t)san_init' "$binary" || skip_all "sanitizers have allocators of their own"
export LD_LIBRARY_PATH="$top_builddir/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

file=$tmp/data
"$binary" record -q -F 200 -g -o "$file" -- "$workload/proportions" 0.1 >"$tmp/out" 2>"$tmp/err"
# All that it keeps is kept from here on.
"$binary" report -i "$file" >"$tmp/out" 2>&1

injected() { # NAME STEP WHAT OPTIONS COMMAND...
	injected_name=$1 injected_step=$2 injected_what=$3 injected_options=$4
	shift 4
	injected_first=$injected_step
	if [ "$step" != 0 ]; then
		injected_step=$step injected_first=1
	fi
	# shellcheck disable=SC2086
	"$inject" $injected_options -s "$seed" ${after:+-a "$after"} "$injected_what" $injected_first 0 \
		$injected_step "$binary" "$@" >"$tmp/said" 2>&1
	case $? in
	0) ok "$injected_name, $(tail -n 1 "$tmp/said")" ;;
	77) skip "$injected_name" "$(cat "$tmp/said")" ;;
	*) not_ok "$injected_name" "$(cat "$tmp/said")" ;;
	esac
}

# A complete recording must have all; a failed one, the data up to the failure.
made=$tmp/made
# shellcheck disable=SC2016
whole='if [ $STATUS = 0 ]; then "$BINARY" report -q -i "$MADE" >/dev/null
	else [ ! -e "$MADE" ] || "$BINARY" info -i "$MADE" >/dev/null; fi
	s=$?; rm -f "$MADE"*; exit $s'
export BINARY="$binary" MADE="$made"

for seed in ${INJECT_SEEDS:-0}; do
	for what in memory:"$library" calls; do
		after=
		injected "info, ${what%%:*}" 17 "$what" "" info -i "$file"
		injected "report, ${what%%:*}" 211 "$what" "" report -i "$file"
		injected "script, ${what%%:*}" 223 "$what" "" script -i "$file"
		injected "stat, ${what%%:*}" 97 "$what" -c stat -- "$workload/proportions" 0.01
		after=$whole
		injected "record, ${what%%:*}" 331 "$what" -c record -o "$made" -- "$workload/proportions" 0.01
		if [ "$step" != 0 ]; then
			injected "record -z, ${what%%:*}" 131 "$what" -c record -z -o "$made" -- "$workload/proportions" 0.01
			injected "record --unwind later, ${what%%:*}" 131 "$what" -c record --call-graph dwarf \
				--unwind later -o "$made" -- "$workload/proportions" 0.01
		fi
	done
	[ "$step" = 0 ] || for command in "report -i $file" "stat -- $workload/proportions 0.01"; do
		after=
		# shellcheck disable=SC2086
		injected "${command%% *}, memory from then on" 10 memory:"$library" "-c -f" $command
	done
done
finish
