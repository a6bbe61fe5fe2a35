#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wakers of threads: pipe_feed ends each wait of pipe_wait, and cond_post those of cond_wait. The numbers of
# wake-ups are those of perf script on the same file.
. "$top_srcdir/tests/tap.sh"
need_sampling
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"

if ! "$SPROF" record --wakers --no-summary -m 8M -o data -- "$workload/waits" 0.3 pipe cond >truth 2>err; then
	grep -q 'sched_waking' err && skip_all "wake-ups may not be recorded: $(tail -n 1 err)"
fi
check "wake-ups are recorded" test -s data

# WAKER WAKEE WAKE-UPS BLOCKED_NS, by tid or context.
"$SPROF" report --wakers --format csv -i data | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ print $at["waker"], $at["wakee"], $at["self_waits"], $at["self_blocked_ns"] }' |
	sed 's/[^ ]*\[\([0-9]*\)\]/\1/g' >pairs
comment "$(cat pairs)"

tid_of() {
	awk -v name="$1" '$1 == name { print $5 }' truth
}

"$SPROF" report --threads --format csv -i data >threads

# woken_by FUNCTION WAKER: the thread of FUNCTION waited as often as it says, and was woken by WAKER's.
woken_by() {
	waits=$(awk -v name="$1" '$1 == name { print $4 }' truth)
	# A few wake-ups are of the thread's begin, or came before it had left its CPU.
	check "$1 is woken by $2, $waits times" awk -v waker="$(tid_of "$2")" -v wakee="$(tid_of "$1")" \
		-v waits="$waits" '
		$2 == wakee && $1 ~ /^[0-9]+$/ { all += $3 }
		$2 == wakee && $1 == waker { own = $3 }
		END { exit !(waits > 10 && own >= waits * 0.98 - 2 && all <= own + 5) }' pairs
	blocked=$(awk -F, -v tid="$(tid_of "$1")" '$2 == tid { print $10 }' threads)
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
finish
