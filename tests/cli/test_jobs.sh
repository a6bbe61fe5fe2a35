#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A report is the same to the byte, however many threads make it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"

# 40 functions of 200 bytes; the programs do not exist. No sample's time is a whole number of ns.
awk 'BEGIN { for (i = 0; i < 40; i++) print 4198400 + i * 200, 200, "T f" i }' >"$tmp/functions"
awk -v kind=wall -v count=40000 -v id=123456789abcdef0123456789abcdef01234567 \
	-f "$here/../budget/recording.awk" "$tmp/functions" |
	awk '$1 == "sample" && $2 == 0 { $7 = 900000 + NR * 7919 % 200003 } 1' |
	"$top_builddir/tests/cli/recording" "$tmp/waits"

# equal OPTION...: output with one thread, and with 2, 3 and 7.
equal() {
	"$SPROF" report --jobs 1 -i "$tmp/waits" "$@" >"$tmp/one" || return
	test -s "$tmp/one" || return
	for jobs in 2 3 7; do
		"$SPROF" report --jobs $jobs -i "$tmp/waits" "$@" | cmp - "$tmp/one" || return
	done
}

for mode in cpu wall off-cpu latency; do
	check "mode $mode: JSON" equal --mode $mode --format json
	check "mode $mode: JSON by object" equal --mode $mode -s dso --format json
	check "mode $mode: JSON of trees by thread" equal --mode $mode -g -s tid,sym --format json
	check "mode $mode: folded stacks" equal --mode $mode --format folded
done

finish
