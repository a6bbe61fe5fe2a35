# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder's CPU time and bytes for a sample, its start and end included: sprof, perf, and PERF_NEW.
# sprof unwinds while it records (dwarf), and stores names; perf leaves both to its report.

# recorder_cell TOOL FREQUENCY GRAPH: samples, CPU time and bytes of one recording.
recorder_cell() {
	rm -f "$tmp/recorder.log" "$tmp/recorder.data"
	"$measure" "$tmp/recorder.log" "$1" record -q -F "$2" --call-graph "$3" \
		-o "$tmp/recorder.data" -p "$target" -- sleep "${BENCH_SECONDS:-3}" \
		>/dev/null 2>"$tmp/stderr" </dev/null
	# Names may be stored in the background.
	sleep 0.4
	"$sprof" info --format json -i "$tmp/recorder.data" 2>/dev/null |
		sed -n 's/.*{"name": ".*", "samples": \([0-9]*\), "lost": \([0-9]*\)}.*/\1/p' |
		awk -v cpu_ms="$(tail -n 1 "$tmp/recorder.log" | cut -d " " -f 2)" \
			-v bytes="$(wc -c <"$tmp/recorder.data")" '
			{ n += $1 }
			END { printf "  %7d %8.1f %7.0f", n, n ? 1000 * cpu_ms / n : 0, n ? bytes / n : 0 }'
}

recorder() {
	printf '\nRecording -p PID: samples; for each of them CPU time (us) and bytes\n'
	printf '  %-26s  %-24s  %-24s  %s\n' '' sprof perf "${PERF_NEW:+$("$PERF_NEW" --version)}"
	for threads in 1 8 64; do
		"$workload/busy" $threads 100000 >/dev/null 2>&1 &
		target=$!
		sleep 0.5
		recorder_cell "$sprof" 997 fp >/dev/null # fills the caches
		for graph in fp dwarf; do
			for frequency in 99 997 4999; do
				printf '  %4s Hz %3s threads %-6s' $frequency $threads $graph
				for tool in "$sprof" "$PERF" $PERF_NEW; do
					recorder_cell "$tool" $frequency $graph
				done
				echo
			done
		done
		kill $target
		wait $target 2>/dev/null
	done
}
