#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each option of sprof record for a field of the attr: it asks for what perf's option of that
# name asks for, perf reads what comes of it, and what it reads is true.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v perf >/dev/null || skip_all "there is no perf to read the recordings"
data=$tmp/data
root=$([ "$(id -u)" = 0 ] && echo yes)

# record OPTION...: quietly to $data, without calls.
record() {
	"$SPROF" record -q --call-graph none -o "$data" "$@" >"$tmp/out" 2>"$tmp/err"
}

# The same; where this kernel is too old for it, that is what it says, and NAME is skipped.
knows() { # NAME OPTION...
	name=$1
	shift
	record "$@" || ! grep -q 'needs Linux [0-9.]* or later' "$tmp/err" && return 0
	skip "$name" "$(sed -n 's/^sprof: //;1p' "$tmp/err")"
	return 1
}

# script FIELDS [OPTION]...: what perf reads.
script() {
	fields=$1
	shift
	perf script -f -i "$data" ${fields:+-F "$fields"} "$@" 2>"$tmp/perf.err"
}

# The fields of attrs, one a line, as "sample_type:ADDR" and "mmap_data:1", of all events together.
tokens() {
	tr ',' '\n' | sed 's/^ *//;s/: */:/' | awk -F : '
		$1 ~ /^(sample_type|read_format|branch_sample_type)$/ {
			n = split($2, bits, "|"); for (i = 1; i <= n; i++) print $1 ":" bits[i]; next }
		NF == 2 && $1 !~ /size|type|config/ { print }' | sort -u
}
ours() {
	record "$@" -e "$event" -- true
	perf evlist -v -f -i "$data" 2>/dev/null | sed 's/^[^:]*: //' | tokens
}
perfs() {
	perf record -vv -N --no-bpf-event "$@" -e "$event" -o "$tmp/perf" -- true 2>&1 |
		awk '/^perf_event_attr/ { if (++blocks > 1) exit; on = 1; next }
			/^---/ && on && n { exit } on && NF == 2 { print $1 ": " $2; n++ }' |
		tr '\n' ',' | tokens
}

# Our option must set the same bits of the attr as perf's option.
event=cpu-clock
ours >"$tmp/ours.plain"
perfs >"$tmp/perfs.plain"
asks_as_perf() {
	ours "$@" >"$tmp/ours.with"
	if grep -q 'needs Linux [0-9.]* or later' "$tmp/err"; then
		skip "$* asks as perf does" "$(sed -n 's/^sprof: //;1p' "$tmp/err")"
		return
	fi
	perfs "$@" >"$tmp/perfs.with"
	# perf tells what it asked for first, before Linux 5.12 it is given another.
	! grep -q 'sample_type:WEIGHT$' "$tmp/ours.with" ||
		sed -i 's/sample_type:WEIGHT_STRUCT$/sample_type:WEIGHT/' "$tmp/perfs.with"
	comm -13 "$tmp/perfs.plain" "$tmp/perfs.with" >"$tmp/wanted"
	comm -23 "$tmp/wanted" "$tmp/ours.with" >"$tmp/missing"
	if [ ! -s "$tmp/perfs.with" ]; then
		skip "$* asks as perf does" "perf says nothing of it"
	elif [ -s "$tmp/missing" ]; then
		not_ok "$* asks as perf does" "missing: $(tr '\n' ' ' <"$tmp/missing")$(cat "$tmp/err")"
	else
		ok "$* asks as perf does"
		[ $# = 0 ] || comment "$*: $(tr '\n' ' ' <"$tmp/wanted")"
	fi
}
asks_as_perf -d
asks_as_perf --data-page-size
# Not of the kernel's own code: Linux 7.2 complains of "bad pmd" without end then.
event=cpu-clock:u
asks_as_perf --code-page-size
event=cpu-clock
asks_as_perf -W
asks_as_perf -R
asks_as_perf -n
asks_as_perf -k boottime
asks_as_perf --user-regs=ip,sp
asks_as_perf --intr-regs=ax,ip
asks_as_perf --switch-events
asks_as_perf --no-buffering
asks_as_perf --running-time
asks_as_perf -s
asks_as_perf --all-cgroups
if [ "$root" ]; then
	asks_as_perf --namespaces
	asks_as_perf --phys-data
fi
# Without options, the attr has none of these bits.
comm -23 "$tmp/ours.plain" - >"$tmp/plain" <<'END'
END
check "without options, the attr has none of them" \
	sh -c "! grep -E 'ADDR|RAW|WEIGHT|REGS|BRANCH|CGROUP|context_switch|namespaces|mmap_data' '$tmp/plain'"

if knows "--data-page-size" -d --data-page-size -e page-faults:u -c 1 -- "$workload/proportions" 0.05
then
	script data_page_size >"$tmp/sizes"
	check "--data-page-size knows pages" grep -q '4K\|16K\|64K\|2M' "$tmp/sizes"
fi
record -d -e page-faults:u -c 1 -- "$workload/proportions" 0.05
script addr >"$tmp/addrs"
check "-d has the addresses of page faults" awk '$1 !~ /^[0-9a-f]+$/ || $1 == 0 { bad++ }
	END { exit !NR || bad * 10 > NR }' "$tmp/addrs"
script "" --show-mmap-events >"$tmp/maps"
check "-d has mappings of data" grep -q 'MMAP.* rw-p ' "$tmp/maps"
record -e cpu-clock -p $$ -d -- sleep 0.1
script "" --show-mmap-events >"$tmp/maps"
check "-d has those that were there" grep -q 'MMAP.* r--p .*/' "$tmp/maps"
record -e cpu-clock -p $$ -- sleep 0.1
script "" --show-mmap-events >"$tmp/maps"
check "without -d there are none" sh -c "! grep -q 'MMAP.* r[-w]-p ' '$tmp/maps'"
if [ "$root" ]; then
	record -d --phys-data -e page-faults:u -c 1 -- "$workload/proportions" 0.05
	check "--phys-data has physical addresses" \
		sh -c "perf script -f -i '$data' -F phys_addr 2>/dev/null | grep -q '[1-9a-f]'"
fi
! knows "--code-page-size" --code-page-size -e cpu-clock:u -F 997 -- "$workload/proportions" 0.2 ||
	check "--code-page-size knows the code's" \
	sh -c "perf script -f -i '$data' -F code_page_size 2>/dev/null | grep -q '4K\|16K\|64K\|2M'"

# Registers: the instruction pointer is the sample's address.
ip_register=IP
[ "$(uname -m)" = x86_64 ] || ip_register=PC
registers_agree() { # NAME intr|user OPTION...
	name=$1 which=$2
	shift 2
	"$SPROF" record -q "$@" -F 997 -e cpu-clock:u -o "$data" -- "$workload/proportions" 0.3 \
		>"$tmp/out" 2>"$tmp/err"
	perf script -f -i "$data" -D 2>/dev/null >"$tmp/dump"
	awk -v register="$ip_register" -v which="... $which regs:" '
		/PERF_RECORD_SAMPLE/ { ip = ""; on = 0; for (i = 1; i <= NF; i++) if ($i == "period:") ip = $(i - 1) }
		/^\.\.\. .* regs:/ { on = index($0, which) == 1 }
		on && $1 == "...." && toupper($2) == register { all++; sub(/^0x0*/, "", $3)
			sub(/^0x0*/, "", ip); same += $3 == ip }
		END { print same + 0 " of " all + 0; exit !(all > 20 && same * 100 >= all * 95) }' \
		"$tmp/dump" >"$tmp/agree"
	if [ $? = 0 ]; then
		ok "$name ($(cat "$tmp/agree"))"
	else
		not_ok "$name ($(cat "$tmp/agree"))" "$(cat "$tmp/err"; grep -m 1 -A 20 RECORD_SAMPLE "$tmp/dump")"
	fi
}
case $(uname -m) in
x86_64 | aarch64)
	noisy registers_agree "--intr-regs has the instruction pointer" intr --intr-regs --call-graph none
	noisy registers_agree "--user-regs, too" user --user-regs=$ip_register --call-graph none
	noisy registers_agree "--user-regs is kept where stacks are unwound" user \
		--user-regs=$ip_register --call-graph dwarf
	noisy registers_agree "--intr-regs, too" intr --intr-regs=$ip_register --call-graph dwarf
	"$SPROF" record --intr-regs=? -- true 2>"$tmp/err"
	check "--intr-regs=? lists registers" grep -q "$ip_register" "$tmp/err"
	;;
esac

record --switch-events -e cpu-clock -- sh -c 'sleep 0.02; sleep 0.02; sleep 0.02'
script "" --show-switch-events | grep PERF_RECORD_SWITCH >"$tmp/switches"
check "--switch-events has context switches" \
	awk '/ OUT/ { out++ } / IN/ { in_++ } END { exit !(out > 2 && in_ > 2) }' "$tmp/switches"
awk '{ print $1 }' "$tmp/switches" | sort -u | grep -v '^sh$\|^sleep$' >"$tmp/strangers"
check "of what is recorded alone" test ! -s "$tmp/strangers"
# 40,000 switches of one CPU are 3.2 MB: no reader must be in time for rings of 8 MiB. The process
# also counts a few switches before its exec.
if [ "$root" ]; then
	"$SPROF" record --switch-events -e cpu-clock --call-graph none -o "$data" -- \
		"$workload/ping_pong" 20000 >"$tmp/out" 2>"$tmp/err"
	read -r _ switches <"$tmp/out"
	switched=$("$SPROF" script -i "$data" --show-switch-events 2>/dev/null | grep -c 'PERF_RECORD_SWITCH OUT')
	check "--switch-events has each of $switches switches ($switched)" test "$switched" -ge $((switches - 10))
	check "--switch-events loses no metadata" sh -c "! grep -q 'metadata records.*lost' '$tmp/err'"
else
	skip "--switch-events has each switch" "needs root: rings of 8 MiB may be above the lock limit"
fi

if [ "$root" ]; then
	inode=$(readlink /proc/$$/ns/uts | tr -dc 0-9)
	record --namespaces -e cpu-clock -p $$ -- true
	# perf says them on two lines.
	script "" --show-namespace-events | tr '\n\t' '  ' >"$tmp/spaces"
	check "--namespaces has those that a process is in" \
		grep -q "NAMESPACES $$/$$ .*uts: [0-9]*/0x$(printf %x "$inode")" "$tmp/spaces"
	if unshare -u true 2>/dev/null; then
		record --namespaces -e cpu-clock -- unshare -u true
		script "" --show-namespace-events >"$tmp/spaces"
		check "and what it changes to" test "$(grep -c NAMESPACES "$tmp/spaces")" -ge 1
	fi
fi

# The time of the first sample is between two readings of the clock.
first_time() {
	script time -G | awk '{ print $1 + 0; exit }' | sed 's/:.*//'
}
between() { # NAME CLOCK READ
	begin=$($3)
	record -k "$2" -e cpu-clock -F 997 -- "$workload/proportions" 0.1
	end=$($3)
	first=$(script time | tr -d : | awk '{ printf "%.3f\n", $1; exit }')
	check "-k $2: $begin <= $first <= $end" \
		awk -v a="$begin" -v b="$first" -v c="$end" 'BEGIN { exit !(a - 0.02 <= b && b <= c + 0.02) }'
}
uptime_s() { cut -d ' ' -f 1 /proc/uptime; }
realtime_s() { date +%s.%N | cut -c 1-14; }
noisy between boottime boottime uptime_s
noisy between realtime realtime realtime_s
noisy between number 0 realtime_s
record -k nonsense -- true
check "-k refuses what is no clock" grep -q 'monotonic, monotonic_raw' "$tmp/err"
record -k 99 -e cpu-clock -- true
check "-k refuses clocks that the kernel does not have" grep -q 'clock 99' "$tmp/err"

delayed() {
	record -D 100-200,400-500 -e cpu-clock -F 997 -- $steady "$workload/proportions" 0.8
	script time | tr -d : >"$tmp/times"
	check "-D takes samples within ranges alone" \
		awk 'NR > 1 && $1 - last > 0.1 { gaps++ } { last = $1; if (NR == 1) first = $1 }
			END { exit !(NR > 20 && gaps == 1 && last - first < 0.7) }' "$tmp/times"
}
noisy delayed

# Commands over fifos, acknowledged.
mkfifo "$tmp/ctl" "$tmp/ack"
exec 7<>"$tmp/ctl" 8<>"$tmp/ack"
tell() {
	echo "$1" >&7
	read -r answer <&8
	check "--control: $1 is acknowledged ($answer)" test "$answer" = ack
}
controlled() {
	"$SPROF" record --call-graph none -D -1 --control fifo:"$tmp/ctl","$tmp/ack" -e cpu-clock -F 997 \
		-o "$data" -- "$workload/proportions" 20 >"$tmp/out" 2>"$tmp/err" 7>&- 8>&- &
	recorder=$!
	tell ping
	tell 'evlist -F'
	tell enable
	sleep 0.5
	tell 'disable cpu-clock'
	sleep 0.7
	tell nonsense
	tell stop
	wait $recorder
	status=$?
	check "--control: stop ends it, and the command ($status)" test $status = 0
	check "--control: evlist lists events" grep -q 'cpu-clock: sample_freq=997' "$tmp/out"
	check "--control: what is no command is said" grep -q "'nonsense' is not a command" "$tmp/err"
	count=$(script time | wc -l)
	check "--control: samples are those between enable and disable ($count)" \
		test "$count" -gt 20 -a "$count" -lt 1100
}
noisy controlled
"$SPROF" info -i "$data" >"$tmp/info" 2>&1
check "--control: the file says when samples were switched off" \
	grep -Eq 'sampling( of cpu-clock)? was disabled \(at \+[0-9.]* s\)' "$tmp/info"
"$SPROF" record --call-graph none --control fd:7,8 -e cpu-clock -F 997 -o "$data" -- \
	"$workload/proportions" 20 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
tell ping
tell stop
wait $recorder
check "--control: by open files, too" test $? = 0
mkfifo "$tmp/full"
exec 9<>"$tmp/full"
dd if=/dev/zero of="$tmp/full" oflag=nonblock bs=4096 2>"$tmp/err"
printf 'ping\nstop\n' >&7
timeout -s KILL 20 "$SPROF" record --call-graph none --control fd:7,9 -e cpu-clock -F 997 \
	-o "$data" -- "$workload/proportions" 10 >"$tmp/out" 2>"$tmp/err"
status=$?
exec 9<&-
check "--control: a sender that reads no answer does not stop the recorder ($status)" \
	test $status = 0
"$SPROF" record --call-graph none -D -1 --switch-output --control fifo:"$tmp/ctl","$tmp/ack" \
	-e cpu-clock,task-clock -F 997 -o "$tmp/switched" -- "$workload/proportions" 20 \
	>"$tmp/out" 2>"$tmp/err" 7>&- 8>&- &
recorder=$!
tell ping
# Each file is there once the next one begins.
change_file() {
	kill -USR2 $recorder
	for tries in $(seq 100); do
		[ "$(ls "$tmp"/switched.* 2>/dev/null | wc -l)" -ge "$1" ] && return
		sleep 0.05
	done
}
change_file 1
tell 'enable cpu-clock'
change_file 2
tell stop
wait $recorder
exec 7>&- 8>&-
for file in "$tmp"/switched.*; do
	"$SPROF" info -i "$file" 2>&1 | grep -o 'sampling.* disabled when this file began'
done >"$tmp/told"
rm -f "$tmp"/switched.*
check "--control: a file that begins while samples are off says so ($(tr '\n' ';' <"$tmp/told"))" \
	test "$(sort "$tmp/told" | tr '\n' ';')" = "sampling of task-clock was disabled when this \
file began;sampling was disabled when this file began;"

# Another gap is the time for which the program itself had no CPU.
paused() {
	rm -f "$data"
	: >"$tmp/err"
	"$SPROF" record --call-graph none -e cpu-clock -F 997 -o "$data" -- $steady "$workload/proportions" 3 \
		>"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	until grep -q . "$data" 2>/dev/null || ! kill -0 $recorder 2>/dev/null; do sleep 0.02; done
	sleep 0.3
	kill -USR1 $recorder
	until grep -q paused "$tmp/err" || ! kill -0 $recorder 2>/dev/null; do sleep 0.02; done
	sleep 0.4
	kill -USR2 $recorder
	kill -USR1 $recorder
	wait $recorder
	check "SIGUSR2 is ignored, with a message" grep -q 'SIGUSR2 ignored' "$tmp/err"
	script time | tr -d : >"$tmp/times"
	check "SIGUSR1 pauses, and lets it go on" awk '
		NR > 1 && $1 - last > 0.3 { gaps++; print "from", last, "to", $1 } { last = $1 }
		END { print NR, "samples until", last; exit !(gaps == 1) }' "$tmp/times"
}
noisy paused

record -n --switch-events -e cpu-clock -- sleep 0.05
check "-n takes no samples" test "$(script time | wc -l)" = 0
check "-n has what else there is" \
	sh -c "perf script -f -i '$data' --show-switch-events 2>/dev/null | grep -q SWITCH"

# perf's output for it.
perf_reads() {
	perf record -q -s -e cpu-clock -F 997 -o "$tmp/perf" -- "$workload/threads" 2 0.3 >/dev/null 2>&1
	perf script -f -i "$tmp/perf" -D 2>/dev/null | grep -c PERF_RECORD_READ
}
"$SPROF" record -s --call-graph none -e cpu-clock -F 997 -o "$data" -- "$workload/threads" 2 0.3 \
	>"$tmp/out" 2>"$tmp/err"
perf script -f -i "$data" -D 2>/dev/null | grep -c PERF_RECORD_READ >"$tmp/reads"
if grep -q '^sprof: -s: no counts of 2 new threads' "$tmp/err"; then
	check "-s says that kernels forget, where they do ($(uname -r))" \
		test "$(cat "$tmp/reads")" = 0 -a "$(perf_reads)" = 0
else
	check "-s has what threads counted ($(cat "$tmp/reads"))" test "$(cat "$tmp/reads")" -ge 2
fi

for scope in task cpu; do
	[ $scope = task ] || [ "$root" ] || continue
	knows "--inherit thread (--scope $scope)" --scope $scope --inherit thread -e cpu-clock -F 997 -- \
		sh -c "$workload/proportions 0.2; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done" ||
		continue
	script comm | sort | uniq -c >"$tmp/comms"
	check "--inherit thread leaves children out (--scope $scope)" \
		sh -c "grep -q ' sh *\$' '$tmp/comms' && ! grep -q proportions '$tmp/comms'"
done

sh -c "sleep 0.5; exec $workload/proportions 0.5" >/dev/null &
target=$!
! knows "--remove-on-exec" --remove-on-exec -e cpu-clock -F 997 -p $target -- sleep 1.2 ||
	check "--remove-on-exec leaves the next program alone" test "$(script comm | grep -c proportions)" = 0
wait $target
record --remove-on-exec -- true
check "--remove-on-exec is for what runs" grep -q -e '--remove-on-exec needs -p' "$tmp/err"

record --strict-freq -F 100000000 -- true
check "--strict-freq fails" grep -q -e '--strict-freq.*exceed' "$tmp/err"
record -b -e cpu-clock -- true
check "-b says what it needs" grep -q '^sprof: -b: .*LBR' "$tmp/err"
record -j any,nonsense -- true
check "-j says what there is" grep -q "invalid filter 'nonsense' (one of any, any_call" "$tmp/err"
record -W -e cpu-clock -- true
"$SPROF" record -W -e cpu-clock -o "$data" -- true >/dev/null 2>"$tmp/err"
check "-W says that software events have none" grep -q 'software events do not have it' "$tmp/err"

if [ "$root" ] && grep -q '[[:blank:]]tracefs$' /proc/filesystems; then
	# The thread that leaves the CPU has the event. Some kernels report none of an idle CPU.
	record -a -e sched:sched_switch --filter 'prev_comm == "sleep"' -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.02; done'
	script "" >"$tmp/switched"
	check "--filter takes what fits alone" awk '/sched_switch/ { all++ } /prev_comm=sleep/ { good++ }
		END { exit !(all >= 10 && all == good) }' "$tmp/switched"
	record -a -e sched:sched_switch --filter 'nonsense == 0' -- true
	check "--filter says what is wrong" grep -q 'Field not found' "$tmp/err"
	check "and leaves nothing behind" \
		sh -c '! ls /sys/kernel/tracing/instances | grep sprof'
else
	skip "--filter" "needs root and tracefs"
fi
record -e cpu-clock --filter 'x == 1' -- true
check "--filter is for what has fields" grep -q 'has no fields' "$tmp/err"
record --filter 'x == 1' -- true
check "--filter stands behind its -e" grep -q 'must follow the -e' "$tmp/err"

# A control group of version 2, and what is in it.
group_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=sprof-test-$$
if [ "$root" ] && [ "$group_root" ] && ! grep -q 'cgroup .*perf_event' /proc/mounts &&
	mkdir "$group_root/$group" 2>/dev/null; then
	sh -c "echo \$\$ >$group_root/$group/cgroup.procs; exec $workload/proportions 60" >/dev/null &
	inside=$!
	sleep 0.2
	record -G "$group" -e cpu-clock -F 997 -- sleep 0.4
	script comm,pid >"$tmp/comms"
	check "-G has samples of what is in the group" grep -q "proportions *$inside" "$tmp/comms"
	check "-G has nothing else" sh -c "! grep -v 'proportions *$inside' '$tmp/comms'"
	record -G "$group" -e cpu-clock --call-graph dwarf -F 997 -- sleep 0.3
	check "-G, with copies of stacks" sh -c "perf script -f -i '$data' -F comm 2>/dev/null |
		sort -u | tr -d ' \n' | grep -qx proportions"
	record -a --all-cgroups -e cpu-clock -F 997 -- sleep 0.3
	check "--all-cgroups has those that there are" \
		sh -c "perf script -f -i '$data' --show-cgroup-events 2>/dev/null | grep -q 'CGROUP.*$group'"
	check "--all-cgroups says which each sample was in" \
		sh -c "perf report -f -i '$data' --stdio -s cgroup,comm 2>/dev/null |
			grep -q '/$group *proportions'"
	record -G "$group,$group" -e cpu-clock -- true
	check "-G refuses more groups than events" grep -q 'there is 1 event' "$tmp/err"
	record -G "$group/none" -- true
	check "-G refuses what is no group" grep -q 'control group .*/none' "$tmp/err"
	kill $inside
	wait $inside 2>/dev/null
	rmdir "$group_root/$group"
else
	skip "-G and --all-cgroups" "needs root and a control group of version 2"
fi

if [ "$root" ]; then
	for option in --exclude-perf ""; do
		"$SPROF" record -q --call-graph none -a $option -e cpu-clock -F 4999 -o "$data" -- \
			"$workload/proportions" 0.4 >"$tmp/out" 2>"$tmp/err" &
		recorder=$!
		wait $recorder
		script pid | tr -d ' ' | grep -cx $recorder >"$tmp/own$option"
	done
	check "--exclude-perf leaves out the recorder ($(cat "$tmp/own--exclude-perf"))" \
		test "$(cat "$tmp/own--exclude-perf")" = 0
	comment "without it there are $(cat "$tmp/own") of its samples"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$workload/proportions" 1.5 >/dev/null &
	theirs=$!
	sleep 0.2
	record -u 65534 -e cpu-clock -F 997 -- sleep 0.3
	check "-u has that user's processes" \
		sh -c "perf script -f -i '$data' -F pid 2>/dev/null | sort -u | tr -d ' ' | grep -qx $theirs"
	kill $theirs
	wait $theirs 2>/dev/null
	record --all-user -e cpu-clock -- true
	check "text_poke is for the kernel's code" \
		sh -c "! perf evlist -v -f -i '$data' 2>/dev/null | grep -q 'text_poke: 1'"
	record -e cpu-clock -- true
	if [ "$(uname -r | cut -d . -f 1)" -ge 6 ]; then
		check "of which it tells" \
			sh -c "perf evlist -v -f -i '$data' 2>/dev/null | grep -q 'text_poke: 1'"
	fi
fi

# Without rights, each refusal names the option and what would allow it.
as_user='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --'
if [ "$root" ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] && $as_user test -x "$SPROF"; then
	refuses() { # OPTION TEXT
		# shellcheck disable=SC2086
		$as_user "$SPROF" record $1 -o /dev/null -- true >"$tmp/out" 2>"$tmp/err"
		check "$1 without rights: $2" grep -q -e "$2" "$tmp/err"
	}
	refuses --phys-data '--phys-data: kernel.perf_event_paranoid is'
	refuses --namespaces '--namespaces: needs CAP_PERFMON'
	refuses -a 'perf_event_paranoid'
	refuses '-e context-switches' 'context-switches: .*forbids events that occur in the kernel'
	refuses '-e cpu-clock,cpu-migrations' 'cpu-migrations: .*forbids events that occur in the kernel'
	check "-e cpu-migrations without rights: a remedy" \
		grep -q 'sudo sysctl kernel.perf_event_paranoid=1' "$tmp/err"
else
	skip "refusals without rights" "needs root, to give up its rights, and paranoid 2"
fi


# --dry-run: all is opened, nothing is run or written.
rm -f "$tmp/dry" "$tmp/ran"
check "--dry-run opens what it is asked for" \
	"$SPROF" record -q --dry-run -e page-faults -o "$tmp/dry" touch "$tmp/ran"
check "--dry-run writes no file, and runs no command" \
	test ! -e "$tmp/dry" -a ! -e "$tmp/ran"
"$SPROF" record --dry-run -e cpu-clock -F 1000000 -o "$tmp/dry" true 2>"$tmp/err"
check "--dry-run says what would be done otherwise" grep -q "sampling at" "$tmp/err"
"$SPROF" record -n -o "$tmp/none" true 2>"$tmp/err"
check "-n samples at no interval" sh -c "! grep -q 'each 0' '$tmp/err'"
"$SPROF" record --kcore true 2>"$tmp/err"
[ $? = 129 ] && grep -q -- '--kcore is not supported: ' "$tmp/err" && ok "--kcore is refused by the reason" ||
	not_ok "--kcore is refused by the reason" "$(cat "$tmp/err")"
finish
