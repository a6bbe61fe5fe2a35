#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --max-stack beyond kernel.perf_event_max_stack: the limit stays as it is, and the remedy is
# printed. In the lab (SPROF_INVASIVE=1) the remedy is run, and does what it promises.
#
# Parallel: lengths of stacks are compared, not times.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data
limit=/proc/sys/kernel/perf_event_max_stack
before=$(cat $limit)
if [ "$before" -ge 300 ]; then
	skip "chains of 400 frames" "kernel.perf_event_max_stack is $before already"
	finish
fi

deep() { # SECONDS [OPTION]...
	seconds=$1
	shift
	"$SPROF" record --call-graph fp "$@" -o "$file" -- "$workload/deep" 400 "$seconds" \
		>"$tmp/out" 2>"$tmp/err"
}
deep 0.3
"$SPROF" report -i "$file" --format json >"$tmp/json"
check "without --max-stack, deeper chains are truncated and marked" \
	sh -c 'sed -n "s/.*\"depth_limit\": *\([0-9]*\).*/\1/p" "$1" | grep -qv "^0$"' sh "$tmp/json"

# A child that outlived the recorder would restore or change the limit later.
deep 2 --max-stack 1000 &
recording=$!
sleep 1
check "--max-stack 1000 leaves the machine's limit as it is" test "$(cat $limit)" = "$before"
recorder=$(pgrep -P $recording -x sprof || echo $recording)
comment "children of the recorder: $(pgrep -P "$recorder" -a | tr '\n' ';')"
check "and needs no other process but the command and those of the recorder" \
	test -z "$(pgrep -P "$recorder" | while read -r child; do
		grep -vx -e deep -e sprof-proxy -e probe "/proc/$child/comm"
	done)"
wait $recording
says "the remedy is printed" "sudo sysctl kernel.perf_event_max_stack=1000"
check "the limit is the same afterwards" test "$(cat $limit)" = "$before"

if [ "${SPROF_INVASIVE:-}" != 1 ] || [ "$(id -u)" != 0 ]; then
	skip "the remedy works" "it changes the whole machine (SPROF_INVASIVE=1, as root)"
	finish
fi
trap 'echo "$before" >$limit; rm -rf "$tmp"' EXIT
if ! echo 1000 2>"$tmp/err" >$limit; then
	skip "the remedy works" "the limit cannot be written: other call chains are being recorded"
	finish
fi
deep 0.3 --max-stack 1000
"$SPROF" report -i "$file" --format json >"$tmp/json"
samples=$(sed -n 's/.*"samples": *\([0-9]*\).*/\1/p' "$tmp/json" | head -n 1)
complete=$(sed -n 's/.*"complete": *\([0-9]*\).*/\1/p' "$tmp/json" | head -n 1)
check "with the remedy, chains of 400 frames are whole ($complete of $samples)" \
	test $((complete * 100)) -ge $((samples * 90))
finish
