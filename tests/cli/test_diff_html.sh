#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pages of `sprof diff -o FILE.html`: their data equal the text to the digit. test_html_page.sh opens them in a browser.
. "$top_srcdir/tests/cli/lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
tests=$(cd "$top_srcdir/tests" && pwd)
. "$tests/cli/html_recordings.sh"
. "$tests/cli/diff_recordings.sh"
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
cd "$tmp" || exit 99

# page NAME ARGUMENT...: makes page.html, and compares it with the text and with folded stacks.
page() {
	page_name=$1
	shift
	"$SPROF" diff "$@" >err 2>&1
	"$SPROF" diff -o page.html "$@" 2>err
	"$SPROF" diff -q --all "$@" >text.txt 2>>err
	"$SPROF" diff --format folded "$@" >stacks.folded 2>>err
	check "$page_name: the page equals the text" python3 "$tests/cli/html.py" page.html changes text.txt \
		stacks.folded
}

# has NAME PATTERN: the head of the page's data has the pattern.
has() {
	check "$1" sh -c 'python3 "$1" page.html text | grep -q -e "$2"' sh "$tests/cli/html.py" "$2"
}

call_recordings
page "found changes" --symfs root call-old.? -- call-new.?
has "the total is as in text" '"total +39.7% (+38.6 to +40.8%), 3 functions changed, by 3 and 3 runs"'
has "so is the place" '"found slower below main > run > parse: 402.0, now 602.0 ms in total"'
has "and a rename" 'hash_find (gone) and hash_lookup (new) may be one function'
"$SPROF" diff -o again.html --symfs root call-old.? -- call-new.? 2>err
same "a page is reproducible" page.html again.html
page "by share" --by share --symfs root call-old.? -- call-new.?
page "one run of each" --symfs root call-old.1 call-new.1
has "it says that there are no verdicts" '"No verdicts: they need 3 runs'
page "another event" -e page-faults --symfs root call-old.? -- call-new.?
page "rows by thread" -s comm --symfs root call-old.? -- call-new.?
page "rows by file" -s dso --symfs root call-old.? -- call-new.?
small_recordings
page "stacks without a name" -e cycles uneven one
deep_recording
page "8,000 frames" -e cycles deep uneven

hostile_recording
page "hostile names" -e cpu-clock hostile hostile
check "names are not in the markup" sh -c '! grep -q "pwned\|nowhere" page.html'

random_recordings
set -- --symfs root random-old.? -- random-new.?
"$SPROF" diff -o page.html "$@" 2>err
check "random stacks take less than 5 MB" sh -c '[ "$(wc -c <page.html)" -lt 5000000 ]'
has "the page says which part lacks frames" '% of cpu-clock is in stacks that lack inner frames'
"$SPROF" diff -q --all "$@" >text.txt 2>err
check "its sums are complete" python3 "$tests/cli/html.py" page.html changes text.txt
rm -f random-*

"$SPROF" diff --format html call-old.1 call-new.1 >stdout.html 2>err
"$SPROF" diff -o file.html call-old.1 call-new.1 2>err
same "standard output has the same page" stdout.html file.html
if command -v script >/dev/null; then
	script -qec "$SPROF diff --format html call-old.1 call-new.1" /dev/null </dev/null >terminal.txt 2>&1
	check "a terminal gets no page" sh -c '! grep -q "<html" terminal.txt'
	check "a terminal gets the remedy" grep -q -e "-o FILE" terminal.txt
else
	skip "a terminal gets no page" "no script (util-linux)"
fi
if [ -c /dev/full ]; then
	status "a full disk" 125 "$SPROF" diff --format html -o /dev/full call-old.1 call-new.1
	says "a full disk is reported" "cannot write /dev/full"
else
	skip "a full disk" "no /dev/full"
fi
finish
