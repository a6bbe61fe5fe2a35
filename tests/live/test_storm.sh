#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A storm of processes that live shorter than a sampling period: samples are what their CPU time
# demands, and each program has its share. SPROF_STORM_RUNS (1500) makes it larger, and with
# SPROF_STORM_PEERS="perf ..." the results of these are shown, too.
. "$top_srcdir/tests/tap.sh"
need_sampling
runs=${SPROF_STORM_RUNS-1500}
hz=999

for name in ant bee cow dog; do
	cp "$workload/errands" "$tmp/$name"
done

# programs FILE TRUTH: "NAME SAMPLES SHARE LOW HIGH TRUE_LOW TRUE_HIGH" of each program, and
# "all SAMPLES SHARE_OF_WHAT_CPU_TIME_DEMANDS"; a program runs under its name from within execve(2)
# on, so that its true share is known within bounds.
programs() {
	"$SPROF" report -i "$1" --no-children -s comm --format csv 2>"$tmp/err" | tr -d '"' >"$tmp/csv"
	awk -F '[ ,]' -v hz="$hz" '
		FILENAME == ARGV[1] { low[$1] = $3; high[$1] = $4; next }
		FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ n += $column["self_samples"] }
		$column["comm"] in low {
			name = $column["comm"]
			print name, $column["self_samples"], $column["self"], $column["self_low"],
				$column["self_high"], low[name] / low["total"], high[name] / low["total"]
		}
		END { print "all", n, n / (low["total"] * hz / 1e9) }' "$2" "$tmp/csv"
}

storm() {
	"$@" -F "$hz" -o "$tmp/data" -- "$workload/errands" "$tmp" "$runs" >"$tmp/truth" 2>"$tmp/said" &&
		programs "$tmp/data" "$tmp/truth" >"$tmp/programs"
}

show() {
	comment "$1: $(awk '
		$1 == "all" { printf "%d samples, %.1f %% of what CPU time demands", $2, 100 * $3; next }
		{ printf "%s %.1f %% (%.1f to %.1f), truly %.1f to %.1f; ", $1, 100 * $3, 100 * $4, 100 * $5,
			100 * $6, 100 * $7 }' "$tmp/programs")"
}

if ! "$workload/probe" cpu >/dev/null; then
	skip "samples are what CPU time demands" "whole CPUs may not be sampled"
	skip "each program has its share" "whole CPUs may not be sampled"
else
	# On a busy machine each tick falls on us or on others by chance: 1.5 % of 1,500 samples.
	whole_cpus() {
		storm "$SPROF" record -q --call-graph none
		show "whole CPUs"
		check "samples are what CPU time demands" awk '
			$1 == "all" { seen = 1; good = $3 > 0.95 && $3 < 1.05 } END { exit !(seen && good) }' \
			"$tmp/programs"
		# Four of five intervals of 95 %, half as wide again (z = 2.9): all hold the truth.
		check "each program has its share" awk '
			NF == 7 {
				slack = ($5 - $4) / 4
				seen++
				good += $4 - slack < $7 && $5 + slack > $6
			}
			END { print good " of " seen; exit !(seen == 5 && good == 5) }' "$tmp/programs"
	}
	noisy whole_cpus
	for peer in $SPROF_STORM_PEERS; do
		storm "$peer" record
		show "$peer"
	done
fi

# Events of tasks miss most of them: intervals have room for what was never sampled. How many of the
# five programs have samples at all is chance. Five intervals of 95 % need slack here as well.
tasks() {
	storm "$SPROF" record -q --scope task --no-switch-events --call-graph none
	show "--scope task"
	check "intervals hold the share of programs that were hardly sampled" awk '
		NF == 7 { slack = ($5 - $4) / 4; seen++; good += $4 - slack < $7 && $5 + slack > $6 }
		END { print good " of " seen; exit !(seen >= 1 && good == seen) }' "$tmp/programs"
}
noisy tasks

# The report names the tasks that used that CPU time. At 20 Hz nearly none has a sample; switches
# say what each used, from the fork on: no less than from just before its exec.
unsampled() {
	"$SPROF" record -q --scope task --switch-events --call-graph none -F 20 -o "$tmp/data" -- \
		"$workload/errands" "$tmp" $((runs / 5)) >"$tmp/truth" 2>"$tmp/said"
	"$SPROF" report -i "$tmp/data" -s comm --format json 2>"$tmp/err" |
		grep '"tasks":.*"weight":' | tr -cd 'a-z0-9,\n' | tr , ' ' |
		sed 's/comm//; s/tasks//; s/unsampled//; s/lastedns[0-9]*//; s/weight//' >"$tmp/unsampled"
	check "what was never sampled is told by program" awk '
		FILENAME == ARGV[1] { runs[$1] = $2; most[$1] = $4; beside = $1 == "errands" ? $3 : beside; next }
		$1 in runs {
			print $0 " of " runs[$1] " and " most[$1]
			seen++
			part = $3 / $2
			good += $2 == runs[$1] && part > 0.8 && $4 > 0.9 * part * most[$1] - 1e7 &&
				$4 < 1.05 * most[$1] + beside
		}
		END { exit !(seen == 4 && good == 4) }' "$tmp/truth" "$tmp/unsampled"
}
noisy unsampled
"$SPROF" info --findings -i "$tmp/data" 2>"$tmp/err" | tr -s '\n ' '  ' >"$tmp/report"
check "the report says so" grep -q 'threads and processes ended before their first sample' "$tmp/report"

finish
