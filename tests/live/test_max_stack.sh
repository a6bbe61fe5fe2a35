#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains deeper than kernel.perf_event_max_stack, which is as it was afterwards.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data
limit=/proc/sys/kernel/perf_event_max_stack
before=$(cat $limit)

# Who cannot raise it is told, and what is cut is marked.
if [ "$(id -u)" != 0 ] || [ "$before" -ge 300 ]; then
	skip "chains of 400 frames" "only root may raise the limit of $before frames"
	finish
	exit
fi
"$SPROF" record --call-graph fp -o "$file" -- "$workload/deep" 400 0.3 >"$tmp/out" 2>"$tmp/err"
"$SPROF" report -i "$file" --format json >"$tmp/json"
check "without a word, they are cut and marked" \
	sh -c 'sed -n "s/.*\"depth_limit\": *\([0-9]*\).*/\1/p" "$1" | grep -qv "^0$"' sh "$tmp/json"

deep() { # SECONDS
	"$SPROF" record --call-graph fp --max-stack 1000 -o "$file" -- "$workload/deep" 400 "$1" \
		>"$tmp/out" 2>"$tmp/err"
}
deep 0.3
if ! grep -q "is raised from $before" "$tmp/err"; then
	skip "chains of 400 frames" "$(head -n 1 "$tmp/err")"
	finish
	exit
fi
ok "that the limit is raised is said"
"$SPROF" report -i "$file" --format json >"$tmp/json"
samples=$(sed -n 's/.*"samples": *\([0-9]*\).*/\1/p' "$tmp/json" | head -n 1)
complete=$(sed -n 's/.*"complete": *\([0-9]*\).*/\1/p' "$tmp/json" | head -n 1)
check "chains of 400 frames are whole ($complete of $samples)" \
	test $((complete * 100)) -ge $((samples * 90))
check "then the limit is as it was" test "$(cat $limit)" = "$before"

"$SPROF" record -q --call-graph fp --max-stack 1000 -o "$file" -- "$workload/deep" 400 30 \
	>"$tmp/out" 2>"$tmp/err" &
recorder=$!
sleep 1
raised=$(cat $limit)
command=$(pgrep -P $recorder -x deep)
kill -KILL $recorder
wait $recorder 2>"$tmp/err"
for i in 1 2 3 4 5 6 7 8 9 10; do
	[ "$(cat $limit)" = "$before" ] && break
	sleep 0.3
done
if [ "$(cat $limit)" != "$before" ] && pgrep -f "max-stack 1000 -o $file" >"$tmp/out"; then
	skip "so it is when the recorder was killed" "others record call chains: it is still tried"
else
	check "so it is when the recorder was killed (from $raised)" test "$(cat $limit)" = "$before"
fi
kill -KILL $command
finish
