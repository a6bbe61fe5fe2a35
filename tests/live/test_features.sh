#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recording's header says of the machine is what perf's own says of it.
. "$top_srcdir/tests/cli/lib.sh"

reason=$("$workload/probe" 2>&1) || skip_all "$reason"
perf=$(command -v perf) || skip_all "needs perf"

# Lines of the machine; what is free changes, and what is not perf's is not compared. Virtual machines may
# tell no caches: perf writes an empty list of them.
machine() {
	"$perf" report --header-only -I -i "$1" 2>"$tmp/complaints" |
		awk '/^# CPU cache info:/ { title = $0; next }
			title != "" { if (/^#  /) print title; title = "" }
			{ print }' |
		sed -n '/^# hostname/,$p' |
		sed 's/, free = .*//' |
		grep -E '^#( (hostname|os release|arch|nrcpus|cpudesc|cpuid|total memory|sibling|CPU |node|pmu mappings|memory nodes|cpu pmu cap|hybrid)|  )'
}

"$perf" record -q -B -e cpu-clock -o "$tmp/perf.data" -- "$workload/proportions" 0.1 >/dev/null 2>&1
"$SPROF" record -q -e cpu-clock -o "$tmp/sprof.data" -- "$workload/proportions" 0.1 >/dev/null
machine "$tmp/perf.data" >"$tmp/wanted"
machine "$tmp/sprof.data" >"$tmp/got"
check "perf has something to say" grep -q 'pmu mappings' "$tmp/wanted"
same "the header says of the machine what perf's says" "$tmp/wanted" "$tmp/got"
same "perf reads the header without complaint" /dev/null "$tmp/complaints"

"$SPROF" record -q -e cpu-clock -o - -- "$workload/proportions" 0.1 2>/dev/null >"$tmp/sprof.pipe"
"$perf" report -i - --header -I --stdio <"$tmp/sprof.pipe" 2>/dev/null |
	grep -E '^# *(L[0-9] |memory nodes)' | sort >"$tmp/got"
grep -E '^# *(L[0-9] |memory nodes)' "$tmp/wanted" | sort >"$tmp/wanted.part"
same "so does that of a stream" "$tmp/wanted.part" "$tmp/got"

# BPF programs that are loaded.
"$workload/bpf_program" sh -c "
	\"$SPROF\" record -q -e cpu-clock -o '$tmp/bpf.data' -- '$workload/proportions' 0.1 >/dev/null
	\"$perf\" record -q -B -e cpu-clock -o '$tmp/bpf.perf.data' -- '$workload/proportions' 0.1 >/dev/null 2>&1
" 2>"$tmp/id"
if [ $? = 77 ]; then
	skip "perf finds a BPF program" "$(cat "$tmp/id")"
else
	id=$(head -n 1 "$tmp/id")
	programs() {
		"$perf" report --header-only -I -i "$1" 2>&1 | grep -E '^# bpf_prog_info'
	}
	programs "$tmp/bpf.perf.data" >"$tmp/wanted"
	programs "$tmp/bpf.data" >"$tmp/got"
	if grep -q "bpf_prog_info $id:" "$tmp/wanted"; then
		same "perf finds a BPF program" "$tmp/wanted" "$tmp/got"
	else
		skip "perf finds a BPF program" "it does not in its own recording: $(cat "$tmp/id")"
	fi
fi

# Fields of tracepoints, by perf: from a file, a stream, and compressed.
tracepoint=sched:sched_process_exec
described() {
	grep -c "$tracepoint: filename=.*/true pid=" "$1"
}
if "$SPROF" record -q -e $tracepoint -c 1 -o "$tmp/tp.data" -- true >"$tmp/out" 2>&1; then
	"$perf" script -i "$tmp/tp.data" >"$tmp/script" 2>/dev/null
	check "perf knows the fields of a tracepoint" test "$(described "$tmp/script")" = 1
	"$SPROF" record -q -e $tracepoint -c 1 -o - -- true 2>/dev/null | "$perf" script -i - \
		>"$tmp/script" 2>/dev/null
	check "so it does from a stream" test "$(described "$tmp/script")" = 1
	"$SPROF" record -q -z -e $tracepoint -c 1 -o - -- true 2>/dev/null | "$perf" script -i - \
		>"$tmp/script" 2>/dev/null
	check "and from a compressed one" test "$(described "$tmp/script")" = 1
	# sprof mounts it for itself alone then.
	unmounted() {
		unshare -m sh -c 'umount -l /sys/kernel/debug/tracing /sys/kernel/tracing /sys/kernel/debug
			test ! -e /sys/kernel/tracing/events || exit 77
			"$@"' sh "$@" 2>"$tmp/err"
	}
	unmounted "$SPROF" record -q -e $tracepoint -c 1 -o "$tmp/own.data" -- true
	if [ $? = 77 ]; then
		skip "and where nobody has mounted tracefs" "needs rights to unmount it"
	else
		"$perf" script -i "$tmp/own.data" >"$tmp/script" 2>/dev/null
		check "and where nobody has mounted tracefs" test "$(described "$tmp/script")" = 1
	fi
else
	skip "perf knows the fields of a tracepoint" "$(cat "$tmp/out")"
fi
finish
