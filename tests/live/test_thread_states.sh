#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# States of threads that know their own CPU time and number of waits, and run
# times compared to `perf sched timehist` on the same file.
. "$top_srcdir/tests/tap.sh"
need_sampling
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"

states() {
	: >wanted
	"$SPROF" record -q --switch-events -m 8M -o data -- "$workload/waits" 1 >truth 2>err ||
		not_ok "waits is recorded" "$(cat err)"
	"$top_builddir/tests/live/thread_lives" data | tail -n +2 >csv

	# FUNCTION WALL_NS CPU_NS WAITS TID, and the columns of csv by tid.
	awk -F, '{ print $2, $5 - $4, $6 + $7 + $8 + $9, $6, $9, $10 }' csv | sort >states
	awk '$1 == "run_role" { print $5, $2, $3, $4 }' truth | sort >lives
	join lives states >both
	comment "$(cat both)"
	count=$(wc -l <lives)
	awk -v count="$count" '
		# TID WALL CPU WAITS LIFE SUM RUNNING UNKNOWN WAITS
		{ n++ }
		$5 != $6 { print "sum", $0 }
		$8 * 1000 > $5 { print "unknown", $0 }
		# The life begins before the function, and ends after it.
		$5 < $2 { print "life", $0 }
		# A thread has a few waits outside of the function.
		$9 < $4 || $9 > $4 + 20 { print "waits", $0 }
		END { if (n < 5 || n != count) print "threads", n, count }' both >got
	same "each thread sums to its lifetime, with its waits" wanted got

	# Switches took 28 % of it. A thread may switch more or less often after its last count.
	range=$(awk '$4 > 100 { own += $3; got += $7 } END { printf "%.1f %.1f", got / 1e6, own / 1e6 }' both)
	check "CPU time of threads that wait is that of their clocks: ${range% *} ms, ${range#* }" \
		awk -v got="${range% *}" -v own="${range#* }" 'BEGIN { exit !(got > own * 0.9 && got < own * 1.1) }'
}
noisy states

timehist() {
	if ! command -v perf >/dev/null; then
		skip "run times are those of perf sched timehist" "no perf"
	elif ! perf sched record -o sched.data -- "$workload/waits" 1 >truth 2>err; then
		skip "run times are those of perf sched timehist" "no permission for tracepoints"
	else
		awk '$1 == "run_role" { print $5 }' truth | sort >tids
		perf sched timehist -s -i sched.data 2>/dev/null |
			sed -n 's/.*\[\([0-9]*\)\/[0-9]*\] *[0-9]* *[0-9]* *\([0-9.]*\) .*/\1 \2/p' | sort >perf.sums
		# The longest run of each thread.
		perf sched timehist -i sched.data 2>/dev/null | sed -n 's/.*\[\([0-9]*\)\/[0-9]*\] /\1 /p' |
			awk '$4 > most[$1] { most[$1] = $4 } END { for (tid in most) print tid, most[tid] }' |
			sort >perf.most
		# Switches to the thread that are missing, as the kernel leaves out some on a busy CPU.
		perf script -i sched.data -F event,trace 2>/dev/null |
			sed -n 's/.*sched_switch:.* prev_pid=\([0-9]*\) .* next_pid=\([0-9]*\) .*/\1 \2/p' |
			awk '{ missing[$1] += !on[$1]; on[$1] = 0; on[$2] = 1 }
				END { for (tid in missing) print tid, missing[tid] }' | sort >perf.missing
		join perf.sums perf.most | join - perf.missing >perf.times
		"$top_builddir/tests/live/thread_lives" sched.data | tail -n +2 |
			awk -F, '{ print $2, $6 / 1e6, $11 }' | sort >own.times
		join tids perf.times | join - own.times >both
		comment "$(cat both)"
		# perf leaves out the last run if the thread has already lost its number, and does not use other
		# samples where a switch is missing.
		awk '{ n++; d = $2 - $5; if (d < 0) d = -d }
			d > $2 * 0.005 + $3 * (1 + $4) + 0.4 { print "time", $0 }
			END { if (n < 5) print "threads", n }' both >got
		same "run times are those of perf sched timehist" wanted got
		# Wake-ups separate blocked from runnable time.
		awk '$6 == "waking"' both | wc -l >got
		awk '$2 > 0' both | wc -l >most
		check "nearly all threads have recorded wake-ups" test "$(cat got)" -ge "$(($(cat most) - 3))"
	fi
}
noisy timehist
finish
