#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Modes wall, off-cpu and latency of recordings with known times. Two threads, in ms:
#
#	1  on CPU 0-40, blocked (futex) -100, on CPU -110, runnable -130, on CPU -150, blocked (sleep) -200
#	2  on CPU 20-60, blocked (pipe) -200; no on-CPU samples; its user frame is in no mapping
. "$top_srcdir/tests/cli/lib.sh"

cat >"$tmp/kallsyms" <<END
ffffffff81000000 T _text
ffffffff81001000 T schedule
ffffffff81002000 T futex_wait_queue
ffffffff81003000 T pipe_read
ffffffff81004000 T _etext
END

# recorded EVENT PERIOD...: EVENT has the three waits, with these periods.
recorded() {
	cat <<END
arch x86_64
event cpu-clock chain
event $1 chain addr
mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text
comm 1 1 demo
fork 1 1 2 1020000000
switch 1 1 0 1000000000 in
switch 1 2 1 1020000000 in
sample 0 1 1 0 1005000000 1000000 0x1010 0x1010 0x9010
sample 0 1 1 0 1030000000 1000000 0x1010 0x1010 0x9010
sample 0 1 1 0 1105000000 1000000 0x2010 0x2010 0x9010
sample 0 1 1 0 1140000000 1000000 0x1010 0x1010 0x9010
sample 1 1 1 0 1040000000 $2 0xffffffff81001010 0xffffffff81001010 0xffffffff81002010 0x1010 0x9010
switch 1 1 0 1040000000 out
sample 1 1 2 1 1060000000 $3 0xffffffff81001010 0xffffffff81001010 0xffffffff81003010 0x3010
switch 1 2 1 1060000000 out
switch 1 1 0 1100000000 in
sample 1 1 1 0 1110000000 0 0xffffffff81001010 0xffffffff81001010 0x1010 0x9010
switch 1 1 0 1110000000 preempt
switch 1 1 0 1130000000 in
with addr 36
sample 1 1 1 0 1150000000 $4 0x4010 0x4010 0x9010
switch 1 1 0 1150000000 out
switch 1 1 0 1200000000 in
END
}

recorded offcpu-time 60000000 140000000 50000000 | sed '/ 1110000000 0 /d' | recording "$tmp/waits"
recorded context-switches 1 1 1 | recording "$tmp/switches"

report() {
	"$SPROF" report --kallsyms "$tmp/kallsyms" --pid 1 "$@"
}

# weights COLUMNS FILE [OPTION]...: the columns of CSV, without totals.
weights() {
	columns=$1 file=$2
	shift 2
	report -q -i "$tmp/$file" --format csv --no-children "$@" | awk -F, -v columns="$columns" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			count = split(columns, names, " ")
			for (i = 1; i <= count; i++)
				printf "%s%s", $at[names[i]], i < count ? " " : "\n"
		}' | LC_ALL=C sort
}

for file in waits switches; do
	prints "$file: wall time by thread and state is exact" weights "tid state self_weight" $file \
		--mode wall -s tid,state <<END
1 [blocked: futex] 60000000
1 [blocked: sleep] 50000000
1 [on CPU] 70000000
1 [waiting for CPU] 20000000
2 [blocked: pipe] 140000000
2 [on CPU] 40000000
END
	prints "$file: off-CPU time has no time on a CPU" weights "tid state self_weight" $file \
		--mode off-cpu -s tid,state <<END
1 [blocked: futex] 60000000
1 [blocked: sleep] 50000000
1 [waiting for CPU] 20000000
2 [blocked: pipe] 140000000
END
	times="symbol self_running_ns self_runnable_ns self_blocked_ns self_longest_wait_ns"
	prints "$file: functions have their samples' part of each state" \
		weights "$times" $file --mode wall -s symbol <<END
0x1010 52500000 15000000 60000000 60000000
0x2010 17500000 5000000 0 0
0x4010 0 0 50000000 50000000
[no stack] 40000000 0 0 0
schedule 0 0 140000000 140000000
END
	prints "$file: --kernel-waits: waits are in kernel functions" \
		weights "$times" $file --mode wall --kernel-waits -s symbol <<END
0x1010 52500000 15000000 0 0
0x2010 17500000 5000000 0 0
0x4010 0 0 50000000 50000000
[no stack] 40000000 0 0 0
schedule 0 0 200000000 140000000
END
	prints "$file: latency sums to lifetimes" weights "tid state parallelism self_weight" $file \
		--latency -s tid,state,parallelism <<END
1 [all threads blocked]  90000000
1 [on CPU] 1 50000000
1 [on CPU] 2 10000000
1 [waiting for CPU] 1 20000000
2 [on CPU]  30000000
END
	prints "$file: latency without a runnable thread has a row" weights "symbol self_weight" $file \
		--latency -s symbol <<END
0x1010 56666666
0x2010 23333334
[all threads blocked] 90000000
[no stack] 30000000
END
done

# The clock excludes the kernel, and its four samples are 40 ms: what is left of 70 and 40 ms was in the kernel.
recorded offcpu-time 60000000 140000000 50000000 | sed '/ 1110000000 0 /d; s/^event cpu-clock.*/& user/
	/^sample 0/s/ 1000000 / 10000000 /' >"$tmp/text"
recording "$tmp/user" <"$tmp/text"
prints "time in the kernel has a row" weights "$times" user --mode wall -s symbol <<END
0x1010 30000000 15000000 60000000 60000000
0x2010 10000000 5000000 0 0
0x4010 0 0 50000000 50000000
[kernel: not sampled] 70000000 0 0 0
schedule 0 0 140000000 140000000
END
prints "a word in the rows is explained below them" sh -c '
	"$0" report -i "$1" --mode wall -s symbol | grep "^\[.*: "
	"$0" report -q -i "$1" --mode wall -s symbol | grep "^\[.*: "' "$SPROF" "$tmp/user" <<'END'
[kernel: not sampled]: CPU time of the kernel, which the event excludes
(status 1)
END
prints "it is in the kernel" weights "dso self_running_ns" user --mode wall -s dso <<END
[kernel.kallsyms] 70000000
[unknown] 40000000
END
{
	cat "$tmp/text"
	echo throttle 0 1150000000
} | recording "$tmp/throttled"
prints "throttled time is no time in the kernel" weights "symbol self_running_ns" throttled --mode wall \
	-s symbol <<END
0x1010 52500000
0x2010 17500000
0x4010 0
[no stack] 40000000
schedule 0
END
# No sample is due in a thread's first period of 1 ms: short threads may have run user code alone.
{
	printf '%s\n' 'event cpu-clock chain user' 'comm 1 1 demo' 'mmap 1 0x1000 0x9000 0x1000 /nowhere/a'
	for tid in 11 12 13 14 15 16 17 18 19; do
		echo "fork 1 1 $tid ${tid}00000000"
		echo "switch 1 $tid 0 ${tid}00000000 in"
		end=${tid}01900000
		if [ $tid = 19 ]; then
			end=${tid}00900000
		else
			echo "sample 0 1 $tid 0 ${tid}01003009 1003009 0x1010 0x1010"
		fi
		echo "switch 1 $tid 0 $end out"
		echo "exit 1 $tid 0 $end"
	done
} | recording "$tmp/short"
prints "short threads have no time in the kernel" weights "symbol self_running_ns" short --mode wall -s symbol <<END
0x1010 15200000
[no stack] 900000
END
prints "time in the kernel has latency" weights "tid symbol self_weight" user --latency -s tid,symbol <<END
1 0x1010 38095238
1 0x2010 16190477
1 [all threads blocked] 90000000
1 [kernel: not sampled] 25714285
2 [kernel: not sampled] 30000000
END
# Lost samples may have been in user code.
{
	cat "$tmp/text"
	echo lost 0 3
} | recording "$tmp/user"
prints "lost samples are no time in the kernel" weights "tid symbol self_running_ns" user --mode wall \
	-s tid,symbol <<END
1 0x1010 52500000
1 0x2010 17500000
1 [no stack] 0
2 [no stack] 40000000
END
# Losses of other processes on the CPUs are not the target's.
{
	cat "$tmp/text"
	echo lost 0 3
	echo "note 0 #44:3:0 none of them is the target's"
} | recording "$tmp/user"
prints "losses of other processes hide no time in the kernel" weights "symbol self_running_ns" user \
	--mode wall -s symbol <<END
0x1010 30000000
0x2010 10000000
[kernel: not sampled] 70000000
[no stack] 0
END

# Modes of threads show the stacks of on-CPU samples and of waits together: with one share.
{
	recorded offcpu-time 60000000 140000000 50000000 | sed '/ 1110000000 0 /d'
	echo "mmap 1 0x1000 0x4000 0 $tmp/absent"
} | recording "$tmp/parts"
shares() {
	report -i "$tmp/parts" --mode "$1" --format json | python3 -c '
import json, sys
report = json.load(sys.stdin)
stacks = report["events"][0]["stacks"]
for finding in report["findings"]:
    if finding["kind"] == "truncated_stacks":
        ends = stacks[finding["cause"]]
        print(finding["cause"], finding["samples"] == ends,
              abs(finding["share"] - ends / sum(stacks.values())) < 1e-6, finding.get("event"))'
}
prints "each cause of truncated stacks has one finding, with the share of all" shares wall <<END
invalid_address True True None
truncated True True None
END

# Lifetimes of several processes are summed; the sum is no elapsed time.
says_lifetimes() {
	"$SPROF" report -i "$tmp/waits" --latency 2>"$tmp/err" | tr '\n' ' ' |
		grep " 200 ms of the processes' lifetimes: .*Percentages are of the processes' lifetimes;"
}
check "latency is said to be of lifetimes" says_lifetimes

prints "wall time is the default for recorded waits, and sums to lifetimes" \
	weights "tid self_weight self_running_ns self_runnable_ns self_blocked_ns self_waits" waits -s tid <<END
1 200000000 70000000 20000000 110000000 2
2 180000000 40000000 0 140000000 1
END
prints "waits have an interval of 0" weights "waits_for self self_low self_high" waits --mode off-cpu \
	-s waits_for <<END
CPU 0.07407407407 0.03778586397 0.07407407407
futex 0.2222222222 0.2222222222 0.2222222222
pipe 0.5185185185 0.5185185185 0.5185185185
sleep 0.1851851852 0.1851851852 0.1851851852
END
# System calls: by the number of the call, or by the kernel's functions. Each ns has a row.
cp "$tmp/kallsyms" "$tmp/symbols"
sed 's/futex_wait_queue/__x64_sys_ppoll.cold/' "$tmp/symbols" >"$tmp/kallsyms"
calls="syscall self_weight self_runnable_ns self_blocked_ns"
prints "all time has a system call, none, or an unknown one" weights "$calls" waits --mode wall \
	-s syscall <<END
 40000000 0 0
[no system call] 230000000 20000000 140000000
nanosleep 50000000 0 50000000
ppoll 60000000 0 60000000
END
prints "their words are explained" sh -c '"$0" report -i "$1" --mode wall -s syscall |
	grep "^\(\[.*\]\|?\): "' "$SPROF" "$tmp/waits" <<'END'
[no system call]: code outside of the kernel, page faults and interrupts
?: unknown: neither the recording nor its files have it
END
# All words are in the manual page, with the same meanings.
sed -n 's/^	{"\([^"]*\)", "\(.*\)"},$/\1|\2/p' "$top_srcdir/src/out/row_words.c" >"$tmp/words"
sed 's/\\-/-/g' "$top_srcdir/doc/sprof-report.1" |
	awk '/^\.B / { word = substr($0, 4); getline; print word "|" $0 }' >"$tmp/manual"
check "the table of words is not empty" test "$(wc -l <"$tmp/words")" -gt 10
grep -vxFf "$tmp/manual" "$tmp/words" >"$tmp/missing"
: >"$tmp/none"
same "the manual page has the words" "$tmp/none" "$tmp/missing"
prints "as have waits" weights "$calls" waits --mode off-cpu -s syscall <<END
[no system call] 160000000 20000000 140000000
nanosleep 50000000 0 50000000
ppoll 60000000 0 60000000
END
prints "user code is in no system call" weights "syscall self_weight" waits --mode cpu \
	-s syscall <<END
[no system call] 4000000
END
mv "$tmp/symbols" "$tmp/kallsyms"
prints "--parallelism selects samples" weights "tid self_weight" waits --mode wall --parallelism 2 -s tid <<END
1 22500000
END
prints "folded stacks begin with the state, and count ns" report -i "$tmp/waits" --format folded <<END
demo;[blocked: futex];[truncated stacks];[unknown] 60000000
demo;[blocked: pipe];pipe_read_[k];schedule_[k] 140000000
demo;[blocked: sleep];[truncated stacks];[unknown] 50000000
demo;[on CPU];[no stack] 40000000
demo;[on CPU];[truncated stacks];[unknown] 70000000
demo;[waiting for CPU];[truncated stacks];[unknown] 20000000
END
prints "--kernel-waits: folded stacks end in the kernel" \
	report -i "$tmp/waits" --kernel-waits --format folded <<END
demo;[blocked: futex];futex_wait_queue_[k];schedule_[k] 60000000
demo;[blocked: pipe];pipe_read_[k];schedule_[k] 140000000
demo;[blocked: sleep];[truncated stacks];[unknown] 50000000
demo;[on CPU];[no stack] 40000000
demo;[on CPU];[truncated stacks];[unknown] 70000000
demo;[waiting for CPU];[truncated stacks];[unknown] 20000000
END

# A pool: threads 3 and 4 wait at one place all the time.
{
	recorded offcpu-time 60000000 140000000 50000000 | sed '/ 1110000000 0 /d; / 1200000000 in/d'
	for tid in 3 4; do
		echo "with addr 0"
		echo "switch 1 $tid 1 100000000$tid in"
		echo "sample 1 1 $tid 1 1000100000 199900000 0xffffffff81001010 0xffffffff81001010 0xffffffff81002010 0x5010"
		echo "switch 1 $tid 1 1000100000 out"
	done
	echo "switch 1 1 0 1200000000 in"
} >"$tmp/text"
recording "$tmp/pool" <"$tmp/text"
prints "idle threads are left out of wall time" weights "tid self_weight" pool -s tid <<END
1 200000000
2 180000000
END
prints "they are left out of off-CPU time" weights "tid self_weight" pool -s tid --mode off-cpu <<END
1 130000000
2 140000000
END
prints "--all-threads shows them" weights "tid self_weight" pool -s tid --all-threads <<END
1 200000000
2 180000000
3 200000000
4 200000000
END
prints "--all-threads shows them in off-CPU time" weights "tid self_weight" pool -s tid --mode off-cpu \
	--all-threads <<END
1 130000000
2 140000000
3 199900003
4 199900004
END
for mode in wall off-cpu latency; do
	report -q -i "$tmp/pool" --mode $mode -s tid --format json |
		sed -n 's/,$//; s/^   "\(weight\|threads\|idle_[a-z]*\)": //p; s/.*"times": {"running_ns": //p' |
		sed 's/, .*//' | tr '\n' ' '
	echo $mode
done >got
cat >wanted <<END
380000000 110000000 4 2 400000000 wall
270000000 0 4 2 399800007 off-cpu
200000000 90000000 4 0 0 latency
END
same "JSON has the times of the others, and of idle threads" wanted got
exports() {
	for file in pool.callgrind pool.speedscope.json pool.firefox.json; do
		report -q -i "$tmp/pool" --mode off-cpu -o "$tmp/$file"
		grep -oE '[0-9] idle threads left out|Idle threads left out.*"value": [0-9]' "$tmp/$file"
	done
}
prints "exports have the number of idle threads" exports <<END
2 idle threads left out
2 idle threads left out
Idle threads left out", "format": "integer", "value": 2
END
# Counts of schedstat split the lives of threads, and their parts in ranges and steps.
{
	cat "$tmp/text"
	for tid in 3 4; do
		echo "note 1000100001 #53:1:$tid:0:0:0 waited 0 ns for a CPU"
		echo "note 1199000000 #53:1:$tid:100000:1000000:0 waited 1 ms for a CPU"
	done
} | recording "$tmp/counts"
for options in "" "-s time,tid" "--time 1.05,1.15"; do
	report -q -i "$tmp/counts" -s tid $options --format json |
		sed -n 's/,$//; s/^   "\(weight\|idle_[a-z]*\)": //p; s/.*"times": {"running_ns": [0-9]*, //p' |
		sed 's/, "unknown.*//' | tr '\n' ' '
	echo "${options:-whole}"
done >got
cat >wanted <<'END'
380000000 "runnable_ns": 20000000, "blocked_ns": 250000000 2 400000000 whole
380000000 "runnable_ns": 20000000, "blocked_ns": 250000000 2 400000000 -s time,tid
380000000 "runnable_ns": 20000000, "blocked_ns": 250000000 2 400000000 --time 1.05,1.15
END
same "idle threads are left out of parts of their lives" wanted got
prints "they are left out of a range" weights "tid self_weight" counts -s tid --time 1.05,1.15 <<END
1 100000001
2 100000001
END
# Schedstat adds 5 ms to each wait of the only thread. All modes, and all their ranges, have them.
{
	recorded offcpu-time 60000000 140000000 50000000 |
		sed '/ 1110000000 0 /d; /^fork/d; /^switch 1 2/d; /^sample 1 1 2/d'
	echo "note 1000000001 #53:1:1:0:0:0 waited 0 ns for a CPU"
	echo "note 1200000000 #53:1:1:70000000:30000000:0 waited 30 ms for a CPU"
} | recording "$tmp/alone"
states() {
	weights "state self_weight" alone "$@" | awk '
		{ sums[/on CPU/ ? "on" : /waiting/ ? "runnable" : "blocked"] += $NF }
		END { print sums["on"], sums["runnable"], sums["blocked"] }'
}
for range in 1.0,1.2 1.0,1.1 1.1,1.2; do
	states -T -s state --time $range
	states --latency -s state --time $range
	states --mode off-cpu -s state --time $range
done >got
cat >wanted <<'END'
70000000 30000000 100000000
70000000 30000000 100000000
 30000000 100000000
40000001 5000000 55000000
40000001 5000000 55000000
 5000000 55000000
30000000 25000000 45000000
30000000 25000000 45000000
 25000000 45000000
END
same "all modes and ranges have the thread's states" wanted got
# Threads 3 and 4 wake for 0.1 ms each 50 ms.
{
	cat "$tmp/text"
	for tid in 3 4; do
		for ms in 1050 1100 1150; do
			echo "switch 1 $tid 1 ${ms}000000 in"
			echo "with addr 0"
			echo "sample 1 1 $tid 1 ${ms}100000 49900000 0xffffffff81001010 0xffffffff81001010 0xffffffff81002010 0x5010"
			echo "switch 1 $tid 1 ${ms}100000 out"
		done
	done
} | recording "$tmp/poll"
prints "threads that wait again and again at one place are left out of a range" \
	weights "tid self_weight" poll -s tid --time 1.06,1.14 <<END
1 80000001
2 80000001
END
prints "a thread that waits in the range, and not in its whole life, is not left out" \
	weights "tid self_weight" poll -s tid --time 1.152,1.158 <<END
1 6000001
2 6000001
END
# 1 % of the time of CPU 1 is unknown, from 182 to 184 ms.
{
	cat "$tmp/text"
	echo "switch 1 2 1 1180000000 in"
	echo "switch 1 2 1 1182000000 out"
	echo "full 0 3 1184000000 1"
} | recording "$tmp/lossy"
prints "threads are idle if they waited in all known time" weights "tid self_weight" lossy -s tid <<END
1 200000000
2 180000000
END
# The same without samples of waits: thread 1 waits for 60 and 50 ms, thread 2 for 140 ms.
{
	recorded offcpu-time 1 1 1 | sed '/ 1110000000 0 /d; /^sample 1/d; / 1200000000 in/d'
	printf 'switch 1 3 1 1000000003 in\nswitch 1 3 1 1000100000 out\nswitch 1 1 0 1200000000 in\n'
} | recording "$tmp/counted"
prints "waits without samples have a number and a length" \
	weights "tid self_waits self_longest_wait_ns" counted -s tid <<END
1 2 60000000
2 1 140000000
END
prints "they are in the sums of threads that are not idle" \
	sh -c '"$SPROF" report -i "$0" -s state | grep -o "blocked (.*)"' "$tmp/counted" <<END
blocked (3 waits, longest 140 ms)
END
prints "text has the states, and idle threads in one line" \
	sh -c '"$SPROF" report -i "$0" --kallsyms "$1" -s state | sed -n "/threads:/,\$p"' \
	"$tmp/pool" "$tmp/kallsyms" <<END
380 ms of 2 threads: 110 ms on CPU, 20 ms waiting for CPU, 250 ms blocked (3 waits, longest 140 ms),
9 samples, none lost
left out: 2 idle threads (400 ms); --all-threads shows them
stacks: 33.3% complete, 66.7% truncated
Percentages are of the threads' time; low-high is the 95% confidence interval.
Time is in ms; runnable threads wait for a CPU.

 total   low-high   on  runnable  blocked  waits  longest  state
36.84%  36.8-36.8                     140      1      140  [blocked: pipe]
28.95%  14.8-28.9  110                                     [on CPU]
15.79%  15.8-15.8                    60.0      1     60.0  [blocked: futex]
13.16%  13.2-13.2                    50.0      1     50.0  [blocked: sleep]
 5.26%   2.7- 5.3           20.0                           [waiting for CPU]
END
prints "columns are times in ms" report -q -i "$tmp/pool" --kernel-waits \
	-F overhead_children,on_ms,runnable_ms,blocked_ms,waits,longest_ms,symbol <<END
 total    on  runnable  blocked  waits  longest  symbol
52.63%                      200      2      140  [k] schedule
36.84%                      140      1      140  [k] pipe_read
17.76%  52.5      15.0                           [.] 0x1010
15.79%                     60.0      1     60.0  [k] futex_wait_queue
13.16%                     50.0      1     50.0  [.] 0x4010
10.53%  40.0                                     [.] [no stack]
 5.92%  17.5       5.0                           [.] 0x2010
END

prints "text of off-CPU time has the times of the others" \
	sh -c '"$SPROF" report -i "$0" --kallsyms "$1" --mode off-cpu -s tid | sed -n "/threads:/,\$p"' \
	"$tmp/pool" "$tmp/kallsyms" <<END
270 ms of 2 threads: 20 ms waiting for CPU, 250 ms blocked (3 waits, longest 140 ms), 9 samples,
none lost
left out: 2 idle threads (400 ms); --all-threads shows them
stacks: 33.3% complete, 66.7% truncated
Percentages are of the threads' time; low-high is the 95% confidence interval.
Time is in ms; runnable threads wait for a CPU.

 total   low-high  runnable  blocked  waits  longest  tid
51.85%  51.9-51.9                140      1      140    2
48.15%  44.5-48.1      20.0      110      2     60.0    1
END

# All 20 ms of waits for a CPU are after preemptions; thread 1 has them.
prints "a remark has the share of preempted threads' time, also in JSON" sh -c '
	for i in 1 2; do
		"$SPROF" report -i "$0" --mode off-cpu --tid $i | grep preempted || echo none
	done
	"$SPROF" report -i "$0" --mode off-cpu --format json | grep -c "\"cause\": \"preempted\""' \
	"$tmp/pool" <<END
  - preempted threads waited 15% of the time without stacks: split by CPU time
none
1
END

# A kernel thread; two functions are in all of its stacks.
cat >"$tmp/kallsyms2" <<END
ffffffff81000000 T _text
ffffffff81001000 T schedule
ffffffff81002000 T kthread
ffffffff81003000 T ret_from_fork
ffffffff81004000 T work
ffffffff81005000 T _etext
END
cat >"$tmp/text" <<END
arch x86_64
event cpu-clock chain
event offcpu-time chain
mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text
comm 1 1 kworker
switch 1 1 0 1000000000 in
sample 0 1 1 0 1001000000 1000000 0xffffffff81004010 0xffffffff81004010 0xffffffff81002010 0xffffffff81003010
sample 1 1 1 0 1010000000 40000000 0xffffffff81001010 0xffffffff81001010 0xffffffff81002010 0xffffffff81003010
switch 1 1 0 1010000000 out
switch 1 1 0 1050000000 in
END
recording "$tmp/kthread" <"$tmp/text"
cat >"$tmp/table" <<END
in all stacks (total 100.00%): kthread, ret_from_fork
All rows: comm kworker, dso [kernel.kallsyms]
 total   low-high    on  runnable  blocked  waits  longest  function
80.00%  80.0-80.0                     40.0      1     40.0  [k] schedule
20.00%   4.1-20.0  10.0                                     [k] work
END
prints "functions of all stacks are in one line" \
	sh -c '"$SPROF" report -i "$0" --kallsyms "$1" | sed -n "/^in .* stacks/,\$p"' \
	"$tmp/kthread" "$tmp/kallsyms2" <"$tmp/table"
prints "-q has the same lines" \
	sh -c '"$SPROF" report -q -i "$0" --kallsyms "$1"' "$tmp/kthread" "$tmp/kallsyms2" <"$tmp/table"

# In mode cpu, functions of most stacks that only call others are in one line, except the last.
{
	echo arch x86_64
	echo event cpu-clock chain
	echo mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text
	echo comm 1 1 kworker
	for i in 1 2 3 4 5 6 7 8 9; do
		leaf=0xffffffff8100$((i < 7 ? 1 : 2))010
		echo "sample 0 1 1 0 100${i}000000 1000000 $leaf $leaf 0xffffffff81005010" \
			0xffffffff81004010 0xffffffff81003010
	done
	echo sample 0 1 1 0 1010000000 1000000 0xffffffff81006010 0xffffffff81006010
} | recording "$tmp/started"
cat >"$tmp/kallsyms3" <<END
ffffffff81000000 T _text
ffffffff81001000 T first
ffffffff81002000 T second
ffffffff81003000 T _start1
ffffffff81004000 T _start2
ffffffff81005000 T main
ffffffff81006000 T other
ffffffff81007000 T _etext
END
cat >"$tmp/table" <<END
in most stacks (total 90.00%): _start1, _start2
All rows: comm kworker, dso [kernel.kallsyms]
 total   low-high    self  function
90.00%  59.6-98.2   0.00%  [k] main
60.00%  31.3-83.2  60.00%  [k] first
30.00%  10.8-60.3  30.00%  [k] second
10.00%   1.8-40.4  10.00%  [k] other
END
prints "functions of most stacks are in one line in mode cpu" "$SPROF" report -q --children \
	-i "$tmp/started" --kallsyms "$tmp/kallsyms3" <"$tmp/table"
check "keys of -s have rows of them" sh -c \
	'"$SPROF" report -q --children -s function -i "$0" --kallsyms "$1" | grep -q "90.*_start1"' \
	"$tmp/started" "$tmp/kallsyms3"

"$SPROF" report -i "$tmp/started" --kallsyms "$tmp/kallsyms3" --percent-limit 0 >wanted
"$SPROF" report -i "$tmp/started" --kallsyms "$tmp/kallsyms3" --limit 0 >got
same "--limit 0 has all rows" wanted got
check "as well as those without self time" grep -q _start1 got
# Time of a thread without samples has no functions.
{
	cat "$tmp/text"
	echo switch 1 2 1 1000000000 in
} | recording "$tmp/kthread"
prints "functions of all stacks are in one line beside time without stacks" \
	sh -c '"$SPROF" report -i "$0" --kallsyms "$1" | sed -n "/^in .* stacks/,\$p"' \
	"$tmp/kthread" "$tmp/kallsyms2" <<END
in all stacks (total 50.00%): kthread, ret_from_fork

 total   low-high    on  runnable  blocked  waits  longest  function        comm     dso
50.00%   8.7-59.6  50.0                                     [.] [no stack]  :2       [unknown]
40.00%  40.0-40.0                     40.0      1     40.0  [k] schedule    kworker  [kernel.kallsyms]
10.00%   0.4-51.3  10.0                                     [k] work        kworker  [kernel.kallsyms]
[no stack]: time of threads without a sample in this state
END

# Each thread's stacks have functions of their own.
{
	cat "$tmp/text"
	cat <<END
comm 2 2 second
switch 2 2 1 1000000000 in
sample 0 2 2 1 1001000000 1000000 0xffffffff81002010 0xffffffff81002010 0xffffffff81004010 0xffffffff81003010
sample 1 2 2 1 1010000000 40000000 0xffffffff81001010 0xffffffff81001010 0xffffffff81004010 0xffffffff81003010
switch 2 2 1 1010000000 out
switch 2 2 1 1050000000 in
END
} | recording "$tmp/kthread"
prints "functions of all stacks of a thread are in one line" \
	sh -c '"$SPROF" report -i "$0" --kallsyms "$1" | sed -n "/^in .* stacks/,\$p" | sed "s/ *\[kernel.kallsyms\]\$//"' \
	"$tmp/kthread" "$tmp/kallsyms2" <<END
in all stacks of kworker (total 50.00%): kthread, ret_from_fork
in all stacks of second (total 50.00%): ret_from_fork, work
All rows: dso
 total   low-high    on  runnable  blocked  waits  longest  function      comm
40.00%  40.0-40.0                     40.0      1     40.0  [k] schedule  kworker
40.00%  40.0-40.0                     40.0      1     40.0  [k] schedule  second
10.00%   1.9-18.1  10.0                                     [k] work      kworker
10.00%   1.9-18.1  10.0                                     [k] kthread   second
END

# Functions of few stacks have rows.
sed 's/1050000000 in/1050000000 out/' "$tmp/text" >"$tmp/short"
{
	sed 's/1010000000/1001500000/; s/40000000/1000000/; s/1050000000 out/1002500000 out/' "$tmp/short"
	echo switch 1 2 1 1000000000 in
	echo switch 1 2 1 2000000000 out
} | recording "$tmp/kthread"
prints "functions of few stacks have rows" \
	sh -c '"$SPROF" report -i "$0" --kallsyms "$1" | grep -c "begin with" || :' "$tmp/kthread" "$tmp/kallsyms2" <<END
0
END

# perf record --off-cpu: waits without switches. Periods are the times.
recorded offcpu-time 60000000 140000000 50000000 | sed '/ 1110000000 0 /d; /^switch/d' |
	recording "$tmp/noswitch"
prints "waits without switches have their periods" weights "tid state self_weight" noswitch \
	-s tid,state <<END
1 [blocked: futex] 60000000
1 [blocked: sleep] 50000000
1 [on CPU] 4000000
2 [blocked: pipe] 140000000
END
fails "latency needs switches" 1 "$SPROF" report -i "$tmp/noswitch" --latency <<END
sprof: $tmp/noswitch has no context switches (SWITCH records), which mode latency needs
       'sprof record --off-cpu COMMAND' records them
END

# A thinned wait of 36 ms, recorded with the limit of 40 ms, so that it stands for 40 / 36 waits. The thread
# also waited for 4 ms without a sample. The variance is 40² (1 - 36/40) = 160 ms². The wait is the only
# sample of 40 ms, which leaves the interval of few samples.
recording "$tmp/thinned" <<END
arch x86_64
event cpu-clock chain
event offcpu-time chain addr
comm 1 1 demo
switch 1 1 0 1000000000 in
sample 0 1 1 0 1001000000 1000000 0x1010 0x1010 0x9010
with addr 36
sample 1 1 1 0 1010000000 40000000 0x4010 0x4010 0x9010
switch 1 1 0 1010000000 out
switch 1 1 0 1046000000 in
switch 1 1 0 1056000000 out
switch 1 1 0 1060000000 in
sample 0 1 1 0 1160000000 1000000 0x1010 0x1010 0x9010
END
half=$(awk 'BEGIN { printf "%.6f", 1.959964 ^ 2 * 160 / 40 / 160 }')
prints "a thinned wait has the variance of thinning" sh -c \
	'"$SPROF" report -q -i "$0" -s waits_for --format csv --no-children |
		awk -F, "/,sleep,/ { printf \"%.6f %.6f %.6f %d\n\", \$1, \$1 - \$2, \$3 - \$1, \$5 }"' \
	"$tmp/thinned" <<END
0.250000 $half $half 40000000
END

# with_loss CPU: a wait of 100 ms during which the CPU lost records, and three others.
with_loss() {
	recording "$tmp/lost" <<END
arch x86_64
event cpu-clock chain
event offcpu-time chain
comm 1 1 demo
switch 1 1 0 1000000000 in
sample 1 1 1 0 1010000000 100000000 0x1010 0x1010 0x9010
switch 1 1 0 1010000000 out
switch 1 1 0 1110000000 in
sample 1 1 1 0 1120000000 100000000 0x2010 0x2010 0x9010
switch 1 1 0 1120000000 out
switch 0 0 $1 1140000000 in
full 0 3 1141000000
switch 1 1 0 1220000000 in
sample 1 1 1 0 1230000000 1000000 0x3010 0x3010 0x9010
switch 1 1 0 1230000000 out
switch 1 1 0 1231000000 in
sample 1 1 1 0 1240000000 10000000 0x4010 0x4010 0x9010
switch 1 1 0 1240000000 out
switch 1 1 0 1250000000 in
END
}
with_loss 0
prints "a wait with lost records keeps its time" weights "symbol self_blocked_ns" lost --mode off-cpu \
	-s symbol <<END
0x1010 100000000
0x2010 99000000
0x3010 1000000
0x4010 10000000
[no stack] 0
END
prints "lost time is not blocked in latency" weights "state self_weight" lost --latency -s state <<END
[all threads blocked] 210000000
[on CPU] 39000000
[unknown state] 1000000
END
with_loss 1
prints "a wait that begins with a loss keeps its time" weights "symbol self_blocked_ns" lost --mode off-cpu \
	-s symbol <<END
0x1010 100000000
0x2010 79000000
0x3010 1000000
0x4010 10000000
[no stack] 0
END

# The thread was blocked when the recording began: the sample of that wait has no switch.
recording "$tmp/before" <<END
arch x86_64
event cpu-clock chain
event offcpu-time chain
comm 1 1 demo
comm 2 2 other
switch 2 2 1 1000000000 in
sample 1 1 1 0 1100000000 100000000 0x1010 0x1010 0x9010
switch 1 1 0 1100000000 in
sample 1 1 1 0 1110000000 300000000 0x2010 0x2010 0x9010
switch 1 1 0 1110000000 out
switch 1 1 0 1410000000 in
END
prints "a wait without its switch has its weight" weights "symbol self_blocked_ns" before --tid 1 \
	--mode off-cpu -s symbol <<END
0x1010 100000000
0x2010 300000000
END

# A thread waits for 300 ms, and then for a CPU for 100 ms of these, by the kernel's count.
woken() {
	recording "$tmp/woken" <<END
arch x86_64
event cpu-clock chain
event offcpu-time chain $1
comm 1 1 demo
switch 1 1 0 1000000000 in
note 1000000000 #53:1:1:0:0:1 schedstat
sample 1 1 1 0 1010000000 300000000 0x2010 0x2010 0x9010
switch 1 1 0 1010000000 out
switch 1 1 0 1310000000 in
switch 1 1 0 1320000000 out
note 1320000000 #53:1:1:20000000:100000000:2 schedstat
END
}
woken
prints "a switch's sample is of the woken thread, too" weights "symbol self_runnable_ns self_blocked_ns" \
	woken --mode off-cpu -s symbol <<END
0x2010 100000000 200000000
END
woken snapshots
prints "a snapshot is not of a woken thread" weights "symbol self_runnable_ns self_blocked_ns" woken \
	--mode off-cpu -s symbol <<END
0x2010 0 200000000
[no stack] 100000000 0
END

recording "$tmp/huge" <<END
arch x86_64
event cpu-clock chain
event offcpu-time chain
comm 1 1 demo
switch 1 1 0 1 in
sample 1 1 1 0 10 18446744073709551000 0x1010 0x1010 0x9010
switch 1 1 0 10 out
switch 1 1 0 18446744073709551615 in
END
prints "a wait of 2^64 ns" weights "symbol self_blocked_ns" huge --mode off-cpu -s symbol <<END
0x1010 18446744073709551605
END

# Recordings without the records.
recording "$tmp/plain" <<END
event cycles
sample 0 1 1 0 1000 1 0x10200
END
fails "a recording without switches" 1 "$SPROF" report -i "$tmp/plain" --mode wall <<END
sprof: $tmp/plain has no context switches (SWITCH records), which mode wall needs
       'sprof record --off-cpu COMMAND' records them
END
fails "a key of these modes" 1 "$SPROF" report -i "$tmp/plain" -s state <<END
sprof: state needs --mode wall, off-cpu or latency
END
fails "parallelism without switches" 1 "$SPROF" report -i "$tmp/plain" -s parallelism <<END
sprof: $tmp/plain has no context switches (SWITCH records), which parallelism needs
       'sprof record --off-cpu COMMAND' records them
END
# Part and whole of a finding have one unit: the samples that the mode counts.
recording "$tmp/parts" <<'END'
event cpu-clock
mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text
comm 1 1 demo
switch 1 1 0 1000000000 in
sample 0 1 1 0 1001000000 1000000 0x1010
sample 0 1 1 0 1002000000 1000000 0xffffffff81001010
switch 1 1 0 1003000000 preempt
switch 1 1 0 1100000000 in
sample 0 1 1 0 1101000000 1000000 0x1010
sample 0 1 1 0 1102000000 1000000 0x1010
switch 1 1 0 1103000000 preempt
switch 1 1 0 1400000000 in
END
for mode in cpu wall off-cpu latency; do
	report -i "$tmp/parts" --mode $mode --format json |
		sed -n 's/.*"kind": "unmapped", "text": "\([^:]*\)", .*"samples": \([0-9]*\),.*/\1 (\2)/p'
done >"$tmp/got"
for what in "" " (by time)" " (by time)" " (by time)"; do
	echo "75% of samples$what are at addresses without a recorded mapping (3)"
done >"$tmp/wanted"
same "shares of findings are parts of the samples" "$tmp/wanted" "$tmp/got"

# Old kernels count 1 for each sample of a clock: that is no time.
recording "$tmp/clock" <<'END'
event cpu-clock
comm 1 1 demo
sample 0 1 1 0 1005000000 1 0x1010
sample 0 1 1 0 1006000000 1 0x1010
END
check "a clock whose periods are 1 has no time" sh -c '
	"$SPROF" report -i "$1" | grep -q "^2 samples of cpu-clock, 2 events, none lost"' sh "$tmp/clock"

# throttled FILE...: the share of the throttling in each file.
throttled() {
	"$SPROF" report --mode wall --format json "$@" |
		sed -n 's/.*"share": \([0-9.]*\), "cause": "throttled".*/\1/p'
}
{
	recorded offcpu-time 60000000 140000000 50000000 | sed '/ 1110000000 0 /d'
	echo "throttle 0 1190000000"
	echo "unthrottle 0 1195000000"
} | recording "$tmp/one"
cp "$tmp/one" "$tmp/two"
throttled "$tmp/one" | awk '{ printf "%.6f\n%.6f\n", $1 / 2, $1 / 2 }' >"$tmp/wanted"
throttled "$tmp/one" "$tmp/two" | awk '{ printf "%.6f\n", $1 }' >"$tmp/got"
same "each of two equal recordings has half of a finding's share" "$tmp/wanted" "$tmp/got"

check "diff of waits names the mode that compares functions" sh -c '
	"$SPROF" diff -e offcpu-time "$0" "$0" 2>&1 | grep -q "scheduler; --mode"' "$tmp/waits"
finish
