#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Parallel: it measures no CPU time.
# Decisions of Docker's default list of system calls: recording is refused with one line that has the
# option that helps, and with this option everything is as outside.
. "$top_srcdir/tests/tap.sh"
need_sampling
[ "$(id -u)" = 0 ] || skip_all "only root's capabilities can be reduced to a container's"
filter=$top_builddir/tests/live/container_filter
"$filter" default true 2>"$tmp/err" || skip_all "no filter of system calls: $(cat "$tmp/err")"
if ! setpriv --inh-caps=+perfmon true 2>"$tmp/err"; then
	skip_all "this root has no CAP_PERFMON"
fi

"$filter" default "$SPROF" record -o "$tmp/data" true 2>"$tmp/err"
check "record fails" test $? != 0
check "it names the filter" grep -qE 'seccomp filter|perf_event_paranoid' "$tmp/err"
check "it names the option" grep -qE -e '--cap-add PERFMON|allow perf_event_open in its filter|cap_perfmon' "$tmp/err"
check "it writes two lines" test "$(wc -l <"$tmp/err")" = 2

recorded() { # NAME MODE PATTERN OPTION...
	name=$1 mode=$2 pattern=$3
	shift 3
	status "$name: record" 0 "$filter" perfmon "$SPROF" record -q "$@"
	"$filter" default "$SPROF" report -q -g caller --mode "$mode" -i "$tmp/data" >"$tmp/out" 2>"$tmp/err"
	check "$name: report" grep -q "$pattern" "$tmp/out"
}
recorded "a command" cpu compress -F 1000 -o "$tmp/data" "$workload/proportions" 0.3
recorded "waits" off-cpu sleep --off-cpu -o "$tmp/data" sleep 0.1
recorded "the machine" cpu . -a --duration 0.2 -o "$tmp/data"
"$workload/proportions" 60 >"$tmp/.busy" &
busy=$!
recorded "a process" cpu compress -p $busy --duration 0.3 -o "$tmp/data"
kill $busy
status "stat" 0 "$filter" perfmon "$SPROF" stat true
finish
