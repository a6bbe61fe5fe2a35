#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Time on the HTML page: a program with known phases. The bins within a phase have all of its time, in the
# state that the phase has, and the states of the table of threads.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v python3 >"$tmp/which" || skip_all "needs python3"
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp" PYTHONDONTWRITEBYTECODE=1
file=$tmp/data
"$SPROF" record --off-cpu --no-names --no-summary -o "$file" -- "$workload/phases" 0.3 >"$tmp/truth" \
	2>"$tmp/err"
check "it records" test -s "$tmp/truth"

# seconds NS: of the recording's clock, as --time takes them.
seconds() {
	printf '%s.%09d' "$(($1 / 1000000000))" "$(($1 % 1000000000))"
}

near() {
	awk -v a="$1" -v b="$2" -v part="${3:-0.01}" 'BEGIN { exit !((a - b) ^ 2 <= (part * b) ^ 2) }'
}

for mode in wall off-cpu latency; do
	"$SPROF" report -q -i "$file" --mode $mode -o "$tmp/page.html" 2>"$tmp/err"
	while read -r phase begin end; do
		python3 "$top_srcdir/tests/cli/html.py" "$tmp/page.html" bins "$begin" "$end" >"$tmp/bins" 2>"$tmp/err"
		read -r from until running runnable blocked unknown <"$tmp/bins"
		length=$((until - from))
		check "$mode: most of $phase is in whole bins" near $length $((end - begin)) 0.2
		# The range's end is part of it.
		"$SPROF" report -i "$file" --threads --time "$(seconds "$from"),$(seconds $((until - 1)))" \
			--format csv >"$tmp/csv" 2>"$tmp/err"
		# Without wake-ups, only a whole life is split into blocked and runnable time.
		awk -F, -v mode=$mode '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			{ run += $column["self_running_ns"]; unknown += $column["self_unknown_ns"]
				off += $column["self_runnable_ns"] + $column["self_blocked_ns"] }
			END { printf "%d %d %d\n", mode == "off-cpu" ? 0 : run, off, unknown }' \
			"$tmp/csv" >"$tmp/wanted"
		echo "$running $((runnable + blocked)) $unknown" >"$tmp/got"
		same "$mode: bins in $phase have the states of the table" "$tmp/wanted" "$tmp/got"
		case $phase in
		# On a busy machine, a thread waits for a CPU after its sleep.
		sleep*) check "$mode: $phase is blocked" near $blocked $length 0.05 ;;
		burn*) [ $mode = off-cpu ] || check "$mode: $phase could run" near $((running + runnable)) $length ;;
		esac
	done <"$tmp/truth"
done
finish
