#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof record as a command: what it passes on, what it says, and that perf reads
# what it wrote.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data

# samples FILE: how many there are, by sprof itself.
samples() {
	"$SPROF" info -i "$1" --format json | sed -n 's/.*"SAMPLE": *\([0-9]*\).*/\1/p'
}

status "the command's exit status is passed on" 7 \
	"$SPROF" record -o "$file" -- sh -c 'exit 7'
status "the signal that ended it is passed on" 137 \
	sh -c '"$1" record -q -o "$2" -- sh -c "kill -9 \$\$"; exit $?' sh "$SPROF" "$file"
rm -f "$file" "$file.old"
status "a command that is not there" 127 "$SPROF" record -o "$file" -- /nonexistent/command
says "it is said" "cannot run /nonexistent/command: No such file"
check "and leaves no file" test ! -e "$file"
echo old >"$file"
status "nor does it take the place of one" 127 "$SPROF" record -o "$file" -- /nonexistent/command
check "but leaves that" sh -c 'test "$(cat "$1")" = old && test "$(ls "$1"*)" = "$1"' sh "$file"
rm "$file"
: >"$tmp/text"
status "a file that cannot be executed" 126 "$SPROF" record -o "$file" -- "$tmp/text"
status "nothing to record" 129 "$SPROF" record
status "an option that is not there" 129 "$SPROF" record --nonsense true
status "an event that is not there" 129 "$SPROF" record -e nonsense -o "$file" true
status "exclusive options" 129 "$SPROF" record -F 10 -c 10 true
status "a process that is not there" 125 "$SPROF" record -o "$file" -p 2147483646
says "it is said" "process 2147483646 does not exist"
status "a thread that is not there" 125 "$SPROF" record -o "$file" -t 2147483646
status "a place that cannot be written to" 125 "$SPROF" record -o /proc/nonexistent/file true
status "a run too short for a sample is no failure" 0 "$SPROF" record -F 1 -o "$file" true
says "but is printed" "^sprof: no samples in $file: the command used [0-9.]* ms of CPU time, less than one sampling period (1000 ms)"
status "a run without CPU time is no failure" 0 "$SPROF" record -F 10 -o "$file" sleep 0.3
says "but is printed" "no samples in $file: the command used [0-9.]* ms of CPU time"
# A process that sleeps: a task's event bounds its CPU time by the period, ticks do by 10 ms.
sleep 60 &
sleeper=$!
for scope in task cpu; do
	status "a process that sleeps, --scope $scope" 0 \
		"$SPROF" record -e cpu-clock -c 2000000 --scope $scope \
		-p $sleeper --duration 0.2 -o "$file"
	case $scope in
	task) bound="one sampling period (2 ms) of CPU time in each thread" ;;
	cpu) bound="one clock tick (10 ms) of CPU time" ;;
	esac
	says "its CPU time is bounded" "process $sleeper used less than $bound in "
done
kill $sleeper
status "-q: a run without samples" 0 "$SPROF" record -q -F 10 -o "$file" sleep 0.1
check "-q: is one line" sh -c 'test "$(wc -l <"$1")" = 1 && grep -q "no samples in .*: the command used" "$1"' sh "$tmp/err"

# The records of the command's start were lost: tests/live/lost_start.c simulates that.
lost_start() {
	run_ms=$1
	shift
	LD_PRELOAD=$top_builddir/tests/live/.libs/lost_start.so CPU_MS=$run_ms \
		"$SPROF" record -q -F 1000 -o "$file" "$@"
}
if ! lost_start 1 true 2>"$tmp/err" || ! grep -q 'command used 1.0 ms' "$tmp/err"; then
	skip "a recording without its command" "nothing can be preloaded: $(head -n 1 "$tmp/err")"
else
	status "a recording without its command has failed" 125 lost_start 21 true
	says "for this reason" "no samples in $file: the command used 21.0 ms of CPU time, but 1234 metadata records (mmap, comm, fork) were lost; use --scope task\$"
	status "a command that failed keeps its status" 3 lost_start 21 sh -c 'exit 3'
	status "20 periods without a sample are no failure" 0 lost_start 20 true
	status "samples that were not wanted are not lost" 0 lost_start 21 -D -1 true
fi

status "a recording" 0 "$SPROF" record -F 2000 -o "$file" -- "$workload/proportions" 0.5
says "the summary tells samples, losses, file and cost" \
	"^sprof: [0-9]* samples, 0 lost, .* in $file; [0-9.]* s elapsed at 2000 Hz, recorder used [0-9.]* ms CPU"
count=$(samples "$file")
check "it has samples ($count)" test "$count" -gt 500
check "they are those that the summary tells" grep -q "^sprof: $count samples" "$tmp/err"
await_names "$file"
cp "$file" "$tmp/first"
status "another one" 0 "$SPROF" record -q -o "$file" -- "$workload/proportions" 0.1
check "-q says nothing" test ! -s "$tmp/err"
same "the old one is kept" "$tmp/first" "$file.old"
check "nobody else may read it" test "$(stat -c %a "$file")" = 600

# On whole CPUs, the scheduler's rhythm has a say in how many of them fall on it.
rates() {
	status "a frequency" 0 "$SPROF" record --scope task -F 200 -o "$file" -- "$workload/proportions" 1
	count=$(samples "$file")
	check "gives so many samples a second of CPU time ($count)" \
		test "$count" -ge 180 -a "$count" -le 240
	status "a period" 0 "$SPROF" record --scope task -e cpu-clock -c 10000000 -o "$file" \
		-- "$workload/proportions" 1
	count=$(samples "$file")
	check "gives a sample each so many ns ($count)" test "$count" -ge 90 -a "$count" -le 120
	status "a delay" 0 "$SPROF" record -F 1000 -D 800 -o "$file" -- "$workload/proportions" 1
	if command -v perf >/dev/null; then
		# From the exec to the first sample, in ms.
		delay=$(perf script -f -i "$file" -F comm,time,event --show-task-events 2>/dev/null |
			tr -d : | awk '/PERF_RECORD_COMM exec/ { begin = $2 }
				/cpu-clock|cycles/ && begin { printf "%d\n", 1000 * ($2 - begin); exit }')
		check "leaves out what is before ($delay ms)" test "$delay" -ge 780
	else
		skip "leaves out what is before" "there is no perf to list the samples"
	fi
	status "a duration ends the command" 0 \
		"$SPROF" record -F 1000 --duration 0.5 -o "$file" -- "$workload/proportions" 60
	count=$(samples "$file")
	check "with its samples ($count)" test "$count" -gt 20 -a "$count" -lt 600
}
noisy rates
status "user space alone" 0 "$SPROF" record --all-user -o "$file" -- "$workload/proportions" 0.1
status "several events" 0 "$SPROF" record -e cpu-clock -e task-clock:u,page-faults -o "$file" \
	-- "$workload/proportions" 0.2
names=$("$SPROF" info -i "$file" --format json | grep -o '"name": *"[^"]*"' | tr -d ' ' | tr '\n' ' ')
check "are all in the file ($names)" sh -c \
	'case $1 in *cpu-clock*task-clock:u*page-faults*) ;; *) exit 1 ;; esac' sh "$names"

# To a pipe: what the command writes must not get into it.
"$SPROF" record -F 1000 -o - -- sh -c "echo hello; exec $workload/proportions 0.3" \
	2>"$tmp/err" | cat >"$tmp/pipe"
check "a recording in a pipe is read" test "$(samples "$tmp/pipe")" -gt 50
says "the command's output goes to standard error" "^hello"
if [ "$(id -u)" = 0 ]; then
	status "everything, for as long as a command runs" 0 \
		"$SPROF" record -a -F 1000 -o "$file" sleep 0.3
	status "a CPU" 0 "$SPROF" record -C 0 -F 1000 -o "$file" sleep 0.2
	status "a CPU that is not there" 129 "$SPROF" record -C 4000 -o "$file" sleep 0.2
fi

# The interrupt of a terminal goes to the command too, which is let come to its end.
rm -f "$file"
"$SPROF" record -q -o "$file" -- "$workload/proportions" 30 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
until [ -s "$file" ] || ! kill -0 $recorder; do sleep 0.1; done
sleep 0.5
kill -INT $recorder
wait $recorder
status=$?
check "a signal to the recorder ends both (status $status)" test $status = 143
check "and leaves a recording" test "$(samples "$file")" -gt 20

# Children that live little longer than a period: on whole CPUs each has its share, by
# inheritance they have not, and it is said. Samples of the children by their pids, against
# what wait4 said of each.
children() { # SCOPE: percent of their CPU time that is in the samples
	"$SPROF" record -F 997 --no-switch-events --scope "$1" -o "$file" -- \
		"$workload/forks" 800 0.5 exec \
		>"$tmp/truth" 2>"$tmp/err"
	perf script -f -i "$file" -F tid 2>/dev/null |
		awk 'FILENAME == ARGV[1] { used += $2; child[$1] = 1; next }
			$1 in child { samples++ }
			END { printf "%d\n", 100 * samples * 1e9 / 997 / used }' "$tmp/truth" -
}
short_lived() {
	if ! command -v perf >/dev/null; then
		skip "short-lived children" "there is no perf to list the samples"
	else
		if "$workload/probe" cpu >"$tmp/.probe"; then
			percent=$(children cpu)
			check "on whole CPUs, short-lived children have all their samples ($percent %)" \
				test "$percent" -ge 87 -a "$percent" -le 113
			check "and nothing is said" sh -c '! grep -q "CPU time of [0-9]\|CPU time:" "$1"' sh "$tmp/err"
		else
			skip "short-lived children on whole CPUs" "$(cat "$tmp/.probe")"
		fi
		percent=$(children task)
		if [ "$percent" -lt 90 ]; then
			says "by inheritance, what is missing of them is said ($percent %)" \
				"samples cover [0-9]* %\|are not sampled"
		else
			skip "what is missing of short-lived children is said" "nothing is missing ($percent %)"
		fi
	fi
}
noisy short_lived

# One thread among four: its samples alone, as many as its CPU time.
thread_only() { # SCOPE
	: >"$tmp/out" # or "ready" may be the last one's
	"$workload/threads" 4 30 >"$tmp/out" &
	threads=$!
	until grep -q ready "$tmp/out"; do sleep 0.05; done
	for tid in /proc/$threads/task/*; do tid=${tid##*/}; done
	read -r before rest <"/proc/$threads/task/$tid/schedstat"
	"$SPROF" record -F 997 --scope "$1" --duration 1 -o "$file" -t "$tid" 2>"$tmp/err"
	read -r after rest <"/proc/$threads/task/$tid/schedstat"
	kill $threads
	wait $threads 2>/dev/null
	perf script -f -i "$file" -F tid 2>/dev/null | sort | uniq -c >"$tmp/tids"
	check "-t, --scope $1: no other thread is recorded" \
		sh -c 'test "$(wc -l <"$1")" = 1 && grep -qw "$2" "$1"' sh "$tmp/tids" "$tid"
	count=$(samples "$file")
	most=$(((after - before) / 1000000))
	check "-t, --scope $1: the samples fit its CPU time ($count of $most ms)" \
		test "$count" -le $((most * 11 / 10 + 3)) -a "$count" -ge $((most / 2))
}
if command -v perf >/dev/null; then
	if "$workload/probe" cpu >"$tmp/.probe"; then
		noisy thread_only cpu
	else
		skip "-t on whole CPUs" "$(cat "$tmp/.probe")"
	fi
	noisy thread_only task
else
	skip "-t" "there is no perf to list the samples"
fi

# A command with another target only limits the duration, by its end or by the target's.
command_says_how_long() { # SCOPE
	scope=$1
	: >"$tmp/out"
	"$workload/threads" 2 30 >"$tmp/out" &
	target=$!
	until grep -q ready "$tmp/out"; do sleep 0.05; done
	"$SPROF" record --scope "$scope" -F 997 -o "$file" -p $target -- \
		sh -c "$workload/proportions 0.5; exit 7" >"$tmp/out" 2>"$tmp/err"
	status=$?
	check "-p with a command, --scope $scope: its status is passed on ($status)" test $status = 7
	check "-p with a command, --scope $scope: the process goes on" kill -0 $target
	"$SPROF" report -i "$file" --format csv -s comm,pid 2>/dev/null |
		sed 1d | cut -d , -f 11-12 >"$tmp/who"
	echo "threads,$target" >"$tmp/wanted"
	same "-p with a command, --scope $scope: the process alone is sampled" "$tmp/wanted" "$tmp/who"
	count=$(samples "$file")
	check "-p with a command, --scope $scope: as long as it ran ($count)" \
		test "$count" -gt 50 -a "$count" -lt 20000
	tid=$(ls /proc/$target/task | tail -n 1)
	status "-t with a command, --scope $scope" 3 \
		"$SPROF" record --scope "$scope" -F 997 -o "$file" -t "$tid" -- sh -c 'sleep 0.3; exit 3'
	"$SPROF" report -i "$file" --format csv -s comm,tid 2>/dev/null |
		sed 1d | cut -d , -f 11-12 >"$tmp/who"
	echo "threads,$tid" >"$tmp/wanted"
	same "-t with a command, --scope $scope: the thread alone is sampled" "$tmp/wanted" "$tmp/who"
	rm -f "$tmp/pid"
	(until [ -s "$tmp/pid" ]; do sleep 0.1; done; sleep 0.5; kill $target) &
	status "-p with a command that would go on, --scope $scope" 0 \
		timeout -s KILL 25 "$SPROF" record --scope "$scope" -o "$file" -p $target -- \
		sh -c 'echo $$ >"$1"; exec sleep 60' sh "$tmp/pid"
	wait $target 2>/dev/null
	check "it is ended with the process, --scope $scope" \
		sh -c '! kill -0 "$(cat "$1")" 2>/dev/null' sh "$tmp/pid"
	check "and there is a recording, --scope $scope" test "$(samples "$file")" -gt 20
}
if "$workload/probe" cpu >"$tmp/.probe"; then
	noisy command_says_how_long cpu
else
	skip "-p with a command on whole CPUs" "$(cat "$tmp/.probe")"
fi
noisy command_says_how_long task
"$workload/idle" 1 20 >"$tmp/out" &
target=$!
status "-p with a command that is not there" 127 \
	"$SPROF" record -o "$file" -p $target -- /nonexistent/command
kill $target
wait $target 2>/dev/null

# The kernel's own build-ids, and the file's, are in the recording.
"$SPROF" record -q -g -F 5000 -o "$file" -- "$workload/proportions" 0.5 >"$tmp/out"
if command -v perf >/dev/null; then
	perf report -i "$file" --stdio --no-children -g none -s comm,dso,sym >"$tmp/report" 2>"$tmp/err"
	check "perf reads it" grep -q proportions "$tmp/report"
	unsurprising "$file" "$tmp/err"
	if [ "$(id -u)" = 0 ]; then
		same "without a warning" /dev/null "$tmp/err"
	fi
	perf report -i "$file" --stats 2>/dev/null >"$tmp/stats"
	check "perf finds as many samples" grep -q "SAMPLE events: *$(samples "$file")" "$tmp/stats"
	check "so is that of the vdso, and the vdso itself" sh -c \
		'perf buildid-list -i "$1" | grep -q "\[vdso\]" && grep -qa "sprofelf.*ELF" "$1"' sh "$file"
	header() {
		perf report -i "$1" --header-only -I 2>/dev/null |
			grep -E '^# (sibling|CPU [0-9]|node|nrcpus|arch|hostname|cpuid)' |
			sed 's/free = .*//' | sort -u
	}
	if perf record -q -e cpu-clock -o "$tmp/perf.data" true >"$tmp/out" 2>&1; then
		header "$tmp/perf.data" >"$tmp/wanted"
		header "$file" >"$tmp/got"
		same "the machine is described as by perf ($(wc -l <"$tmp/wanted") lines)" \
			"$tmp/wanted" "$tmp/got"
	else
		skip "the machine is described as by perf" "perf cannot record here"
	fi
	wanted=$(eu-readelf -n "$workload/proportions" | sed -n 's/.*Build ID: //p')
	if [ -n "$wanted" ]; then
		perf buildid-list -i "$file" >"$tmp/ids" 2>/dev/null
		check "the build-id of the program is there" grep -q "$wanted.*proportions" "$tmp/ids"
	else
		skip "the build-id of the program is there" "this compiler gives it none"
	fi
else
	skip "perf reads it" "there is no perf"
fi
finish
