# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder's CPU time and bytes for a sample, its start and end included: sprof, perf, and PERF_NEW.
# sprof unwinds while it records (dwarf), and stores names; perf leaves both to its report.

# recorder_row FREQUENCY THREADS GRAPH: a row of the table.
recorder_row() {
	printf '  %5s Hz %3s threads %-6s' "$1" "$2" "$3"
	for tool in "$sprof" "$PERF" $PERF_NEW; do
		rm -f "$tmp/recorder.log" "$tmp/recorder.data"
		"$measure" "$tmp/recorder.log" "$tool" record -q -F "$1" --call-graph "$3" \
			-o "$tmp/recorder.data" -p "$target" -- sleep "${BENCH_SECONDS:-3}" \
			>/dev/null 2>"$tmp/stderr" </dev/null
		# Names may be stored in the background.
		sleep 0.5
		"$sprof" info --format json -i "$tmp/recorder.data" 2>/dev/null |
			sed -n 's/.*{"name": ".*", "samples": \([0-9]*\), "lost": \([0-9]*\)}.*/\1/p' |
			awk -v cpu_ms="$(tail -n 1 "$tmp/recorder.log" | cut -d " " -f 2)" \
				-v bytes="$(stat -c %s "$tmp/recorder.data")" '
				{ n += $1 }
				END { printf "  %7d %8.2f %7.0f", n, n ? 1000 * cpu_ms / n : 0, n ? bytes / n : 0 }'
	done
	echo
}

recorder() {
	heading "Recording -p PID: samples, CPU time (us) and bytes of each (sprof, perf${PERF_NEW:+, $PERF_NEW})"
	for threads in 1 8 64; do
		"$workload/busy" $threads 100000 >/dev/null 2>&1 &
		target=$!
		sleep 0.5
		for graph in fp dwarf; do
			for frequency in 99 997 4999; do
				recorder_row $frequency $threads $graph
			done
		done
		kill $target
		wait $target 2>/dev/null
	done
}
