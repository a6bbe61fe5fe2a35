#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wakers of threads: pipe_feed ends each wait of pipe_wait, and cond_post those of cond_wait. The numbers of
# wake-ups are those of perf script on the same file. Wakers that are not recorded end waits, too.
. "$top_srcdir/tests/tap.sh"
need_sampling
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"

if ! "$SPROF" record --wakers --no-summary -m 8M -o data -- "$workload/waits" 0.3 pipe cond >truth 2>err; then
	grep -q 'sched_waking' err && skip_all "wake-ups may not be recorded: $(tail -n 1 err)"
fi
check "wake-ups are recorded" test -s data

# Prints WAKER WAKEE WAKE-UPS BLOCKED_NS of a file.
pairs_of() {
	"$SPROF" report --wakers --all-threads --format csv -i "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["waker"], $at["wakee"], $at["self_waits"], $at["self_blocked_ns"] }'
}

# The same by tid or context.
pairs_of data | sed 's/[^ ]*\[\([0-9]*\)\]/\1/g' >pairs
comment "$(cat pairs)"

tid_of() {
	awk -v name="$1" '$1 == name { print $5 }' truth
}

"$top_builddir/tests/live/thread_lives" data >threads

# woken_by FUNCTION WAKER: the thread of FUNCTION waited as often as it says, and was woken by WAKER's.
woken_by() {
	waits=$(awk -v name="$1" '$1 == name { print $4 }' truth)
	# A few wake-ups are of the thread's begin, or came before it had left its CPU.
	check "$1 is woken by $2, $waits times" awk -v waker="$(tid_of "$2")" -v wakee="$(tid_of "$1")" \
		-v waits="$waits" '
		$2 == wakee && $1 ~ /^[0-9]+$/ { all += $3 }
		$2 == wakee && $1 == waker { own = $3 }
		END { exit !(waits > 10 && own >= waits * 0.98 - 2 && all <= own + 5) }' pairs
	blocked=$(awk -F, -v tid="$(tid_of "$1")" '$2 == tid { print $8 }' threads)
	check "that ends nearly all of its blocked time" awk -v waker="$(tid_of "$2")" \
		-v wakee="$(tid_of "$1")" -v blocked="$blocked" '
		$2 == wakee && $1 == waker { own = $4 }
		END { exit !(own > blocked * 0.8 && own <= blocked) }' pairs
}
woken_by pipe_wait pipe_feed
woken_by cond_wait cond_post

if ! command -v perf >/dev/null; then
	skip "wake-ups are those of perf script" "no perf"
else
	perf script -i data -F tid,event,trace 2>perf.err | awk '
		/sched:sched_waking/ && match($0, /pid=[0-9]+/) { count[substr($0, RSTART + 4, RLENGTH - 4)]++ }
		END { for (tid in count) print tid, count[tid] }' | sort >perf.counts
	awk '{ count[$2] += $3 } END { for (tid in count) print tid, count[tid] }' pairs | sort >own.counts
	same "each thread has as many wake-ups as in perf script" perf.counts own.counts
fi
# -- Wakers that are not recorded ---------------------------------------------------

# woken NAME FILE WAKERS: the thread of `truth` waited as often as it says, and wakers of that pattern ended its
# waits. A few waits are of the program's begin and end.
woken() {
	pairs_of "$2" >pairs
	tid=$(awk 'END { print $1 }' truth) waits=$(awk 'END { print $2 }' truth)
	check "$1" awk -v wakee="relay[$tid]" -v waits="$waits" -v wakers="$3" '
		$2 == wakee { all += $3; own += $1 ~ wakers ? $3 : 0 }
		END { exit !(waits + 0 > 50 && own >= 0.99 * waits - 2 && all <= 1.01 * waits + 8) }' pairs
	comment "$waits waits; $(sort -k3,3nr pairs | head -n 3 | tr '\n' ';')"
}

# feeds COUNT: another program writes to `fifo`, COUNT times, from when the recorded command opens it.
mkfifo fifo
feeds() {
	"$workload/relay" feed "$1" 1000000 >fifo 2>/dev/null &
	feeder=$!
}

fed() { # OPTIONS
	feeds 600
	# shellcheck disable=SC2086
	"$SPROF" record --wakers --no-summary -m 8M $1 -o fed -- \
		sh -c 'exec "$0" read <fifo' "$workload/relay" 2>truth || kill "$feeder"
	wait "$feeder"
	grep -E '^[0-9]+ [0-9]+$' truth >only && mv only truth
	woken "another program ends waits${1:+ ($1)}" fed "^feeder[[]$feeder]\$"
}
for options in "" "--call-graph fp" "--call-graph dwarf --unwind later" "--call-graph none"; do
	noisy fed "$options"
done
"$SPROF" info -i fed >info
check "the file states which wakers are recorded" grep -q 'by all threads and interrupts' info
feeds 600
"$SPROF" record --wakers --no-summary -m 8M -o fed -- \
	sh -c 'exec "$0" read <fifo' "$workload/relay" 2>truth || kill "$feeder"
wait "$feeder"
"$SPROF" script --show-mmap-events --show-task-events -i fed >events
check "nothing but its name is recorded of the other program" awk -v pid="$feeder" '
	/ PERF_RECORD_/ && $0 ~ "[^0-9]" pid "[/:)]" { if (/PERF_RECORD_COMM: /) names++; else others++ }
	END { exit !(names && !others) }' events
"$SPROF" report --wakers -s waker,symbol --format csv -i fed >symbols
check "its stacks are the kernel's" awk '
	/feeder/ && /pipe_write/ { kernel = 1 }
	/feeder/ && /\[\.\]/ { user = 1 }
	END { exit !(kernel && !user) }' symbols
"$top_builddir/tests/live/thread_lives" fed >threads
check "it is no thread of the recording" sh -c '! grep -q feeder threads'

# A packet to a socket of this machine is delivered by a softirq in the sender's system call.
loopback() {
	cat >loopback.py <<'END'
import os, socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
client.bind(("127.0.0.1", 0))
server.connect(client.getsockname())
client.connect(server.getsockname())
if os.fork():
    for i in range(500):
        client.send(b"x")
        client.recv(1)
else:
    for i in range(500):
        server.recv(1)
        server.send(b"x")
END
	"$SPROF" record --wakers --no-summary -m 8M -o loopback -- python3 loopback.py 2>err
	pairs_of loopback >pairs
	comment "$(cat pairs)"
	check "packets on loopback are woken by their sender" awk '
		$2 ~ /^python3/ { all += $3 }
		$2 ~ /^python3/ && $1 ~ /^python3/ { own += $3 }
		END { exit !(all >= 500 && own >= 0.9 * all) }' pairs
}
if ! command -v python3 >which; then
	skip "packets on loopback are woken by their sender" "no python3"
elif ! grep -q '^0*[1-9a-f][0-9a-f]* . do_softirq' /proc/kallsyms; then
	skip "packets on loopback are woken by their sender" "kernel symbols are hidden"
else
	noisy loopback
fi

# Some kernels report no events of an idle CPU: threads of the lowest priority keep all CPUs busy.
timers() {
	chrt -i 0 "$workload/busy" "$(nproc)" 60 2>err &
	spinner=$!
	"$SPROF" record --wakers --no-summary -m 8M -o naps -- "$workload/relay" nap 200 1000000 2>truth
	kill "$spinner"
	grep -E '^[0-9]+ [0-9]+$' truth >only && mv only truth
	woken "timers on any CPU end waits" naps '^[[]interrupt]$'
}
noisy timers

ends() { # ROLE
	"$SPROF" record --wakers --no-summary -m 8M -o ends -- "$workload/relay" $1 100 2>truth
	grep -E '^[0-9]+ [0-9]+$' truth >only && mv only truth
	woken "threads that end are wakers ($1)" ends '^relay[[]'
}
noisy ends family
noisy ends join

# One of two programs. Events are opened one after the other, so that the first waits may have no waker.
attached() {
	feeds 9000
	"$workload/relay" read <fifo 2>last &
	reader=$!
	"$SPROF" record --wakers --no-summary -m 8M -p "$reader" -o attached -- sleep 1.5 2>err
	"$top_builddir/tests/live/thread_lives" attached >threads
	comment "$(cat threads)"
	kill "$feeder" "$reader"
	wait "$feeder" "$reader" 2>/dev/null
	awk -F, -v tid="$reader" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$2 == tid { print tid, $at["waits"] }' threads >truth
	woken "the other program ends waits of -p" attached "^feeder[[]$feeder]\$"
}
noisy attached

# The kernel's own list.
if ! command -v perf >/dev/null; then
	skip "the wake-ups are those of perf record -a" "no perf"
elif ! perf record -q -a -m 16M -e sched:sched_waking -o perf.data -- "$SPROF" record --wakers --no-summary \
	-m 8M -o both -- "$workload/relay" family 100 2>err; then
	skip "the wake-ups are those of perf record -a" "$(tail -n 1 err)"
else
	perf script -i perf.data -F event,trace 2>perf.err | sed -n 's/.*comm=relay pid=\([0-9]*\) .*/\1/p' |
		sort | uniq -c | awk '{ print $2, $1 }' >perf.counts
	pairs_of both | sed 's/^[^ ]* [^ ]*\[\([0-9]*\)\]/\1/' | awk '{ count[$1] += $2 }
		END { for (tid in count) print tid, count[tid] }' >own.counts
	check "the wake-ups are those of perf record -a" awk '
		NR == FNR { perf[$1] = $2; next }
		$1 in perf { own += $2; all += perf[$1] }
		END { exit !(all >= 80 && own >= 0.99 * all - 4 && own <= 1.01 * all + 4) }' perf.counts own.counts
	comment "$(awk '{ sum += $2 } END { print FILENAME, sum }' perf.counts)"
	comment "$(awk '{ sum += $2 } END { print FILENAME, sum }' own.counts)"
fi
finish
