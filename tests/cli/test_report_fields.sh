#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Rows by what tracepoints' samples hold: held to what sprof script tells of each sample, which
# tests/cli/test_corpus.sh holds to perf's own.
. "$top_srcdir/tests/cli/lib.sh"

report() {
	"$SPROF" report -q "$@"
}

recording "$tmp/plain" <<END
event cycles
sample 0 1 1 0 1000 1 0x10200
END
fails "no text of tracepoints where there are none" 1 \
	"$SPROF" report -s comm,trace -i "$tmp/plain" <<END
sprof: $tmp/plain has no tracepoints; 'record -e sched:sched_switch' records one
END
fails "no fields either" 1 "$SPROF" report -s trace_fields -i "$tmp/plain" <<END
sprof: $tmp/plain has no tracepoints; 'record -e sched:sched_switch' records one
END

SPROF_CORPUS=${SPROF_CORPUS:-$top_srcdir/../shared/corpus}
switches=$SPROF_CORPUS/mslt/lt.perf.data
several=$SPROF_CORPUS/guest-armhf/tp.data
if [ ! -f "$switches" ] || [ ! -f "$several" ]; then
	skip "fields of recordings" "no corpus at $SPROF_CORPUS"
	finish
	exit
fi

# The rows of an event by keys, as "SAMPLES|VALUE|VALUE…".
rows() {
	file=$1
	event=$2
	shift 2
	report -i "$file" --format json --interval within --no-children "$@" | tr -d '\\' | awk -v event="$event" '
		/"name": / { here = index($0, "\"name\": \"" event "\"") > 0 }
		here && /"self_samples": / {
			line = $0
			sub(/.*"self_samples": /, "", line)
			count = line + 0
			sub(/.*"total_weight": [0-9]*/, "", line)
			sub(/, "self_least".*/, "", line)
			sub(/},?$/, "", line)
			sub(/^, /, "", line)
			gsub(/"[^"]*": "/, "|", line)
			gsub(/"(, )?/, "", line)
			print count line
		}' | LC_ALL=C sort
}

# Makes row values of script's output for each sample of an event, by awk's program $3, and counts
# them.
told() {
	"$SPROF" script -i "$1" -F event,trace | awk -v event="$2:" '
		function value(name, at, text) {
			at = index(" " $0, " " name "=")
			text = substr($0, at + length(name) + 1)
			sub(/ .*/, "", text)
			return text
		}
		$1 == event { sub(/^ *[^ ]* */, ""); '"$3"' }' |
		LC_ALL=C sort | uniq -c | sed 's/^ *//; s/ /|/' | LC_ALL=C sort
}

# check NAME FILE EVENT PROGRAM ARGUMENT...: report's rows are what script tells.
check() {
	name=$1
	file=$2
	event=$3
	program=$4
	shift 4
	told "$file" "$event" "$program" >"$tmp/wanted"
	rows "$file" "$event" "$@" >"$tmp/got"
	[ -s "$tmp/wanted" ] || echo "script tells of none" >>"$tmp/wanted"
	same "$name" "$tmp/wanted" "$tmp/got"
}

switch='print value("prev_comm") "|" value("prev_state")'
check "texts of tracepoints" "$switches" sched:sched_switch print -s trace
check "texts of 32 bits" "$several" raw_syscalls:sys_enter print -s trace
check "by fields of one event" "$switches" sched:sched_switch "$switch" \
	-s sched:sched_switch.prev_comm,sched_switch.prev_state
check "an event by its number" "$several" sched:sched_switch 'print value("next_pid")' \
	-s %1.next_pid
check "by fields of all events" "$several" sched:sched_switch "$switch" -s prev_comm,prev_state
check "all fields" "$several" sched:sched_process_fork '
	print value("comm") "|" value("pid") "|" value("child_comm") "|" value("child_pid")' \
	-s 'sched_process_fork.*'
check "columns are fields, too" "$several" sched:sched_switch 'print value("next_comm")' \
	-F overhead,next_comm

# perf has the same: prev_state as a number, in hexadecimal.
rows "$switches" sched:sched_switch -s prev_state >"$tmp/words"
rows "$switches" sched:sched_switch -s prev_state/raw >"$tmp/raw"
rows "$switches" sched:sched_switch -s prev_state --raw-trace >"$tmp/raw_too"
same "--raw-trace is /raw" "$tmp/raw" "$tmp/raw_too"
if grep -q '|[A-Z]$' "$tmp/words" && ! grep -vq '|[0-9a-fx]*$' "$tmp/raw"; then
	ok "words, and bytes"
else
	not_ok "words, and bytes" "$(cat "$tmp/words" "$tmp/raw")"
fi

# In programs' formats all are columns of one table.
report -i "$several" -s trace_fields --format csv --interval within | sed -n '1s/.*total_weight,//p' >"$tmp/got"
echo "prev_comm,prev_pid,prev_prio,prev_state,next_comm,next_pid,next_prio,parent_comm,parent_pid,child_comm,child_pid,id,args,event" >"$tmp/wanted"
same "all fields of all events" "$tmp/wanted" "$tmp/got"
report -i "$several" -s trace_fields | awk 'NF == 1 { getline; print }' | tr -s ' ' >"$tmp/got"
cat >"$tmp/wanted" <<'END'
 self prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio
 self parent_comm parent_pid child_comm child_pid
 self id args
END
same "each table has its own" "$tmp/wanted" "$tmp/got"

# Thirty parts of an event's name, and each names its seven fields.
words=$(awk 'BEGIN {
	for (i = 1; i <= 6; i++)
		for (end = 8; end <= 12; end++)
			printf "%s.*,", substr("sched_switch", i, end - i + 1)
}')
report -q -i "$several" -F 'sched_switch.*,overhead' >"$tmp/wanted"
report -q -i "$several" -F "${words}overhead" >"$tmp/got" 2>&1
same "fields are counted once" "$tmp/wanted" "$tmp/got"

fails "an event that is not there" 129 report -s nothing.prev_comm -i "$several" <<END
sprof: --sort: the recording has no event 'nothing'
END
fails "a part of two events' names" 129 report -s sched.prev_comm -i "$several" <<END
sprof: --sort: 'sched' may be sched:sched_switch and sched:sched_process_fork
END
fails "a field that is not there" 129 report -F sched_switch.child_pid -i "$several" <<END
sprof: -F, --fields: sched:sched_switch has no field 'child_pid'
END

finish
