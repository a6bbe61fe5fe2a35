#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof stat: its rows, columns and keys are those of perf stat, and its counts are true.
. "$top_srcdir/tests/tap.sh"
need_sampling

# counted FILE EVENT: the count in CSV.
counted() {
	awk -F, -v event="$2" '$3 == event { print $1 }' "$1"
}

# between NAME NUMBER LOW HIGH
between() {
	if awk -v n="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(n != "" && n >= low && n <= high) }'; then
		ok "$1 ($2)"
	else
		not_ok "$1" "$2 is not from $3 to $4"
	fi
}

### what it passes on, what it refuses

status "the command's exit status is passed on" 7 "$SPROF" stat sh -c 'exit 7'
status "the signal that ended it is passed on" 137 \
	sh -c '"$1" stat -- sh -c "kill -9 \$\$"; exit $?' sh "$SPROF"
status "a command that is not there" 127 "$SPROF" stat /nonexistent/command
says "it is said" "cannot run /nonexistent/command: No such file"
: >"$tmp/text"
status "a file that cannot be executed" 126 "$SPROF" stat "$tmp/text"
status "nothing to count" 129 "$SPROF" stat
status "an event that is not there" 129 "$SPROF" stat -e nonsense true
status "a process that is not there" 125 "$SPROF" stat -p 2147483646
status "CPUs apart need whole CPUs" 129 "$SPROF" stat -A true
status "a command has no threads yet" 129 "$SPROF" stat --per-thread true
status "a file that cannot be written" 129 "$SPROF" stat -o /nonexistent/file true
ln -s "$tmp/elsewhere" "$tmp/link"
status "a link is not followed" 129 "$SPROF" stat -o "$tmp/link" true
says "it is reported" "link is a symbolic link"
check "nothing is written" test ! -e "$tmp/elsewhere"
status "a file is written" 0 "$SPROF" stat -x, -e faults -o "$tmp/counts" true
status "a file is appended to" 0 "$SPROF" stat -x, -e faults -o "$tmp/counts" --append true
check "it has both counts" test "$(grep -c faults "$tmp/counts")" = 2
status "a full disk" 125 "$SPROF" stat -o /dev/full true
status "a timeout ends the command, as asked" 0 "$SPROF" stat --timeout 50 sleep 60
status "-M" 129 "$SPROF" stat -M IPC true

### the truth

# Writes of known number, where tracepoints may be counted.
event=syscalls:sys_enter_write
if "$SPROF" stat -x, -e $event true 2>"$tmp/err" && ! grep -q '^<' "$tmp/err"; then
	"$SPROF" stat -x, -e $event dd if=/dev/zero of=/dev/null bs=1 count=5000 status=none 2>"$tmp/err"
	between "each of 5,000 writes is counted" "$(counted "$tmp/err" $event)" 5000 5000
	"$SPROF" stat -x, -e $event sh -c 'for i in 1 2 3; do
		dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none; done' 2>"$tmp/err"
	between "those of children too" "$(counted "$tmp/err" $event)" 3000 3000
	"$SPROF" stat -i -x, -e $event sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none; :' \
		2>"$tmp/err"
	between "but not with -i" "$(counted "$tmp/err" $event)" 0 0
	"$SPROF" stat -x, -e $event --filter 'count == 7' dd if=/dev/zero of=/dev/null bs=7 count=300 \
		status=none 2>"$tmp/err"
	between "a filter lets them through" "$(counted "$tmp/err" $event)" 300 300
	"$SPROF" stat -x, -e $event --filter 'count == 8' dd if=/dev/zero of=/dev/null bs=7 count=300 \
		status=none 2>"$tmp/err"
	between "or keeps them away" "$(counted "$tmp/err" $event)" 0 0
	status "one that is wrong is refused" 129 "$SPROF" stat -e $event --filter 'nonsense == 1' true
	says "and said" 'the kernel rejects the filter "nonsense == 1"'
	"$SPROF" stat -x, -e "{$event,$event}" -I 20 --summary \
		dd if=/dev/zero of=/dev/null bs=1 count=400000 status=none 2>"$tmp/err"
	awk -F, '/summary/ { all += $2; next } $2 ~ /^[0-9]/ { sum += $2 } END { print sum, all }' \
		"$tmp/err" >"$tmp/got"
	echo 800000 800000 >"$tmp/wanted"
	same "intervals of a group add up to the whole" "$tmp/wanted" "$tmp/got"
	"$SPROF" stat -r 5 -j -e $event dd if=/dev/zero of=/dev/null bs=1 count=100 status=none 2>"$tmp/err"
	check "the mean of equal runs has no noise" \
		grep -q '"counter-value" : "100.000000".*"variance" : 0.00' "$tmp/err"
else
	skip "each write is counted" "needs tracepoints"
fi

"$SPROF" stat -x, -e task-clock "$workload/proportions" 0.3 2>"$tmp/err" >/dev/null
between "0.3 s of CPU time are counted" "$(counted "$tmp/err" task-clock)" 290 400
"$SPROF" stat -x, -e duration_time sleep 0.2 2>"$tmp/err"
between "so is the time" "$(counted "$tmp/err" duration_time)" 200000000 2000000000
"$SPROF" stat -x, -e '{duration_time,task-clock}' "$workload/proportions" 0.3 2>"$tmp/err" >/dev/null
between "a group may begin with the time" "$(counted "$tmp/err" task-clock)" 290 400
"$SPROF" stat -x, -D 300 -e task-clock "$workload/proportions" 0.5 2>"$tmp/err" >/dev/null
between "what comes before the delay is not" "$(counted "$tmp/err" task-clock)" 1 495

"$workload/proportions" 60 >/dev/null &
busy=$!
"$SPROF" stat -x, -e task-clock -p $busy sleep 0.3 2>"$tmp/err"
between "a process that runs is counted" "$(counted "$tmp/err" task-clock)" 20 400
"$SPROF" stat -x, -e task-clock -p $busy,$busy sleep 0.3 2>"$tmp/err"
between "given twice, it is counted once" "$(counted "$tmp/err" task-clock)" 20 400
"$SPROF" stat --per-thread -x, -e task-clock -p $busy sleep 0.1 2>"$tmp/err"
check "by its threads, too" grep -q "^proportions-$busy,[0-9.]*,msec,task-clock," "$tmp/err"
(sleep 2; kill $busy) &
status "counting ends with the process" 0 "$SPROF" stat -e task-clock -p $busy
wait $busy 2>"$tmp/out"

mkfifo "$tmp/control" "$tmp/answer" "$tmp/enabled"
"$SPROF" stat -D -1 --control "fifo:$tmp/control,$tmp/answer" -x, -e task-clock \
	"$workload/proportions" 0.4 2>"$tmp/err" >/dev/null
between "nothing is counted before it is enabled" "$(counted "$tmp/err" task-clock | sed 's/<.*/0/')" 0 0
# The workload waits for the answer: how long that takes changes no count.
(echo enable >"$tmp/control"; head -c 3 "$tmp/answer" >"$tmp/ack"; echo >"$tmp/enabled") &
"$SPROF" stat -D -1 --control "fifo:$tmp/control,$tmp/answer" -x, -e task-clock \
	sh -c 'read -r answer <"$1"; exec "$2" 0.3' sh "$tmp/enabled" "$workload/proportions" \
	2>"$tmp/err" >/dev/null
wait
between "then it is" "$(counted "$tmp/err" task-clock)" 290 2000
printf ack >"$tmp/wanted"
same "which is answered" "$tmp/wanted" "$tmp/ack"

### perf stat

perf=perf
perf --version 2>/dev/null | grep -q '^perf version 6\.1' || perf=
wide=
"$SPROF" stat -a -e cs true 2>/dev/null && wide=1

# Numbers as N, blanks as one.
shape() {
	sed -E 's/[0-9]+([.,][0-9]+)*/N/g; s/ +/ /g; s/\(.*$//; s/ \[95%.*//; s/ [KM]\/sec/ \/sec/' "$@"
}

# Columns by their number; the letter of a rate and values that are not there say nothing.
columns() {
	sed -E 's/[KM]\/sec/\/sec/; s/[0-9]+(\.[0-9]+)?/N/g; s/<not counted>/N/' "$@"
}

# Keys in their order, without ours and with text values.
keys() {
	sed -E 's/, "(interval-low|interval-high)" : [0-9.]+//g; s/, "why" : "[^"]*"//
		s/: -?[0-9.]+/: N/g; s/"[0-9.]+"/"N"/g; s/"<not counted>"/"N"/; s/\(null\)//
		s/S[0-9]+(-D[0-9]+(-C[0-9]+)?)?/S/; s/[KM]\/sec/\/sec/' "$@"
}

# How many intervals fit a busy machine's time is not ours to say.
shape_once() {
	shape "$@" | uniq
}

columns_once() {
	columns "$@" | uniq
}

keys_once() {
	keys "$@" | uniq
}

# alike NAME FILTER ARG...: both commands with the same arguments.
alike() {
	alike_name=$1
	filter=$2
	shift 2
	if [ -z "$perf" ]; then
		skip "$alike_name" "needs perf 6.1"
		return
	fi
	LC_ALL=C $perf stat "$@" 2>"$tmp/theirs" >/dev/null
	LC_ALL=C "$SPROF" stat "$@" 2>"$tmp/ours" >/dev/null
	# perf pads the last column.
	$filter "$tmp/theirs" | sed 's/ *$//' >"$tmp/wanted"
	$filter "$tmp/ours" | sed 's/ *$//' >"$tmp/got"
	same "$alike_name" "$tmp/wanted" "$tmp/got"
}

alike "the text is perf's" shape true
alike "with details" shape -ddd true
alike "without events" shape -n true
alike "of modes" shape -e cs:u,faults:u,task-clock:u true
alike "of runs" shape -r 3 -e task-clock:u,faults:u true
alike "the columns are perf's" columns -x, true
alike "of a group" columns -x, -e '{task-clock,faults}' true
alike "of runs, too" columns -r 2 -x, -e task-clock:u,cycles true
alike "by another separator" columns -x ';' true
alike "the keys are perf's" keys -j true
alike "of runs, as well" keys -r 2 -j -e faults,cycles true
alike "nothing is added to the output" columns -x, -e faults -o /dev/stderr true
if [ -n "$wide" ]; then
	alike "the text of CPUs is perf's" shape -a sleep 0.02
	alike "of each CPU" shape -a -A sleep 0.02
	alike "of sockets" shape -a --per-socket -e cs,cpu-clock sleep 0.02
	alike "of dies" shape -a --per-die -e cs sleep 0.02
	alike "of cores" shape -a --per-core -e cs,cpu-clock sleep 0.02
	alike "of nodes" shape -a --per-node -e cs sleep 0.02
	alike "of some CPUs" shape -C 0 -e cs sleep 0.02
	alike "of intervals" shape_once -a -I 100 -e cs sleep 0.25
	alike "the columns of CPUs are perf's" columns -a -A -x, -e cs,cycles sleep 0.02
	alike "of sockets" columns -a --per-socket -x, -e cs sleep 0.02
	alike "of dies" columns -a --per-die -x, -e cs sleep 0.02
	alike "of cores" columns -a --per-core -x, -e cs,cpu-clock sleep 0.02
	alike "of intervals and their sum" columns_once -a -I 100 -x, --summary -e cs sleep 0.25
	alike "the keys of CPUs are perf's" keys -a -A -j -e cs,cycles sleep 0.02
	alike "of sockets" keys -a --per-socket -j -e cs sleep 0.02
	alike "of cores" keys -a --per-core -j -e cs sleep 0.02
	alike "of intervals" keys_once -a -I 100 -j -e cs sleep 0.25
	"$SPROF" stat -a --per-thread -x, -e task-clock "$workload/proportions" 0.2 2>"$tmp/err" >/dev/null
	check "threads of everything have rows" grep -qE '^[^,]+-[0-9]+,[0-9.]+,msec,task-clock' "$tmp/err"
	"$SPROF" stat -a --per-cache -j -e cs true 2>"$tmp/err"
	check "caches have rows" grep -q '"cache" : "S0-D0-L' "$tmp/err"
	"$SPROF" stat -a --for-each-cgroup / -x, -e cs,faults sleep 0.05 2>"$tmp/err"
	if grep -q "control group\|cgroup.*mount" "$tmp/err"; then
		skip "control groups are counted" "$(head -n 1 "$tmp/err")"
	else
		check "control groups are counted" grep -qE '^[0-9]+,,cs,/,[0-9]+,100.00' "$tmp/err"
	fi
else
	skip "CPUs" "whole CPUs may not be counted here"
fi

if [ -n "$perf" ]; then
	$perf stat -x, -e page-faults:u "$workload/proportions" 0.05 2>"$tmp/theirs" >/dev/null
	"$SPROF" stat -x, -e page-faults:u "$workload/proportions" 0.05 2>"$tmp/ours" >/dev/null
	theirs=$(counted "$tmp/theirs" page-faults:u)
	between "page faults are as many as by perf" "$(counted "$tmp/ours" page-faults:u)" \
		$((theirs - 5)) $((theirs + 5))
else
	skip "page faults are as many as by perf" "needs perf 6.1"
fi

### what perf's alone is

for word in record report; do
	status "sprof stat $word is refused" 129 "$SPROF" stat $word true
	says "and names what to use" "perf stat $word"
done

for option in -M -T --topdown --smi-cost --iostat --cputype --td-level --bpf-counters; do
	"$SPROF" stat $option true 2>"$tmp/err"
	[ $? = 129 ] && grep -q -e "$option.* is not supported: " "$tmp/err" &&
		ok "$option is refused by the reason" || not_ok "$option" "$(cat "$tmp/err")"
done
"$SPROF" stat -e faults:b true 2>"$tmp/err"
says "counting by BPF is refused" "modifier b .* is not supported"
"$SPROF" stat --metric-only -e faults true 2>"$tmp/err"
says "--metric-only says that there is nothing to show" "no metrics for these events"

### without rights

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null &&
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
	# The command itself: the wrapper of libtool may not be another user's to run.
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	if $nobody "$SPROF" stat -e faults true 2>"$tmp/err"; then
		check "an ordinary user counts user space" grep -qE ' faults:u( |$)' "$tmp/err"
		says "which is said" "kernel.perf_event_paranoid is [2-4]; counting user space only"
		status "but not the kernel" 125 $nobody "$SPROF" stat -e faults:k true
		says "with a remedy" "sysctl kernel.perf_event_paranoid=1"
		status "nor whole CPUs" 125 $nobody "$SPROF" stat -a true
	else
		skip "an ordinary user counts user space" "another user cannot run the build"
	fi
else
	skip "an ordinary user counts user space" "needs root, setpriv and kernel.perf_event_paranoid 2"
fi
### no blanks at the ends of lines

for options in "" "-a" "-a -A" "-a --per-socket" "-r 2" "-I 100" "-a --metric-only -e task-clock"; do
	# shellcheck disable=SC2086
	"$SPROF" stat $options -e task-clock,page-faults -- sleep 0.25 >"$tmp/out" 2>"$tmp/err"
	check "stat $options: no line ends in a blank" sh -c 'test -s "$1" && ! grep -n " $" "$1"' sh "$tmp/err"
done
finish
