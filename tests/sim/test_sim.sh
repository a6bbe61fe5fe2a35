#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Simulated recordings (tests/sim/sim.h): each scenario with some seeds, the same bytes again, failing
# calls and kills. A failure's line has the arguments of `simulate` that repeat it.
. "$top_srcdir/tests/tap.sh"
simulate=$top_builddir/tests/sim/simulate
[ -x "$simulate" ] || skip_all "this build has no simulation"
! nm -P "$simulate" 2>/dev/null | grep -qE '^__(asan|tsan|ubsan)' ||
	skip_all "sanitizers make calls of their own, before a session begins and within it"

"$simulate" --seed "${SIM_SAME:-0}" --hash >"$tmp/hashes" 2>&1
[ $? != 77 ] || skip_all "$(cat "$tmp/hashes")"

# Functions that the recorder's objects import, which are neither simulated nor without effect outside
# of the process.
unknown_calls() {
	for folder in capture event proc ring writer base; do
		find "$top_srcdir/lib/$folder" -name '*.c'
	done | while read -r source; do
		folder=$top_builddir/${source#"$top_srcdir/"}
		name=libsprof_core_la-$(basename "$source" .c).o
		for object in "${folder%/*}/$name" "${folder%/*}/.libs/$name"; do
			[ ! -f "$object" ] || nm -P "$object"
		done
	done | awk '
		FILENAME == ARGV[1] || FILENAME == ARGV[2] { sub(/^--wrap=/, ""); known[$1] = 1; next }
		$2 == "U" { used[$1] = 1; next }
		{ known[$1] = 1 }
		END { for (name in used) if (!(name in known)) print name }' \
		"$top_srcdir/tests/sim/calls.txt" "$top_srcdir/tests/sim/harmless.txt" - |
		grep -vE '^(__asan|__ubsan|__tsan|__sanitizer|__sancov|__gcov|llvm_)|^\.' | sort
}

# passes NAME [ARG]...: no run of `simulate ARG...` breaks a rule.
passes() {
	passes_name=$1
	shift
	if "$simulate" "$@" >"$tmp/out" 2>&1; then
		ok "$passes_name: $(sed -n 's/^# \([0-9]* runs\),.*/\1/p' "$tmp/out")"
	else
		not_ok "$passes_name" "$(grep -E -B3 '^not ok' "$tmp/out" | head -n 40)"
	fi
}

if command -v nm >/dev/null; then
	nm -P "$top_builddir"/lib/.libs/libsprof-core.a >"$tmp/library" 2>/dev/null ||
		nm -P "$top_builddir"/lib/libsprof-core.a >"$tmp/library" 2>/dev/null
	awk '$2 != "U" { print $1 }' "$tmp/library" | sort -u >"$tmp/own"
	unknown_calls | grep -vxFf "$tmp/own" >"$tmp/got"
	: >"$tmp/wanted"
	same "each call of the recorder is simulated, or harmless" "$tmp/wanted" "$tmp/got"
else
	skip "each call of the recorder is simulated, or harmless" "needs nm (binutils)"
fi
passes "no rule is broken" --seed "${SIM_SEEDS:-1-4}"
"$simulate" --seed "${SIM_SAME:-0}" --hash >"$tmp/got" 2>&1
same "the same seed makes the same files" "$tmp/hashes" "$tmp/got"
# Found with more seeds: tasks that begin while events are opened; a CPU that is online again
# before its events are reopened; a library that cannot be opened; and those that the names
# describe.
for seed in 16 17 656 714; do
	passes "tasks that begin early: $seed" -s cpus-1024 --seed $seed
done
passes "tasks that begin on a CPU that is back" -s random --seed 152
for seed in 303 329 344 352 551 855 917; do
	passes "processes that end before their mappings are read: $seed" -s random --seed $seed
done
passes "samples that drain threads had no room for" -s random --seed 298
passes "waits whose samples exceed the memory for them" -s random --seed 872 --ranges 0
passes "lost SWITCH records are not samples" -s random --seed 481
for seed in 11 69 91; do
	passes "waits that began before each switch was sampled: $seed" -s snapshots-asleep --seed $seed
done
for seed in 4 69 75 89; do
	passes "snapshots of waits that began after the last read record: $seed" -s snapshots-storm \
		--seed $seed
done
passes "unwinding without a library" -s slow-disk --seed 1 --fault 297
passes "ten minutes of tasks that come and go" -s churn
for scenario in frame-pointers live attach rotation overwrite snapshots off-cpu-rotation-size; do
	passes "failing calls: $scenario" -s $scenario --seed 7 --fault every "${SIM_FAULTS:-61}"
	passes "kills: $scenario" -s $scenario --seed 8 --kill every "${SIM_KILLS:-3001}"
done
finish
