#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each printed share must fit what the workload truly did: over many runs the
# interval holds the truth as often as it says, shares are not off to one side,
# and intervals are as wide as the spread asks for, not wider.
#
# SPROF_TRUTH_RUNS (15) and SPROF_TRUTH_SECONDS (1) make it sharper: 100 runs
# are what the project promises for (at least 90 of 100). Here a result fails
# only where chance would give it less than once in a million runs.
. "$top_srcdir/tests/tap.sh"
need_sampling
runs=${SPROF_TRUTH_RUNS-15}
seconds=${SPROF_TRUTH_SECONDS-1}

# compare KEY TRUTH CSV: one line a symbol, or function: KEY:NAME TRUTH SHARE LOW HIGH. What
# was inlined is part of its symbol, and a function of its own.
compare() {
	awk -F '[ ,]' -v key="$1" '
		FILENAME == ARGV[1] { truth[key == "symbol" || $2 == "-" ? $1 : $2] += $3; next }
		{ gsub(/"/, "") }
		FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column[key] in truth && $column[key] != "total" {
			print key ":" $column[key], truth[$column[key]], $column["self"],
				$column["self_low"], $column["self_high"]
		}' "$2" "$3"
}
keys=symbol wanted=4
if ! command -v eu-readelf >/dev/null; then
	skip "inlined functions are measured, too" "needs eu-readelf"
elif eu-readelf -S "$workload/proportions" | grep -q '\.debug_info'; then
	keys="symbol function" wanted=9
else
	skip "inlined functions are measured, too" "built without debug information"
fi

truth() {
	run=0
	: >"$tmp/runs"
	while [ "$run" -lt "$runs" ]; do
		if ! "$SPROF" record --call-graph none -F 997 -o "$tmp/data" -- "$workload/proportions" "$seconds" \
			>"$tmp/truth" 2>"$tmp/diagnostics"; then
			not_ok "recording" "$(cat "$tmp/diagnostics")"
			return
		fi
		for key in $keys; do
			if ! "$SPROF" report -i "$tmp/data" --no-children -s "$key" --format csv \
				>"$tmp/csv" 2>"$tmp/diagnostics"; then
				not_ok "reporting" "$(cat "$tmp/diagnostics")"
				return
			fi
			compare "$key" "$tmp/truth" "$tmp/csv" >>"$tmp/runs"
		done
		run=$((run + 1))
	done

	# chi2(k, z): where a chi-squared variable of k degrees has as much above or
	# below it as a normal one beyond z (Wilson and Hilferty). z = 4.75: 1e-6.
	awk -v runs="$runs" -v wanted_rows="$wanted" '
		function chi2(k, z) { return k * (1 - 2 / (9 * k) + z * sqrt(2 / (9 * k))) ^ 3 }
		# Chance of at most k hits of n, each of chance p.
		function at_most(k, n, p,    i, term, sum) {
			term = sum = (1 - p) ^ n
			for (i = 1; i <= k; i++) {
				term *= (n - i + 1) / i * p / (1 - p)
				sum += term
			}
			return sum
		}
		function verdict(good, name) { print (good ? "ok " : "not_ok ") name }
		{
			error = $3 - $2
			n[$1]++
			hits[$1] += $4 <= $2 && $2 <= $5
			half[$1] += ($5 - $4) / 2
			sum[$1] += error
			square[$1] += error * error
		}
		END {
			for (name in n) {
				half[name] /= runs
				mean = sum[name] / runs
				sd = sqrt((square[name] - runs * mean * mean) / (runs - 1))
				wanted = half[name] / 1.96
				printf "# %s: truth within the interval in %d of %d; mean error %+.4f; " \
					"half-width %.4f, 1.96 x spread %.4f, ratio %.2f\n", name, hits[name],
					runs, mean, half[name], 1.96 * sd, half[name] / (1.96 * sd)
				verdict(n[name] == runs, name " has a row in every run")
				verdict(at_most(hits[name], runs, 0.95) > 1e-6, name " lies within its interval")
				verdict(mean * mean * runs < (4.9 * wanted) ^ 2, name " is not off to one side")
				freedom = runs - 1
				ratio = freedom * sd * sd / (wanted * wanted)
				verdict(ratio > chi2(freedom, -4.75), name ": its interval is not too wide")
				verdict(ratio < chi2(freedom, 4.75), name ": its interval is not too narrow")
				rows++
			}
			verdict(rows == wanted_rows, "all " wanted_rows " have rows")
		}' "$tmp/runs" >"$tmp/verdicts"
	while read -r verdict name; do
		case $verdict in
		ok | not_ok) $verdict "$name" ;;
		*) echo "$verdict $name" ;;
		esac
	done <"$tmp/verdicts"
}
noisy truth
finish
