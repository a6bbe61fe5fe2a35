#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pages of `sprof report -o FILE.html`: their data equal the report. test_html_page.sh opens them in a browser.
. "$top_srcdir/tests/cli/lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
tests=$(cd "$top_srcdir/tests" && pwd)
. "$tests/cli/html_recordings.sh"
cd "$tmp" || exit 99
export PYTHONDONTWRITEBYTECODE=1

# page NAME RECORDING [OPTION]...: makes page.html, report.json and stacks.folded, and compares them.
page() {
	page_name=$1 page_data=$2
	shift 2
	"$SPROF" report -q -i "$page_data" "$@" -o page.html 2>err
	"$SPROF" report -q -i "$page_data" "$@" -s dso,function --format json >report.json 2>>err
	"$SPROF" report -q -i "$page_data" "$@" --format folded >stacks.folded 2>>err
	check "$page_name: the data equal the report" python3 "$tests/cli/html.py" page.html report.json \
		$page_folded
}

# head NAME PAGE PATTERN: the head of the page's data has the pattern.
head_has() {
	check "$1" sh -c 'python3 "$1" "$2" text | grep -q -e "$3"' sh "$tests/cli/html.py" "$2" "$3"
}

page_folded=
hostile_recording
page "hostile names" hostile
head_has "losses with a time are on the strip" page.html '"lostAt": \[\[[0-9]*, 7\]\]'
"$SPROF" report -q -i hostile -o again.html 2>err
same "a page is reproducible" page.html again.html
check "names are not in the markup" sh -c '! grep -q "pwned\|nowhere" page.html'
"$SPROF" report -i hostile 2>err | sed -n 's/^  ! \([^"]*\)$/\1/p' | head -n 1 >first.txt
python3 "$tests/cli/html.py" page.html text >head.json
check "the page begins with the findings of text" python3 -c 'import json
text = open("first.txt").read().strip()
head = json.JSONDecoder().raw_decode(open("head.json").read())[0]
assert text and head["banner"][0]["text"].startswith(text), (text, head["banner"])'
head_has "the command is in the data" page.html 'prog [*][*]*'
"$SPROF" report -q -i hostile --full-command-lines -o asked.html 2>err
head_has "its arguments are there if asked" asked.html "--key=secret"
check "else they are not" sh -c '! python3 "$1" page.html text | grep -q -e --key=secret' sh \
	"$tests/cli/html.py"
"$SPROF" report -q -i hostile --no-command-line -o hidden.html 2>err
check "--no-command-line leaves it out" sh -c '! python3 "$1" hidden.html text | grep -q -e --key=secret' sh \
	"$tests/cli/html.py"
page "one event" hostile -e page-faults
page "a filter" hostile --pid 7
page_folded=stacks.folded
small_recordings
page "unequal periods" uneven
page "one sample" one
page "no samples" none
page "no times" timeless
page "damage" damaged
deep_recording
page "8,000 frames" deep
threads_recording
page "10,000 threads" threads
million_recording
"$SPROF" report -q -i million -o page.html 2>err
check "1,000,000 random stacks: sums are complete" python3 "$tests/cli/html.py" page.html
check "they take less than 5 MB" sh -c '[ "$(wc -c <page.html)" -lt 5000000 ]'
rm -f million

corpus=$SPROF_CORPUS/perfparser/vector_static_gcc__perf.data
if [ -f "$corpus" ]; then
	page "a recording of the corpus" "$corpus"
else
	skip "a recording of the corpus" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
fi
why=$(program_recording)
if [ -n "$why" ]; then
	skip "a recorded program" "$why"
else
	page "a recorded program" data
	page "a range of its time" data --time 20%-60%
	page "one of its functions" data -S outer
	# source NAME WANTED [OPTION]...: whether the page has lines of prog.c; WANTED is 0 or 1.
	source() {
		source_name=$1 wanted=$2
		shift 2
		"$SPROF" report -q -i data "$@" -o source.html 2>err
		python3 "$tests/cli/html.py" source.html source >source.json
		check "$source_name" test "$(grep -c LOOP source.json)" = "$wanted"
	}
	# Instructions have the offsets in their functions, and the mnemonics, of objdump.
	if ! command -v objdump >/dev/null; then
		skip "--source adds instructions" "no objdump"
	elif ! "$SPROF" script -i data -F ip,disasm >/dev/null 2>err; then
		skip "--source adds instructions" "$(head -n 1 err)"
	else
		objdump -d --no-show-raw-insn prog | awk '
			/^[0-9a-f]+ <.*>:$/ { start = $1; name = substr($2, 2, length($2) - 3); next }
			/^ +[0-9a-f]+:/ { sub(":", "", $1); print name, start, $1, $2 }' >objdump.txt
		"$SPROF" report -q -i data --source -o source.html 2>err
		python3 "$tests/cli/html.py" source.html instructions objdump.txt >instructions.txt 2>err
		check "--source adds instructions, as objdump reads them" grep -q '^[1-9][0-9]* instructions$' instructions.txt
	fi
	mkdir elsewhere
	source "source is not in a page by default" 0
	source "--source adds the sampled lines" 1 --source
	source "--source reads files below its directories only" 0 --source=elsewhere
	chmod 640 prog.c
	source "a private file is not in the page" 0 --source
	source "it is if its directory is named" 1 --source=.
	check "the number of files is not printed with -q" test ! -s err
	"$SPROF" report -i data --source -o source.html 2>err
	check "private files are counted" grep -qx 'sprof: the page contains 0 source files, '\
'without 1 private or hidden (for all: --source=.)' err
	chmod 644 prog.c
	"$SPROF" report -i data --source -o source.html 2>err
	check "source files are counted" grep -qx 'sprof: the page contains 1 source file' err
	mv prog.c elsewhere && ln -s elsewhere/prog.c prog.c
	source "it follows no link" 0 --source
	rm prog.c && mkfifo prog.c
	source "it reads no pipe" 0 --source
	rm prog.c && { cat elsewhere/prog.c && printf '\000'; } >prog.c
	source "it reads no binary file" 0 --source
fi

# Names of files, and standard output.
"$SPROF" report -q -i one --format html >stdout.html 2>err
"$SPROF" report -q -i one -o file.html 2>err
same "standard output has the same page" stdout.html file.html
check "without JavaScript the page says that it needs it" grep -q '<p id="start".*>This page needs JavaScript' file.html
if command -v script >/dev/null; then
	script -qec "$SPROF report -q -i one --format html" /dev/null </dev/null >terminal.txt 2>&1
	check "a terminal gets no page" sh -c '! grep -q "<html" terminal.txt'
	check "a terminal gets the remedy" grep -q -e "-o FILE" terminal.txt
else
	skip "a terminal gets no page" "no script (util-linux)"
fi
mkdir bin
printf '#!/bin/sh\nbasename "$1" >opened\n' >bin/xdg-open
chmod +x bin/xdg-open
PATH=$tmp/bin:$PATH DISPLAY=:9 "$SPROF" report -q -i one -o file.html --open 2>err
check "--open names the file" grep -qx "sprof: wrote file.html" err
check "--open shows the file" sh -c 'sleep 0.3; grep -qx file.html opened'
status "--open without a display" 0 env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER \
	PATH="$tmp/bin:$PATH" "$SPROF" report -q -i one -o file.html --open
says "that is the reason" "^sprof: wrote file.html; there is no display"
program=$(command -v "$SPROF")
status "--open without a browser" 0 env PATH="$tmp/none" "$program" report -q -i one -o file.html --open
says "it names the file" "open file.html in a browser"
fails "--open needs a file" 129 "$SPROF" report -i one --format html --open <<'END'
sprof: --open needs a file: -o FILE.html
END
fails "--source of another format" 129 "$SPROF" report -i one --source --format json <<'END'
sprof: --source is for HTML: -o FILE.html
END
fails "--source of a missing directory" 1 "$SPROF" report -i one --source=missing -o file.html <<'END'
sprof: --source: missing: No such file or directory
END
if [ -c /dev/full ]; then
	status "a full disk" 1 "$SPROF" report -q -i one --format html -o /dev/full
	says "a full disk is reported" "cannot write /dev/full"
else
	skip "a full disk" "no /dev/full"
fi
finish
