# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of wake-ups, for scripts that sourced tests/cli/lib.sh: waits; alone, without context
# switches; none, without wake-ups; and kallsyms. Thread 2 waits from (ms) 10 until 40,
# woken by thread 1; from 50 until 60, by an interrupt of thread 5; from 70 until 80, by a
# softirq; from 90 until 95, by the idle task; from 130 until the end. Thread 1 waits from 100
# until 120, and is woken twice by thread 2.

cat >kallsyms <<END
ffffffff81000000 T _text
ffffffff81001000 T schedule
ffffffff81002000 T try_to_wake_up
ffffffff81003000 T pipe_write
ffffffff81004000 T hrtimer_wakeup
ffffffff81005000 T _etext
END

map="mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text"
tasks="comm 1 1 demo
fork 1 1 2 0
comm 1 2 reader
comm 5 5 other
mmap 1 0x1000 0x3000 0 $tmp/absent
mmap 5 0x7000 0x1000 0 $tmp/absent"

# switches: switches and waits. An event 1 with the waits is optional.
switches() {
	cat <<END
$tasks
switch 1 1 1 1000000000 in
switch 1 2 1 1000000000 in
END
	while read -r tid out in; do
		echo "sample 1 1 $tid 1 $out $((in - out)) 0xffffffff81001010 0xffffffff81001010 0x1010"
		echo "switch 1 $tid 1 $out out"
		echo "switch 1 $tid 1 $in in"
	done <<END
2 1010000000 1045000000
2 1050000000 1061000000
2 1070000000 1080500000
2 1090000000 1096000000
1 1100000000 1120100000
END
	echo "sample 1 1 2 1 1130000000 70000000 0xffffffff81001010 0xffffffff81001010 0x1010"
	echo "switch 1 2 1 1130000000 out"
	echo "switch 1 1 1 1200000000 preempt"
}

# wakeups EVENT: lines of the wake-ups; EVENT is the number of sched:sched_waking.
wakeups() {
	while read -r flags woken pid tid time chain; do
		echo "with flags $flags woken $woken"
		# The chain is several words.
		echo "sample $1 $pid $tid 0 $time 1 0xffffffff81002010 0xffffffff81002010 $chain"
	done <<END
0 2 1 1 1040000000 0xffffffff81003010 0x2010 0x3010
8 2 5 5 1060000000 0xffffffff81004010 0x7010
16 2 0 0 1080000000 0xffffffff81004010
0 2 0 0 1095000000
0 1 1 2 1120000000 0xffffffff81003010 0x2010
0 1 1 2 1120050000 0xffffffff81003010 0x2010
END
}

{
	printf 'event cpu-clock\nevent offcpu-time chain\nevent sched:sched_waking chain\n%s\n' "$map"
	switches
	wakeups 2
} >waits.text
recording waits <waits.text
{
	printf 'event sched:sched_waking chain\n%s\n%s\n' "$map" "$tasks"
	wakeups 0
} | recording alone
{
	printf 'event cpu-clock\nevent offcpu-time chain\n%s\n' "$map"
	switches
} | recording none
