#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Simulated recordings (tests/sim/sim.h): each scenario with some seeds, the same bytes again, failing
# calls and kills. A failure's line has the arguments of `simulate` that repeat it.
. "$top_srcdir/tests/tap.sh"
simulate=$top_builddir/tests/sim/simulate
[ -x "$simulate" ] || skip_all "this build has no simulation"

"$simulate" --seed 0 --hash >"$tmp/out" 2>&1
[ $? != 77 ] || skip_all "$(cat "$tmp/out")"

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

passes "no rule is broken" --seed "${SIM_SEEDS:-1-4}"
"$simulate" --seed "${SIM_SAME:-0-1}" --hash >"$tmp/wanted"
"$simulate" --seed "${SIM_SAME:-0-1}" --hash >"$tmp/got"
same "the same seed makes the same files" "$tmp/wanted" "$tmp/got"
for scenario in frame-pointers live attach rotation flight; do
	passes "failing calls: $scenario" -s $scenario --seed 7 --fault every "${SIM_FAULTS:-61}"
	passes "kills: $scenario" -s $scenario --seed 8 --kill every "${SIM_KILLS:-3001}"
done
finish
