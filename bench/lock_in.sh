# SPDX-License-Identifier: GPL-2.0-or-later
# Shares of a program on a timer, dithered and at a fixed rate. Each cell: runs with the program's own
# share in the 95 % interval, of all; design effect (mean square error over the binomial variance);
# largest error, in standard errors. BENCH_RUNS: runs of each cell.

# lock_in_run MS OPTION...: "SHARE LOW HIGH SAMPLES TRUTH" of early_half.
lock_in_run() {
	lock_in_ms=$1
	shift
	"$sprof" record --scope cpu --call-graph none -e cpu-clock:u "$@" -o "$tmp/lock.data" -- \
		$steady "$workload/beat" "${BENCH_SECONDS:-1}" "$lock_in_ms" >"$tmp/truth" 2>/dev/null
	"$sprof" report -i "$tmp/lock.data" --no-children -s symbol --format csv --interval within \
		--percent-limit 0 2>/dev/null |
		awk -F , -v truth="$(cut -d ' ' -f 2 "$tmp/truth")" '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
			/_half/ { samples += $(column["self_samples"]) }
			/early_half/ { share = $1; low = $2; high = $3 }
			END { print share + 0, low + 0, high + 0, samples, truth }'
}

lock_in() {
	steady=
	! chrt -f 10 true 2>/dev/null || steady="chrt -f 10"
	printf '\nShares of a program on a timer: covered, design effect, largest error (standard errors)\n'
	for ms in 1 10; do
		for rate in "-F 99" "-F 997" "-F 1000" ""; do
			printf '  %2s ms timer, %-8s' "$ms" "${rate:-default}"
			for dither in "" --no-dither; do
				for run in $(seq "${BENCH_RUNS:-20}"); do
					lock_in_run "$ms" $rate $dither
				done | awk -v name="${dither:-dithered}" '
					{ error = $1 - $5; z = error / sqrt($5 * (1 - $5) / ($4 + !$4))
					  z = z < 0 ? -z : z; sum += z * z
					  most = z > most ? z : most; covered += $2 <= $5 && $5 <= $3 }
					END { printf "  %s %d/%d deff %.2f max %.1f", name, covered, NR, sum / NR, most }'
			done
			echo
		done
	done
}
