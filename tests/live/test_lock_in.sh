#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A rate that divides 1000 samples a program on a 1 ms timer at one phase: record warns, and report
# and info repeat it, from the attributes alone. test_dither.sh has the clocks that vary.
. "$top_srcdir/tests/tap.sh"
need_sampling

# sample RATE...: records the workload. The share of one half, with 0.5 as the truth, is only
# logged.
# Other load shifts the program's phase.
sample() {
	"$SPROF" record --no-dither --call-graph none -e cpu-clock:u "$@" -o "$tmp/data" -- $steady "$workload/beat" 1 \
		>"$tmp/truth" 2>"$tmp/err" || return 1
	"$SPROF" report -i "$tmp/data" --no-children -s symbol --format json >"$tmp/json" 2>&1
	"$SPROF" report -i "$tmp/data" --no-children -s symbol --format csv 2>&1 |
		grep early_half >"$tmp/row"
	comment "$*: $(cat "$tmp/truth"), recorded as $(cut -d, -f1-3 "$tmp/row")"
}

warning='sampling at 1000 Hz can lock in step with 1 ms timers: use -F 809'
sample -F 1000
check "record warns of a rate that divides 1000" grep -qF "$warning" "$tmp/err"
check "report repeats it as a finding" grep -q '"kind": "lock_in".*sampling at 1000 Hz' "$tmp/json"
check "... once" [ "$(grep -c 'lock in step' "$tmp/json")" = 1 ]
"$SPROF" report -i "$tmp/data" >"$tmp/report" 2>&1
check "... in text, with its remedy" grep -q 'record with -F 809' "$tmp/report"
"$SPROF" info -i "$tmp/data" >"$tmp/info" 2>&1
check "info shows it" grep -qF "$warning" "$tmp/info"

sample -c 2000000
check "so does a period of 2 ms" grep -q 'sampling at 500 Hz.*use -F 405' "$tmp/err"

for rate in '-F 997' '-F 99' '' '-F 1300' '-c 1234567'; do
	sample $rate
	check "no warning for '$rate'" [ "$(cat "$tmp/err" "$tmp/json" | grep -c 'lock in')" = 0 ]
done

# The tick's rate is the kernel's: a recording's reader does not know it.
hz=$(awk -F= '$1 == "CONFIG_HZ" { print $2 }' "/boot/config-$(uname -r)" 2>/dev/null)
if [ "${hz:-1000}" = 1000 ] || [ $((1000 % hz)) = 0 ]; then
	skip "a rate that divides HZ alone" "HZ is ${hz:-unknown} and divides 1000, too"
else
	sample -F "$hz"
	check "a rate that divides HZ alone" grep -q "the kernel's $hz Hz tick" "$tmp/err"
fi
finish
