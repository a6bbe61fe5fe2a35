#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report --threads: its formats on a made recording, and its times compared to perf's on
# recordings of other machines.
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

prints "text has two lines for each thread" "$SPROF" report --threads -i data <<'END'
data  200 ms  3 threads

thread           tid    on CPU  runnable   blocked   unknown     waits   longest
CPU use over time                                            preempted  migrated
main              10    160 ms         -     40 ms         -         1     40 ms
88888....88888888888     80.0%         -     20.0%         -         0         0
main              11     70 ms     10 ms         -         -         0         -
  48884888               87.5%     12.5%         -         -         1         1
idle              12         -         -    200 ms         -         1    200 ms
....................         -         -      100%         -         0         0

CPU use of 20 equal parts of the time: 1 below 1/8 ... 8 all; . none; ? unknown
on CPU excludes the switches of 2 of 3 threads: the kernel's counts were not recorded
blocked includes the time from wake-up to running: wake-ups were not recorded
END
prints "--tid and --time select threads and times" \
	"$SPROF" report -q -T -i data --tid 10 --time 0.14,0.199999999 <<'END'

thread           tid    on CPU  runnable   blocked   unknown     waits   longest
CPU use over time                                            preempted  migrated
main              10     20 ms         -     40 ms         -         1     40 ms
8883............3888     33.3%         -     66.7%         -         0         0
END
"$SPROF" report -q -T -i data --time 20%-60% >wanted
"$SPROF" report -q -T -i data --time 30%-60%,20%-40%,40%-50% >got
same "ranges that overlap count once" wanted got
"$SPROF" report -T --format csv -i data --comms idle | cut -d, -f1-17 >got
cat >wanted <<'END'
pid,tid,comm,begin_ns,end_ns,born,ended,running_ns,runnable_ns,blocked_ns,unknown_ns,waits,longest_wait_ns,preemptions,migrations,split,running_ns_1
10,12,idle,100000000,300000000,0,0,0,0,200000000,0,1,200000000,0,0,none,0
END
same "csv has a line for each thread" wanted got
"$SPROF" report -T --format json -i data | python3 -c '
import json, sys
of = json.load(sys.stdin)["recordings"][0]
for t in of["threads"]:
    print(t["tid"], t["running_ns"], t["born"], t["ended"], sum(s["running_ns"] for s in t["slices"]))
' >got
cat >wanted <<'END'
10 160000000 False False 160000000
11 70000000 True True 70000000
12 0 False False 0
END
same "the slices of json sum to the times" wanted got

recording none <<'END'
event cpu-clock
comm 10 10 main
sample 0 10 10 0 1000 1 0x1000
END
fails "a recording without switches" 1 "$SPROF" report -T -i none <<'END'
sprof: none: no context switches were recorded
       'sprof record --switch-events' records them
END
fails "--threads has no format of samples" 129 "$SPROF" report -T -i data --format folded <<'END'
sprof: --threads has the formats text, json and csv, not folded
END
fails "--threads selects no samples" 129 "$SPROF" report -T -i data --dsos x <<'END'
sprof: --threads selects threads, not samples: use --comms, --pid, --tid or --time
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
	"$SPROF" report -T --format csv -i "$file" | tail -n +2 | awk -F, '{ print $2, $8 / 1e9 }' | sort >own.times
	# The time before the first IN and after the last OUT is not among perf's.
	join perf.times own.times | awk '{ n++; if ($3 < $2 * 0.995) bad = bad $0 "; " }
		END { if (n < 2 || bad) print n, bad }' >got
	: >wanted
	same "run times are not less than those of perf" wanted got
fi
finish
