# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by bench/run.sh: the section off-cpu.
#
# Ping-pong of two threads on one CPU: CPU time of the workload and of the recorder for each context
# switch, with nothing, with SWITCH records (--switch-events) and with --off-cpu. Then 1,000 threads
# that sleep: the recorder's CPU time. perf is compared if it has --off-cpu (BPF skeletons, root).

rounds=100000 # 200,000 switches

# ping_pong_alone LOG: appends "WORK_NS OWN_NS BYTES LOST" for each switch, as recorded_switches().
ping_pong_alone() {
	"$workload/ping_pong" "$rounds" | awk '{ print $1 / $2, 0, 0, 0 }' >>"$1"
}

# recorded_switches LOG TOOL OPTION...
recorded_switches() {
	log=$1 tool=$2
	shift 2
	rm -f "$tmp/switches.data"
	"$measure" "$tmp/switches.log" "$tool" record "$@" -o "$tmp/switches.data" -- \
		"$workload/ping_pong" "$rounds" >"$tmp/work" 2>"$tmp/stderr" </dev/null
	lost=$(sed -n 's/.* \([0-9]*\) metadata records.*lost.*/\1/p; s/.* samples, \([0-9]*\) lost.*/\1/p' \
		"$tmp/stderr" | awk '{ sum += $1 } END { print sum + 0 }')
	tail -n 1 "$tmp/switches.log" | awk -v bytes="$(wc -c <"$tmp/switches.data")" -v lost="$lost" \
		-v work="$(cat "$tmp/work")" '{
			split(work, part, " ")
			print part[1] / part[2], ($2 * 1e6 - part[1]) / part[2], bytes / part[2], lost
		}' >>"$log"
}

# switch_row NAME COLUMN UNIT: medians of the three, and ratios to the first and to the second.
switch_row() {
	awk -v name="$1" -v unit="$3" -v none="$(column "$tmp/none.switches" "$2")" \
		-v switches="$(column "$tmp/switch.switches" "$2")" \
		-v waits="$(column "$tmp/waits.switches" "$2")" 'BEGIN {
		printf "  %-34s %10.1f %10.1f %10.1f %-3s %8s %8.3f\n", name, none, switches, waits, unit,
			none ? sprintf("%.3f", switches / none) : "-", switches ? waits / switches : 0
	}'
}

perf_has_off_cpu() {
	"$PERF" record --off-cpu -o "$tmp/p.data" -- true >"$tmp/stderr" 2>&1 && ! grep -qi 'ignored' "$tmp/stderr"
}

sprof_sleepers() {
	quiet "$measure" "$1" "$sprof" record --off-cpu -o "$tmp/s.data" -p "$target" --duration 3
}

perf_sleepers() {
	quiet "$measure" "$1" "$PERF" record --off-cpu -g -o "$tmp/p.data" -p "$target" -- sleep 3
}

off_cpu() {
	printf '\nContext switches: ping-pong on one CPU, for each switch\n'
	printf '  %-34s %10s %10s %10s %-3s %8s %8s\n' '' nothing SWITCH off-cpu '' 2nd/1st 3rd/2nd
	rm -f "$tmp"/*.switches
	i=0
	while [ $i -lt "$BENCH_RUNS" ]; do
		ping_pong_alone "$tmp/none.switches"
		recorded_switches "$tmp/switch.switches" "$sprof" --call-graph none -e cpu-clock --switch-events
		recorded_switches "$tmp/waits.switches" "$sprof" -e cpu-clock --off-cpu
		i=$((i + 1))
	done
	switch_row "workload's CPU time" 1 ns
	switch_row "recorder's CPU time" 2 ns
	switch_row "file" 3 B
	switch_row "lost records of a run" 4 ''

	heading "1,000 threads that sleep, for 3 s: record --off-cpu -p PID"
	mkfifo "$tmp/ready"
	"$workload/idle" 1000 600 >"$tmp/ready" &
	target=$!
	read -r _ <"$tmp/ready"
	rm "$tmp/ready"
	if ! perf_has_off_cpu; then
		echo "  $("$PERF" --version) has no --off-cpu here"
		perf_sleepers() { echo 0 0 0 0 0 >>"$1"; }
	fi
	if turns sleepers sprof_sleepers perf_sleepers; then
		row "CPU" ms "$(column "$tmp/sleepers.sprof" 2)" "$(column "$tmp/sleepers.perf" 2)"
		row "peak memory" KiB "$(column "$tmp/sleepers.sprof" 3)" "$(column "$tmp/sleepers.perf" 3)"
	fi
	kill "$target"
	wait "$target" 2>/dev/null
}
