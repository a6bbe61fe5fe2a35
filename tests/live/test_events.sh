#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events of all kinds, recorded: attributes equal those of perf for the same string, and events
# that occur a known number of times have that number of samples.
. "$top_srcdir/tests/tap.sh"
need_sampling
file=$tmp/sprof.data
occurrences=$workload/occurrences

# Samples of each event, by perf: "COUNT NAME" a line.
counts() {
	perf script -i "$1" -F event 2>/dev/null | sed 's/^ *//;s/: *$//' | sort | uniq -c |
		sed 's/^ *//'
}

records() {
	check "$1 is recorded" "$SPROF" record -q --call-graph none -o "$file" -e "$@"
}

# Attributes that must agree: perf requests the same kinds of counts.
attributes() {
	perf evlist -v -i "$1" 2>/dev/null | grep -v '^dummy:u:\|^#' |
		sed 's/{ \([a-z_]*\), *\([a-z_]*\) }/\1/g;s/sample_period: \([0-9]*\)/sample_period: \1/' |
		awk -F ', *' -v keep='^ *(type|config|config1|config2|bp_type|bp_addr|bp_len|exclude_user|exclude_kernel|exclude_hv|exclude_idle|exclude_host|pinned|exclusive|precise_ip|sample_period|freq): ' '{
			name = $0
			sub(/: type:.*/, "", name)
			sub(/^.*: type:/, "type:")
			out = name
			n = split($0, part, /, */)
			for (i = 1; i <= n; i++) {
				sub(/\(.*\)/, "", part[i])
				gsub(/ +$/, "", part[i])
				if (part[i] ~ keep)
					out = out " | " part[i]
			}
			print out
		}'
}

compares() {
	# Tracepoints and probes have a sample for each occurrence by default.
	case $1 in
	sched:* | syscalls:* | mem:*) rate= ;;
	*) rate='-F 997' ;;
	esac
	# On an error exit, it has not written the names.
	if ! perf record -q -N --no-bpf-event $rate -o "$tmp/perf.data" -e "$1" -- true >"$tmp/perf.err" 2>&1 ||
		! perf evlist -i "$tmp/perf.data" >/dev/null 2>&1; then
		skip "$1 is as perf has it" "perf does not record it here"
		rm -f "$tmp/perf.data"
		return
	fi
	if "$SPROF" record -q $rate --call-graph none --scope task -o "$file" -e "$1" -- true \
		>"$tmp/err" 2>&1; then
		attributes "$tmp/perf.data" | sort >"$tmp/wanted"
		attributes "$file" | sort >"$tmp/got"
		same "$1 is as perf has it" "$tmp/wanted" "$tmp/got"
	else
		not_ok "$1 is as perf has it" "$(cat "$tmp/err")"
	fi
	rm -f "$tmp/perf.data"
}

# If tracefs is not mounted, perf mounts it, and sprof does privately.
grep -q '[[:blank:]]tracefs$' /proc/filesystems && has_tracepoints=yes || has_tracepoints=
may=$(awk '/^CapEff:/ { print substr($2, 6, 1) ~ /[4-7c-f]/ }' /proc/self/status)
[ "$(id -u)" = 0 ] && may=1

# One of each kind that a kernel may know or not: what an emulated machine has the time for.
# The others are the same everywhere.
several="page-faults {cpu-clock,page-faults}:S mem:0x1000:rw:u
	${has_tracepoints:+sched:sched_switch cpu-clock,sched:sched_switch}"
if [ -n "${SPROF_VM-}" ] && command -v perf >/dev/null; then
	for event in $several; do
		compares "$event"
	done
elif command -v perf >/dev/null; then
	for event in cpu-clock cpu-clock:u cpu-clock:k cpu-clock:uI task-clock:D page-faults cs \
		dummy 'cpu-clock/period=100000/' 'cpu-clock/freq=500/u' 'page-faults/name=some/k' \
		'{cpu-clock,page-faults}' '{cpu-clock:u,cs}:k' '{cpu-clock,page-faults}:S' \
		'{cpu-clock,cs}:D' 'named{cpu-clock,cs},page-faults' 'software/config=2/u' \
		mem:0x1000 mem:0x1000:w mem:0x1000:rw:u mem:4096:u \
		${has_tracepoints:+sched:sched_switch sched:sched_switch:u 'sched:sched_wak*' \
			'syscalls:sys_enter_open*' 'cpu-clock,sched:sched_switch'}; do
		if [ "$may" != 1 ]; then
			case $event in
			*:sys_* | sched:* | *,sched:* | *:k | mem:*) continue ;;
			esac
		fi
		compares "$event"
	done
else
	skip "attributes are perf's" "needs perf"
fi

if ! command -v perf >/dev/null; then
	skip "occurrences are counted" "needs perf to read them"
	finish
	exit 0
fi

records "mem:$occurrences:touched:w:u" -- "$occurrences" 37
printf '37 mem:%s:touched:w:u\n' "$occurrences" >"$tmp/wanted"
# Hypervisors may leave debug registers without effect: then perf counts none, and sprof says so.
perf stat -x, -e "mem:0x$(nm "$occurrences" | awk '$3 == "touched" { print $1 }'):w:u" -- "$occurrences" 37 \
	>"$tmp/out" 2>"$tmp/perf"
if grep -q '^0,' "$tmp/perf"; then
	"$SPROF" record -o "$file" -e "mem:$occurrences:touched:w:u" -- true 2>"$tmp/err"
	check "breakpoints that never trigger are told" grep -q 'breakpoints do not trigger' "$tmp/err"
elif [ -s "$file" ]; then
	counts "$file" >"$tmp/got"
	same "each write is a sample" "$tmp/wanted" "$tmp/got"
fi

# every_53 NAME OPTION...: 20,000 faults are the program's, some hundred are the loader's. Before the
# exec, and for an ordinary user in kernel mode, faults count for the program only.
every_53() {
	name=$1
	shift
	if ! "$SPROF" record -q --call-graph none --scope task -o "$file" "$@" -- "$workload/faults" 20000 \
		>"$tmp/out" 2>"$tmp/err"; then
		not_ok "$name" "$(cat "$tmp/err")"
		return
	fi
	faults=$(cat "$tmp/out")
	"$SPROF" report -i "$file" --no-children -s comm --format csv 2>/dev/null >"$tmp/csv"
	read -r samples weight <<END
$(awk -F , '
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
	$column["comm"] == "faults" && (!("event" in column) || $column["event"] ~ /page-faults/) {
		samples = $column["self_samples"]
		weight = $column["self_weight"]
	}
	END { print samples + 0, weight + 0 }' "$tmp/csv")
END
	perf script -i "$file" -F event,period 2>/dev/null | awk '/faults/ { print $1 }' | sort | uniq -c |
		awk '{ print $1, $2 }' >"$tmp/got"
	check "$name: $samples samples of $faults faults" test $((samples * 53)) -le "$faults" -a \
		"$samples" -ge $((20000 / 53))
	check "$name: each stands for 53" test "$weight" = $((samples * 53))
	echo "$samples 53" >"$tmp/wanted"
	same "$name: perf agrees" "$tmp/wanted" "$tmp/got"
}
every_53 "-c on page faults" -c 53 -e page-faults
every_53 "period= on page faults" -e page-faults/period=53/
every_53 "period= on page faults, with a clock" -e page-faults/period=53/,cpu-clock

# Events that help to complete stacks must take no sample from those that are recorded.
"$SPROF" record -q -e page-faults -c 1 --scope task --call-graph dwarf -o "$file" -- "$workload/faults" 20000 \
	>"$tmp/out" 2>"$tmp/err"
recorded=$("$SPROF" info -i "$file" --format json | tr '{,' '\n\n' |
	awk -F : '/"(samples|lost)":/ { sum += $2 } END { print sum }')
faults=$(cat "$tmp/out")
check "with copies of stacks, all faults are samples or lost ($recorded of $faults)" \
	test "$recorded" -ge $((faults - 60)) -a "$recorded" -le $((faults + 60))
if [ "$may" = 1 ]; then
	# Each of three tasks has an event on each CPU, with an incomplete last period. A wait is
	# a switch; preemptions are fewer.
	"$SPROF" record -q --call-graph none --scope task -o "$file" -e context-switches -c 10 -- \
		"$workload/waits" 0.5 pipe >"$tmp/out"
	waits=$(awk '$1 == "run_role" || $1 == "join_all" { sum += $4 } END { print sum }' "$tmp/out")
	samples=$(counts "$file" | cut -d ' ' -f 1)
	check "every 10th of more than ${waits:=0} context switches is a sample (${samples:=0})" \
		test $((samples * 10)) -ge $((waits - 3 * 9 * $(nproc --all))) -a "$samples" -lt $((waits / 2))
else
	skip "every 10th of some context switches is a sample" "needs rights"
fi

if [ -n "$has_tracepoints" ] && [ "$may" = 1 ]; then
	records syscalls:sys_enter_openat -- "$occurrences" 0 0 41
	opens=$(perf script -i "$file" -F event,trace 2>/dev/null | grep -c '/dev/null\|filename')
	strace_like=$(counts "$file" | cut -d ' ' -f 1)
	"$SPROF" record -q --call-graph none -o "$tmp/none" -e syscalls:sys_enter_openat -- \
		"$occurrences" 0 0 0
	base=$(counts "$tmp/none" | cut -d ' ' -f 1)
	check "each call is a sample ($strace_like, $base of them the loader's)" \
		test $((strace_like - base)) = 41
	check "perf prints their fields ($opens)" test "$opens" -ge 41
	records 'sched:sched_process_e*' -- sh -c 'true; /bin/true; :'
	check "a glob is several events" \
		test "$(perf evlist -i "$file" 2>/dev/null | grep -c sched_process_e)" -ge 2
	# Not their exit: of that Linux 6.1 takes no sample where the event is a task's own.
	"$SPROF" record -q -o "$file" -e sched:sched_process_exec -- sh -c '/bin/true; /bin/true; :' \
		2>/dev/null
	counts "$file" >"$tmp/got"
	echo "3 sched:sched_process_exec" >"$tmp/wanted"
	same "children are followed, with call chains by default" "$tmp/wanted" "$tmp/got"
else
	skip "tracepoints are recorded" "needs rights, and tracefs"
fi

if [ -d /sys/bus/event_source/devices/uprobe ] && [ "$may" = 1 ]; then
	for kind in uprobe uretprobe; do
		records "$kind:$occurrences:called" -- sh -c "'$occurrences' 0 29; /bin/true"
		echo "29 $kind:$occurrences:called" >"$tmp/wanted"
		counts "$file" >"$tmp/got"
		same "each call is a sample of $kind, in children, too" "$tmp/wanted" "$tmp/got"
	done
else
	skip "uprobes are recorded" "needs rights, and CONFIG_UPROBE_EVENTS"
fi
if [ -d /sys/bus/event_source/devices/kprobe ] && [ "$may" = 1 ]; then
	records kprobe:do_sys_openat2 -- "$occurrences" 0 0 23
	check "each call of the kernel's function is a sample" \
		test "$(counts "$file" | cut -d ' ' -f 1)" -ge 23
else
	skip "kprobes are recorded" "needs rights, and CONFIG_KPROBE_EVENTS"
fi

# The leader's samples hold what the others have counted: perf makes samples of it.
records '{cpu-clock,page-faults}:S' -- "$workload/proportions" 0.3
perf evlist -g -i "$file" 2>/dev/null | head -1 >"$tmp/got"
echo '{cpu-clock,page-faults}' >"$tmp/wanted"
same "the group is named" "$tmp/wanted" "$tmp/got"
check "the leader is sampled" test "$(counts "$file" | sed -n 's/ cpu-clock$//p')" -gt 50
check "samples hold the members' counts" grep -q '^[0-9]* page-faults$' <<END
$(counts "$file")
END

# A group that the kernel refuses, taken apart where it is weak.
if ! "$SPROF" record -q -o "$file" -e '{mem:0x1000:w:u,mem:0x2000:w:u,mem:0x3000:w:u,mem:0x4000:w:u,mem:0x5000:w:u}' \
	-- true 2>"$tmp/err"; then
	check "a group that does not fit is refused, with W as the remedy" grep -q ':W' "$tmp/err"
else
	skip "a group that does not fit is refused" "this machine has five breakpoints"
fi

refuses() {
	"$SPROF" record -q -o "$file" -e "$2" -- true >"$tmp/out" 2>"$tmp/err"
	status=$?
	grep -q -- "$3" "$tmp/err" && [ $status = 125 ] && ok "$1" ||
		not_ok "$1" "status $status: $(cat "$tmp/err")"
}
if [ -d /sys/bus/event_source/devices/msr ] && [ "$may" = 1 ]; then
	refuses "a PMU that cannot sample says so" msr/tsc/ "sprof stat -a"
fi
refuses "a tool's event is sprof stat's" duration_time "sprof stat"

# Reasons: what kinds of events cannot do, and what kernels do not know yet.
says() {
	want=$1
	shift
	"$@" >"$tmp/out" 2>&1
	check "$want" grep -q -F -- "$want" "$tmp/out"
}
says 'a watchpoint of 8 bytes must be aligned to 8 bytes; 0x1001 is not' \
	"$SPROF" record -q -o "$file" -e mem:0x1001/8:w true
says 'mem:0x1000/3:w: watchpoints have 1, 2, 4 or 8 bytes, not 3' \
	"$SPROF" stat -e mem:0x1000/3:w true
if [ -d /sys/bus/event_source/devices/msr ]; then
	for command in "record -q -o $file" stat; do
		# shellcheck disable=SC2086
		says 'msr/tsc/u: its PMU cannot separate user, kernel and guest mode' "$SPROF" $command -e msr/tsc/u true
	done
else
	skip 'its PMU cannot separate user, kernel and guest mode' 'there is no msr PMU here'
fi
# config3 is in the attr and in the file, whatever header this was built with.
if "$SPROF" list --limits | grep -q '^  yes  config3 '; then
	"$SPROF" record -q -o "$file" -e cpu-clock/config3=5/ true
	says 'config3: 0x5' "$SPROF" info -v -i "$file"
	check "config3 is counted with" "$SPROF" stat -e cpu-clock/config3=5/ true
else
	says 'needs Linux 6.3 or later (config3)' \
		"$SPROF" record -q -o "$file" -e cpu-clock/config3=5/ true
	says 'needs Linux 6.3 or later (config3)' "$SPROF" stat -e cpu-clock/config3=5/ true
fi
if ! "$SPROF" list --limits | grep -q '^  yes  config4 '; then
	for command in "record -q -o $file" stat; do
		# shellcheck disable=SC2086
		says 'needs Linux 7.0 or later (config4)' \
			"$SPROF" $command -e cpu-clock/config4=5/ true
	done
fi
finish
