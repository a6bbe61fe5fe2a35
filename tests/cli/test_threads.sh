#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report --threads: its rows on a made recording, and its times compared to perf's on recordings of
# other machines.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99

recording data <<'END'
event cpu-clock
comm 10 10 main
comm 10 12 idle
switch 10 10 1 100000000 in
fork 10 10 11 120000000
comm 10 11 worker
switch 10 11 0 125000000 in
switch 10 10 1 150000000 out
switch 10 11 0 160000000 preempt
switch 10 11 2 165000000 in
switch 10 10 1 190000000 in
exit 10 11 2 200000000
switch 10 10 1 300000000 out
END

prints "-T leaves out idle threads, as all modes of waits do" "$SPROF" report -q -T -i data <<'END'
  self   low-high    on  runnable  blocked  waits  longest  comm  tid  state
57.14%  57.1-57.1   160                                     main   10  [on CPU]
25.00%  25.0-25.0  70.0                                     main   11  [on CPU]
14.29%  14.3-14.3                     40.0      1     40.0  main   10  [blocked: unknown]
 3.57%   3.6- 3.6            10.0                           main   11  [waiting for CPU]
END
prints "--all-threads has a row for each thread and state" \
	"$SPROF" report -q -T --all-threads -i data <<'END'
  self   low-high    on  runnable  blocked  waits  longest  comm  tid  state
41.67%  41.7-41.7                      200      1      200  idle   12  [blocked: unknown]
33.33%  33.3-33.3   160                                     main   10  [on CPU]
14.58%  14.6-14.6  70.0                                     main   11  [on CPU]
 8.33%   8.3- 8.3                     40.0      1     40.0  main   10  [blocked: unknown]
 2.08%   2.1- 2.1            10.0                           main   11  [waiting for CPU]
END
prints "--tid and --time select threads and times" \
	"$SPROF" report -q -T -i data --tid 10 --time 0.14,0.199999999 <<'END'
  self   low-high    on  runnable  blocked  waits  longest  comm  tid  state
14.29%  14.3-14.3                     40.0      1     40.0  main   10  [blocked: unknown]
 7.14%   7.1- 7.1  20.0                                     main   10  [on CPU]
END
"$SPROF" report -q -T -i data --time 20%-60% >wanted
"$SPROF" report -q -T -i data --time 30%-60%,20%-40%,40%-50% >got
same "ranges that overlap count once" wanted got
for format in text csv json; do
	"$SPROF" report --threads -i data --format $format >got
	"$SPROF" report --mode wall -s comm,tid,state -i data --format $format >wanted
	same "it is a form of -s comm,tid,state ($format)" wanted got
done

# On a busy machine, idle threads wait for a CPU, too: 13 does, and was blocked else. 14 waits for a CPU.
recording busy <<'END'
event cpu-clock
comm 10 10 main
switch 10 10 0 100000000 in
fork 10 10 13 100000000
fork 10 10 14 100000000
switch 10 13 1 100000000 in
switch 10 13 1 100100000 preempt
switch 10 14 1 100100000 in
switch 10 14 1 100200000 preempt
switch 10 13 1 140000000 in
switch 10 13 1 140100000 out
switch 10 14 1 299800000 in
switch 10 14 1 299900000 out
switch 10 10 0 300000000 out
END
"$SPROF" report -q -T --percent-limit 0 -i busy >got
check "an idle thread that waits for a CPU is left out" sh -c '! grep -q " 13  " got'
check "a thread that mostly waits for a CPU is not" grep -q " 14  " got

recording none <<'END'
event cpu-clock
comm 10 10 main
sample 0 10 10 0 1000 1 0x1000
END
fails "a recording without switches" 1 "$SPROF" report -T -i none <<'END'
sprof: none has no context switches (SWITCH records), which mode wall needs
       'sprof record --off-cpu COMMAND' records them
END

# Times by perf: sums of its switches, from the first IN to the last OUT of each thread.
perf_times() {
	perf script --show-switch-events --ns -F comm,tid,time,event -i "$1" 2>/dev/null | awk '
		/PERF_RECORD_SWITCH/ {
			for (i = 2; $i !~ /:$/; i++)
				;
			time = $i + 0; tid = $(i - 1)
			if (/ IN/) on[tid] = time
			if (/ OUT/ && tid in on) { sum[tid] += time - on[tid]; delete on[tid] }
		}
		END { for (tid in sum) printf "%d %.9f\n", tid, sum[tid] }'
}

if ! command -v perf >/dev/null; then
	skip "run times are those of perf" "no perf"
elif [ ! -e "$SPROF_CORPUS/guest-ppc64el/multi.data" ]; then
	skip "run times are those of perf" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
else
	file=$SPROF_CORPUS/guest-ppc64el/multi.data
	perf_times "$file" | sort >perf.times
	"$SPROF" report -T --all-threads --format csv -i "$file" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ sum[$column["tid"]] += $column["self_running_ns"] / 1e9 }
		END { for (tid in sum) print tid, sum[tid] }' | sort >own.times
	# The time before the first IN and after the last OUT is not among perf's.
	join perf.times own.times | awk '{ n++; if ($3 < $2 * 0.995) bad = bad $0 "; " }
		END { if (n < 2 || bad) print n, bad }' >got
	: >wanted
	same "run times are not less than those of perf" wanted got
fi
finish
