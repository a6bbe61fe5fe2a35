# SPDX-License-Identifier: GPL-2.0-or-later
# Section of run.sh: the library's symbolizer (bench/symbolize) with 10,000 random addresses of the large
# program, compared in pairs with the commands on a recording of the same addresses, and with other
# symbolizers. A ratio below 1: the library's symbolizer needs less.
#
# Environment: BENCH_PAIRS (20), pairs of runs.

: "${BENCH_PAIRS:=20}"

# The program itself, not libtool's wrapper.
symbolize=$top_builddir/bench/.libs/symbolize
[ -x "$symbolize" ] || symbolize=$top_builddir/bench/symbolize

ours() {
	"$measure" "$1" "$symbolize" "$big" <"$tmp/addresses" >/dev/null 2>"$tmp/stderr"
}

ours_one_by_one() {
	head -n 1000 "$tmp/addresses" | "$measure" "$1" "$symbolize" -1 "$big" >/dev/null 2>"$tmp/stderr"
}

their_report() {
	quiet "$measure" "$1" "$sprof" report -i "$tmp/symbolize.data" --format csv -s function,srcfile,srcline
}

their_script() {
	quiet "$measure" "$1" "$sprof" script -i "$tmp/symbolize.data" -F ip,sym,srcline
}

their_addr2line() {
	"$measure" "$1" addr2line -f -i -C -e "$big" <"$tmp/addresses" >/dev/null 2>&1
}

their_llvm() {
	"$measure" "$1" llvm-symbolizer --obj="$big" <"$tmp/addresses" >/dev/null 2>&1
}

# Only 100 of the addresses: it needs 30 ms of CPU time for each.
their_eu() {
	head -n 100 "$tmp/addresses" | "$measure" "$1" eu-addr2line -f -i -C -e "$big" >/dev/null 2>&1
}

# paired NAME COLUMN UNIT: medians of both logs, and the pairs' median ratio with its interval.
paired() {
	paste "$tmp/pair.ours" "$tmp/pair.theirs" | awk -v n="$2" '
		$4 == 0 && $9 == 0 && $(n + 5) > 0 { print $n / $(n + 5) }' | sort -g | awk \
		-v name="$1" -v unit="$3" -v ours="$(column "$tmp/pair.ours" "$2")" \
		-v theirs="$(column "$tmp/pair.theirs" "$2")" '
		{ ratio[NR] = $1 }
		END {
			if (!NR) { print "  " name ": all runs failed"; exit }
			# Ranks of the sign test: two standard deviations around the mean.
			low = int(NR / 2 - sqrt(NR)) + 1
			if (low < 1) low = 1
			median = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
			printf "  %-46s %10.2f %10.2f %-3s %7.3f  (%.3f-%.3f, %d pairs)\n", name, ours, theirs,
				unit, median, ratio[low], ratio[NR + 1 - low], NR
		}'
}

# in_turns NAME PAIRS FUNCTION: runs both in turns, each first in half of the pairs.
in_turns() {
	rm -f "$tmp/pair.ours" "$tmp/pair.theirs"
	for i in $(seq "$2"); do
		[ $((i % 2)) = 0 ] || ours "$tmp/pair.ours"
		"$3" "$tmp/pair.theirs"
		[ $((i % 2)) = 1 ] || ours "$tmp/pair.ours"
	done
	paired "$1: CPU" 2 ms
	paired "$1: wall" 1 ms
	paired "$1: peak memory" 3 KiB
}

symbolizer() {
	need_big || return
	[ -x "$top_builddir/tests/cli/recording" ] || {
		echo "  tests/cli/recording is not built: make check TESTS="
		return
	}
	symbolize_data || return
	printf '\n%s\n  %-46s %10s %10s %-3s %7s\n' "The symbolizer, 10,000 random addresses of $(($(wc -c <"$big") >> 20)) MiB" \
		'' symbolizer other '' ratio
	ours "$tmp/first"
	their_report "$tmp/first"
	failures "$tmp/first" "symbolize and sprof report" || return
	in_turns "sprof report" "$BENCH_PAIRS" their_report
	in_turns "sprof script" "$BENCH_PAIRS" their_script
	few=$((BENCH_PAIRS < 5 ? BENCH_PAIRS : 5))
	! command -v llvm-symbolizer >/dev/null || in_turns "llvm-symbolizer" $few their_llvm
	! command -v addr2line >/dev/null || in_turns "addr2line -f -i -C" $few their_addr2line
	! command -v eu-addr2line >/dev/null || {
		in_turns "eu-addr2line -f -i -C (100 of them)" $((few < 3 ? few : 3)) their_eu
	}
	repeat 3 ours_one_by_one "$tmp/one" &&
		echo "  one call for each of 1,000 addresses: $(column "$tmp/one" 2) ms CPU"
}
