#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wakers of threads, on recordings with known wake-ups.
. "$top_srcdir/tests/cli/lib.sh"
tests=$(cd "$top_srcdir/tests" && pwd)
cd "$tmp" || exit 99

. "$tests/cli/wakers_recording.sh"

report() {
	"$SPROF" report --kallsyms kallsyms "$@"
}

# values COLUMNS FILE [OPTION]...: the columns of CSV.
values() {
	columns=$1 file=$2
	shift 2
	report -q -i "$file" --format csv "$@" | awk -F, -v columns="$columns" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			count = split(columns, names, " ")
			for (i = 1; i <= count; i++)
				printf "%s%s", $at[names[i]], i < count ? " " : "\n"
		}' | LC_ALL=C sort
}

prints "text has a row for each pair" report --wakers -i waits <<'END'
waits
  time: 120 ms from 1.010 s
  ! 50% of stacks may be incomplete (they do not reach the thread's first function)
    -> record with --call-graph dwarf, or compile the program with -fno-omit-frame-pointer
6 wake-ups ended 75 ms of 145 ms of blocked time (longest 30 ms), 7.6 ms from wake-up to running, no
samples lost
stacks: 50.0% complete, 50.0% truncated
Percentages are of blocked time that wake-ups ended.
Time is in ms; runnable: from wake-up to running.
Threads are first; [interrupt] is a timer that expired, or a device. For a lock, the waker is the
thread that released it: its holder until then.

 total  blocked  wake-ups  longest  runnable  waker        wakee
40.00%     30.0         1     30.0       5.0  demo[1]      reader[2]
26.67%     20.0         2     20.0      0.10  reader[2]    demo[1]
13.33%     10.0         1     10.0       1.0  [interrupt]  reader[2]
13.33%     10.0         1     10.0      0.50  [softirq]    reader[2]
 6.67%      5.0         1      5.0       1.0  [idle]       reader[2]
[softirq]: kernel work after an interrupt, such as received packets
[idle]: the idle task of a CPU
END
# 6 waits, 6 wake-ups and 2 samples of the clock.
{
	cat waits.text
	echo 'sample 0 1 1 1 1005000000 1000000 0x1010'
	echo 'sample 0 1 1 1 1006000000 1000000 0x1010'
} | recording clocked
prints "modes show their events, and the number of samples of others" sh -c '
	for mode in cpu wall "cpu -e offcpu-time"; do
		"$SPROF" report -i clocked --mode $mode --format json |
			grep -oE "\"(other_samples\": |name\": \"[a-z])[-a-z0-9]*"
	done
	"$SPROF" report -i clocked --mode cpu | grep -o "^not shown.*"' <<'END'
"other_samples": 12
"name": "cpu-clock
"other_samples": 6
"name": "wall
"name": "offcpu-time
not shown: 12 samples of other events; sprof info -i clocked lists them
END
prints "pairs have the blocked time, and the time until the thread ran" \
	values "waker wakee self_blocked_ns self_runnable_ns self_waits self_longest_wait_ns self_weight" \
	waits --wakers <<'END'
[idle] reader[2] 5000000 1000000 1 5000000 5000000
[interrupt] reader[2] 10000000 1000000 1 10000000 10000000
[softirq] reader[2] 10000000 500000 1 10000000 10000000
demo[1] reader[2] 30000000 5000000 1 30000000 30000000
reader[2] demo[1] 20000000 100000 2 20000000 20000000
END
prints "filters and comm are of the woken thread" values "comm waker self_waits" waits --wakers --tid 1 \
	-s comm,waker <<'END'
demo reader[2] 2
END
prints "without context switches, wake-ups are counted" \
	values "waker wakee self self_weight self_blocked_ns self_waits" alone --wakers <<'END'
[idle] reader[2] 0.1666666667 1 0 1
[interrupt] reader[2] 0.1666666667 1 0 1
[softirq] reader[2] 0.1666666667 1 0 1
demo[1] reader[2] 0.1666666667 1 0 1
reader[2] demo[1] 0.3333333333 2 0 2
END
prints "text without context switches" report -q --wakers -i alone -s waker <<'END'
 total  wake-ups  waker
33.33%         2  reader[2]
16.67%         1  demo[1]
16.67%         1  [idle]
16.67%         1  [interrupt]
16.67%         1  [softirq]
END
for files in "waits alone" "alone waits"; do
	# Both names are words.
	prints "$files: blocked times are known if one recording has context switches" \
		report -q --wakers -s wakee $files <<'END'
 total  blocked  wake-ups  longest  runnable  wakee
73.33%     55.0         8     30.0       7.5  reader[2]
26.67%     20.0         4     20.0      0.10  demo[1]
END
done
prints "stacks are the wakers', without the interrupted thread's" report --wakers -i waits --format folded <<'END'
demo;reader[2];[truncated stacks];[absent];pipe_write_[k];try_to_wake_up_[k] 20000000
reader;[idle];try_to_wake_up_[k] 5000000
reader;[interrupt];hrtimer_wakeup_[k];try_to_wake_up_[k] 10000000
reader;[softirq];hrtimer_wakeup_[k];try_to_wake_up_[k] 10000000
reader;demo[1];[truncated stacks];[absent];[absent];pipe_write_[k];try_to_wake_up_[k] 30000000
END
prints "waits have their waker as a key" values "waker wakee self_weight self_waits self_low" waits \
	--mode off-cpu --no-children -s waker,wakee <<'END'
[idle] reader[2] 6000000 1 0.03931847969
[interrupt] reader[2] 11000000 1 0.07208387942
[not woken] reader[2] 70000000 1 0.4587155963
[softirq] reader[2] 10500000 1 0.06880733945
demo[1] reader[2] 35000000 1 0.2293577982
reader[2] demo[1] 20100000 1 0.1317169069
END
# Threads 3 and 4 wait all the time and are woken twice: 3 at one place, 4 at two.
{
	printf 'event cpu-clock\nevent offcpu-time chain\nevent sched:sched_waking chain\n%s\n' "$map"
	switches | sed '/ preempt/d'
	for tid in 3 4; do
		echo "fork 1 1 $tid 1000000000"
		echo "switch 1 $tid 1 1000000000 in"
	done
	while read -r tid out in caller; do
		echo "sample 1 1 $tid 1 $out $((in - out)) 0xffffffff81001010 0xffffffff81001010 $caller"
		echo "switch 1 $tid 1 $out out"
		echo "switch 1 $tid 1 $in in"
	done <<-END
		3 1000100000 1100000000 0x1010
		4 1000200000 1100100000 0x1010
		3 1100010000 1200000000 0x1010
		4 1100110000 1200000000 0x2010
	END
	wakeups 2
	while read -r tid time; do
		echo "with flags 0 woken $tid"
		echo "sample 2 1 1 0 $time 1 0xffffffff81002010 0xffffffff81002010 0xffffffff81003010 0x2010"
	done <<-END
		3 1099990000
		4 1100090000
		3 1199990000
		4 1199990000
	END
	echo "switch 1 1 1 1200000000 preempt"
} | recording pool
prints "an idle thread's wake-ups are left out" values "wakee self_waits" pool --wakers -s wakee <<'END'
demo[1] 2
demo[4] 2
reader[2] 4
END
prints "--all-threads shows them" values "wakee self_waits" pool --wakers -s wakee --all-threads <<'END'
demo[1] 2
demo[3] 2
demo[4] 2
reader[2] 4
END
# shared OPTION...: threads, idle threads, and blocked time in both views of the waits.
shared() {
	for view in --wakers "--mode off-cpu"; do
		# The view is one or two words.
		report $view --format json "$@" | python3 -c '
import json, sys
event = json.load(sys.stdin)["events"][0]
times = event["times"]
print(event["threads"], event["idle_threads"], times["blocked_ns"] + times["unknown_ns"])'
	done >both
	sort -u both
}
prints "threads and blocked time are those of mode off-cpu" shared -i pool <<'END'
5 1 344770000
END
prints "with idle threads, too" shared -i pool --all-threads <<'END'
5 0 544640000
END
prints "a recording without idle threads" shared -i waits <<'END'
3 0 145000000
END
check "text has a line of idle threads" sh -c \
	'"$1" report --wakers -i pool | grep -q "^left out: 1 idle thread (200 ms)"' sh "$SPROF"

# The kernel runs a softirq at the end of a thread's system call: that thread is the waker.
{
	printf 'event cpu-clock\nevent offcpu-time chain\nevent sched:sched_waking chain\n%s\n' "$map"
	switches
	wakeups 2 | sed '/ 1080000000 /s/^sample 2 0 0 \(.*\)/sample 2 1 1 \1 0x2010/'
} | recording softirqs
mv kallsyms without
sed 's/hrtimer_wakeup/do_softirq/' without >kallsyms
for view in --wakers "--mode off-cpu" "--mode wall"; do
	# The view is one or two words.
	values "waker wakee self_waits" softirqs $view --no-children -s waker,wakee |
		grep -v '^\(-\|[[]not woken]\)* ' >"got$view"
done
cat >wanted <<'END'
[idle] reader[2] 1
[interrupt] reader[2] 1
demo[1] reader[2] 2
reader[2] demo[1] 2
END
same "a thread whose system call ran a softirq is the waker" wanted got--wakers
sed -i 's/demo\[1] 2/demo[1] 1/' wanted
same "the waits of mode off-cpu have the same wakers" wanted "got--mode off-cpu"
same "the waits of mode wall have the same wakers" wanted "got--mode wall"
mv without kallsyms
report --wakers -i waits --format json | python3 -c '
import json, sys
event = json.load(sys.stdin)["events"][0]
times, row = event["times"], event["rows"][0]
print(event["name"], event["samples"], event["weight"], times["waits"], times["blocked_ns"], times["runnable_ns"],
      times["unknown_ns"])
print(row["waker"], row["wakee"], row["total_times"]["blocked_ns"])
' >got
cat >wanted <<'END'
wakers 6 75000000 6 75000000 7600000 70000000
demo[1] reader[2] 30000000
END
same "json has wake-ups like the times of other modes" wanted got

# The page has the same pairs; its ranges and filters add them up from single wake-ups.
for name in waits alone; do
	report -q --wakers -i "$name" -o page.html 2>err
	report -q --wakers -i "$name" --format json >report.json 2>>err
	check "$name: the page has the pairs" env PYTHONDONTWRITEBYTECODE=1 \
		python3 "$tests/cli/html.py" page.html pairs report.json
done

fails "a recording without wake-ups" 1 "$SPROF" report --wakers -i none <<'END'
sprof: none has no wake-ups (samples of sched:sched_waking), which mode wakers needs
       as root, 'sprof record --wakers COMMAND' records them
END
fails "key waker without wake-ups" 1 "$SPROF" report --mode off-cpu -s waker -i none <<'END'
sprof: none has no wake-ups (samples of sched:sched_waking), which key waker needs
       as root, 'sprof record --wakers COMMAND' records them
END
fails "key waker in mode cpu" 1 "$SPROF" report --mode cpu -s waker -i waits <<'END'
sprof: waker needs --mode wall, off-cpu or wakers
END
fails "key state in mode wakers" 1 "$SPROF" report --wakers -s state -i waits <<'END'
sprof: state needs --mode wall, off-cpu or latency
END
fails "events in mode wakers" 1 "$SPROF" report --wakers -e cpu-clock -i waits <<'END'
sprof: -e and mode wakers do not go together: its event is sched:sched_waking
END

# Losses are a share of what was recorded, also in modes that do not count the event.
{
	printf 'event cpu-clock\nevent offcpu-time chain\nevent sched:sched_waking chain\n%s\n' "$map"
	switches
	wakeups 2
	echo lost 2 3
} | recording lost
for mode in wall wakers; do
	report --mode $mode --format json -i lost | grep -o '"kind": "lost".*"share": [0-9.]*' |
		sed 's/.* //' >$mode
done
echo 0.3333333333 >wanted
same "lost wake-ups are a share of all in mode wall" wanted wall
same "lost wake-ups are a share of all in mode wakers" wanted wakers
finish
